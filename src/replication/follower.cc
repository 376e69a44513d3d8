#include "bigtable/follower.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"

#include "backend/option_limits.h"
#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "cluster/directory.h"
#include "cluster/open_directory.h"
#include "filesystem/posix_file_system.h"
#include "replication/follower_table.h"
#include "replication/replica.h"

namespace bigtable {

static_assert(HasCallOptions<PromoteOptions>);

// The thread of a follower, which makes one pass after the other.
class FollowerThread {
 public:
  FollowerThread(std::unique_ptr<Database> own, const DatabaseDirectory& directory,
                 Database* source, FollowerOptions options)
      : options_(std::move(options)),
        own_(std::move(own)),
        replica_(source, own_.get(), directory, options_.database.file_system, &options_) {}
  ~FollowerThread() { Close().IgnoreError(); }

  // The first pass only begins with the tables: what is wrong with them is an error of the opening.
  absl::Status Begin() {
    BT_RETURN_IF_ERROR(replica_.FindAll());
    return Start();
  }

  Database* database() const { return own_.get(); }

  absl::Status CatchUp(const CallLimits& limits) {
    MutexLock lock(&mutex_);
    if (!is_running_) return absl::FailedPreconditionError("the follower was closed");
    // A pass that has begun before may not have everything.
    const uint64_t wanted = begun_ + 1;
    is_asked_ = true;
    changed_.SignalAll();
    while (succeeded_ < wanted) {
      BT_RETURN_IF_ERROR(limits.Check("Follower::CatchUp"));
      if (!is_running_) return absl::FailedPreconditionError("the follower was closed");
      if (failed_ >= wanted && !MayPass(status_)) return status_;
      changed_.WaitFor(&mutex_, limits.MostSleep());
    }
    return absl::OkStatus();
  }

  FollowerStatistics Statistics() const {
    FollowerStatistics statistics{.changes_applied = replica_.changes_applied(),
                                  .bytes_applied = replica_.bytes_applied()};
    MutexLock lock(&mutex_);
    statistics.complete_through = complete_through_;
    statistics.status = status_;
    if (complete_through_ != absl::InfinitePast()) {
      statistics.lag = std::max(absl::ZeroDuration(), absl::Now() - complete_through_);
    }
    return statistics;
  }

  absl::StatusOr<std::unique_ptr<Database>> Promote(const PromoteOptions& options) {
    const CallLimits limits = LimitsOf(options);
    const bool fences = !options.fence_directory.empty();
    if (fences) {
      BT_RETURN_IF_ERROR(FenceDatabase(options.fence_directory, options.file_system));
    }
    Stop();
    absl::Status last =
        WasPromoted() ? absl::OkStatus() : replica_.Pass(Replica::Looks::kNow, limits);
    if (last.ok() || (!fences && limits.Check().ok())) last = EndFollowing(options);
    if (!last.ok()) {
      if (!WasPromoted()) BT_RETURN_IF_ERROR(Start());
      return last;
    }
    return std::move(own_);
  }

  absl::Status Close() {
    Stop();
    return own_ != nullptr ? std::exchange(own_, nullptr)->Close() : absl::OkStatus();
  }

 private:
  // Whether it may go away by itself.
  static bool MayPass(const absl::Status& status) {
    return !absl::IsOutOfRange(status) && !absl::IsFailedPrecondition(status) &&
           !absl::IsInvalidArgument(status) && !absl::IsNotFound(status) &&
           !absl::IsPermissionDenied(status);
  }

  // An earlier call of Promote has failed after it had deleted the table.
  bool WasPromoted() const {
    return absl::IsNotFound(own_->OpenTable(FollowerTable::kName).status());
  }
  // From here on nothing is followed again that a loss of power takes.
  absl::Status EndFollowing(const PromoteOptions& promotion) {
    const CallOptions limits{.deadline = promotion.deadline,
                             .cancellation = promotion.cancellation};
    if (options_.database.durability != Durability::kSync) {
      BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, own_->ListTables(limits));
      for (const std::string& name : names) BT_RETURN_IF_ERROR(own_->Flush(name, limits));
    }
    const absl::Status deleted = own_->DeleteTable(FollowerTable::kName, limits);
    return absl::IsNotFound(deleted) ? absl::OkStatus() : deleted;
  }

