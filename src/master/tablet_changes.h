// The master's changes of tablets: splits, moves, merges and dropped rows (sections 5.2 and 5.4 of
// the paper). A server carries them out (cluster/server_host.h). The master finds the server, and
// tries again if the tablet was superseded, or is on another server, when the server looks for it.
//
// Reads and writes continue meanwhile.
#ifndef BIGTABLE_MASTER_TABLET_CHANGES_H_
#define BIGTABLE_MASTER_TABLET_CHANGES_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/tablet_info.h"

#include "background/background_work.h"
#include "base/call_limits.h"
#include "cluster/server_host.h"
#include "master/assignment.h"
#include "master/drop_splits.h"
#include "master/ingestion.h"
#include "master/master_context.h"
#include "master/table_catalogue.h"

namespace bigtable {

// Thread-safe.
class TabletChanges {
 public:
  // All outlive this.
  TabletChanges(MasterContext* context, TableCatalogue* catalogue, Assignment* assignment,
                Ingestion* ingestion)
      : context_(context), catalogue_(catalogue), assignment_(assignment), ingestion_(ingestion) {}
  TabletChanges(const TabletChanges&) = delete;
  TabletChanges& operator=(const TabletChanges&) = delete;

  // Splits the tablet that has `row` at this row. AlreadyExists if a tablet begins with it.
  absl::Status SplitTablet(std::string_view table, std::string_view row, const CallLimits& limits);
  // The same for a METADATA tablet on this server. Does not try again.
  absl::Status SplitMetadataTablet(ServerHost* host, std::string_view row,
                                   const CallLimits& limits);
  // Merges the tablet that begins with `row` and the one before it. NotFound if none does.
  // Unavailable: see ServerHost::Merge.
  absl::Status MergeTablets(
      std::string_view table, std::string_view row, const CallLimits& limits,
      BackgroundWork::IfStopped if_stopped = BackgroundWork::IfStopped::kCompact);
  // Moves the tablet with `row` to the server with this number, from 0.
  absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                          const CallLimits& limits);
  // Drops the rows of the range, tablet after tablet (Table::DropRowRange). It is not empty, and
  // begins and ends with possible rows.
  // `caller` is who asks: nobody for the program itself.
  absl::Status DropRows(uint64_t table_id, const RowRange& rows,
                        const std::optional<std::string>& caller, const CallLimits& limits);
  // The schema of a table. NotFound if it was deleted, or if the name is another table's now.
  absl::StatusOr<TableLayout> LayoutOf(uint64_t table_id, std::string_view name) const;
  // PermissionDenied: `caller` may not write to all families.
  absl::Status CheckMayWrite(const TableLayout& layout, const std::optional<std::string>& caller,
                             const CallLimits& limits) const;
  // Adds SSTables to the tablets that they have rows of. Waits for a while if these have many
  // sorted runs. Aborted: the schema has changed. `*may_be_named` as of Ingestion::AddTo.
  absl::Status Ingest(const IngestRequest& request, bool* may_be_named);
  // The splits that DropRows has made.
  DropSplits* drop_splits() { return &drop_splits_; }
  absl::StatusOr<std::vector<TabletInfo>> Tablets(std::string_view table, const CallLimits& limits);

 private:
  // The tablet that has `row`. Waits until it is served.
  absl::StatusOr<HostedTablet> AwaitTablet(uint64_t table_id, std::string_view row,
                                           const CallLimits& limits);
  absl::StatusOr<std::vector<HostedTablet>> AwaitTablets(uint64_t table_id,
                                                         const CallLimits& limits);
  // Call it before looking for a tablet again.
  absl::Status WaitALittle(const CallLimits& limits);
  // The same for a caller that waits for the tablet with `row`, which no server has. Errors name
  // the row and the reason. Unavailable: loading it has failed for so long that callers must not
  // wait.
  absl::Status WaitForTablet(uint64_t table_id, std::string_view row, const CallLimits& limits);
  // A step towards it: splits a tablet with rows outside the range, or else empties it, and then
  // returns true.
  absl::StatusOr<bool> DropRowsOf(const HostedTablet& hosted, const RowRange& rows,
                                  const CallLimits& limits);
  absl::Status SplitToDrop(const HostedTablet& hosted, std::string_view row,
                           const CallLimits& limits);
  absl::Status Move(std::string_view table, const HostedTablet& from, ServerHost* to,
                    const CallLimits& limits);
  // Loads an unloaded tablet on `to`, or else on `from` again.
  absl::Status LoadMoved(std::string_view table, const HostedTablet& from, ServerHost* to);
  void NotifyMoved(std::string_view table, const HostedTablet& from, const ServerHost& to);
  // As writers are slowed down by many sorted runs, but never stopped.
  absl::Status AwaitCompactions(const std::vector<HostedTablet>& tablets, const CallLimits& limits);
  std::optional<int> NumberOf(const ServerHost& host) const;

  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  Assignment* const assignment_;
  Ingestion* const ingestion_;
  DropSplits drop_splits_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_TABLET_CHANGES_H_
