// The policies that papers name, as policies of a program: RegisterPaperPolicies registers
//
//   tiering, leveling, lazy_leveling, fluid       fluid.h; fluid has K = 4 and Z = 2
//   monkey                                        monkey.h: lazy leveling, ten bits on average
//   round_robin, least_overlap, oldest,
//   most_deleted                                  partial.h
//   lethe                                         lethe.h: least_overlap, a deadline of an hour
//
// LocalityGroup::compaction_factor is the size ratio T, 10 if it is 0. Other numbers are in the
// name (RegisterPaperPolicy), or arguments of the classes. bench/compaction/run takes them from
// paper_policies.so.
#ifndef BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_
#define BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_

#include <string_view>

#include "absl/status/status.h"

namespace policies {

// AlreadyExists, if one of them has a name that is taken.
absl::Status RegisterPaperPolicies();

// Registers one of these with other numbers, under that name: "fluid(K=2/Z=1)", "monkey(bits=5)",
// "lethe(minutes=30)". InvalidArgument: there is none of this name, or no such parameter.
absl::Status RegisterPaperPolicy(std::string_view name);

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_PAPER_POLICIES_H_