  absl::Status Start() {
    {
      MutexLock lock(&mutex_);
      is_running_ = true;
      is_ending_ = false;
    }
    absl::StatusOr<std::thread> thread = StartThread([this] { Loop(); });
    if (!thread.ok()) {
      MutexLock lock(&mutex_);
      is_running_ = false;
      return thread.status();
    }
    thread_ = *std::move(thread);
    return absl::OkStatus();
  }
  void Stop() {
    is_ending_ = true;
    {
      MutexLock lock(&mutex_);
      changed_.SignalAll();
    }
    if (thread_.joinable()) thread_.join();
    MutexLock lock(&mutex_);
    is_running_ = false;
    changed_.SignalAll();
  }

  void Loop() {
    constexpr absl::Duration kLongestPause = absl::Seconds(5);
    absl::Duration pause = options_.interval;
    while (!is_ending_) {
      uint64_t pass;
      Replica::Looks looks;
      {
        MutexLock lock(&mutex_);
        pass = ++begun_;
        looks = std::exchange(is_asked_, false) ? Replica::Looks::kNow : Replica::Looks::kSometimes;
      }
      const absl::Time began = absl::Now();
      const uint64_t before = replica_.changes_applied();
      const absl::Status passed = replica_.Pass(looks, {.given_up = &is_ending_});
      MutexLock lock(&mutex_);
      if (is_ending_) return;
      status_ = passed;
      if (passed.ok()) {
        succeeded_ = pass;
        complete_through_ = std::max(complete_through_, began);
        pause = options_.interval;
      } else {
        failed_ = pass;
        pause = std::min(kLongestPause, 2 * pause + absl::Milliseconds(10));
      }
      changed_.SignalAll();
      // While there is much to apply, there is no pause.
      if (passed.ok() && replica_.changes_applied() != before) continue;
      if (!is_ending_ && !is_asked_) changed_.WaitFor(&mutex_, pause);
    }
  }

  const FollowerOptions options_;
  std::unique_ptr<Database> own_;
  Replica replica_;  // of the thread, while it runs
  std::thread thread_;
  std::atomic<bool> is_ending_{false};
  mutable Mutex mutex_;
  CondVar changed_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_asked_ ABSL_GUARDED_BY(mutex_) = false;
  // Passes are numbered: the last that has begun, succeeded and failed.
  uint64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t succeeded_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time complete_through_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

Follower::Follower(std::unique_ptr<FollowerThread> thread) : thread_(std::move(thread)) {}
Follower::~Follower() = default;

absl::StatusOr<std::unique_ptr<Follower>> Follower::Open(std::string_view path, Database* source,
                                                         const FollowerOptions& options) {
  if (source == nullptr) return absl::InvalidArgumentError("there is no database to follow");
  if (options.interval <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(Cat("FollowerOptions::interval is ",
                                          absl::FormatDuration(options.interval),
                                          ", and must be positive"));
  }
  if (options.database.durability == Durability::kNone) {
    return absl::InvalidArgumentError(
        "FollowerOptions::database has durability kNone, and a follower needs a log: what it has "
        "applied is written together with the mutations");
  }
  FollowerOptions checked = options;
  if (checked.database.file_system == nullptr) checked.database.file_system = FileSystem::Posix();
  const DatabaseDirectory directory(path);
  // What cannot be followed leaves no empty database behind.
  DatabaseOptions existing = checked.database;
  existing.create_if_missing = false;
  if (absl::IsNotFound(CheckDirectory(directory, existing))) {
    BT_RETURN_IF_ERROR(Replica::CheckBeginsEmpty(source, checked));
  }
  BT_ASSIGN_OR_RETURN(std::unique_ptr<Database> own, Database::Open(path, checked.database));
  auto thread =
      std::make_unique<FollowerThread>(std::move(own), directory, source, std::move(checked));
  BT_RETURN_IF_ERROR(thread->Begin());
  return std::unique_ptr<Follower>(new Follower(std::move(thread)));
}

Database* Follower::database() const { return thread_->database(); }
absl::Status Follower::CatchUp(const CallOptions& options) {
  return thread_->CatchUp(LimitsOf(options));
}
FollowerStatistics Follower::Statistics() const { return thread_->Statistics(); }
absl::StatusOr<std::unique_ptr<Database>> Follower::Promote(const PromoteOptions& options) {
  return thread_->Promote(options);
}
absl::Status Follower::Close() { return thread_->Close(); }

absl::Status FenceDatabase(std::string_view directory, FileSystem* file_system) {
  if (file_system == nullptr) file_system = FileSystem::Posix();
  return FenceDirectory(DatabaseDirectory(directory), file_system);
}

}  // namespace bigtable
