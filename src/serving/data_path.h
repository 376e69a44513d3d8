// The path of each write and read to the tablets of a server (section 5.3 of the paper), for
// callers in this process and for requests that come as messages.
//
// A write: the access lists are checked, the write controller admits it, the schema, the access
// lists and the quotas of storage are checked against the version that is current then, and the
// server logs and applies it.
// The server refuses it if the tablet is stopped or the lock is lost, before the log and again
// before the acknowledgement.
//
// A read: the caller pins the tablet's version. Then the path checks that this server still serves
// the tablet, and sets the sequence number at which the version is read.
#ifndef BIGTABLE_SERVING_DATA_PATH_H_
#define BIGTABLE_SERVING_DATA_PATH_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "bigtable/options.h"

#include "admission/access_control.h"
#include "admission/quota_control.h"
#include "admission/write_controller.h"
#include "base/call_limits.h"
#include "base/sequence.h"
#include "base/status.h"
#include "commit/group_writer.h"
#include "commit/write_request.h"
#include "monitoring/call_timer.h"
#include "read/cell_cursor.h"
#include "read/filter_node.h"
#include "read/filter_rows.h"
#include "rpc/data_service.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe. Runs on the caller's thread.
class DataPath {
 public:
  // What happens to writes. In a database that was opened read-only users' writes are refused.
  // METADATA's writes, which record where tablets are, stay in memory.
  enum class Writes { kLogged, kInMemory, kRefused };

  // All outlive this. Without a write controller, as for METADATA, no write is delayed.
  // Without access control no call may name a caller. Without quotas, as for METADATA, storage has
  // no limit.
  DataPath(TabletServer* server, WriteController* write_controller, AccessControl* access,
           QuotaControl* quotas, Writes writes)
      : server_(server),
        write_controller_(write_controller),
        access_(access),
        quotas_(quotas),
        writes_(writes) {}
  DataPath(const DataPath&) = delete;
  DataPath& operator=(const DataPath&) = delete;

  TabletServer* server() const { return server_; }
  // What a client needs of the server besides.
  bool is_serving() const { return server_->state().serving(); }
  GroupWriter* writer() const { return &server_->writer(); }
  // The tablet that has the row, if the server has it; otherwise null.
  std::shared_ptr<Tablet> FindTablet(uint64_t table_id, std::string_view row) const {
    return server_->tablets().Find(table_id, row);
  }
  // TabletServer::AwaitVisible.
  absl::Status AwaitVisible(SequenceNumber sequence, const CallLimits& limits) const {
    return server_->AwaitVisible(sequence, limits);
  }
  Writes writes() const { return writes_; }
  QuotaControl* quotas() const { return quotas_; }  // may be null

  // False, and nothing is applied, if the tablet is superseded or the server has lost its lock: the
  // caller looks the rows up again. Not for a path that refuses writes.
  [[nodiscard]] bool Apply(WriteRequest* write) const;

  // The steps of Apply before the commit queue, for a batch over several tablets
  // (batch_writer.h). Those with a bool are false if nothing is left to apply.
  //
  // First, for all tablets: the caller may write. Then, for all servers: the write controller
  // admits the bytes of all of its tablets together. One after another, a large write would wait
  // for room that the batch itself has taken.
  struct Admitted {
    std::optional<AccessCheck> access;  // of a caller
    WriteController::Admission admission;
    Pin<TabletVersion> version;  // whose schema the mutations were checked against
  };
  [[nodiscard]] bool Authorize(const WriteRequest& write, Admitted* admitted) const;
  absl::Status Admit(uint64_t bytes, const CallLimits& limits, Admitted* admitted) const {
    if (write_controller_ == nullptr) return absl::OkStatus();
    return write_controller_->Admit(bytes, limits, &admitted->admission);
  }
  // Then: pins the version, checks the mutations, and sets the layout of the write. After the
  // waits, so that the pin does not keep a memtable that they are for.
  [[nodiscard]] bool Check(WriteRequest* write, Admitted* admitted) const;

  // Nothing was applied, so the storage that Check has taken is free.
  void ForgetTakenStorage() const {
    if (quotas_ != nullptr) quotas_->MarkChanged();
  }

  // The point in time of a read that does not read the newest data.
  struct ReadPoint {
    std::optional<SequenceNumber> sequence;  // the caller holds a snapshot of it
    std::optional<int64_t> now;              // for MaxAge, in microseconds; else the server's clock
  };
  // Sets the sequence number and the time at which `version` of `tablet`, which the caller has
  // pinned, is read. False if the tablet is superseded or the server has lost its lock.
  [[nodiscard]] bool BeginRead(const Tablet& tablet, const TabletVersion& version,
                               const ReadPoint& point, ReadSpec* spec) const;
  // Checks a read against the schema: NotFound if the filter names a family that does not exist;
  // PermissionDenied; the error of an access list that cannot be read. The limits, here and below,
  // end a wait for an access list that is being written.
  absl::Status CheckRead(const TableLayout& layout, const FilterNode* filter, const Caller& caller,
                         const CallLimits& limits) const {
    if (filter != nullptr) BT_RETURN_IF_ERROR(CheckFamilies(*filter, layout));
    return caller.has_value() ? CheckReadOf(*caller, layout, filter, limits) : absl::OkStatus();
  }

  // Checks a mutation as Apply does, without applying it.
  absl::Status CheckWrite(const TableLayout& layout, const EncodedMutation& mutation,
                          const Caller& caller, const CallLimits& limits) const;
  // Whether the caller may delete whole rows: PermissionDenied.
  absl::Status CheckRowDeletion(const TableLayout& layout, const Caller& caller,
                                const CallLimits& limits) const;

 private:
  absl::Status CheckReadOf(std::string_view caller, const TableLayout& layout,
                           const FilterNode* filter, const CallLimits& limits) const;

  TabletServer* const server_;
  WriteController* const write_controller_;
  AccessControl* const access_;
  QuotaControl* const quotas_;
  const Writes writes_;
};

// Always inlined, because it is on the path of each read of a row.
[[gnu::always_inline]] inline bool DataPath::BeginRead(const Tablet& tablet,
                                                       const TabletVersion& version,
                                                       const ReadPoint& point,
                                                       ReadSpec* spec) const {
  // The visible number comes first. If the tablet is superseded after that, or another server gets
  // the lock, what is written there has larger numbers. So a write that requires that its row has
  // not been written since this read (WriteRequest::unchanged_since) finds it written.
  const SequenceNumber visible = server_->visible();
  // Checked after the version is pinned: a removed tablet is emptied, and the next server has the
  // lock before it writes.
  if (tablet.flags().ended()) [[unlikely]]
    return false;
  if (!server_->state().serving()) [[unlikely]] {
    server_->state().RequestRenewal();
    return false;
  }
  // After the visible number: see TabletVersion::read_limit.
  spec->sequence = std::min(visible, version.read_limit());
  if (point.sequence.has_value()) {
    spec->sequence = std::min(*point.sequence, kMaxSequence);
    // The table did not exist. If it was restored, its entries have smaller numbers.
    if (spec->sequence < tablet.table_id()) [[unlikely]]
      spec->sequence = 0;
  }
  spec->now = absl::InfinitePast();
  for (const FamilyLayout& family : version.layout().families) {
    if (!HasAge(family.gc)) continue;
    spec->now = point.now.has_value() ? absl::FromUnixMicros(*point.now)
                                      : server_->environment()->clock->Now();
    break;
  }
  return true;
}

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_DATA_PATH_H_
