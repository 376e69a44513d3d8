// The channels to a server, what each call carries, and the end of all calls.
#ifndef BIGTABLE_REMOTE_CALLS_CONNECTION_H_
#define BIGTABLE_REMOTE_CALLS_CONNECTION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"

#include "bigtable/remote.h"
#include "bigtable/timestamp.h"

#include "base/mutex.h"

namespace bigtable::remote {

using DataStub = google::bigtable::v2::Bigtable::Stub;
using AdminStub = google::bigtable::admin::v2::BigtableTableAdmin::Stub;

// Thread-safe.
class Connection {
 public:
  // Errors of bigtable::Connect.
  static absl::StatusOr<std::shared_ptr<Connection>> Make(std::string_view endpoint,
                                                          const RemoteOptions& options);

  const RemoteOptions& options() const { return options_; }
  DataStub* data() {
    return data_[next_.fetch_add(1, std::memory_order_relaxed) % data_.size()].get();
  }
  AdminStub* admin() { return admin_.get(); }
  // Of the calls of admin().
  const std::shared_ptr<grpc::Channel>& admin_channel() const { return admin_channel_; }

  // "projects/P/instances/I", and with "/tables/T".
  const std::string& instance() const { return instance_; }
  std::string TableName(std::string_view table) const;

  // Sets what every call carries. `resource`: a field of the request and its value, by which Cloud
  // Bigtable routes the call. Errors of reading the token.
  absl::Status Prepare(std::string_view resource_field, std::string_view resource,
                       grpc::ClientContext* context);

  // The timestamp of cells that are written without one: a multiple of a millisecond, and never
  // less than the one before.
  Timestamp Now();

  // FailedPrecondition once it is closed: all calls end.
  absl::Status CheckOpen() const;
  void Close() { closed_.store(true, std::memory_order_relaxed); }

 private:
  explicit Connection(const RemoteOptions& options) : options_(options) {}
  absl::Status Open(std::string_view endpoint);
  absl::StatusOr<std::string> Token();

  const RemoteOptions options_;
  std::string instance_;
  std::string features_;  // google.bigtable.v2.FeatureFlags, as a header has them
  std::vector<std::unique_ptr<DataStub>> data_;
  std::shared_ptr<grpc::Channel> admin_channel_;
  std::unique_ptr<AdminStub> admin_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> closed_{false};
  std::atomic<int64_t> last_millisecond_{0};

  Mutex mutex_;
  std::string token_ ABSL_GUARDED_BY(mutex_);  // of the file
  absl::Time token_read_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CALLS_CONNECTION_H_
