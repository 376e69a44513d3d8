// The tablets' rows in METADATA, read and written through the service of the server that has it.
#ifndef BIGTABLE_METADATA_METADATA_TABLE_H_
#define BIGTABLE_METADATA_METADATA_TABLE_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/mutex.h"
#include "metadata/metadata_format.h"
#include "rpc/tablet_service.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Thread-safe. Writes are durable when they return OK.
class MetadataTable final : public TabletStore {
 public:
  // `service` outlives this.
  explicit MetadataTable(TabletService* service) : service_(service) {}

  // All rows of METADATA are in one tablet; of several, their mutations are one record of its log,
  // whose size is kept within bounds.
  bool TakesTogether(absl::Span<const TabletStep> steps) const override;
  absl::Status Commit(absl::Span<const TabletStep> steps) override;
  using TabletStore::Commit;

  // Rows for the tablets of a new table, one after the other: only when this returns OK the table
  // has all of them.
  absl::Status AddTable(uint64_t table_id, const std::vector<RowRange>& tablets);
  // Splits a tablet, of which `state` is all that is known, at `row`. Both halves have its redo
  // points, and those of its files that may have rows of theirs (tablet/halves.h). The step that
  // does it is one mutation of the row of the tablet, which becomes the right half's. After an
  // error it is not split, and METADATA takes no mutation before its server resumes; only if the
  // process dies before that may the next opening find it split. One split or merge of a table at a
  // time.
  absl::Status SplitTablet(uint64_t table_id, const TabletState& state, std::string_view row);
  // Merges a tablet with the one behind it to one that is `merged`, with the files of both. The
  // step that does it is one mutation of the right one's row, which becomes the merged one's.
  // Errors as in SplitTablet.
  absl::Status MergeTablets(const TabletId& left, const TabletId& right, const TabletState& merged);
  // Removes the rows of all tablets of a table, one after the other.
  absl::Status RemoveTable(uint64_t table_id);
  // The tablets of a table in key order, without what splits and merges that were cut short have
  // left. DataLoss unless they have every row between them.
  absl::StatusOr<std::vector<TabletState>> ReadTable(uint64_t table_id);
  // Finishes the splits and merges of a table that were cut short, or undoes them.
  absl::Status SettleTable(uint64_t table_id);
  // The tables that have rows.
  absl::StatusOr<std::vector<uint64_t>> Tables();

 private:
  struct Row {
    std::string key;
    TabletState state;
    TabletMark mark = TabletMark::kNone;
  };

  // What is written to which row.
  struct RowChange {
    std::string row;
    std::string operations;
  };

  static std::vector<RowChange> EncodeSteps(absl::Span<const TabletStep> steps);
  absl::StatusOr<std::vector<Row>> ReadRows(uint64_t table_id);
  // Around the steps of a split or a merge. What an earlier one has left because a step of it
  // failed is settled first: a mark is understood only as long as its tablet's neighbours are what
  // they were.
  absl::Status BeginSteps(uint64_t table_id);
  void EndSteps(uint64_t table_id, const absl::Status& last_step);
  // Whether the row stands for a tablet, as far as its mark says: a pending one once its split has
  // happened, a merging one until its merge has.
  static bool IsTablet(const std::vector<Row>& rows, const Row& row);

  TabletService* const service_;
  Mutex mutex_;
  std::set<uint64_t> unsettled_ ABSL_GUARDED_BY(mutex_);  // tables that may have rows with marks
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_TABLE_H_
