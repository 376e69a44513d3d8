// Filters of the program's own that compactions apply to cells: to remove what has lost its meaning
// or to rewrite values. A program registers its filters under names before it uses a family of
// them, and a schema chooses one for each family (Family::compaction_filter):
//
//   // Each value begins with the time at which it expires, in seconds.
//   class Expiry final : public bigtable::CompactionFilter {
//    public:
//     Decision Filter(const bigtable::CompactedCell& cell, std::string*) const override {
//       int64_t expires;
//       return ParseExpiry(cell.value, &expires) && expires < absl::ToUnixSeconds(cell.now)
//                  ? Decision::kRemove
//                  : Decision::kKeep;
//     }
//   };
//
//   absl::Status s = bigtable::RegisterCompactionFilter("expiry", std::make_unique<Expiry>());
//   schema.families["sessions"] = {.compaction_filter = "expiry"};
//
// When. Reads return a cell as it was written until a compaction has applied the filter. Only
// compactions that include the oldest run of a locality group apply it, and Database::Compact
// applies it to every cell that was written before the call, and before the streams and
// transactions that are open then. Other compactions move files that overlap no other input without
// reading them: their cells keep waiting. A cell that was kept is passed to the filter again by
// later compactions.
//
// What is passed. Cells that the compaction would keep: not those that were deleted or overwritten,
// or that the garbage collection rule drops. A compaction that begins while a snapshot of
// Database::TakeSnapshot lives passes no cells, even if it is one of Compact. What a
// compaction keeps without passing it, for a snapshot, stream or transaction, is counted in
// CompactionStatistics::cells_unfiltered, and the info log has a warning. Streams, transactions and
// snapshots that begin while a compaction runs may find a cell before the filter and not after.
//
// What a removal means. It is not a write: it takes no sequence number, causes no conflict of a
// transaction, and is not observed. It brings nothing back. Older versions of the column, which
// have timestamps of their own, stay as they are; with MaxVersions the removed cell counts like the
// cell that it was, so versions that it has pushed out stay invisible, whenever they were written.
// If such older versions exist, in files or in memory, a compaction keeps the key of the cell,
// without its value, as long as it counts. Otherwise nothing is left of the cell, and it counts
// against no version that is written later. A version with an older timestamp that is written to
// the cell's column while the compaction runs may be treated as one that is written after it.
#ifndef BIGTABLE_COMPACTION_FILTER_H_
#define BIGTABLE_COMPACTION_FILTER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/export.h"
#include "bigtable/timestamp.h"

namespace bigtable {

// A cell that a compaction is about to write. The views are valid during the call of Filter.
struct CompactedCell {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  Timestamp timestamp;
  std::string_view value;
  absl::Time now;  // by the database's clock, when the compaction began
};

// Thread-safe: compactions call it from several threads. It only computes, and does not call the
// database. What it throws fails the compaction with Unknown. Its decision should depend on nothing
// but the cell and the time: when a compaction comes is not defined, and the filter may never see a
// cell that is soon overwritten.
class BIGTABLE_EXPORT CompactionFilter {
 public:
  enum class Decision : uint8_t {
    kKeep,
    kRemove,
    kReplace,  // keep the cell, with `*value` as its value
  };

  virtual ~CompactionFilter() = default;
  // `*value` is empty before the call, and is used only for kReplace: at most
  // RowMutation::kMaxValueSize bytes, or the compaction fails.
  virtual Decision Filter(const CompactedCell& cell, std::string* value) const = 0;
};

// Registers a filter for all databases of the process, until it ends. InvalidArgument unless the
// name has 1 to 64 printable ASCII characters without space and colon, or if the filter is null;
// AlreadyExists if the name is taken. Thread-safe.
BIGTABLE_EXPORT absl::Status RegisterCompactionFilter(
    std::string_view name, std::unique_ptr<const CompactionFilter> filter);

// The names of all registered filters, sorted. Thread-safe.
BIGTABLE_EXPORT std::vector<std::string> CompactionFilterNames();

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_FILTER_H_
