// Merges of contributions that begin while it lives are kept from so few contributions on
// (ContributionMerge::SetLeastKept) that small tests reach it.
#ifndef BIGTABLE_TESTS_SUPPORT_SCOPED_KEPT_MERGES_H_
#define BIGTABLE_TESTS_SUPPORT_SCOPED_KEPT_MERGES_H_

#include <cstdint>

#include "read/contribution_merge.h"

namespace bigtable {

class ScopedKeptMerges {
 public:
  explicit ScopedKeptMerges(uint64_t least) { ContributionMerge::SetLeastKept(least); }
  ~ScopedKeptMerges() { ContributionMerge::SetLeastKept(ContributionMerge::kLeastKept); }
  ScopedKeptMerges(const ScopedKeptMerges&) = delete;
  ScopedKeptMerges& operator=(const ScopedKeptMerges&) = delete;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_SCOPED_KEPT_MERGES_H_
