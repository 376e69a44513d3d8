// What the tables of workloads have before the first round.
#ifndef BIGTABLE_BENCH_SHORTCUTS_LOADS_H_
#define BIGTABLE_BENCH_SHORTCUTS_LOADS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "common/workload.h"
#include "workload.h"

namespace bench {

constexpr uint64_t kRows = 102'000;  // a multiple of 6, 20, 50 and 200
constexpr uint64_t kWideRows = 5'000;
constexpr uint64_t kColumns = 20;
constexpr uint64_t kVersions = 50;
constexpr uint64_t kCounters = 100;
constexpr uint64_t kLargeRows = 4'000;

const Values& SmallValues();  // of 100 bytes
const Values& LargeValues();

// Column number `i` of a wide row, with its family.
std::string Column(uint64_t i);
// A long key with the same beginning as all others, and then one of a hundred tenants.
std::string TenantKey(uint64_t row);

// Writes one row.
absl::Status WriteRow(Subject* subject, uint64_t row, std::string_view value);
absl::Status WriteTenantRow(Subject* subject, uint64_t row);
absl::Status Flush(Subject* subject);
absl::Status Compact(Subject* subject);

// --- kRows rows ---

absl::Status LoadMemtable(Subject* subject);
absl::Status LoadCompacted(Subject* subject);
// Six files; each has rows from the whole range.
absl::Status LoadOverlappingFiles(Subject* subject);
// 20 files; each has a part of the range.
absl::Status LoadDisjointFiles(Subject* subject);
// 200 files; each has a part of the range and half of the next part, as where rows count up and
// some come late.
absl::Status LoadNeighbouringFiles(Subject* subject);
// As in a queue: of all rows but the last thousand, the deletions are left.
absl::Status LoadDeleted(Subject* subject);
// A memtable, and a file from which it knows the beginning of keys.
absl::Status LoadTenants(Subject* subject);
// Only the file.
absl::Status LoadFewTenants(Subject* subject);

// Nothing but 200 tablets.
absl::Status SplitIntoTablets(Subject* subject);

// --- Others ---

// Rows of 1,000 bytes, 102 MB; compacted.
absl::Status LoadLarge(Subject* subject);
// kLargeRows rows of 16,000 bytes, so that each has a block of its own; compacted.
absl::Status LoadLargeRows(Subject* subject);
// kWideRows rows of kColumns columns; compacted.
absl::Status LoadWideRows(Subject* subject);
// The same in six files; each has rows from the whole range.
absl::Status LoadOverlappingWideRows(Subject* subject);
// A tenth of these rows, ten versions of each column; compacted.
absl::Status LoadTenVersions(Subject* subject);
// A hundredth of these rows, ten versions of 4,000 bytes of each column; compacted.
absl::Status LoadLargeVersions(Subject* subject);
// One column with kVersions versions, written as time goes on, in files of ten versions each.
absl::Status LoadHistory(Subject* subject);
absl::Status LoadCompactedHistory(Subject* subject);
// A small family and a large one, in two groups; half of kRows rows.
absl::Status LoadTwoGroups(Subject* subject);
// kCounters counters, of kRows increments.
absl::Status LoadCounters(Subject* subject);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SHORTCUTS_LOADS_H_
