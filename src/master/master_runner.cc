#include "master/master_runner.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/time.h"

#include "base/retry_pause.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

absl::Status MasterRunner::Start() {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Master> master, CreateMaster(true));
  BT_RETURN_IF_ERROR(master->Begin());
  {
    MutexLock lock(&mutex_);
    master_ = master;
  }
  if (read_only_) return absl::OkStatus();
  BT_RETURN_IF_ERROR(cluster_->StartBackground([this] {
    progress_();
    cluster_->servers()->FenceLost();
    if (const std::shared_ptr<Master> present = Find()) present->Wake();
  }));
  BT_RETURN_IF_ERROR(master->StartThreads());
  BT_ASSIGN_OR_RETURN(fencer_, StartThread([this] { FenceLoop(); }));
  BT_ASSIGN_OR_RETURN(deleter_, StartThread([this] { DeleteLoop(); }));
  BT_ASSIGN_OR_RETURN(starter_, StartThread([this] { StartLoop(); }));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::CreateMaster(bool opening) {
  Master::Options options;
  options.opening = opening;
  options.on_step = [this] {
    std::function<void()> on_step;
    {
      MutexLock lock(&mutex_);
      on_step = on_step_;
    }
    if (on_step) on_step();
  };
  return Master::Create(cluster_, std::move(options));
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::BeginNext() {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Master> master, CreateMaster(false));
  auto owned = std::make_unique<Beginning>();
  Beginning* const beginning = owned.get();
  beginning->master = std::move(master);
  BT_ASSIGN_OR_RETURN(beginning->thread, StartThread([this, beginning] { Begin(beginning); }));
  beginnings_.push_back(std::move(owned));
  MutexLock lock(&mutex_);
  while (beginning->master != nullptr) {
    if (!beginning->master->active()) {
      return absl::UnavailableError("a master lost its lock before it had begun");
    }
    changed_.WaitFor(&mutex_, absl::Milliseconds(20));
  }
  return std::exchange(beginning->begun, absl::UnavailableError("it was taken"));
}

void MasterRunner::Begin(Beginning* beginning) {
  std::shared_ptr<Master> master;
  {
    MutexLock lock(&mutex_);
    master = beginning->master;
  }
  const absl::Status begun = master->Begin();
  const bool is_active = master->active();
  {
    MutexLock lock(&mutex_);
    beginning->master.reset();
    if (!begun.ok()) {
      beginning->begun = begun;
    } else if (is_active) {
      beginning->begun = std::move(master);
    }
    changed_.SignalAll();
  }
  master.reset();  // its threads may have to wait for the next master
  MutexLock lock(&mutex_);
  beginning->is_over = true;
  changed_.SignalAll();
}

void MasterRunner::EndBeginnings(bool all) {
  for (const std::unique_ptr<Beginning>& beginning : beginnings_) {
    {
      MutexLock lock(&mutex_);
      while (all && !beginning->is_over) changed_.Wait(&mutex_);
      if (!beginning->is_over) continue;
    }
    beginning->thread.join();
    // A master that had begun after the starting thread stopped waiting for it.
    beginning->begun = absl::UnavailableError("it is over");
  }
  std::erase_if(beginnings_, [](const auto& beginning) { return !beginning->thread.joinable(); });
}

// --- The threads ---

void MasterRunner::StartLoop() {
  RetryPause pause(absl::Seconds(1));
  while (true) {
    EndBeginnings(false);
    {
      MutexLock lock(&mutex_);
      // Polled, since no thread can wait for the end of the session and of the runner at once.
      while (!stopping_ && master_ != nullptr && master_->active()) {
        changed_.WaitFor(&mutex_, absl::Milliseconds(20));
      }
      if (stopping_) return;
      if (master_ != nullptr) {
        retired_.push_back(std::move(master_));
        changed_.SignalAll();
      }
    }
    absl::StatusOr<std::shared_ptr<Master>> next = BeginNext();
    if (next.ok()) {
      if (const absl::Status started = (*next)->StartThreads(); !started.ok()) next = started;
    }
    if (next.ok()) {
      info_log_->Info("a new master has begun");
    } else {
      info_log_->Warning("there is no master: ", ToStd(next.status().message()));
    }
    MutexLock lock(&mutex_);
    if (next.ok()) {
      pause.Succeeded();
      ABSL_ASSERT(master_ == nullptr && "the last master was retired");
      master_ = *std::move(next);
      changed_.SignalAll();
      continue;
    }
    ++failures_;
    last_failure_ = next.status();
    changed_.SignalAll();
    pause.Failed(NowNanos());
    // The first retries follow soon, because callers wait for a master.
    const absl::Duration wait =
        pause.failures() <= 5 ? absl::Milliseconds(5) : pause.Left(NowNanos());
    if (!stopping_) changed_.WaitFor(&mutex_, wait);
  }
}

