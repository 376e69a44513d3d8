#include "master/master_runner.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status MasterRunner::Start() {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Master> master, StartMaster(true));
  const bool read_only = cluster_->options().read_only;
  {
    MutexLock lock(&mutex_);
    master_ = master;
  }
  if (read_only) return absl::OkStatus();
  cluster_->StartBackground([this] {
    progress_();
    // Here, too: the master's threads may be waiting for something.
    std::shared_ptr<Master> starting;
    {
      MutexLock lock(&mutex_);
      starting = starting_;
    }
    if (starting != nullptr) starting->SealLostServers();
    if (const std::shared_ptr<Master> present = Find()) {
      present->SealLostServers();
      present->Wake();
    }
  });
  master->StartThreads();
  thread_ = std::thread([this] { Loop(); });
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::StartMaster(bool opening) {
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
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Master> master, Master::Create(cluster_, std::move(options)));
  {
    MutexLock lock(&mutex_);
    starting_ = master;
  }
  const absl::Status begun = master->Begin();
  {
    MutexLock lock(&mutex_);
    starting_ = nullptr;
  }
  if (begun.ok()) return master;
  // It has to be gone before another one can have its lock. A thread of the background may be
  // looking at it, but not for long.
  while (master.use_count() > 1) absl::SleepFor(absl::Microseconds(100));
  return begun;
}

void MasterRunner::Loop() {
  constexpr absl::Duration kInterval = absl::Milliseconds(50);
  while (true) {
    std::shared_ptr<Master> master = Find();
    if (master != nullptr && master->active()) {
      // Ends early when the session is lost.
      master->session()->WaitForEvents(kInterval);
      master->session()->TakeEvents();
    }
    {
      MutexLock lock(&mutex_);
      if (stopping_) return;
      if (master_ != nullptr && !master_->active()) retired_.push_back(std::move(master_));
    }
    master.reset();
    progress_();
    if (Find() != nullptr) {
      // Only now: what the threads of an earlier one wait for this one brings about.
      DeleteRetired();
      continue;
    }
    absl::StatusOr<std::shared_ptr<Master>> next = StartMaster(false);
    if (!next.ok()) {
      cluster_->info_log()->Warning("there is no master: ", ToStd(next.status().message()));
      MutexLock lock(&mutex_);
      if (!stopping_) changed_.WaitFor(&mutex_, absl::Milliseconds(5));
      continue;
    }
    (*next)->StartThreads();
    cluster_->info_log()->Info("another master has begun");
    MutexLock lock(&mutex_);
    master_ = *std::move(next);
    changed_.SignalAll();
  }
}

void MasterRunner::DeleteRetired() {
  std::vector<std::shared_ptr<Master>> gone;  // deleted after the lock is
  MutexLock lock(&mutex_);
  const auto kept = std::partition(retired_.begin(), retired_.end(),
                                   [](const auto& master) { return master.use_count() > 1; });
  std::move(kept, retired_.end(), std::back_inserter(gone));
  retired_.erase(kept, retired_.end());
}

std::shared_ptr<Master> MasterRunner::Find() const {
  MutexLock lock(&mutex_);
  return master_;
}

absl::StatusOr<std::shared_ptr<Master>> MasterRunner::Get(const CallLimits& limits) {
  MutexLock lock(&mutex_);
  while (master_ == nullptr || (!master_->active() && !stopping_)) {
    BT_RETURN_IF_ERROR(limits.Check());
    if (stopping_) return absl::FailedPreconditionError("the database is being closed");
    // A cancellation is not announced, so it is looked for.
    changed_.WaitFor(&mutex_, absl::Milliseconds(10));
  }
  return master_;
}

void MasterRunner::SetOnStep(std::function<void()> on_step) {
  MutexLock lock(&mutex_);
  on_step_ = std::move(on_step);
}

void MasterRunner::Stop() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  if (const std::shared_ptr<Master> master = Find()) {
    std::thread stopper([&] { master->StopThreads(); });
    // What it may be waiting for ends early.
    cluster_->StopBackground();
    stopper.join();
    master->FinishThreads();
  } else {
    cluster_->StopBackground();
  }
  DeleteRetired();
}

absl::Status MasterRunner::Shutdown() {
  if (cluster_->options().read_only) {
    Stop();
    return absl::OkStatus();
  }
  // With a master that has its lock: it is needed to replace servers.
  BT_RETURN_IF_ERROR(Get({}).status());
  Stop();
  absl::Status status = absl::UnavailableError("there is no master");
  if (const std::shared_ptr<Master> master = Find()) status = master->ReplaceAll();
  MutexLock lock(&mutex_);
  master_.reset();  // frees its lock
  return status;
}

}  // namespace bigtable
