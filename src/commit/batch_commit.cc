#include "commit/batch_commit.h"

#include <algorithm>
#include <functional>
#include <new>

#include "absl/base/macros.h"

#include "base/status.h"
#include "base/strings.h"
#include "commit/read_check.h"
#include "commit/server_turns.h"
#include "monitoring/thread_calls.h"
#include "read/row_ranges.h"
#include "rpc/row_conflict.h"

namespace bigtable {

// --- The turns ---

bool BatchCommit::Run(absl::Span<Write* const> writes, const CallLimits& limits,
                      absl::Duration stall_timeout) {
  writes_.assign(writes.begin(), writes.end());
  servers_.clear();
  sync_status_ = absl::OkStatus();
  std::vector<GroupWriter*> servers;
  for (const Write* const write : writes_) {
    for (const BatchMutation& mutation : write->request.mutations) {
      if (servers.empty() || servers.back() != mutation.server) servers.push_back(mutation.server);
    }
    for (const BatchRead& read : write->request.reads) servers.push_back(read.server);
  }
  std::sort(servers.begin(), servers.end(), std::less<>());
  servers.erase(std::unique(servers.begin(), servers.end()), servers.end());
  ABSL_ASSERT(!servers.empty() && "a batch without servers has no turn");
  for (GroupWriter* const server : servers) servers_.push_back({.writer = server});
  // An exception would leave a part of the batches behind, of which others wait for the rest.
  return RunInTurns(
      servers, limits, stall_timeout, [&]() noexcept { CommitInTurns(); }, &awaited_);
}

void BatchCommit::CommitInTurns() {
  for (const Server& server : servers_) server.writer->queue()->AssertInTurn();
  server_writer.Assume("this thread has a turn at each of the servers");
  for (Write* const write : writes_) {
    write->status = Check(write);
    write->is_done = write->superseded.has_value() || !write->status.ok();
    if (!write->is_done) LogIfMemory(write);
  }
  Secure();
  FailBatches();
  for (Write* const write : writes_) {
    if (write->is_done) continue;
    ApplyToMemtables(*write);
    if (write->request.committed != nullptr) {
      *write->request.committed = write->parts.back().last;
    }
  }
  Publish();
  for (const Write* const write : writes_) {
    if (write->is_done) continue;
    const Tablet* last = nullptr;  // most mutations are of the same tablet as the one before
    for (const BatchMutation& mutation : write->request.mutations) {
      if (std::exchange(last, mutation.tablet) == mutation.tablet) continue;
      mutation.server->parts().rotation->RotateFull(mutation.tablet);
    }
  }
  for (const Server& server : servers_) {
    if (server.applied != 0) server.writer->LimitLog();
  }
}

// --- Checking ---

absl::Status BatchCommit::Check(Write* write) const {
  BT_RETURN_IF_ERROR(write->request.limits.Check("the batch"));
  for (size_t i = 0; i < write->request.mutations.size(); ++i) {
    const BatchMutation& mutation = write->request.mutations[i];
    bool superseded;
    BT_RETURN_IF_ERROR(mutation.server->CheckInTurn(*mutation.tablet, mutation.layout,
                                                    mutation.mutation, &superseded));
    if (!superseded) continue;
    write->superseded = i;
    return absl::OkStatus();
  }
  return CheckReads(write);
}

absl::Status BatchCommit::CheckReads(Write* write) const {
  const absl::Span<const BatchRead> reads = write->request.reads;
  for (size_t i = 0; i < reads.size(); ++i) {
    const Tablet& tablet = *reads[i].tablet;
    const ServingState& state = *reads[i].server->parts().state;
    if (tablet.flags().stopped() || !state.serving()) {
      state.RequestRenewal();
      write->superseded = write->request.mutations.size() + i;
      return absl::OkStatus();
    }
    const RowRange& rows = *reads[i].rows;
    const SequenceNumber since = reads[i].since;
    const bool is_written = IsSingleRow(rows) ? MayBeWrittenSince(tablet, rows.begin(), since)
                                              : MayBeWrittenSince(tablet, rows, since);
    if (is_written || tablet.flags().removed() || IsWrittenBefore(*write, reads[i])) {
      return ConflictError();
    }
  }
  return absl::OkStatus();
}

bool BatchCommit::IsWrittenBefore(const Write& write, const BatchRead& read) const {
  for (const Write* const earlier : writes_) {
    if (earlier == &write) return false;
    if (earlier->is_done) continue;
    for (const BatchMutation& mutation : earlier->request.mutations) {
      if (mutation.tablet == read.tablet && read.rows->Contains(mutation.mutation.row)) return true;
    }
  }
  return false;
}

// --- Logging ---

void BatchCommit::LogIfMemory(Write* write) {
  try {
    Log(write);
  } catch (const std::bad_alloc&) {
    const absl::Status status = absl::ResourceExhaustedError("there is no memory for the batch");
    if (!write->is_in_log) {
      write->status = status;
      write->is_done = true;
      return;
    }
    // Some of its parts are in their logs.
    for (const ServerPart& part : write->parts) servers_[part.server].status.Update(status);
  }
}

void BatchCommit::Log(Write* write) {
  TakeNumbers(write);
  if (!write->is_logged()) return;
  absl::Status refused;
  absl::Status status = Reserve(write, &refused);
  if (status.ok() && refused.ok()) {
    write->is_in_log = true;
    status = Append(write);
  }
  // An error of a log is that of its server, which fails the batch later.
  write->status = refused;
  write->is_done = !refused.ok();
}

void BatchCommit::TakeNumbers(Write* write) {
  const absl::Span<const BatchMutation> mutations = write->request.mutations;
  write->logged.resize(mutations.size());
  const SequenceNumber first = shared_->sequences->Take(mutations.size());
  const SequenceNumber last = first + mutations.size() - 1;
  SequenceNumber next = first;
  for (size_t server = 0; server < servers_.size(); ++server) {
    ServerPart part{.server = server};
    for (size_t i = 0; i < mutations.size(); ++i) {
      if (mutations[i].server != servers_[server].writer) continue;
      TabletWriter* const writer = mutations[i].tablet->writer();
      const int64_t timestamp = writer->TimestampOf(mutations[i].mutation.takes_server_time);
      write->logged[i] = {next, timestamp, mutations[i].mutation.operations, nullptr, last};
      part.mutations.push_back(i);
      part.last = next++;
    }
    if (part.mutations.empty()) continue;
    servers_[server].is_written = true;
    write->parts.push_back(std::move(part));
  }
  ABSL_ASSERT(next == last + 1 && "every mutation is of one of the servers");
}

void BatchCommit::MakePayload(const Write& write, size_t part) {
  BatchPayload& payload = payloads_[part];
  payload.Clear();
  if (write.parts.size() > 1) {
    others_.clear();
    for (const ServerPart& other : write.parts) {
      if (&other == &write.parts[part]) continue;
      const GroupWriter& writer = *servers_[other.server].writer;
      others_.push_back({writer.parts().environment->server, other.last});
    }
    payload.SetOthers(others_);
  }
  for (const size_t i : write.parts[part].mutations) {
    const BatchMutation& mutation = write.request.mutations[i];
    payload.Add({mutation.tablet->table_id(), write.logged[i].timestamp, mutation.mutation});
  }
}

absl::Status BatchCommit::Reserve(Write* write, absl::Status* refused) {
  if (payloads_.size() < write->parts.size()) payloads_.resize(write->parts.size());
  for (size_t part = 0; part < write->parts.size(); ++part) {
    MakePayload(*write, part);
    Server& server = servers_[write->parts[part].server];
    server.status.Update(
        server.writer->ReserveInLog(payloads_[part].size(), write->request.limits, refused));
    if (!server.status.ok() || !refused->ok()) return server.status;
  }
  return absl::OkStatus();
}

absl::Status BatchCommit::Append(Write* write) {
  const RecordType type = write->parts.size() > 1 ? RecordType::kBatchPart : RecordType::kBatch;
  for (size_t part = 0; part < write->parts.size(); ++part) {
    const ServerPart& p = write->parts[part];
    Server& server = servers_[p.server];
    BatchPayload& payload = payloads_[part];
    AppendedRecord record;
    const absl::Status appended =
        server.writer->parts().log->appending()->Append(type, p.last, payload.pieces(), &record);
    server.status.Update(appended);
    BT_RETURN_IF_ERROR(appended);
    server.is_logged = true;
    server.has_part |= type == RecordType::kBatchPart;
    server.is_synced |= write->request.durability == Durability::kSync;
    if (record.segment == nullptr) continue;
    for (size_t i = 0; i < p.mutations.size(); ++i) {
      // The memtable points into the log instead of copying the values.
      GroupWriter::Logged& logged = write->logged[p.mutations[i]];
      logged.operations = payload.OperationsIn(record.payload, i);
      logged.segment = record.segment;
    }
  }
  return absl::OkStatus();
}

// --- Securing ---

absl::Status BatchCommit::Flush(Server* server) {
  const GroupWriter::Parts& parts = server->writer->parts();
  const std::shared_ptr<CommitLog> log = parts.log->Get();
  if (log->NeedsFlush()) BT_RETURN_IF_ERROR(log->Flush());
  if (!server->is_synced) return absl::OkStatus();
  const int64_t begin = NowNanos();
  const absl::Status status = log->Sync();
  parts.counters->log_sync.Record(NowNanos() - begin);
  return status;
}

void BatchCommit::Secure() {
  const WaitTimer wait;
  const bool sync = std::any_of(servers_.begin(), servers_.end(),
                                [](const Server& server) { return server.is_synced; });
  for (Server& server : servers_) {
    // Without all parts of a batch, recovery keeps nothing that follows one of them.
    server.is_synced |= sync && server.has_part;
    if (server.is_logged && server.status.ok()) server.status = Flush(&server);
  }
  for (const Server& server : servers_) {
    // Parts of earlier groups.
    if (server.is_synced && server.is_logged) {
      sync_status_.Update(shared_->unsynced->SyncLinked(server.writer->parts().log->Get().get()));
    }
  }
  for (Server& server : servers_) {
    const GroupWriter::Parts& parts = server.writer->parts();
    if (!server.is_written || !server.status.ok() || parts.state->AwaitServing()) continue;
    server.has_lost_lock = true;
    server.status = absl::UnavailableError(
        Cat("server ", parts.environment->server,
            " has lost its lock; it is not known if the batch will be found"));
  }
}

// A batch that cannot be made void fails its other servers, and these fail other batches.
void BatchCommit::FailBatches() {
  for (bool has_failed = true; has_failed;) {
    has_failed = false;
    for (Write* const write : writes_) {
      if (!write->is_done && FailBatch(write)) has_failed = true;
    }
  }
  for (const Server& server : servers_) {
    const GroupWriter::Parts& parts = server.writer->parts();
    if (!server.status.ok()) {
      server.writer->Fail(server.status);
    } else if (server.has_part && (!server.is_synced || !sync_status_.ok())) {
      // Also if parts of earlier groups, which these follow, could not be synced.
      unsynced_.push_back({parts.log->Get(), parts.state, parts.error});
    }
  }
  shared_->unsynced->Add(unsynced_);
  unsynced_.clear();
}

bool BatchCommit::FailBatch(Write* write) {
  absl::Status failure =
      write->request.durability == Durability::kSync ? sync_status_ : absl::OkStatus();
  std::optional<size_t> lost;  // a mutation of a server that has lost its lock
  bool is_only_lost = failure.ok();
  for (const ServerPart& part : write->parts) {
    const Server& server = servers_[part.server];
    failure.Update(server.status);
    if (server.has_lost_lock) lost = part.mutations.front();
    is_only_lost &= server.status.ok() || server.has_lost_lock;
  }
  if (failure.ok()) return false;
  write->is_done = true;
  write->status = failure;
  absl::Status voided;
  if (write->is_in_log) {
    const SequenceNumber last = write->parts.back().last;
    std::vector<std::string> servers;
    for (const ServerPart& part : write->parts) {
      servers.push_back(servers_[part.server].writer->parts().environment->server);
    }
    voided =
        shared_->void_batches->Add({last - write->request.mutations.size() + 1, last}, servers);
  }
  if (!voided.ok()) {
    for (const ServerPart& part : write->parts) servers_[part.server].status.Update(failure);
  } else if (is_only_lost) {
    // It will never be found, so it can be applied elsewhere.
    write->superseded = lost;
    write->status = absl::OkStatus();
  }
  return true;
}

// --- Applying ---

void BatchCommit::ApplyToMemtables(const Write& write) {
  ABSL_ASSERT(write.logged.size() == write.request.mutations.size() &&
              "every mutation has a number");
  for (size_t i = 0; i < write.logged.size(); ++i) {
    const BatchMutation& mutation = write.request.mutations[i];
    mutation.server->ApplyLogged(mutation.tablet, mutation.mutation.row, write.logged[i]);
  }
  for (const ServerPart& part : write.parts) {
    servers_[part.server].applied = part.last;
    if (!write.is_logged()) continue;  // after a crash it may be there in part
    for (const size_t i : part.mutations) {
      const SequenceNumber first = part.last - part.mutations.size() + 1;
      write.request.mutations[i].tablet->writer()->EndBatch(first, part.last);
    }
  }
}

void BatchCommit::Publish() {
  published_.clear();
  for (const Server& server : servers_) {
    if (server.applied == 0) continue;
    server.writer->Acknowledge(server.applied);
    published_.push_back({server.writer->parts().visible, server.applied});
  }
  shared_->publication.Publish(published_);
}

}  // namespace bigtable
