// How BackgroundWork runs a flush and a compaction, and counts it.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "background/background_work.h"
#include "background/joint_merge.h"
#include "background/merging_compaction.h"
#include "base/status.h"
#include "base/strings.h"
#include "monitoring/thread_calls.h"

namespace bigtable {

void BackgroundWork::Count(CompactionCounters* tablet, CompactionCounters* server,
                           LatencyRecorder* durations, const CompactionOutcome& outcome,
                           const absl::Status& status, int64_t nanos) {
  if (absl::IsCancelled(status)) return;
  if (!status.ok()) {
    tablet->Failed(nanos);
    server->Failed(nanos);
    return;
  }
  if (outcome.bytes_read + outcome.bytes_written + outcome.bytes_moved + outcome.bytes_dropped ==
      0) {
    return;  // there was no work
  }
  tablet->Finished(outcome.bytes_read, outcome.bytes_written, nanos);
  server->Finished(outcome.bytes_read, outcome.bytes_written, nanos);
  tablet->LeftUnfiltered(outcome.cells_unfiltered);
  server->LeftUnfiltered(outcome.cells_unfiltered);
  durations->Record(nanos);
}

absl::Status BackgroundWork::RunFlush(FlushWork* work) {
  if (work->immutable.empty()) return absl::OkStatus();
  TabletServer* const server = work->server;
  const int64_t begin = NowNanos();
  uint64_t in_memory = 0;
  for (const ImmutableMemtables& immutable : work->immutable) {
    for (const Ref<Memtable>& memtable : immutable.memtables) in_memory += memtable->bytes();
  }
  uint64_t bytes = 0;
  const auto count = [&](const MinorCompaction::GroupFlush& part) {
    Count(&part.immutable.tablet->counters()->minor, &server->counters()->minor,
          &server->counters()->minor_compaction, part.outcome, part.status, part.nanos);
    if (part.status.ok()) meter_.CountFlushed(part.outcome.bytes_written);
  };
  MinorCompaction compaction(server->environment(), std::move(work->immutable), count);
  meter_.BeginFlush(in_memory);
  const absl::Status status = compaction.Run();
  meter_.EndFlush(in_memory, status.ok());
  work->is_in_doubt = compaction.is_in_doubt();
  RecordFlush(*work, status);
  for (const MinorCompaction::GroupFlush& part : compaction.parts()) {
    if (!part.status.ok()) {
      count(part);
      continue;
    }
    bytes += part.outcome.bytes_written;
    if (!part.policy_error.ok()) info_log_->Warning(ToStd(part.policy_error.message()));
    WarnOfFutureCells(part);
  }
  BT_RETURN_IF_ERROR(status);
  meter_.RecordExpansion(in_memory, bytes);
  if (const absl::Status maintained = server->log().Maintain(); !maintained.ok()) {
    info_log_->Warning("server ", server->name(), ": ", ToStd(maintained.message()));
  }
  info_log_->Info("minor compaction of ", compaction.parts().size(), " locality groups: ", bytes,
                  " bytes in ", absl::FormatDuration(absl::Nanoseconds(NowNanos() - begin)));
  return absl::OkStatus();
}

void BackgroundWork::WarnOfFutureCells(const MinorCompaction::GroupFlush& part) {
  if (!part.HasFutureCells()) return;
  const std::shared_ptr<const TableLayout> layout = part.immutable.tablet->Layout();
  {
    MutexLock lock(&mutex_);
    if (!warned_of_.insert({layout->table_id, part.immutable.group}).second) return;
  }
  info_log_->Warning(
      "table ", layout->name, " has cells that are dated more than a day ahead, in a",
      " locality group with MaxVersions: later writes to their columns may be", " invisible");
}

absl::Status BackgroundWork::RunCompaction(Work* work, const CallLimits& limits) {
  const bool major = work->plan.rewrite_all;
  const std::string reason = work->plan.pick.reason;
  const uint64_t begun = meter_.BeginCompaction(work->plan.InputBytes(work->tablet->estimates()));
  // The plan goes, and with it the inputs, before others hear of the end.
  MergingCompaction compaction(work->tablet.get(), work->group, std::move(work->plan));
  const CompactionOutcome& outcome = compaction.outcome();
  const int64_t begin = NowNanos();
  const absl::Status compacted = compaction.Run(&cancel_, limits);
  const int64_t nanos = NowNanos() - begin;
  meter_.EndCompaction(begun, compacted.ok() ? outcome.bytes_read : 0);
  const bool has_worked = NoteCompaction(*work, outcome, compacted, limits, nanos);
  BT_RETURN_IF_ERROR(compacted);
  if (!has_worked) return absl::OkStatus();
  const EventLocation location = LocationOf(*work->tablet, *work->tablet->Layout(), work->group);
  info_log_->Info(major ? "major" : "merging", " compaction of table ", location.table,
                  ", locality group ", location.locality_group, ": ", outcome.bytes_read,
                  " bytes to ", outcome.bytes_written, " in ", outcome.files_written, " files, ",
                  outcome.bytes_moved, " moved, ", outcome.bytes_dropped, " dropped, ",
                  absl::FormatDuration(absl::Nanoseconds(nanos)), reason.empty() ? "" : "; ",
                  reason);
  LogUnfiltered(*work, outcome.cells_unfiltered, major);
  meter_.CountCompaction(outcome, major);
  return absl::OkStatus();
}

void BackgroundWork::LogUnfiltered(const Work& work, uint64_t cells, bool major) const {
  if (cells == 0) return;
  const std::string message =
      Cat(major ? "a requested" : "a", " major compaction of table ", work.tablet->Layout()->name,
          ", group ", work.group, ", has not passed ", cells,
          " cells to their compaction filters, because a snapshot, a stream or a transaction"
          " that is open may see them");
  major ? info_log_->Warning(message) : info_log_->Info(message);
}

bool BackgroundWork::NoteCompaction(const Work& work, const CompactionOutcome& outcome,
                                    const absl::Status& status, const CallLimits& limits,
                                    int64_t nanos) {
  Count(&work.tablet->counters()->merging, &work.server->counters()->merging,
        &work.server->counters()->merging_compaction, outcome, status, nanos);
  // A call that has reached its own limits proves nothing about the files.
  if (status.ok() || outcome.is_in_doubt || limits.Check().ok()) {
    RecordCompaction(work, outcome, status, absl::Nanoseconds(nanos));
  }
  return status.ok() && outcome.bytes_read + outcome.bytes_moved + outcome.bytes_dropped != 0;
}

void BackgroundWork::RunTogether(std::vector<Work>* works) {
  std::deque<MergingCompaction> compactions;
  std::vector<MergingCompaction*> parts;
  uint64_t input_bytes = 0;
  for (Work& work : *works) {
    input_bytes += work.plan.InputBytes(work.tablet->estimates());
    compactions.emplace_back(work.tablet.get(), work.group, std::move(work.plan));
    parts.push_back(&compactions.back());
  }
  JointMerge joint(std::move(parts));
  const uint64_t begun = meter_.BeginCompaction(input_bytes);
  const int64_t begin = NowNanos();
  joint.Run(&cancel_);
  const int64_t nanos = NowNanos() - begin;
  uint64_t merged = 0, bytes_read = 0, bytes_written = 0, files = 0, unfiltered = 0;
  for (size_t i = 0; i < works->size(); ++i) {
    const CompactionOutcome& outcome = compactions[i].outcome();
    const int64_t part = nanos / static_cast<int64_t>(works->size());
    if (!NoteCompaction((*works)[i], outcome, joint.statuses()[i], {}, part)) continue;
    meter_.CountCompaction(outcome, /*major=*/false);
    ++merged;
    bytes_read += outcome.bytes_read;
    bytes_written += outcome.bytes_written;
    files += outcome.files_written;
    unfiltered += outcome.cells_unfiltered;
  }
  meter_.EndCompaction(begun, bytes_read);
  if (merged == 0) return;
  const Work& first = works->front();
  const EventLocation location = LocationOf(*first.tablet, *first.tablet->Layout(), first.group);
  info_log_->Info("merging compaction of ", merged, " tablets of table ", location.table,
                  ", locality group ", location.locality_group, ": ", bytes_read, " bytes to ",
                  bytes_written, " in ", files, " files, ",
                  absl::FormatDuration(absl::Nanoseconds(nanos)));
  LogUnfiltered(first, unfiltered, /*major=*/false);
}

}  // namespace bigtable
