#include "lockservice/local_lock_service.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "lockservice/file_name.h"

namespace bigtable {
namespace {

// For ever, but within the range of clocks.
constexpr absl::Duration kLongestLease = absl::Hours(24 * 365);

absl::Status SessionIsLost(const LocalSessionState& session) {
  return absl::FailedPreconditionError(
      Cat("session ", session.id, " of ", Quoted(session.owner), " is lost: open another"));
}

absl::Status NoSuchFile(std::string_view name) {
  return absl::NotFoundError(Cat("there is no file ", Quoted(name)));
}

absl::Status CheckExpected(std::string_view name, Generation expected, Generation found) {
  if (expected == kAnyGeneration || expected == found) return absl::OkStatus();
  if (expected == kNoFile) {
    return absl::AlreadyExistsError(
        Cat("there is a file ", Quoted(name), ", with generation ", found));
  }
  if (found == kNoFile) return NoSuchFile(name);
  return absl::AbortedError(
      Cat(Quoted(name), " has generation ", found, "; ", expected, " was expected"));
}

absl::Time LeaseEnd(const LocalSessionState& session) {
  return absl::FromUnixNanos(session.lease_end.load(std::memory_order_relaxed));
}

absl::Time JeopardyBegin(const LocalSessionState& session) {
  return LeaseEnd(session) - session.lease / 2;
}

}  // namespace

// ---- Opening, and sessions.

absl::StatusOr<std::unique_ptr<LocalLockService>> LocalLockService::Open(FileSystem* file_system,
                                                                         std::string directory,
                                                                         Clock* clock,
                                                                         SmallFileCopies copies) {
  std::unique_ptr<LocalLockService> service(
      new LocalLockService(file_system, std::move(directory), clock, std::move(copies)));
  const LimitedMutexLock files(&service->files_mutex_);
  BT_RETURN_IF_ERROR(service->files_.Load());
  return service;
}

absl::StatusOr<std::unique_ptr<LockSession>> LocalLockService::OpenSession(
    LockSessionOptions options) {
  if (options.lease <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(
        Cat("lease is ", absl::FormatDuration(options.lease), "; it must be more than zero"));
  }
  options.lease = std::min(options.lease, kLongestLease);
  MutexLock lock(&mutex_);
  ExpireLeases();
  const auto session = std::make_shared<LocalSessionState>(++last_session_, std::move(options));
  sessions_.emplace(session->id, session);
  StartLease(session.get());
  // A thread that sleeps until the next lease ends may have to wake earlier for this one. (A
  // renewal never makes a lease end, or come into jeopardy, earlier.)
  for (const auto& [_, other] : sessions_) other->woken.SignalAll();
  return std::make_unique<LocalLockSession>(this, clock_, session);
}

std::vector<LocalLockService::SessionInfo> LocalLockService::Sessions() {
  MutexLock lock(&mutex_);
  ExpireLeases();
  std::vector<SessionInfo> infos;
  for (const auto& [id, session] : sessions_) {
    infos.push_back({id, session->owner, LeaseEnd(*session), locks_.HeldBy(id)});
  }
  return infos;
}

absl::Status LocalLockService::ExpireSession(uint64_t id) {
  MutexLock lock(&mutex_);
  ExpireLeases();
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return absl::NotFoundError(Cat("there is no session ", id));
  const std::shared_ptr<LocalSessionState> session = found->second;
  Lose(session.get());
  return absl::OkStatus();
}

void LocalLockService::ExpireLapsedSessions() {
  MutexLock lock(&mutex_);
  ExpireLeases();
}

absl::Status LocalLockService::KeepAlive(LocalSessionState* session) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  StartLease(session);
  if (std::exchange(session->in_jeopardy, false)) Notify(session, LockEventKind::kSessionSafe);
  return absl::OkStatus();
}

void LocalLockService::Close(LocalSessionState* session) {
  MutexLock lock(&mutex_);
  if (!session->lost.load(std::memory_order_relaxed)) Forget(session);
}

absl::Status LocalLockService::CheckSession(LocalSessionState* session) {
  MutexLock lock(&mutex_);
  return CheckLive(session);
}

void LocalLockService::ExpireLeases() {
  const absl::Time now = clock_->Now();
  std::vector<std::shared_ptr<LocalSessionState>> lapsed;
  for (const auto& [_, session] : sessions_) {
    if (LeaseEnd(*session) <= now) {
      lapsed.push_back(session);
    } else if (!session->in_jeopardy && JeopardyBegin(*session) <= now) {
      session->in_jeopardy = true;
      Notify(session.get(), LockEventKind::kSessionInJeopardy);
    }
  }
  for (const auto& session : lapsed) Lose(session.get());
}

absl::Status LocalLockService::CheckLive(LocalSessionState* session) {
  ExpireLeases();
  return session->lost.load(std::memory_order_relaxed) ? SessionIsLost(*session) : absl::OkStatus();
}

