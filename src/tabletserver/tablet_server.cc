#include "tabletserver/tablet_server.h"

#include <utility>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "cache/scan_cache.h"
#include "commitlog/commit_log.h"
#include "commitlog/log_directory.h"
#include "tablet/group_statistics.h"

namespace bigtable {
namespace {

absl::StatusOr<std::shared_ptr<CommitLog>> CreateLog(const TabletServerOptions& server,
                                                     const TabletEnvironment& environment,
                                                     const std::string& directory) {
  CommitLogOptions options;
  options.segment_size = server.log_segment_size;
  // The segments that a flushed memtable releases serve the next memtable, without new pages.
  options.max_free_segments = environment.memtable_size() / server.log_segment_size + 2;
  options.budget = environment.budget;
  absl::StatusOr<std::unique_ptr<CommitLog>> created =
      CommitLog::Create(environment.file_system, directory, options);
  // Nothing names it yet. The next opening sweeps what cannot be removed here.
  if (!created.ok() && !absl::IsAlreadyExists(created.status())) {
    RemoveLog(environment.file_system, directory).IgnoreError();
  }
  return created;
}

}  // namespace

TabletServer::TabletServer(const TabletServerOptions& options, TabletEnvironment environment,
                           SequenceSource* sequences, InfoLog* info_log, std::function<void()> wake)
    : options_(options),
      environment_(std::move(environment)),
      sequences_(sequences),
      tracks_writes_(environment_.last_writes != nullptr),
      wake_(std::move(wake)),
      state_(wake_),
      error_(&environment_, info_log),
      log_(&environment_, &tablets_, &visible_, &state_),
      flush_sync_(&environment_, &tablets_, &log_, &error_, options.batches),
      writer_({.environment = &environment_,
               .sequences = sequences,
               .state = &state_,
               .error = &error_,
               .log = &log_,
               .rotation = &rotation_,
               .visible = &visible_,
               .counters = &counters_,
               .batches = options.batches},
              options.log_limit, wake_),
      rotation_(&environment_, &tablets_, &log_, &visible_, writer_.queue(), wake_) {
  environment_.sequences = sequences;
  environment_.most_memtable_size = options.most_memtable_size;
  environment_.visible = [this] { return visible(); };
  environment_.sync_log = [this](absl::Span<const ImmutableMemtables> flushed) {
    return flush_sync_.SyncFor(flushed);
  };
}

absl::Status TabletServer::Start(std::string name, const std::string& directory,
                                 LockService* lock_service, absl::Duration lease) {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<CommitLog> log, CreateLog(options_, environment_, directory));
  std::unique_ptr<ServerLock> lock;
  if (lock_service != nullptr) {
    BT_ASSIGN_OR_RETURN(lock, ServerLock::Create(lock_service, name, lease));
  }
  // Only now: what is flushed before this is of other servers' logs, and no redo point in this one.
  environment_.server = std::move(name);
  state_.Begin(std::move(lock));
  server_writer.Assume("the server has no log, so nothing is written to it");
  log_.Use(std::move(log));
  return absl::OkStatus();
}

void TabletServer::WaitForEnd() {
  writer_.queue()->RunExclusive([] {});  // after all that are in the queue
  log_.WaitForUpkeep();
}

// --- Tablets ---

void TabletServer::AddTablet(std::shared_ptr<Tablet> tablet) {
  MutexLock lock(rotation_.mutex());
  rotation_.Add(tablet);
  tablets_.Add(std::move(tablet));
}

void TabletServer::RemoveTablet(const TabletId& id) {
  writer_.queue()->RunExclusive([&] {
    writer_.queue()->AssertInTurn();
    MutexLock lock(rotation_.mutex());
    const std::shared_ptr<Tablet> removed = tablets_.RemoveDeleted(id);
    if (removed != nullptr) rotation_.RemoveDeleted(*removed);
  });
}

void TabletServer::ForgetTablet(const Tablet& tablet) {
  MutexLock lock(rotation_.mutex());
  rotation_.Remove(tablet);
  tablets_.Remove(tablet);
}

void TabletServer::SplitTablet(const std::shared_ptr<Tablet>& tablet, std::string_view row,
                               absl::FunctionRef<void(const Tablet::Halves&)> publish) {
  writer_.queue()->RunExclusive([&] {
    writer_.queue()->AssertInTurn();
    Tablet::Halves halves;
    {
      MutexLock lock(rotation_.mutex());
      halves = rotation_.Split(tablet.get(), row);
      halves.left->counters()->Inherit(*tablet->counters());
      tablets_.Replace(*tablet, halves);
    }
    publish(halves);
  });
  wake_();
}

absl::Status TabletServer::StopTablet(Tablet* tablet, const CallLimits& limits) {
  const auto stop = [&] {
    writer_.queue()->AssertInTurn();
    tablet->flags().SetStopped(true);
    MutexLock lock(rotation_.mutex());
    rotation_.Rotate(tablet->shared_from_this());
  };
  return writer_.queue()->RunExclusive(stop, limits);
}

void TabletServer::SetLayout(Tablet* tablet, const std::shared_ptr<const TableLayout>& layout) {
  writer_.queue()->RunExclusive([&] {
    writer_.queue()->AssertInTurn();
    tablet->SetLayout(layout, visible());
    // All mutations before a change of a rule have been applied by now. So reads and compactions
    // find that the change has come, even if nothing is written after it.
    if (!state_.ended()) visible_.Advance(layout->LastChange());
    OutdateReads();
  });
}

absl::Status TabletServer::DropMemtables(Tablet* tablet, const CallLimits& limits) {
  const auto drop = [&] {
    writer_.queue()->AssertInTurn();
    tablet->DropMemtables(visible());
  };
  return writer_.queue()->RunExclusive(drop, limits);
}

