// The tablets' rows in METADATA. Those of METADATA's own tablets are in its root tablet, and read
// and written like all others (metadata_client.h).
#ifndef BIGTABLE_METADATA_METADATA_TABLE_H_
#define BIGTABLE_METADATA_METADATA_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/clock.h"
#include "bigtable/row_range.h"

#include "base/mutex.h"
#include "metadata/metadata_format.h"
#include "metadata/metadata_service.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Where a tablet is, as far as METADATA knows.
struct TabletLocation {
  TabletId id;
  RowRange rows;
  std::string server;  // that had it last; "" if none had
};

// Thread-safe. Writes are durable when they return OK, but for locations: these are found anew by
// whoever assigns tablets.
class MetadataTable final : public TabletStore {
 public:
  // `service` and `clock` outlive this. Without a clock no events are noted.
  explicit MetadataTable(MetadataService* service, Clock* clock = nullptr)
      : service_(service), clock_(clock) {}

  // Several mutations are one record of the log of METADATA's server, whose size is kept within
  // bounds, and so have to be in one tablet of METADATA.
  bool TakesTogether(absl::Span<const TabletStep> steps) const override;
  absl::Status Commit(absl::Span<const TabletStep> steps) override;
  using TabletStore::Commit;
  bool IsInDoubt(const absl::Status& failed) const override { return service_->IsInDoubt(failed); }

  // Rows for the tablets of a new table, one after the other: only when this returns OK the table
  // has all of them.
  absl::Status AddTable(uint64_t table_id, const std::vector<RowRange>& tablets);
  // Splits a tablet, of which `state` is all that is known, at `row`. Both halves have its redo
  // points, and those of its files that may have rows of theirs (tablet/halves.h). The step that
  // does it is one mutation of the row of the tablet, which becomes the right half's. After an
  // error it is not split. Either it never will be, since METADATA's log had no room for it, or
  // METADATA's server takes no mutation before it resumes, or is replaced without this one; only if
  // the process dies before that may the next opening find it split. `server` has both halves.
  absl::Status SplitTablet(uint64_t table_id, const TabletState& state, std::string_view row,
                           std::string_view server = "");
  // Merges a tablet with the one behind it to one that is `merged`, with the files of both. The
  // step that does it is one mutation of the right one's row, which becomes the merged one's.
  // Errors as in SplitTablet.
  absl::Status MergeTablets(const TabletId& left, const TabletId& right, const TabletState& merged);
  // Removes the rows of all tablets of a table, one after the other.
  absl::Status RemoveTable(uint64_t table_id);
  // The tablets of a table in key order, without what splits and merges that were cut short have
  // left. DataLoss unless they have every row between them.
  absl::StatusOr<std::vector<TabletState>> ReadTable(uint64_t table_id);
  // One of them, and the server that had it last. NotFound if there is none.
  absl::StatusOr<TabletState> ReadTablet(const TabletId& id, std::string* server);
  // The tablet that has `row`, and those behind it, `most` at most. NotFound if the table has no
  // tablet with that row. Unless it `waits`, Unavailable if METADATA's server is being replaced.
  absl::StatusOr<std::vector<TabletLocation>> FindTablets(uint64_t table_id, std::string_view row,
                                                          size_t most, bool waits = true);
  // The server has loaded the tablet. Not synced.
  absl::Status SetLocation(const TabletId& id, std::string_view server);
  // Finishes the splits and merges of a table that were cut short, or undoes them.
  absl::Status SettleTable(uint64_t table_id);
  // Adds the numbers of all SSTables that it names: METADATA's own at one moment, and all others at
  // one.
  absl::Status AddFiles(std::set<uint64_t>* numbers);
  // Whether METADATA has a row for any tablet of the table, served or not.
  absl::StatusOr<bool> HasTable(uint64_t table_id);
  // The tables that have rows, but for METADATA itself.
  absl::StatusOr<std::vector<uint64_t>> Tables();

 private:
  struct Row {
    std::string key;
    TabletId id;
    TabletState state;
    TabletMark mark = TabletMark::kNone;
    std::string server;
  };

  // Of a single row. Errors of MetadataService::Mutate.
  absl::Status Mutate(std::string_view row, std::string_view operations,
                      Durability durability = Durability::kSync);
  // Rows in order.
  absl::StatusOr<std::vector<Row>> ReadRows(const MetadataRead& read);
  absl::StatusOr<std::vector<Row>> ReadRows(uint64_t table_id) {
    return ReadRows({.range = MetadataRows(table_id)});
  }
  // Nothing without a clock.
  std::string Event(TabletEventKind kind, std::string_view detail) const;
  absl::Status Settle(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  // What is written to which row.
  struct RowChange {
    std::string row;
    std::string operations;
  };

  std::vector<RowChange> EncodeSteps(absl::Span<const TabletStep> steps) const;
  static std::vector<EncodedMutation> Views(absl::Span<const RowChange> changes);
  // Around the steps of a split or a merge. What an earlier one has left because a step of it
  // failed is settled first: a mark is understood only as long as its tablet's neighbours are what
  // they were.
  absl::Status BeginSteps(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  void EndSteps(uint64_t table_id, const absl::Status& last_step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  // Whether the row stands for a tablet, as far as its mark says: a pending one once its split has
  // happened, a merging one until its merge has.
  static bool IsTablet(const std::vector<Row>& rows, const Row& row);

  MetadataService* const service_;
  Clock* const clock_;
  Mutex steps_mutex_;  // one split or merge at a time: settling must not see another's marks
  std::set<uint64_t> unsettled_ ABSL_GUARDED_BY(steps_mutex_);  // that may have rows with marks
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_TABLE_H_
