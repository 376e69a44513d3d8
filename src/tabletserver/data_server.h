// A tablet server's answers to messages (rpc/data_service.h): a codec over its DataPath. Nothing
// that a request says is believed: rows, operations, filters and names are checked here, whoever
// has sent them.
//
// A write first goes through the window of outcomes. What the window has is answered even by a
// server that has lost its lock meanwhile: it was acknowledged while the server had it, and the
// next server finds it.
#ifndef BIGTABLE_TABLETSERVER_DATA_SERVER_H_
#define BIGTABLE_TABLETSERVER_DATA_SERVER_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "rpc/data_service.h"
#include "tabletserver/data_path.h"
#include "tabletserver/outcome_window.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe. Runs on its caller's thread. Reads and writes cost what they cost in place, and a copy
// of each cell that is read.
class DataServer final : public DataService {
 public:
  // `path` outlives this.
  explicit DataServer(const DataPath* path) : path_(path), server_(path->server()) {}
  DataServer(const DataServer&) = delete;
  DataServer& operator=(const DataServer&) = delete;

  absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) override;
  absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) override;

  const OutcomeWindow& outcomes() const { return outcomes_; }

 private:
  bool IsFor(std::string_view server) const;
  // The first copy of a request.
  MutateResponse Apply(const MutateRequest& request, const CallLimits& limits);

  const DataPath* const path_;
  TabletServer* const server_;
  OutcomeWindow outcomes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLETSERVER_DATA_SERVER_H_
