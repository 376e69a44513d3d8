#include "server/admin/operation_store.h"

#include <algorithm>

#include "absl/time/clock.h"

#include "server/admin/inventory.h"
#include "server/text/errors.h"

namespace bigtable::server {

using google::longrunning::Operation;

// Ids begin with the time, so an operation of an earlier server is not mistaken for one of this.
OperationStore::OperationStore() : next_id_(static_cast<uint64_t>(absl::GetCurrentTimeNanos())) {}

Operation OperationStore::Add(std::string_view resource, const google::protobuf::Message& metadata,
                              const google::protobuf::Message& response) {
  Operation operation;
  operation.mutable_metadata()->PackFrom(metadata);
  operation.mutable_response()->PackFrom(response);
  operation.set_done(true);
  const std::lock_guard lock(mutex_);
  const uint64_t id = next_id_++;
  operation.set_name(Cat("operations/", resource, "/operations/", id));
  bytes_ += operation.ByteSizeLong();
  operations_.emplace(id, operation);
  while (operations_.size() > kMostOperations || bytes_ > kMostBytes) DropOldest();
  return operation;
}

void OperationStore::DropOldest() {
  const auto oldest = operations_.begin();
  bytes_ -= oldest->second.ByteSizeLong();
  operations_.erase(oldest);
}

absl::StatusOr<Operation> OperationStore::Get(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, operation] : operations_) {
    if (operation.name() == name) return operation;
  }
  return NoSuchError("Operation", name);
}

absl::Status OperationStore::Erase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(operations_.begin(), operations_.end(),
                                  [&](const auto& kept) { return kept.second.name() == name; });
  if (found == operations_.end()) return NoSuchError("Operation", name);
  bytes_ -= found->second.ByteSizeLong();
  operations_.erase(found);
  return absl::OkStatus();
}

std::vector<Operation> OperationStore::List(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  std::vector<Operation> listed;
  for (const auto& [id, operation] : operations_) {
    if (operation.name().starts_with(Cat(prefix, "/"))) listed.push_back(operation);
  }
  return listed;
}

}  // namespace bigtable::server
