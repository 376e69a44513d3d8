#include "lockservice/local_session.h"

#include "base/status.h"
#include "base/strings.h"
#include "lockservice/file_name.h"
#include "lockservice/local_lock_service.h"

namespace bigtable {
namespace {

absl::StatusOr<LockServiceFile> FileOrNotFound(std::string_view name, FileCache::Entry entry) {
  if (!entry.has_value()) return absl::NotFoundError(Cat("there is no file ", Quoted(name)));
  return *std::move(entry);
}

}  // namespace

LocalLockSession::~LocalLockSession() { service_->Close(state_.get()); }

absl::Status LocalLockSession::KeepAlive() { return service_->KeepAlive(state_.get()); }

bool LocalLockSession::alive() const {
  if (state_->lost.load(std::memory_order_acquire)) return false;
  const int64_t lease_end = state_->lease_end.load(std::memory_order_acquire);
  if (lease_end == LocalSessionState::kForEver) return true;  // without reading the clock
  if (absl::ToUnixNanos(clock_->Now()) < lease_end) return true;
  // Another thread may be renewing the lease at this moment: the service decides, finally.
  return service_->CheckSession(state_.get()).ok();
}

absl::StatusOr<LockServiceFile> LocalLockSession::Read(std::string_view name,
                                                       const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  std::optional<FileCache::Entry> cached = state_->cache.Find(name);
  if (cached.has_value() && alive()) return FileOrNotFound(name, *std::move(cached));

  const FileCache::Ticket ticket = state_->cache.BeginFetch();
  BT_ASSIGN_OR_RETURN(FileCache::Entry fetched, service_->Fetch(state_.get(), name, limits));
  state_->cache.Put(ticket, name, fetched);
  return FileOrNotFound(name, std::move(fetched));
}

absl::StatusOr<Generation> LocalLockSession::Write(std::string_view name, std::string_view contents,
                                                   Generation expected, const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  if (contents.size() > kMaxFileSize) {
    return absl::InvalidArgumentError(
        Cat(Quoted(name), ": ", contents.size(), " bytes; a file may have at most ", kMaxFileSize));
  }
  return service_->Write(state_.get(), name, contents, expected, limits);
}

absl::Status LocalLockSession::AwaitWrites(const CallLimits& limits) {
  return service_->AwaitWrites(limits);
}

absl::Status LocalLockSession::Remove(std::string_view name, Generation expected) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  if (expected == kNoFile) {
    return absl::InvalidArgumentError(
        Cat("the removal of ", Quoted(name), " has kNoFile as the expected generation"));
  }
  return service_->Remove(state_.get(), name, expected);
}

absl::StatusOr<std::vector<std::string>> LocalLockSession::List(std::string_view directory,
                                                                const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckLockDirectoryName(directory));
  return service_->List(state_.get(), directory, limits);
}

absl::StatusOr<std::optional<LockSequencer>> LocalLockSession::TryLock(std::string_view name,
                                                                       LockMode mode) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  return service_->TryLock(state_.get(), name, mode);
}

absl::Status LocalLockSession::Unlock(std::string_view name) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  return service_->Unlock(state_.get(), name);
}

absl::Status LocalLockSession::CheckLock(std::string_view name) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  return service_->CheckLock(state_.get(), name);
}

absl::Status LocalLockSession::CheckSequencer(const LockSequencer& sequencer) {
  return service_->CheckSequencer(state_.get(), sequencer);
}

absl::Status LocalLockSession::WatchFile(std::string_view name) {
  BT_RETURN_IF_ERROR(CheckLockFileName(name));
  return service_->Watch(state_.get(), name, &LocalSessionState::watched_files);
}

absl::Status LocalLockSession::WatchDirectory(std::string_view directory) {
  BT_RETURN_IF_ERROR(CheckLockDirectoryName(directory));
  return service_->Watch(state_.get(), directory, &LocalSessionState::watched_directories);
}

absl::Status LocalLockSession::Unwatch(std::string_view name) {
  BT_RETURN_IF_ERROR(CheckLockDirectoryName(name));
  return service_->Unwatch(state_.get(), name);
}

std::vector<LockEvent> LocalLockSession::TakeEvents() { return service_->TakeEvents(state_.get()); }

bool LocalLockSession::WaitForEvents(absl::Duration timeout) {
  return service_->WaitForEvents(state_.get(), timeout);
}

}  // namespace bigtable
