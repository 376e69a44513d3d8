// Requests as a tablet server carries them out (rpc/data_service.h). Nothing that a request
// says is believed: rows, operations, filters and names are checked here, whoever sent them.
//
// A write goes the way of a write that is made in place: held back by the WriteController, checked
// against the schema and the access lists, into the server's queue, which refuses it if the tablet
// is stopped or the server's lock is lost, before the log and again before the acknowledgement.
// Before all that it goes through the window of outcomes. What the window has is told even by a
// server that has lost its lock meanwhile: it was acknowledged while it had it, and whoever takes
// over finds it.
//
// A read looks at the lock after it has pinned what it reads.
#ifndef BIGTABLE_TABLETSERVER_DATA_SERVER_H_
#define BIGTABLE_TABLETSERVER_DATA_SERVER_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "rpc/data_service.h"
#include "tabletserver/access_control.h"
#include "tabletserver/outcome_window.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/write_controller.h"

namespace bigtable {

// Thread-safe. Runs on its caller's thread, and reads and writes cost what they cost in place, and
// a copy of each cell that is read.
class DataServer final : public DataService {
 public:
  // What is done with writes. In a database that is only read users' are refused, and METADATA's,
  // which say where tablets are, stay in memory.
  enum class Writes { kLogged, kInMemory, kRefused };

  // All outlive this. Without a write controller nobody is held back, as METADATA's writers are
  // not. Without access control no request may name a caller.
  DataServer(TabletServer* server, WriteController* write_controller, AccessControl* access,
             Writes writes)
      : server_(server), write_controller_(write_controller), access_(access), writes_(writes) {}
  DataServer(const DataServer&) = delete;
  DataServer& operator=(const DataServer&) = delete;

  absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) override;
  absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) override;

  const OutcomeWindow& outcomes() const { return outcomes_; }

 private:
  bool IsFor(std::string_view server) const;
  // The first copy of a request.
  MutateResponse Apply(const MutateRequest& request, const CallLimits& limits);

  TabletServer* const server_;
  WriteController* const write_controller_;
  AccessControl* const access_;
  const Writes writes_;
  OutcomeWindow outcomes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_DATA_SERVER_H_
