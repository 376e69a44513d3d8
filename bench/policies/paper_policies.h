// The policies that papers name, as policies of a program: RegisterPaperPolicies registers
//
//   tiering, leveling, lazy_leveling, fluid       fluid.h; fluid has K = 4 and Z = 2
//   monkey                                        monkey.h: lazy leveling, ten bits on average
//   round_robin, least_overlap, oldest,
//   most_deleted                                  partial.h
//   lethe                                         lethe.h: least_overlap, a deadline of an hour
//
// LocalityGroup::compaction_factor is the size ratio T, 10 if it is 0. Each of these is a class,
// for a program that wants other numbers. bench/compaction/run takes them from paper_policies.so.
#ifndef BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_
#define BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_

#include "absl/status/status.h"

namespace policies {

// AlreadyExists, if one of them has a name that is taken.
absl::Status RegisterPaperPolicies();

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_