void LocalLockService::Lose(LocalSessionState* session) {
  // Before any other session can get one of its locks, or write a file that it has in its cache.
  session->lost.store(true, std::memory_order_release);
  session->cache.DropAll();
  Notify(session, LockEventKind::kSessionLost);
  Forget(session);
}

void LocalLockService::Forget(LocalSessionState* session) {
  for (const auto& [name, waiters] : locks_.ReleaseAll(session->id)) NotifyFree(name, waiters);
  sessions_.erase(session->id);  // the owner's object still has it
}

void LocalLockService::StartLease(LocalSessionState* session) {
  const absl::Time end =
      session->lease == kLongestLease ? absl::InfiniteFuture() : clock_->Now() + session->lease;
  session->lease_end.store(absl::ToUnixNanos(end), std::memory_order_release);
}

absl::Time LocalLockService::NextLeaseChange() const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [_, session] : sessions_) {
    next = std::min(next, session->in_jeopardy ? LeaseEnd(*session) : JeopardyBegin(*session));
  }
  return next;
}

// ---- Files.

absl::StatusOr<FileCache::Entry> LocalLockService::Fetch(LocalSessionState* session,
                                                         std::string_view name,
                                                         const CallLimits& limits) {
  const LimitedMutexLock files(&files_mutex_, &limits, "reading the lock service");
  BT_RETURN_IF_ERROR(files.status());
  BT_RETURN_IF_ERROR(CheckSession(session));
  return files_.Find(name);
}

absl::StatusOr<std::vector<std::string>> LocalLockService::List(LocalSessionState* session,
                                                                std::string_view directory,
                                                                const CallLimits& limits) {
  const LimitedMutexLock files(&files_mutex_, &limits, "reading the lock service");
  BT_RETURN_IF_ERROR(files.status());
  BT_RETURN_IF_ERROR(CheckSession(session));
  return files_.List(directory);
}

absl::StatusOr<Generation> LocalLockService::Write(LocalSessionState* session,
                                                   std::string_view name, std::string_view contents,
                                                   Generation expected, const CallLimits& limits) {
  const LimitedMutexLock files(&files_mutex_, &limits, "a change of the lock service");
  BT_RETURN_IF_ERROR(files.status());
  BT_RETURN_IF_ERROR(CheckSession(session));
  BT_ASSIGN_OR_RETURN(const Generation found, FindForChange(name, expected));
  BT_RETURN_IF_ERROR(CheckExpected(name, expected, found));
  if (found == kNoFile) BT_RETURN_IF_ERROR(files_.CheckParent(name));
  BT_ASSIGN_OR_RETURN(const Generation generation, files_.NextGeneration());
  DropFromCaches(name);
  const absl::Status written = files_.Write(name, contents, generation);
  NotifyWatchers(name, LockEventKind::kFileChanged, written.ok() ? generation : 0,
                 /*names_changed=*/found == kNoFile);
  BT_RETURN_IF_ERROR(written);
  return generation;
}

absl::Status LocalLockService::AwaitWrites(const CallLimits& limits) {
  const LimitedMutexLock files(&files_mutex_, &limits, "a change of the lock service");
  return files.status();
}

absl::Status LocalLockService::Remove(LocalSessionState* session, std::string_view name,
                                      Generation expected) {
  const LimitedMutexLock files(&files_mutex_);
  BT_RETURN_IF_ERROR(CheckSession(session));
  BT_ASSIGN_OR_RETURN(const Generation found, FindForChange(name, expected));
  if (found == kNoFile) return NoSuchFile(name);
  BT_RETURN_IF_ERROR(CheckExpected(name, expected, found));
  DropFromCaches(name);
  {
    // Before the file is removed, so that no session ever holds a lock on a file that does not
    // exist. If the removal then fails, the holder has lost the lock and may acquire it again.
    MutexLock lock(&mutex_);
    const LockTable::Dropped dropped = locks_.Drop(name);
    for (const auto& [id, generation] : dropped.holders) {
      Notify(sessions_.at(id).get(), LockEventKind::kLockLost, name, generation);
    }
    NotifyFree(name, dropped.waiters);
  }
  const absl::Status removed = files_.Remove(name);
  NotifyWatchers(name, removed.ok() ? LockEventKind::kFileRemoved : LockEventKind::kFileChanged, 0,
                 /*names_changed=*/true);
  return removed;
}

absl::StatusOr<Generation> LocalLockService::FindForChange(std::string_view name,
                                                           Generation expected) {
  const absl::StatusOr<FileCache::Entry> file = files_.Find(name);
  if (absl::IsDataLoss(file.status()) && expected == kAnyGeneration) {
    return SmallFiles::kUnknownGeneration;
  }
  BT_RETURN_IF_ERROR(file.status());
  return file->has_value() ? (*file)->generation : kNoFile;
}

