#include "background/minor_compaction.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "background/compaction_picker.h"
#include "background/pick_output.h"
#include "background/shared_output.h"
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
  const bool is_future = std::any_of(written.begin(), written.end(), [&](const TabletFile& file) {
    return file.info.max_timestamp > tomorrow;
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
  for (const Set& set : SetsToWrite()) {
    status = WriteOut(set);
    if (status.ok()) {
      written.insert(written.end(), set.begin(), set.end());
      continue;
    }
    End(set, status);
    if (std::none_of(set.begin(), set.end(), [](const GroupFlush* part) {
          return part->immutable.tablet->flags().removed();
        })) {
      break;
    }
    status = absl::OkStatus();
  }
  // As in `parts_`: the steps of a tablet are adjacent.
  std::sort(written.begin(), written.end(), std::less<>());
  absl::Span<GroupFlush* const> left = written;
  if (status.ok()) status = SyncDirectoryFor(left);
  if (status.ok()) {
    status = CommitTogether(
        *environment_->store, StepsOf,
        [&](absl::Span<GroupFlush* const> parts, bool* is_refused) {
          return Commit(parts, is_refused);
        },
        &left);
  }
  RemoveOutput(left);
  End(left, status);
  return status;
}

// --- Writing ---

bool MinorCompaction::SharesFiles(const GroupFlush& part) const {
  uint64_t bytes = 0;
  for (const Ref<Memtable>& memtable : part.immutable.memtables) bytes += memtable->bytes();
  const GroupLayout& group = part.layout->groups[part.immutable.group];
  // A tablet that cannot compact a common file could not be merged with another one.
  return environment_->SharesFiles(group.options, bytes) &&
         part.layout->CheckCanMerge(group.id).ok();
}

std::vector<MinorCompaction::Set> MinorCompaction::SetsToWrite() {
  std::vector<Set> sets;
  std::map<std::pair<const TableLayout*, size_t>, Set> shared;
  for (GroupFlush& part : parts_) {
    if (SharesFiles(part)) {
      shared[{part.layout.get(), part.immutable.group}].push_back(&part);
    } else {
      sets.push_back({&part});
    }
  }
  for (auto& [_, set] : shared) {
    // All of them name the file with the same order, so that neighbours can be merged without
    // writing it again (tablet/tablet_change.h). The order of their next flush must be larger.
    const SequenceNumber last = LastOf(set);
    const auto alone = std::partition(set.begin(), set.end(), [last](const GroupFlush* part) {
      return HasOnlyNewer(*part, last);
    });
    for (auto part = alone; part != set.end(); ++part) sets.push_back({*part});
    set.erase(alone, set.end());
    if (set.empty()) continue;
    std::sort(set.begin(), set.end(), [](const GroupFlush* a, const GroupFlush* b) {
      return a->immutable.tablet->keys().begin() < b->immutable.tablet->keys().begin();
    });
    sets.push_back(std::move(set));
  }
  return sets;
}

absl::Status MinorCompaction::WriteOut(const Set& set) const {
  for (GroupFlush* const part : set) {
    if (environment_->events == nullptr) break;
    const ImmutableMemtables& immutable = part->immutable;
    part->began = SteadyTime::Now();
    part->event.time = absl::Now();
    part->event.location = LocationOf(*immutable.tablet, *part->layout, immutable.group);
    part->event.memtables = immutable.memtables.size();
    environment_->events->Push(&EventListener::OnMinorCompactionBegan, part->event);
  }
  const WaitTimer timer;
  absl::Status status = Write(set);
  for (GroupFlush* const part : set) {
    if (status.ok()) status = Complete(part);
    part->nanos = timer.nanos() / static_cast<int64_t>(set.size());
  }
  if (!status.ok()) RemoveOutput(set);
  return status;
}

absl::Status MinorCompaction::Complete(GroupFlush* part) const {
  absl::StatusOr<std::vector<Ref<SSTable>>> opened =
      OpenSSTables(*environment_, part->layout->groups[part->immutable.group], part->written);
  OpenForPolicy(*part->immutable.tablet, part->immutable.group);
  BT_RETURN_IF_ERROR(opened.status());
  part->opened = *std::move(opened);
  BT_RETURN_IF_ERROR(WriteChanges(part));
  for (const TabletFile& file : part->changes_written) part->outcome.Add(file.info);
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
  part->changes_written = {{part->redo.sequence, *written}};
  BT_ASSIGN_OR_RETURN(
      part->changes_opened,
      OpenSSTables(*environment_, GroupLayout(), ChangeFilesOf(*part).added, /*is_deferred=*/true));
  return absl::OkStatus();
}

// When the oldest deletion in the memtables of these was written; 0: there is none.
int64_t MinorCompaction::OldestDeletion(const Set& set) {
  int64_t oldest = 0;
  for (const GroupFlush* part : set) {
    for (const Ref<Memtable>& memtable : part->immutable.memtables) {
      const int64_t time = memtable->oldest_deletion();
      if (time != 0) oldest = oldest == 0 ? time : std::min(oldest, time);
    }
  }
  return oldest;
}

absl::Status MinorCompaction::Write(const Set& set) const {
  CompactionJob first = MakeJob(set.front());
  first.oldest_deletion = OldestDeletion(set);
  SharedOutput output(&first, environment_->shared_files);
  for (size_t i = 0; i < set.size(); ++i) {
    const ImmutableMemtables& immutable = set[i]->immutable;
    MergingCursor input;
    CursorPool pool;
    for (const Ref<Memtable>& memtable : immutable.memtables) {
      input.Add(pool.Make<MemtableCursor>(memtable.get()));
    }
    // A memtable that is shared with the other half of a split may have rows of that half.
    const KeyRange& keys = immutable.tablet->keys();
    ClippedCursor clipped(&input, keys.begin(), keys.end());
    BT_RETURN_IF_ERROR(output.Add(i == 0 ? first : MakeJob(set[i]), &clipped));
  }
  BT_ASSIGN_OR_RETURN(const auto written, output.Finish());
  const SequenceNumber order = LastOf(set);
  for (size_t i = 0; i < set.size(); ++i) {
    for (const SharedOutput::Piece& piece : written[i]) {
      const TabletFile& file =
          set[i]->written.emplace_back(TabletFile{order, piece.info, piece.share});
      set[i]->outcome.AddShare(file, piece.is_first);
    }
  }
  return absl::OkStatus();
}

SequenceNumber MinorCompaction::LastOf(const Set& set) {
  SequenceNumber last = 0;
  for (const GroupFlush* part : set) last = std::max(last, part->redo.sequence);
  return last;
}

// Mutations that are not in a memtable yet have larger numbers than all that were rotated.
bool MinorCompaction::HasOnlyNewer(const GroupFlush& part, SequenceNumber than) {
  const Pin<TabletVersion> version = part.immutable.tablet->Version();
  const GroupVersion& group = version->groups()[part.immutable.group];
  const auto is_newer = [&](const Ref<Memtable>& memtable) {
    const SequenceNumber first = memtable->first_sequence();
    return first == 0 || first > than;
  };
  const size_t others = group.immutable.size() - part.immutable.memtables.size();
  return is_newer(group.active) &&
         std::all_of(group.immutable.begin(),
                     group.immutable.begin() + static_cast<std::ptrdiff_t>(others), is_newer);
}

CompactionJob MinorCompaction::MakeJob(GroupFlush* part) {
  const ImmutableMemtables& immutable = part->immutable;
  CompactionJob job =
      MakeCompactionJob(*immutable.tablet, *part->layout, immutable.group, false, part->now);
  absl::StatusOr<CompactionOutput> output = PickFlushOutput(*immutable.tablet, immutable.group);
  if (!output.ok()) part->policy_error = output.status();
  const CompactionOutput differs = output.value_or(CompactionOutput());
  job.group = WithOutput(std::move(job.group), differs);
  job.target_file_size = differs.file_size.value_or(job.target_file_size);
  return job;
}

// Once for all files: if they are small, this takes as long as writing one of them.
absl::Status MinorCompaction::SyncDirectoryFor(absl::Span<GroupFlush* const> parts) const {
  for (const GroupFlush* part : parts) {
    for (const auto* written : {&part->written, &part->changes_written}) {
      if (written->empty()) continue;
      const std::string path = environment_->path_of(written->front().info.file_number);
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
  change.added = part.written;
  change.redo = part.redo;
  change.last_timestamp = part.immutable.tablet->writer()->last_timestamp();
  return change;
}

TabletChange MinorCompaction::ChangeFilesOf(const GroupFlush& part) {
  TabletChange change;
  change.group_id = kChangesGroupId;
  change.added = part.changes_written;
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
