#include "background/minor_compaction.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "background/compaction_picker.h"
#include "background/pick_output.h"
#include "base/status.h"
#include "changes/change_file.h"
#include "compaction/clipped_cursor.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "compaction/policies.h"
#include "memtable/memtable_cursor.h"
#include "monitoring/thread_calls.h"

namespace bigtable {
namespace {

// Opens the files of a group that are not open yet, if its policy reads from them when a file is
// added. The policy runs where no thread should wait for a file. A file that cannot be opened is an
// error of the read or compaction that needs it.
void OpenForPolicy(const Tablet& tablet, size_t group) {
  if (!tablet.environment()->defers_files) return;
  const Pin<TabletVersion> version = tablet.Version();
  if (!MakePolicy(version->layout().groups[group].options)->BoundsRuns()) return;
  for (const SortedRun& run : version->groups()[group].runs) {
    for (const Ref<SSTable>& file : run.files) file->EnsureOpen().IgnoreError();
  }
}

}  // namespace

MinorCompaction::MinorCompaction(const TabletEnvironment* environment,
                                 std::vector<ImmutableMemtables> immutable,
                                 std::function<void(const GroupFlush&)> on_commit)
    : environment_(environment), on_commit_(std::move(on_commit)) {
  for (ImmutableMemtables& memtables : immutable) {
    ABSL_ASSERT(!memtables.memtables.empty() && memtables.tablet->environment() == environment &&
                "the memtables are of tablets of one server");
    GroupFlush& part = parts_.emplace_back();
    part.now = TimeBeforeLayout(*environment);
    part.layout = memtables.tablet->Layout();
    part.redo = {.sequence = memtables.memtables.front()->last_sequence(),
                 .server = environment->server};
    part.immutable = std::move(memtables);
  }
}

bool MinorCompaction::GroupFlush::HasFutureCells() const {
  const int64_t tomorrow = absl::ToUnixMicros(now + absl::Hours(24));
  const bool is_future = std::any_of(written.begin(), written.end(), [&](const SSTableInfo& info) {
    return info.max_timestamp > tomorrow;
  });
  if (!is_future) return false;
  const uint32_t group_id = layout->groups[immutable.group].id;
  return std::any_of(layout->families.begin(), layout->families.end(), [&](const FamilyLayout& f) {
    return f.group_id == group_id && f.counts_versions();
  });
}

absl::Status MinorCompaction::Run() {
  const FileNumbers::Work work(environment_->file_numbers);
  std::vector<GroupFlush*> written;
  absl::Status status;
  for (GroupFlush& part : parts_) {
    GroupFlush* const one = &part;
    status = WriteOut(one);
    if (status.ok()) {
      written.push_back(one);
      continue;
    }
    End({&one, 1}, status);
    if (!part.immutable.tablet->flags().removed()) break;
    status = absl::OkStatus();
  }
  absl::Span<GroupFlush* const> left = written;
  if (status.ok()) status = SyncDirectoryFor(left);
  while (status.ok() && !left.empty()) {
    // All of them, or as many as METADATA takes.
    size_t at_once = left.size();
    const auto are_too_many = [&] {
      return !environment_->store->TakesTogether(StepsOf(left.first(at_once)));
    };
    while (at_once > 1 && are_too_many()) at_once = (at_once + 1) / 2;
    bool is_refused = false;
    status = Commit(left.first(at_once), &is_refused);
    // METADATA's tablet was split meanwhile, and has taken none of them.
    while (is_refused) {
      at_once = (at_once + 1) / 2;
      status = Commit(left.first(at_once), &is_refused);
    }
    left.remove_prefix(at_once);
  }
  RemoveOutput(left);
  End(left, status);
  return status;
}

absl::Status MinorCompaction::WriteOut(GroupFlush* part) const {
  const ImmutableMemtables& immutable = part->immutable;
  if (environment_->events != nullptr) {
    part->began = SteadyTime::Now();
    part->event.time = absl::Now();
    part->event.location = LocationOf(*immutable.tablet, *part->layout, immutable.group);
    part->event.memtables = immutable.memtables.size();
    environment_->events->Push(&EventListener::OnMinorCompactionBegan, part->event);
  }
  const WaitTimer timer;
  absl::StatusOr<std::vector<SSTableInfo>> written = Write(part);
  BT_RETURN_IF_ERROR(written.status());
  part->written = *std::move(written);
  std::vector<TabletFile> files;
  for (const SSTableInfo& info : part->written) files.push_back({part->redo.sequence, info});
  absl::StatusOr<std::vector<Ref<SSTable>>> opened =
      OpenSSTables(*environment_, part->layout->groups[immutable.group], files);
  OpenForPolicy(*immutable.tablet, immutable.group);
  part->nanos = timer.nanos();
  if (!opened.ok()) {
    RemoveOutput({&part, 1});
    return opened.status();
  }
  part->opened = *std::move(opened);
  const absl::Status changes = WriteChanges(part);
  if (!changes.ok()) {
    RemoveOutput({&part, 1});
    return changes;
  }
  for (const SSTableInfo& info : part->written) part->outcome.Add(info);
  for (const SSTableInfo& info : part->changes_written) part->outcome.Add(info);
  return absl::OkStatus();
}

absl::Status MinorCompaction::WriteChanges(GroupFlush* part) const {
  const ImmutableMemtables& immutable = part->immutable;
  if (immutable.group != 0) return absl::OkStatus();
  const TableLayout& layout = *part->layout;
  const bool are_compressed = layout.groups[0].options.compression != Compression::kNone;
  const ChangeFileJob job{.file_system = environment_->file_system,
                          .new_file_number = [&] { return environment_->file_numbers->Take(); },
                          .path_of = environment_->path_of,
                          .budget = environment_->budget.get(),
                          .compression = are_compressed ? Compression::kZstd : Compression::kNone,
                          .owner = {layout.table_id, layout.name, kChangesGroupId, ""},
                          .rows = immutable.tablet->rows()};
  BT_ASSIGN_OR_RETURN(const std::optional<SSTableInfo> written, job.Write(immutable.memtables));
  if (!written.has_value()) return absl::OkStatus();
  part->changes_written = {*written};
  BT_ASSIGN_OR_RETURN(
      part->changes_opened,
      OpenSSTables(*environment_, GroupLayout(), ChangeFilesOf(*part).added, /*is_deferred=*/true));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SSTableInfo>> MinorCompaction::Write(GroupFlush* part) {
  const ImmutableMemtables& immutable = part->immutable;
  MergingCursor input;
  CursorPool pool;
  for (const Ref<Memtable>& memtable : immutable.memtables) {
    input.Add(pool.Make<MemtableCursor>(memtable.get()));
  }
  // A memtable that is shared with the other half of a split may have rows of that half.
  const KeyRange& keys = immutable.tablet->keys();
  ClippedCursor clipped(&input, keys.begin(), keys.end());
  CompactionJob job =
      MakeCompactionJob(*immutable.tablet, *part->layout, immutable.group, false, part->now);
  absl::StatusOr<CompactionOutput> output = PickFlushOutput(*immutable.tablet, immutable.group);
  if (!output.ok()) part->policy_error = output.status();
  const CompactionOutput differs = output.value_or(CompactionOutput());
  job.group = WithOutput(std::move(job.group), differs);
  job.target_file_size = differs.file_size.value_or(job.target_file_size);
  for (const Ref<Memtable>& memtable : immutable.memtables) {
    const int64_t time = memtable->oldest_deletion();
    if (time == 0) continue;
    job.oldest_deletion = job.oldest_deletion == 0 ? time : std::min(job.oldest_deletion, time);
  }
  return job.Run(&clipped);
}

// Once for all files: if they are small, this takes as long as writing one of them.
absl::Status MinorCompaction::SyncDirectoryFor(absl::Span<GroupFlush* const> parts) const {
  for (const GroupFlush* part : parts) {
    for (const auto* written : {&part->written, &part->changes_written}) {
      if (written->empty()) continue;
      const std::string path = environment_->path_of(written->front().file_number);
      return SyncDirectoryOf(environment_->file_system, path);
    }
  }
  return absl::OkStatus();
}

absl::Status MinorCompaction::Commit(absl::Span<GroupFlush* const> parts, bool* is_refused) {
  *is_refused = false;
  const WaitTimer timer;
  absl::Status status = SyncLogFor(parts);
  if (!status.ok()) {
    RemoveOutput(parts);
  } else {
    status = environment_->store->Commit(StepsOf(parts));
    *is_refused = absl::IsFailedPrecondition(status) && parts.size() > 1;
    if (!status.ok() && !*is_refused) {
      // Files that METADATA may name stay. They are swept once it is known that it does not.
      is_in_doubt_ = environment_->store->IsInDoubt(status);
      if (!is_in_doubt_) RemoveOutput(parts);
    }
  }
  for (GroupFlush* const part : parts) {
    part->nanos += timer.nanos();
    if (!status.ok()) continue;
    part->status = status;
    if (on_commit_ != nullptr) on_commit_(*part);
    ImmutableMemtables& immutable = part->immutable;
    if (!part->changes_written.empty()) {
      immutable.tablet->PublishChangeFiles(ChangeFilesOf(*part), part->changes_opened);
    }
    immutable.tablet->PublishChange(immutable.group, ChangeOf(*part), part->opened,
                                    immutable.memtables.size());
    immutable.memtables.clear();
  }
  if (!*is_refused) End(parts, status);
  return status;
}

// Other memtables may have mutations that are older than the last one in the new SSTables. None of
// these may be lost while that one is kept.
absl::Status MinorCompaction::SyncLogFor(absl::Span<GroupFlush* const> parts) const {
  std::vector<ImmutableMemtables> immutable;
  for (const GroupFlush* part : parts) immutable.push_back(part->immutable);
  BT_ASSIGN_OR_RETURN(const SequenceNumber log_synced, environment_->sync_log(immutable));
  for (GroupFlush* part : parts) part->redo.log_synced = log_synced;
  return absl::OkStatus();
}

TabletChange MinorCompaction::ChangeOf(const GroupFlush& part) {
  TabletChange change;
  change.group_id = part.layout->groups[part.immutable.group].id;
  for (const SSTableInfo& info : part.written) change.added.push_back({part.redo.sequence, info});
  change.redo = part.redo;
  change.last_timestamp = part.immutable.tablet->writer()->last_timestamp();
  return change;
}

TabletChange MinorCompaction::ChangeFilesOf(const GroupFlush& part) {
  TabletChange change;
  change.group_id = kChangesGroupId;
  for (const SSTableInfo& info : part.changes_written) {
    change.added.push_back({part.redo.sequence, info});
  }
  return change;
}

// A part has one or two steps. Those of a part are of one tablet, so METADATA takes both or none.
std::vector<TabletStep> MinorCompaction::StepsOf(absl::Span<GroupFlush* const> parts) {
  std::vector<TabletStep> steps;
  for (const GroupFlush* part : parts) {
    steps.push_back({part->immutable.tablet->id(), ChangeOf(*part)});
    if (part->changes_written.empty()) continue;
    steps.push_back({part->immutable.tablet->id(), ChangeFilesOf(*part)});
  }
  return steps;
}

void MinorCompaction::RemoveOutput(absl::Span<GroupFlush* const> parts) const {
  for (const GroupFlush* part : parts) {
    RemoveWritten(*environment_, part->written);
    RemoveWritten(*environment_, part->changes_written);
  }
}

void MinorCompaction::End(absl::Span<GroupFlush* const> parts, const absl::Status& status) const {
  for (GroupFlush* part : parts) {
    part->status = status;
    if (environment_->events == nullptr) continue;
    MinorCompactionEvent& event = part->event;
    event.status = status;
    event.duration = SteadyTime::Now() - part->began;
    event.time = absl::Now();
    event.outputs = part->outcome.outputs;
    event.bytes_written = part->outcome.bytes_written;
    environment_->events->Push(&EventListener::OnMinorCompactionEnded, event);
  }
}

}  // namespace bigtable