void LocalLockService::DropFromCaches(std::string_view name) {
  MutexLock lock(&mutex_);
  for (const auto& [_, session] : sessions_) session->cache.Drop(name);
}

// ---- Locks.

absl::StatusOr<std::optional<LockSequencer>> LocalLockService::TryLock(LocalSessionState* session,
                                                                       std::string_view name,
                                                                       LockMode mode) {
  const LimitedMutexLock files(&files_mutex_);
  {
    MutexLock lock(&mutex_);
    BT_RETURN_IF_ERROR(CheckLive(session));
    if (const std::optional<LockSequencer> held = locks_.Held(name, session->id)) {
      if (held->mode == mode) return held;
      return absl::InvalidArgumentError(
          Cat("session ", session->id, " holds the lock of ", Quoted(name), " in the other mode"));
    }
    if (!locks_.IsFree(name, mode)) {
      locks_.Wait(name, session->id);
      return std::nullopt;
    }
  }
  BT_ASSIGN_OR_RETURN(const FileCache::Entry file, files_.Find(name));
  if (!file.has_value()) return NoSuchFile(name);
  BT_ASSIGN_OR_RETURN(const Generation generation, files_.NextGeneration());

  // Still free: files_mutex_ keeps other sessions from acquiring a lock.
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  return locks_.Acquire(name, mode, session->id, generation);
}

absl::Status LocalLockService::Unlock(LocalSessionState* session, std::string_view name) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  std::set<LockTable::SessionId> waiters;
  if (!locks_.Release(name, session->id, &waiters)) {
    return absl::NotFoundError(
        Cat("session ", session->id, " does not hold the lock of ", Quoted(name)));
  }
  NotifyFree(name, waiters);
  return absl::OkStatus();
}

absl::Status LocalLockService::CheckLock(LocalSessionState* session, std::string_view name) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  if (locks_.Held(name, session->id).has_value()) return absl::OkStatus();
  return absl::AbortedError(
      Cat("session ", session->id, " does not hold the lock of ", Quoted(name)));
}

absl::Status LocalLockService::CheckSequencer(LocalSessionState* session,
                                              const LockSequencer& sequencer) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  if (locks_.IsHeld(sequencer)) return absl::OkStatus();
  return absl::AbortedError(Cat("the lock of ", Quoted(sequencer.name), " with generation ",
                                sequencer.generation, " is not held any longer"));
}

// ---- Events.

absl::Status LocalLockService::Watch(LocalSessionState* session, std::string_view name,
                                     NameSet LocalSessionState::*names) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  (session->*names).emplace(name);
  return absl::OkStatus();
}

absl::Status LocalLockService::Unwatch(LocalSessionState* session, std::string_view name) {
  MutexLock lock(&mutex_);
  BT_RETURN_IF_ERROR(CheckLive(session));
  session->watched_files.erase(std::string(name));
  session->watched_directories.erase(std::string(name));
  return absl::OkStatus();
}

std::vector<LockEvent> LocalLockService::TakeEvents(LocalSessionState* session) {
  MutexLock lock(&mutex_);
  ExpireLeases();
  return session->events.Take();
}

bool LocalLockService::WaitForEvents(LocalSessionState* session, absl::Duration timeout) {
  const SteadyTime end = SteadyTime::Now() + timeout;
  MutexLock lock(&mutex_);
  while (true) {
    ExpireLeases();
    if (!session->events.empty() || session->lost.load(std::memory_order_relaxed)) return true;
    const absl::Duration left = end - SteadyTime::Now();
    if (left <= absl::ZeroDuration()) return false;
    // Prevents spinning if the clock stands still just before the end of a lease.
    const absl::Duration lease = std::max(NextLeaseChange() - clock_->Now(), absl::Milliseconds(1));
    session->woken.WaitFor(&mutex_, std::min(left, lease));
  }
}

void LocalLockService::NotifyWatchers(std::string_view name, LockEventKind kind,
                                      Generation generation, bool names_changed) {
  const std::string_view directory = LockDirectoryOf(name);
  MutexLock lock(&mutex_);
  for (const auto& [_, session] : sessions_) {
    if (session->watched_files.contains(name)) Notify(session.get(), kind, name, generation);
    if (names_changed && session->watched_directories.contains(directory)) {
      Notify(session.get(), LockEventKind::kDirectoryChanged, directory);
    }
  }
}

void LocalLockService::NotifyFree(std::string_view name,
                                  const std::set<LockTable::SessionId>& waiters) {
  for (const LockTable::SessionId id : waiters) {
    Notify(sessions_.at(id).get(), LockEventKind::kLockFree, name);
  }
}

void LocalLockService::Notify(LocalSessionState* session, LockEventKind kind, std::string_view name,
                              Generation generation) {
  session->events.Add(kind, name, generation);
  session->woken.SignalAll();
}

}  // namespace bigtable