void TabletServer::AdvanceVisible(SequenceNumber sequence) {
  writer_.queue()->RunExclusive([&] {
    writer_.queue()->AssertInTurn();
    // The number of a server that has ended is final: mutations above it were never acknowledged.
    if (!state_.ended()) visible_.Advance(sequence);
    OutdateReads();
  });
}

absl::Status TabletServer::BeginTracking(const CallLimits& limits) {
  const auto begin = [&] {
    if (environment_.last_writes == nullptr) {
      environment_.last_writes =
          std::make_shared<LastWrites>(environment_.budget, options_.write_groups);
      OutdateReads();
    }
    tracks_writes_.store(true, std::memory_order_release);
  };
  return writer_.queue()->RunExclusive(begin, limits);
}

// A number of its own, and not the last visible one: that is the read sequence of reads from before
// the change, too.
void TabletServer::OutdateReads() {
  writer_.queue()->AssertInTurn();
  if (environment_.last_writes == nullptr || state_.ended()) return;
  sequences_->AdvanceTo(visible_.get());
  const SequenceNumber floor = sequences_->Take(1);
  visible_.Advance(floor);
  environment_.last_writes->RaiseFloor(floor);
}

// --- Statistics ---

TabletServerStatistics TabletServer::Statistics() const {
  TabletServerStatistics statistics;
  statistics.rows_written = writer_.rows_written();
  statistics.writes = writer_.queue().requests();
  statistics.write_groups = writer_.queue().groups();
  const CommitLog::Statistics log = log_.statistics();
  statistics.log_records = log.records;
  statistics.log_bytes_written = log.bytes;
  statistics.log_syncs = log.syncs;
  statistics.log_stalls = log.stalls;
  statistics.log_switches = log.switches;
  statistics.log_segments_created = log.segments_created;
  statistics.log_segments_reused = log.segments_reused;
  statistics.log_bytes_live = log_.LiveBytes();
  statistics.queue_wait = counters_.queue_wait.Read();
  statistics.log_append = counters_.log_append.Read();
  statistics.memtable_apply = counters_.memtable_apply.Read();
  statistics.log_sync = counters_.log_sync.Read();
  statistics.minor = counters_.minor.Read();
  statistics.merging = counters_.merging.Read();
  statistics.minor_compaction = counters_.minor_compaction.Read();
  statistics.merging_compaction = counters_.merging_compaction.Read();
  for (const std::shared_ptr<Tablet>& tablet : tablets_.All()) {
    TabletStatistics& of_tablet = statistics.tablets.emplace_back();
    tablet->counters()->Read(&of_tablet);
    const Pin<TabletVersion> version = tablet->Version();
    of_tablet.table = version->layout().name;
    of_tablet.rows = tablet->rows();
    for (const GroupVersion& group : version->groups()) {
      AddGroup(group, tablet->estimates(), &of_tablet.size);
    }
  }
  return statistics;
}

absl::Status TabletServer::StartFreshLogSegment(const CallLimits& limits) {
  const std::shared_ptr<CommitLog> log = log_.Get();
  if (log == nullptr) return absl::OkStatus();
  absl::Status status;
  const auto start = [&] {
    writer_.queue()->AssertInTurn();
    if (state_.ended()) return;
    status = log_.StartNextSegment();
    // Otherwise Resume would not know that the log has to start anew. If it is the sync of another
    // thread that has made the log fail meanwhile, that thread reports it.
    if (!status.ok() && log->failed()) error_.Set(status);
  };
  const SteadyTime end = SteadyTime::Now() + 4 * log->StallTimeout(absl::ZeroDuration());
  const auto pause = [&]() -> absl::Status {
    BT_RETURN_IF_ERROR(limits.Check());
    if (SteadyTime::Now() >= end) {
      return absl::UnavailableError(Cat("the log of server ", name(),
                                        " stalls; it may still have the bytes of deleted data"));
    }
    absl::SleepFor(absl::Milliseconds(1));
    return absl::OkStatus();
  };
  while (true) {
    BT_ASSIGN_OR_RETURN(const bool is_prepared, log_.PrepareFreshSpare(limits));
    if (is_prepared) break;
    BT_RETURN_IF_ERROR(pause());
  }
  // A turn among writes that make progress is short; one after a stalled call has no bound.
  GroupCommit* const queue = writer_.queue();
  const uint64_t turns = queue->turns();
  while (!queue->TryRunExclusive(start)) {
    if (queue->turns() != turns) {
      BT_RETURN_IF_ERROR(queue->RunExclusive(start, limits));
      break;
    }
    BT_RETURN_IF_ERROR(pause());
  }
  return status;
}

// --- Resume ---

absl::Status TabletServer::BeginResume(const CallLimits& limits) {
  error_.BeginResume();
  return rotation_.RotateEverything(limits);
}

absl::Status TabletServer::FinishResume(const CallLimits& limits) {
  if (environment_.attest_commits) BT_RETURN_IF_ERROR(environment_.attest_commits(limits));
  absl::Status status;
  const auto finish = [&] {
    writer_.queue()->AssertInTurn();
    if (state_.ended()) {
      // The server that takes over reads the log.
      status = absl::UnavailableError(Cat("server ", name(), " has lost its lock"));
      return;
    }
    if (log_.started()) status = log_.StartNewSegment(limits);
    if (status.ok()) error_.Clear();
  };
  BT_RETURN_IF_ERROR(writer_.queue()->RunExclusive(finish, limits));
  return status;
}

}  // namespace bigtable
