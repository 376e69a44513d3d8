// The long-running operations of the admin calls. Each is done when its call returns, so what is
// kept are results, for clients that ask for them by name.
#ifndef BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_
#define BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/longrunning/operations.pb.h"
#include "google/protobuf/message.h"

namespace bigtable::server {

// Thread-safe. In memory: a restart of the server forgets all operations. So are the oldest
// forgotten, when there are too many or too large ones.
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
  // NOT_FOUND
  absl::StatusOr<google::longrunning::Operation> Get(std::string_view name) const;
  absl::Status Erase(std::string_view name);
  // In the order in which they began, those whose names are `prefix` and a slash and more.
  std::vector<google::longrunning::Operation> List(std::string_view prefix) const;

 private:
  void DropOldest();

  mutable std::mutex mutex_;
  uint64_t next_id_;
  // By id: the last part of the name.
  std::map<uint64_t, google::longrunning::Operation> operations_;
  size_t bytes_ = 0;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_OPERATION_STORE_H_
