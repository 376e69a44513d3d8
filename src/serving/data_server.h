// Answers requests that come as messages (rpc/data_service.h) through the server's DataPath. A
// request is not trusted: rows, operations, filters and names are checked here.
//
// A write first goes through the outcome window. A response that is in the window is returned even
// if the server has lost its lock since: the write was acknowledged while the server had the lock,
// and the next server finds it.
#ifndef BIGTABLE_SERVING_DATA_SERVER_H_
#define BIGTABLE_SERVING_DATA_SERVER_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "rpc/data_service.h"
#include "schema/mutation_format.h"
#include "serving/data_path.h"
#include "serving/outcome_window.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// Thread-safe. Runs on its caller's thread. A read or write costs what a call in place costs, and a
// copy of each cell that is read.
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
  // Carries out a request that has not come before.
  MutateResponse Apply(const MutateRequest& request, const CallLimits& limits);
  // ResourceExhausted: a quota of a rate refuses the mutations, all of them.
  absl::Status TakeOfQuotas(const MutateRequest& request,
                            absl::Span<const EncodedMutation> mutations,
                            absl::Span<const absl::Status> statuses) const;

  const DataPath* const path_;
  TabletServer* const server_;
  OutcomeWindow outcomes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SERVING_DATA_SERVER_H_
