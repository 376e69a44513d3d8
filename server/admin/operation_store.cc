#include "server/admin/operation_store.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

#include "convert/status.h"
#include "server/admin/inventory.h"
#include "server/text/errors.h"

namespace bigtable::server {

using google::longrunning::Operation;

// Ids begin with the time, so an operation of an earlier server is not mistaken for one of this.
OperationStore::OperationStore() : next_id_(static_cast<uint64_t>(absl::GetCurrentTimeNanos())) {}

Operation OperationStore::Add(std::string_view resource, const google::protobuf::Message& metadata,
                              const google::protobuf::Message& response) {
  Kept kept;
  kept.operation.mutable_metadata()->PackFrom(metadata);
  kept.operation.mutable_response()->PackFrom(response);
  kept.operation.set_done(true);
  const std::lock_guard lock(mutex_);
  return Keep(resource, std::move(kept)).operation;
}

OperationStore::Begun OperationStore::Begin(std::string_view resource,
                                            const google::protobuf::Message& metadata) {
  Kept kept{.operation = {}, .cancellation = std::make_shared<Cancellation>()};
  kept.operation.mutable_metadata()->PackFrom(metadata);
  const std::lock_guard lock(mutex_);
  const Kept& begun = Keep(resource, std::move(kept));
  return {begun.operation, begun.cancellation};
}

const OperationStore::Kept& OperationStore::Keep(std::string_view resource, Kept kept) {
  const uint64_t id = next_id_++;
  kept.operation.set_name(Cat("operations/", resource, "/operations/", id));
  bytes_ += kept.operation.ByteSizeLong();
  operations_.emplace(id, std::move(kept));
  while (operations_.size() > kMostOperations || bytes_ > kMostBytes) DropOldest();
  return operations_.at(id);
}

void OperationStore::SetMetadata(std::string_view name, const google::protobuf::Message& metadata) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == operations_.end() || found->second.operation.done()) return;
  Operation& operation = operations_.at(found->first).operation;
  bytes_ -= operation.ByteSizeLong();
  operation.mutable_metadata()->PackFrom(metadata);
  bytes_ += operation.ByteSizeLong();
}

void OperationStore::Finish(
    std::string_view name, const google::protobuf::Message& metadata,
    const absl::StatusOr<std::unique_ptr<google::protobuf::Message>>& response) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == operations_.end()) return;
  Operation& operation = operations_.at(found->first).operation;
  bytes_ -= operation.ByteSizeLong();
  operation.mutable_metadata()->PackFrom(metadata);
  if (response.ok()) {
    operation.mutable_response()->PackFrom(**response);
  } else {
    *operation.mutable_error() = convert::ToRpcStatus(response.status());
  }
  operation.set_done(true);
  bytes_ += operation.ByteSizeLong();
  finished_.notify_all();
}

// The newest is never dropped: it may be larger than all may be together.
void OperationStore::DropOldest() {
  const auto newest = std::prev(operations_.end());
  auto oldest = std::find_if(operations_.begin(), newest,
                             [](const auto& kept) { return kept.second.operation.done(); });
  if (oldest == newest) oldest = operations_.begin();  // which goes on, and nobody sees
  bytes_ -= oldest->second.operation.ByteSizeLong();
  operations_.erase(oldest);
}

OperationStore::Operations::const_iterator OperationStore::Find(std::string_view name) const {
  return std::find_if(operations_.begin(), operations_.end(),
                      [&](const auto& kept) { return kept.second.operation.name() == name; });
}

absl::StatusOr<Operation> OperationStore::Get(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == operations_.end()) return NoSuchError("Operation", name);
  return found->second.operation;
}

absl::StatusOr<Operation> OperationStore::Wait(std::string_view name,
                                               std::chrono::nanoseconds most) const {
  const auto end = std::chrono::steady_clock::now() + most;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = Find(name);
    if (found == operations_.end()) return NoSuchError("Operation", name);
    if (found->second.operation.done() || std::chrono::steady_clock::now() >= end) {
      return found->second.operation;
    }
    finished_.wait_until(lock, end);
  }
}

absl::Status OperationStore::Cancel(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == operations_.end()) return NoSuchError("Operation", name);
  if (found->second.cancellation != nullptr) found->second.cancellation->Cancel();
  return absl::OkStatus();
}

absl::Status OperationStore::Erase(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = Find(name);
  if (found == operations_.end()) return NoSuchError("Operation", name);
  bytes_ -= found->second.operation.ByteSizeLong();
  operations_.erase(found);
  return absl::OkStatus();
}

std::vector<Operation> OperationStore::List(std::string_view prefix) const {
  const std::lock_guard lock(mutex_);
  std::vector<Operation> listed;
  for (const auto& [id, kept] : operations_) {
    if (kept.operation.name().starts_with(Cat(prefix, "/"))) listed.push_back(kept.operation);
  }
  return listed;
}

}  // namespace bigtable::server
