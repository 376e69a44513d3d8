// The long-running operations of the admin calls: those that were done in their call, which are
// kept for clients that ask for them by name, and those that run (operation_thread.h).
#ifndef BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_
#define BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/longrunning/operations.pb.h"
#include "google/protobuf/message.h"

#include "bigtable/call_options.h"

namespace bigtable::server {

// Thread-safe. In memory: a restart of the server forgets all operations. So are the oldest that
// are done forgotten, when there are too many or too large ones.
class OperationStore {
 public:
  static constexpr size_t kMostOperations = 1000;
  static constexpr size_t kMostBytes = 16 << 20;

  OperationStore();
  OperationStore(const OperationStore&) = delete;
  OperationStore& operator=(const OperationStore&) = delete;

  // Keeps a new operation on the resource of this name, which was done with `response`.
  google::longrunning::Operation Add(std::string_view resource,
                                     const google::protobuf::Message& metadata,
                                     const google::protobuf::Message& response);

  // A new operation that is not done yet, and what Cancel cancels.
  struct Begun {
    google::longrunning::Operation operation;
    std::shared_ptr<Cancellation> cancellation;
  };
  Begun Begin(std::string_view resource, const google::protobuf::Message& metadata);
  // Of an operation that is not done; without effect if it was erased.
  void SetMetadata(std::string_view name, const google::protobuf::Message& metadata);
  // Ends it with an error, or with the response.
  void Finish(std::string_view name, const google::protobuf::Message& metadata,
              const absl::StatusOr<std::unique_ptr<google::protobuf::Message>>& response);

  // NOT_FOUND
  absl::StatusOr<google::longrunning::Operation> Get(std::string_view name) const;
  // Waits until it is done, or so long, and returns it as it is then. NOT_FOUND
  absl::StatusOr<google::longrunning::Operation> Wait(std::string_view name,
                                                      std::chrono::nanoseconds most) const;
  // One that is not done ends soon, with CANCELLED if it has not done its work by then. NOT_FOUND
  absl::Status Cancel(std::string_view name);
  // One that is not done goes on. NOT_FOUND
  absl::Status Erase(std::string_view name);
  // In the order in which they began, those whose names are `prefix` and a slash and more.
  std::vector<google::longrunning::Operation> List(std::string_view prefix) const;

 private:
  struct Kept {
    google::longrunning::Operation operation;
    std::shared_ptr<Cancellation> cancellation;  // null: it was done when it was added
  };
  using Operations = std::map<uint64_t, Kept>;  // by id: the last part of the name

  // With the mutex held.
  const Kept& Keep(std::string_view resource, Kept kept);
  Operations::const_iterator Find(std::string_view name) const;
  void DropOldest();

  mutable std::mutex mutex_;
  mutable std::condition_variable finished_;
  uint64_t next_id_;
  Operations operations_;
  size_t bytes_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_
