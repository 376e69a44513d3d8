// A table of an embedded database: its route, and the calls that need nothing but the tablets on
// it. Those that may be transactions are in client/embedded_table.h.
#ifndef BIGTABLE_ROUTING_TABLE_IMPL_H_
#define BIGTABLE_ROUTING_TABLE_IMPL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_key_sample.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

#include "admission/quota_control.h"
#include "backend/table_backend.h"
#include "base/call_limits.h"
#include "base/sequence.h"
#include "base/strings.h"
#include "monitoring/call_timer.h"
#include "read/cell_cursor.h"
#include "read/row_requests.h"
#include "routing/async_read.h"
#include "routing/database_impl.h"
#include "routing/served_table.h"
#include "routing/table_route.h"
#include "rpc/move_wait.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Thread-safe. Shared by all users of the table with the same caller name.
class TableImpl : public TableBackend, public std::enable_shared_from_this<TableImpl> {
 public:
  // Null: the table is of a connected database.
  static TableImpl* Of(const Table& table) {
    return static_cast<TableImpl*>(TableBackend::Of(table)->embedded());
  }
  // InvalidArgument: the table is of a connected database, which is another than the caller's.
  static absl::Status CheckEmbedded(const Table& table) {
    if (Of(table) != nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(Cat("table ", table.name(), " is of another database"));
  }

  // --- The functions of Table with these names ---

  absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                              const ReadOptions& options) final;
  std::vector<absl::StatusOr<Row>> GetRows(absl::Span<const std::string_view> rows,
                                           const Filter& filter, const ReadOptions& options) final;
  void ReadRowAsync(std::string row, Filter filter, ReadOptions options, RowDone done) final;
  std::unique_ptr<RowSource> ReadRows(const RowSet& rows, const Filter& filter,
                                      const ReadOptions& options) final;
  std::unique_ptr<RowSource> ResumeRows(std::string_view token, const Filter& filter,
                                        const ReadOptions& options) final;
  std::unique_ptr<ScannerBackend> NewScanner(ReadOptions options) final;
  absl::Status DropRowRange(const RowRange& range, const CallOptions& options) final;
  absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                       const IngestOptions& options) final;
  absl::StatusOr<ChangeRound> ReadChanges(const ChangeRequest& request) final;
  absl::Status SetChangeReader(std::string_view reader, std::optional<std::string_view> position,
                               const CallOptions& options) final;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) final;
  absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(absl::Span<const RowRange> ranges,
                                                         const CallOptions& options) final;
  void ReportUnchecked(std::string_view stream, const absl::Status& status) const final;

  // --- Their parts ---

  // Inside the gate. Call it when the route does not know `row`, or names a tablet that is not
  // served there any more. Looks the row up, and waits a little if no server has it. NotFound: the
  // table was deleted. Errors of the limits.
  [[gnu::cold]] absl::Status Relocate(std::string_view row, MoveWait* wait,
                                      const CallLimits& limits) const;
  // Returns the route's tablets, with all tablets of `ranges` known and not superseded. `ranges`
  // must be as RowSet::Normalized() returns them. Cost: a look at each tablet of `ranges`, not at
  // every tablet of the table.
  absl::StatusOr<std::shared_ptr<const ServedTable>> Locate(absl::Span<const RowRange> ranges,
                                                            MoveWait* wait,
                                                            const CallLimits& limits) const;

  // Checks the arguments of a read: InvalidArgument, or an error of the limits.
  absl::Status CheckRead(const Filter& filter, const ReadOptions& options,
                         const CallLimits& limits) const;
  // Inside the gate. CheckRead, and then DataPath::BeginRead for a version of the tablet that the
  // caller has pinned. `*superseded`: the tablet is not served there any more; look it up again.
  absl::Status BeginRead(const ServedTablet& tablet, const TabletVersion& version,
                         const Filter& filter, const ReadOptions& options, const CallLimits& limits,
                         ReadSpec* spec, bool* superseded) const;
  [[gnu::cold]] absl::Status DeletedError() const;

  // Inside the gate. The quotas of rates that calls in place keep within; null: there are none. A
  // server checks what reaches it by messages.
  QuotaControl* rates() const {
    if (!quotas->limits_rates()) [[likely]]
      return nullptr;
    return database->locations.is_remote() ? nullptr : quotas;
  }
  // What a call on the table takes of them.
  QuotaControl::Demand DemandOf(uint64_t requests, uint64_t bytes) const {
    return {.table_id = route->table_id(), .caller = caller, .requests = requests, .bytes = bytes};
  }
  // The bytes of a row that is returned, as Quota::bytes_per_second counts them.
  [[gnu::cold]] static uint64_t BytesOf(const Row& row);

  // Whether a read may be refused by quotas, access lists, or because the database is closed.
  bool MayRefuse() const;
  // By whom a row should be read whose caller does not wait: by the caller, because the read waits
  // for nothing, as far as is known; or by threads of the database (database_impl.h).
  enum class AsyncWay { kAtOnce, kOverlapped, kAlone, kElsewhere };
  AsyncWay AsyncWayOf(std::string_view row) const;  // inside the gate
  // An error: it was not taken.
  absl::Status AddAsync(AsyncRead&& read, AsyncWay way) const;
  // Begins to read these rows from the disk, those of tablets in place.
  void RequestRows(absl::Span<const std::string_view> rows, const RowRequests& requests) const;

  // ReadRow, with the reads that the call has begun, or null.
  absl::StatusOr<Row> ReadCounted(std::string_view row, const Filter& filter,
                                  const ReadOptions& options, OverlappedReads* overlapped);
  // Begins the reads of the blocks of the row, which are added to `*overlapped`; that is made if it
  // is not there. Sets `*blocks`. Does nothing for a row whose read may be refused.
  void RequestAsync(const AsyncRead& read, std::optional<OverlappedReads>* overlapped,
                    OverlappedReads::Tickets* blocks) const;
  // ReadRow, without counting the call.
  absl::StatusOr<Row> ReadRowUncounted(std::string_view row, const Filter& filter,
                                       const ReadOptions& options) const;

  // Table::Apply and ApplyBatch without observers: sets a status for each mutation. `sample` is
  // null unless the call is measured.
  void ApplyUnobserved(absl::Span<const RowMutation> mutations, const WriteOptions& options,
                       CallSample* sample, absl::Span<absl::Status> statuses) const;
  // The same, inside the gate, for mutations that are checked except for those with a status that
  // is an error. `unchanged_since`: for a single mutation (WriteRequest::unchanged_since).
  void ApplyByTablets(absl::Span<const RowMutation> mutations, Durability durability,
                      SequenceNumber unchanged_since, const CallLimits& limits, CallSample* sample,
                      absl::Span<absl::Status> statuses) const;

  Table* public_table = nullptr;  // owns this
  const std::shared_ptr<DatabaseImpl> database;
  const std::shared_ptr<TableRoute> route;
  const std::optional<std::string> caller;             // none: the program itself
  const std::shared_ptr<TableMonitor> shared_monitor;  // of the table, for all callers
  TableMonitor& monitor;
  QuotaControl* const quotas;  // only inside the gate

 protected:
  TableImpl(std::shared_ptr<DatabaseImpl> d, std::shared_ptr<TableRoute> r,
            std::shared_ptr<TableMonitor> m, std::string name, std::optional<std::string> c)
      : TableBackend(Kind::kEmbedded, std::move(name)),
        database(std::move(d)),
        route(std::move(r)),
        caller(std::move(c)),
        shared_monitor(std::move(m)),
        monitor(*shared_monitor),
        quotas(database->parts.quotas) {}
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_TABLE_IMPL_H_
