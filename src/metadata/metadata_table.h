// The tablets' rows in METADATA. Those of METADATA's own tablets are in its root tablet, and are
// read and written like all others (metadata_client.h).
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

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "metadata/metadata_format.h"
#include "metadata/metadata_service.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// The location of a tablet, according to METADATA.
struct TabletLocation {
  TabletId id;
  RowRange rows;
  std::string server;  // the last server that had it; "" if none had
};

// Thread-safe. Writes are durable when they return OK, except for locations, which are found again
// when tablets are assigned.
class MetadataTable final : public TabletStore {
 public:
  // `service` and `clock` outlive this. Without a clock no events are recorded.
  explicit MetadataTable(MetadataService* service, Clock* clock = nullptr)
      : service_(service), clock_(clock) {}

  // Several mutations are one record of the log of METADATA's server, whose size is bounded. So
  // they must be in one tablet of METADATA.
  bool TakesTogether(absl::Span<const TabletStep> steps) const override;
  absl::Status Commit(absl::Span<const TabletStep> steps) override;
  using TabletStore::Commit;
  bool IsInDoubt(const absl::Status& failed) const override { return service_->IsInDoubt(failed); }

  // Adds rows for the tablets of a new table, one by one. The table has all of them only once this
  // returns OK.
  absl::Status AddTable(uint64_t table_id, const std::vector<RowRange>& tablets);
  // The same for tablets that have SSTables already. Together they have all rows.
  absl::Status AddTable(uint64_t table_id, const std::vector<TabletState>& tablets);
  // Splits a tablet with this `state` at `row`. Both children have its redo points, and those of
  // its files that overlap their key ranges (tablet/tablet_state.h). The deciding step is one
  // mutation of the tablet's row, which becomes the row of the right child. After an error the
  // tablet is not split. Either it never will be, since METADATA's log had no room for the
  // mutation; or METADATA's server accepts no mutation before it resumes, or is replaced without
  // this one. Only if the process dies before that may the next opening find the tablet split.
  // `server` has both children. The limits, here and in MergeTablets, end a wait for another split
  // or merge.
  absl::Status SplitTablet(uint64_t table_id, const TabletState& state, std::string_view row,
                           std::string_view server = "", const CallLimits& limits = {});
  // Merges a tablet with the next one. `merged` is the result, with the files of both. The deciding
  // step is one mutation of the right tablet's row, which becomes the row of the merged tablet.
  // Errors as in SplitTablet.
  absl::Status MergeTablets(const TabletId& left, const TabletId& right, const TabletState& merged,
                            const CallLimits& limits = {});
  // Removes the rows of all tablets of a table, one by one.
  absl::Status RemoveTable(uint64_t table_id);
  // The tablets of a table in key order, without remnants of interrupted splits and merges.
  // DataLoss unless they cover all rows.
  absl::StatusOr<std::vector<TabletState>> ReadTable(uint64_t table_id);
  // One tablet, and the last server that had it. NotFound if there is none.
  absl::StatusOr<TabletState> ReadTablet(const TabletId& id, std::string* server);
  // The tablet that has `row`, and those after it, `most` at most. NotFound if the table has no
  // tablet with that row. Unless it `waits`, Unavailable if METADATA's server is being replaced.
  // Errors of the limits.
  absl::StatusOr<std::vector<TabletLocation>> FindTablets(uint64_t table_id, std::string_view row,
                                                          size_t most, bool waits = true,
                                                          const CallLimits& limits = {});
  // Records that the server has loaded the tablet. Not synced.
  absl::Status SetLocation(const TabletId& id, std::string_view server);
  // Completes or undoes the interrupted splits and merges of a table.
  absl::Status SettleTable(uint64_t table_id);
  // Adds the numbers of all SSTables that METADATA names: those of METADATA's own tablets at one
  // read sequence, and all others at one. Errors of the limits.
  absl::Status AddFiles(std::set<uint64_t>* numbers, const CallLimits& limits = {});
  // Whether METADATA has a row for any tablet of the table, served or not.
  absl::StatusOr<bool> HasTable(uint64_t table_id);
  // The tables that have rows, except METADATA.
  absl::StatusOr<std::vector<uint64_t>> Tables();

  // The operations on a row.
  struct RowChange {
    std::string row;
    std::string operations;
  };
  // What Commit does, for a caller that commits to several tablets of METADATA itself.
  std::vector<RowChange> EncodeSteps(absl::Span<const TabletStep> steps) const;

 private:
  struct Row {
    std::string key;
    TabletId id;
    TabletState state;
    TabletMark mark = TabletMark::kNone;
    std::string server;
  };

  // Mutates a single row. Errors of MetadataService::Mutate.
  absl::Status Mutate(std::string_view row, std::string_view operations,
                      Durability durability = Durability::kSync);
  // The rows, in order.
  absl::StatusOr<std::vector<Row>> ReadRows(const MetadataRead& read);
  // The same for IsTablet: DataLoss if a row has a mark that it cannot have.
  absl::StatusOr<std::vector<Row>> ReadMarkedRows(const MetadataRead& read);
  // Empty without a clock.
  std::string Event(TabletEventKind kind, std::string_view detail) const;
  absl::Status Settle(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  static std::vector<EncodedMutation> Views(absl::Span<const RowChange> changes);
  // Called around the steps of a split or a merge. First settles remnants of an earlier one of
  // which a step failed: a mark can be interpreted only while its tablet's neighbours are
  // unchanged.
  absl::Status BeginSteps(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  void EndSteps(uint64_t table_id, const absl::Status& last_step)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(steps_mutex_);
  // Whether the row is that of a tablet, according to its mark: a pending one after its split has
  // happened, a merging one until its merge has.
  static bool IsTablet(const std::vector<Row>& rows, const Row& row);

  MetadataService* const service_;
  Clock* const clock_;
  LimitedMutex steps_mutex_;  // one split or merge at a time: settling must not see another's marks
  std::set<uint64_t> unsettled_ ABSL_GUARDED_BY(steps_mutex_);  // tables that may have marks
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_TABLE_H_