std::vector<std::shared_ptr<Master>> MasterRunner::TakeRetired() {
  const auto unused = std::partition(retired_.begin(), retired_.end(),
                                     [](const auto& master) { return master.use_count() > 1; });
  std::vector<std::shared_ptr<Master>> taken(std::make_move_iterator(unused),
                                             std::make_move_iterator(retired_.end()));
  retired_.erase(unused, retired_.end());
  return taken;
}

void MasterRunner::DeleteLoop() {
  while (true) {
    std::vector<std::shared_ptr<Master>> unused;  // deleted after the lock is released
    MutexLock lock(&mutex_);
    if (stopping_) return;
    unused = TakeRetired();
    // The end of a call is not announced, so it is polled.
    if (unused.empty()) {
      changed_.WaitFor(&mutex_, retired_.empty() ? absl::Seconds(10) : absl::Milliseconds(10));
    }
  }
}

void MasterRunner::FenceLoop() {
  while (true) {
    cluster_->servers()->FenceLost();
    progress_();
    MutexLock lock(&mutex_);
    if (stopped_) return;
    changed_.WaitFor(&mutex_, absl::Milliseconds(100));
    if (stopped_) return;
  }
}

// --- For callers ---

std::shared_ptr<Master> MasterRunner::Find() const {
  MutexLock lock(&mutex_);
  return master_;
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::Get(const CallLimits& limits) {
  return Await(limits, End::kWhenClosing);
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::Await(const CallLimits& limits, End end) {
  MutexLock lock(&mutex_);
  const uint64_t failures = failures_;
  while (master_ == nullptr || (!master_->active() && !stopping_)) {
    BT_RETURN_IF_ERROR(limits.Check());
    if (stopping_ || (end == End::kWhenClosing && closing_->is_closing)) {
      return absl::FailedPreconditionError("the database is being closed");
    }
    if (failures_ != failures && !absl::IsUnavailable(last_failure_)) return last_failure_;
    // A cancellation is not announced, so it is polled.
    changed_.WaitFor(&mutex_, absl::Milliseconds(10));
  }
  return master_;
}

void MasterRunner::SetOnStep(std::function<void()> on_step) {
  MutexLock lock(&mutex_);
  on_step_ = std::move(on_step);
}

// --- Ending ---

void MasterRunner::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  if (starter_.joinable()) starter_.join();
  EndBeginnings(true);
  if (deleter_.joinable()) deleter_.join();
  if (const std::shared_ptr<Master> master = Find()) {
    master->BeginStopThreads();
    // Whatever they wait for ends early.
    cluster_->StopBackground();
    master->StopThreads();
    master->FinishThreads();
  } else {
    cluster_->BeginEnding();
    cluster_->StopBackground();
  }
  std::vector<std::shared_ptr<Master>> retired;
  {
    MutexLock lock(&mutex_);
    retired = std::move(retired_);
  }
  retired.clear();
  {
    MutexLock lock(&mutex_);
    stopped_ = true;
    changed_.SignalAll();
  }
  if (fencer_.joinable()) fencer_.join();
}

void MasterRunner::Abandon() {
  Stop();
  std::shared_ptr<Master> last;  // destroyed without the mutex
  MutexLock lock(&mutex_);
  last = std::move(master_);
}

absl::Status MasterRunner::Shutdown() {
  if (read_only_) {
    Stop();
    return absl::OkStatus();
  }
  // Waits for a master that has its lock, because replacing servers needs one.
  const absl::Status started = Await({}, End::kWhenStopped).status();
  Stop();
  BT_RETURN_IF_ERROR(started);
  absl::Status status = absl::UnavailableError("there is no master");
  if (const std::shared_ptr<Master> master = Find()) status = master->assignment()->ReplaceAll();
  std::shared_ptr<Master> last;
  {
    MutexLock lock(&mutex_);
    last = std::move(master_);
  }
  last.reset();  // without the mutex, which its steps take; releases its lock
  return status;
}

}  // namespace bigtable
