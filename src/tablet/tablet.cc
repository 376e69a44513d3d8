#include "tablet/tablet.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/time/clock.h"

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "compaction/clipped_cursor.h"
#include "compaction/cursor_pool.h"
#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "tablet/mutation_format.h"

namespace bigtable {

namespace {

std::vector<EventFile> EventFiles(const std::vector<Ref<SSTable>>& files) {
  std::vector<EventFile> events;
  for (const Ref<SSTable>& file : files) {
    events.push_back({file->info().file_number, file->info().size});
  }
  return events;
}

CompactionReason ReasonOf(const CompactionPick& pick, bool rewrite_all) {
  if (rewrite_all) return CompactionReason::kMajor;
  switch (pick.kind) {
    case CompactionPick::Kind::kPush:
      return CompactionReason::kPush;
    case CompactionPick::Kind::kDrop:
      return CompactionReason::kDrop;
    default:
      return CompactionReason::kMerge;
  }
}

// Whether the memtable, in which nothing is written any more, has keys of the range.
bool HasKeysIn(const Memtable& memtable, const KeyRange& keys) {
  MemtableCursor cursor(&memtable);
  cursor.Seek(keys.begin());
  return cursor.valid() && keys.Contains(cursor.key());
}

// Whether it has no others.
bool AreKeysIn(const Memtable& memtable, const KeyRange& keys) {
  const std::optional<Memtable::KeyRange> range = memtable.Keys();
  return !range.has_value() || (keys.Contains(range->smallest) && keys.Contains(range->largest));
}

}  // namespace

Tablet::Tablet(const TabletEnvironment* environment, std::shared_ptr<const TableLayout> layout,
               const RowRange& rows)
    : environment_(environment),
      rows_(rows),
      id_{layout->table_id, rows.end()},
      keys_(rows),
      layout_(std::move(layout)),
      version_(new TabletVersion(layout_, {}, MakeRef<VersionSeal>(), environment->budget,
                                 NewScanCacheId())) {}

absl::StatusOr<std::unique_ptr<Tablet>> Tablet::Open(const TabletEnvironment* environment,
                                                     std::shared_ptr<const TableLayout> layout,
                                                     const TabletState& state) {
  std::unique_ptr<Tablet> tablet(new Tablet(environment, layout, state.rows));
  tablet->last_timestamp_ = state.last_timestamp;
  std::vector<GroupVersion> versions;
  MutexLock lock(&tablet->mutex_);
  for (const GroupLayout& group : layout->groups) {
    const auto found = state.groups.find(group.id);
    const GroupState group_state = found == state.groups.end() ? GroupState() : found->second;
    BT_ASSIGN_OR_RETURN(std::vector<Ref<SSTable>> tables,
                        tablet->OpenFiles(group, group_state.files, environment->defers_files));
    GroupVersion version;
    version.SetFiles(MakeRef<GroupFiles>(group_state, std::move(tables)));
    version.active = tablet->NewMemtable(version);
    versions.push_back(std::move(version));
    tablet->replay_after_.push_back(group_state.redo.sequence);
  }
  tablet->Publish(std::move(layout), std::move(versions), MakeRef<VersionSeal>());
  return tablet;
}

absl::StatusOr<std::vector<Ref<SSTable>>> Tablet::OpenFiles(const GroupLayout& group,
                                                            const std::vector<TabletFile>& files,
                                                            bool is_deferred) const {
  std::vector<Ref<SSTable>> open;
  OpenTables* const tables = environment_->open_tables;
  for (const TabletFile& file : files) {
    const std::string path = environment_->path_of(file.info.file_number);
    absl::StatusOr<Ref<SSTable>> table =
        is_deferred ? tables->Defer(path, file.info, group.options.in_memory)
                    : tables->Open(path, file.info, group.options.in_memory);
    if (absl::IsNotFound(table.status())) {
      // METADATA names it, so it was there.
      return absl::DataLossError(table.status().message());
    }
    BT_RETURN_IF_ERROR(table.status());
    open.push_back(*std::move(table));
  }
  return open;
}

void Tablet::OpenForPolicy(size_t group) const {
  if (!environment_->defers_files) return;
  const Pin<TabletVersion> version = Version();
  if (!MakePolicy(version->layout().groups[group].options)->BoundsRuns()) return;
  for (const SortedRun& run : version->groups()[group].runs) {
    for (const Ref<SSTable>& file : run.files) file->EnsureOpen().IgnoreError();
  }
}

// --- For the writer ---

void Tablet::Apply(std::string_view row, std::string_view operations, SequenceNumber sequence,
                   int64_t server_timestamp, const Ref<const RefCounted>& owner) {
  if (environment_->last_writes != nullptr) environment_->last_writes->Note(row, sequence);
  counters_->CountRow();
  if (!Shortcuts().Has(Shortcut::kPinnedValues)) [[unlikely]] {
    return Insert(row, operations, sequence, server_timestamp, {}, false);
  }
  Insert(row, operations, sequence, server_timestamp, owner, false);
}

void Tablet::Replay(std::string_view row, std::string_view operations, SequenceNumber sequence,
                    int64_t server_timestamp) {
  last_timestamp_ = std::max(last_timestamp_.load(), server_timestamp);
  Insert(row, operations, sequence, server_timestamp, {}, true);
}

void Tablet::Insert(std::string_view row, std::string_view operations, SequenceNumber sequence,
                    int64_t server_timestamp, const Ref<const RefCounted>& owner, bool replay) {
  key_.clear();
  AppendRowPrefix(&key_, row);
  const size_t row_size = key_.size();
  OperationReader reader(operations);
  MutationOperation operation;
  for (uint32_t ordinal = 0; reader.Next(&operation); ++ordinal) {
    const EntryVersion version{sequence, ordinal};
    key_.resize(row_size);
    if (operation.kind == EntryKind::kDeleteRow) {
      for (size_t group = 0; group < active_.size(); ++group) {
        if (replay && sequence <= replay_after_[group]) continue;
        key_.resize(row_size);
        AppendNoFamily(&key_, layout_->groups[group].id);
        AppendTrailer(&key_, 0, version, operation.kind);
        Add(group, sequence, {}, owner);
      }
      continue;
    }
    const FamilyLayout* family = layout_->FindFamily(operation.family);
    if (family == nullptr) continue;
    const FamilyPlace& place = places_[static_cast<size_t>(family - layout_->families.data())];
    const size_t group = place.group;
    if (!replay) {
      place.counters->Count(operation.kind == EntryKind::kCell,
                            operation.qualifier.size() + operation.value.size());
    } else if (sequence <= replay_after_[group]) {
      continue;
    }
    if (operation.kind == EntryKind::kDeleteFamily) {
      AppendNoColumn(&key_, operation.family);
    } else {
      AppendColumn(&key_, operation.family, operation.qualifier);
    }
    const int64_t timestamp = operation.has_timestamp ? operation.timestamp : server_timestamp;
    AppendTrailer(&key_, timestamp, version, operation.kind);
    Add(group, sequence, operation.value, owner);
  }
}

uint64_t Tablet::ActiveBytes() const {
  uint64_t bytes = 0;
  for (const Memtable* memtable : active_) bytes += memtable->bytes();
  return bytes;
}

// Adds the entry with key_.
void Tablet::Add(size_t group, SequenceNumber sequence, std::string_view value,
                 const Ref<const RefCounted>& owner) {
  Memtable* const memtable = active_[group];
  memtable->NoteSequence(sequence);
  if (owner && !value.empty()) {
    memtable->AddPinned(key_, value, owner);
  } else {
    memtable->Add(key_, value);
  }
}

int64_t Tablet::NextTimestamp() {
  const int64_t now = absl::ToUnixMicros(environment_->clock->Now());
  const int64_t next = std::max(now, last_timestamp_.load(std::memory_order_relaxed) + 1);
  last_timestamp_.store(next, std::memory_order_relaxed);
  return next;
}

void Tablet::Freeze(size_t group, SequenceNumber last, FreezeReason reason) {
  if (active_[group]->empty()) return;
  if (environment_->events != nullptr) {
    environment_->events->Push(&EventListener::OnMemtableFrozen,
                               {.time = absl::Now(),
                                .place = PlaceOf(*layout_, group),
                                .reason = reason,
                                .bytes = active_[group]->bytes()});
  }
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  groups[group].frozen.insert(groups[group].frozen.begin(), groups[group].active);
  groups[group].active = NewMemtable(groups[group]);
  current->seal()->sealed_at.store(last, std::memory_order_release);
  Publish(current->shared_layout(), std::move(groups), MakeRef<VersionSeal>());
}

Tablet::Halves Tablet::Split(std::string_view row, SequenceNumber last) {
  FreezeAll(last);
  MutexLock lock(&mutex_);
  const std::optional<std::string>& end = rows_.end();
  Halves halves{
      MakeHalf(RowRange::RightOpen(rows_.begin(), row)),
      MakeHalf(end.has_value() ? RowRange::RightOpen(row, *end) : RowRange::StartingAt(row))};
  SetStopped(true);
  MarkMoved();
  return halves;
}

std::unique_ptr<Tablet> Tablet::MakeHalf(const RowRange& rows) const {
  const Pin<TabletVersion> current = version_.Get();
  std::unique_ptr<Tablet> half(new Tablet(environment_, current->shared_layout(), rows));
  half->last_timestamp_ = last_timestamp_.load();
  half->replay_after_ = replay_after_;
  // Not the quarantine: this half may not have what is damaged.
  half->estimates_.Inherit(estimates_);
  std::vector<GroupVersion> groups = current->groups();
  for (GroupVersion& group : groups) {
    group.active = NewMemtable(group);
    // Of rows that are written in order, the left half would otherwise write out nothing at all,
    // and wait for its turn to do so.
    std::erase_if(group.frozen,
                  [&](const Ref<Memtable>& m) { return !HasKeysIn(*m, half->keys_); });
    group.SetFiles(group.files->Within(half->keys_));
  }
  MutexLock lock(&half->mutex_);
  half->Publish(current->shared_layout(), std::move(groups), MakeRef<VersionSeal>());
  return half;
}

void Tablet::Clear(SequenceNumber last) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups;
  for (const GroupVersion& group : current->groups()) {
    groups.push_back({NewMemtable({}), {}, {}, group.files->Emptied()});
  }
  quarantine_.Lift();
  current->seal()->sealed_at.store(last, std::memory_order_release);
  Publish(current->shared_layout(), std::move(groups), MakeRef<VersionSeal>());
}

void Tablet::SetLayout(std::shared_ptr<const TableLayout> layout, SequenceNumber last) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  while (groups.size() < layout->groups.size()) {
    groups.push_back({NewMemtable({}), {}, {}, MakeRef<GroupFiles>()});
    replay_after_.push_back(0);
  }
  current->seal()->sealed_at.store(last, std::memory_order_release);
  Publish(std::move(layout), std::move(groups), MakeRef<VersionSeal>());
}

void Tablet::PublishChange(size_t group, const TabletChange& change,
                           const std::vector<Ref<SSTable>>& added, size_t flushed) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  GroupVersion& version = groups[group];
  version.SetFiles(version.files->After(change, added));
  // What was frozen since stands before what was flushed.
  version.frozen.resize(version.frozen.size() - flushed);
  if (!change.removed.empty()) {
    std::set<uint64_t> numbers;
    for (const GroupVersion& g : groups) {
      for (const GroupFiles::File& file : g.files->files()) {
        numbers.insert(file.table->info().file_number);
      }
    }
    estimates_.Retain(numbers);
    quarantine_.Retain(numbers);
  }
  Publish(current->shared_layout(), std::move(groups), current->seal());
}

void Tablet::Publish(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
                     Ref<VersionSeal> seal) {
  const Pin<TabletVersion> current = version_.Get();
  const bool layout_changed = current->shared_layout() != layout;
  const uint64_t scan_cache_id = layout_changed ? NewScanCacheId() : current->scan_cache_id();
  const bool memtables_changed = current->seal().get() != seal.get();
  if (memtables_changed) {
    layout_ = layout;
    active_.clear();
    for (const GroupVersion& group : groups) active_.push_back(group.active.get());
    FindPlaces();
  }
  most_runs_.store(MostRunsOf(*layout, groups), std::memory_order_relaxed);
  version_.Publish(new TabletVersion(std::move(layout), std::move(groups), std::move(seal),
                                     environment_->budget, scan_cache_id));
  // A frozen memtable changes nothing for whoever merges runs.
  if (!memtables_changed || layout_changed) SetMayPickOther(true);
}

void Tablet::FindPlaces() {
  places_.clear();
  for (const FamilyLayout& family : layout_->families) {
    places_.push_back({layout_->GroupIndex(family.group_id), counters_->Family(family.name)});
  }
}

uint64_t Tablet::NewScanCacheId() const {
  return environment_->scan_cache != nullptr ? environment_->scan_cache->NewId() : 0;
}

Ref<Memtable> Tablet::NewMemtable(const GroupVersion& known) const {
  std::string_view smallest, largest;
  bool is_first = true;
  const auto include = [&](std::string_view low, std::string_view high) {
    smallest = is_first ? low : std::min(smallest, low);
    largest = is_first ? high : std::max(largest, high);
    is_first = false;
  };
  const auto include_memtable = [&](const Memtable& memtable) {
    if (const auto keys = memtable.Keys()) include(keys->smallest, keys->largest);
  };
  if (known.active) include_memtable(*known.active);
  for (const Ref<Memtable>& memtable : known.frozen) include_memtable(*memtable);
  for (const SortedRun& run : known.runs) include(run.smallest_key(), run.largest_key());
  // Where rows are counted up, the next one is as likely to differ in the last byte of that.
  const size_t common =
      Shortcuts().Has(Shortcut::kMemtablePrefix) ? CommonPrefix(smallest, largest) : 0;
  return MakeRef<Memtable>(environment_->budget,
                           std::string(smallest.substr(0, common > 0 ? common - 1 : 0)));
}

// --- For background work ---

EventPlace Tablet::PlaceOf(const TableLayout& layout, size_t group) const {
  return {environment_->server, layout.name, layout.groups[group].name, rows_.end()};
}

CompactionJob Tablet::MakeJob(const TableLayout& layout, size_t group, bool major,
                              absl::Time now) const {
  CompactionJob job;
  job.file_system = environment_->file_system;
  job.budget = environment_->budget.get();
  job.new_file_number = [numbers = environment_->file_numbers] { return numbers->Take(); };
  job.path_of = environment_->path_of;
  job.group = layout.groups[group].options;
  job.retention = layout.RetentionOf(layout.groups[group].id, now);
  job.retention.snapshots =
      environment_->snapshots->List(environment_->visible, &job.retention.present);
  job.major = major;
  job.target_file_size = environment_->target_file_size;
  job.abandoned = &removed_;
  return job;
}

void Tablet::RemoveWritten(const std::vector<SSTableInfo>& written) const {
  for (const SSTableInfo& info : written) {
    environment_->remove_file(info.file_number);
  }
}

absl::Status Tablet::CommitOutput(const TableLayout& layout, size_t group,
                                  const std::vector<SSTableInfo>& written, uint64_t order,
                                  TabletChange change, CompactionOutcome* outcome) {
  change.group_id = layout.groups[group].id;
  std::vector<TabletFile> added;
  for (const SSTableInfo& info : written) added.push_back({order, info});
  change.added.insert(change.added.end(), added.begin(), added.end());
  absl::Status synced;
  if (!written.empty()) {
    synced = SyncDirectoryOf(environment_->file_system,
                             environment_->path_of(written.front().file_number));
  }
  absl::StatusOr<std::vector<Ref<SSTable>>> opened =
      synced.ok() ? OpenFiles(layout.groups[group], added) : synced;
  if (!opened.ok()) {
    RemoveWritten(written);
    return opened.status();
  }
  const absl::Status committed = environment_->store->Commit(id_, change);
  if (!committed.ok()) {
    // Files that METADATA may name stay; they are swept once it is clear that it does not.
    outcome->is_in_doubt = environment_->store->IsInDoubt(committed);
    if (!outcome->is_in_doubt) RemoveWritten(written);
    return committed;
  }
  PublishChange(group, change, *opened);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SSTableInfo>> Tablet::WriteMemtables(
    const TableLayout& layout, size_t group, const std::vector<Ref<Memtable>>& memtables,
    absl::Time now) const {
  MergingCursor input;
  CursorPool pool;
  for (const Ref<Memtable>& memtable : memtables) {
    input.Add(pool.Make<MemtableCursor>(memtable.get()));
  }
  // Those of the tablet that this was a half of may have rows of the other half.
  const bool is_within =
      Shortcuts().Has(Shortcut::kUnclipped) &&
      std::all_of(memtables.begin(), memtables.end(),
                  [&](const Ref<Memtable>& memtable) { return AreKeysIn(*memtable, keys_); });
  ClippedCursor clipped(&input, keys_.begin(), keys_.end());
  return MakeJob(layout, group, false, now)
      .Run(is_within ? static_cast<EntryCursor*>(&input) : &clipped);
}

absl::Status Tablet::Compact(size_t group, const CompactionPick& pick, bool rewrite_all,
                             const std::atomic<bool>* cancelled, CompactionOutcome* outcome,
                             const CallLimits& limits) {
  const FileNumbers::Work work(environment_->file_numbers);
  const absl::Time now = TimeBeforeLayout();
  // The version is not pinned for long: it would keep memtables that are written out meanwhile.
  // The layout is the one that these inputs had: whatever rule it has, they came before the next.
  std::shared_ptr<const TableLayout> layout;
  CompactionInputs inputs;
  SequenceNumber complete_through = environment_->visible();
  {
    const Pin<TabletVersion> version = Version();
    layout = version->shared_layout();
    inputs = ChooseInputs(version->groups()[group].runs, pick, rewrite_all);
    complete_through =
        CompleteThrough(version->groups()[group], inputs, pick.first, complete_through);
  }
  if (inputs.merged.empty() && inputs.moved.empty() && inputs.dropped.empty()) {
    return absl::OkStatus();
  }
  if (quarantine_.HasAny(group, inputs.merged)) {
    return rewrite_all ? CheckQuarantine(group) : absl::OkStatus();
  }
  ListenerQueue* const events = environment_->events;
  if (events == nullptr) {
    return RunCompaction(*layout, group, inputs, complete_through, now, cancelled, outcome, limits);
  }

  CompactionEvent event;
  const SteadyTime begin = SteadyTime::Now();
  event.time = absl::Now();
  event.place = PlaceOf(*layout, group);
  event.reason = ReasonOf(pick, rewrite_all);
  event.is_major = inputs.is_major;
  for (const SortedRun& run : inputs.merged) {
    const std::vector<EventFile> files = EventFiles(run.files);
    event.inputs.insert(event.inputs.end(), files.begin(), files.end());
  }
  event.moved = EventFiles(inputs.moved);
  event.dropped = EventFiles(inputs.dropped);
  events->Push(&EventListener::OnCompactionBegan, event);
  event.status =
      RunCompaction(*layout, group, inputs, complete_through, now, cancelled, outcome, limits);
  event.duration = SteadyTime::Now() - begin;
  event.time = absl::Now();
  event.outputs = outcome->outputs;
  event.bytes_read = outcome->bytes_read;
  event.bytes_written = outcome->bytes_written;
  events->Push(&EventListener::OnCompactionEnded, event);
  return event.status;
}

SequenceNumber Tablet::CompleteThrough(const GroupVersion& group, const CompactionInputs& inputs,
                                       size_t first_run, SequenceNumber visible) {
  std::vector<const SSTable*> taken;  // or without a row of those that are read
  for (const SortedRun& run : inputs.merged) {
    for (const Ref<SSTable>& file : run.files) taken.push_back(file.get());
  }
  for (const Ref<SSTable>& file : inputs.moved) taken.push_back(file.get());
  std::sort(taken.begin(), taken.end());

  SequenceNumber through = visible;
  const auto end_before = [&through](SequenceNumber first) {
    if (first != 0) through = std::min(through, first - 1);
  };
  end_before(group.active->first_sequence());
  for (const Ref<Memtable>& memtable : group.frozen) end_before(memtable->first_sequence());
  // Of the first run only some files may be taken, and older runs are looked at only where these
  // have something.
  for (size_t i = 0; i < group.runs.size() && i <= first_run; ++i) {
    for (const Ref<SSTable>& file : group.runs[i].files) {
      if (std::binary_search(taken.begin(), taken.end(), file.get())) continue;
      end_before(file->info().min_sequence);
    }
  }
  return through;
}

absl::Status Tablet::RunCompaction(const TableLayout& layout, size_t group,
                                   const CompactionInputs& inputs, SequenceNumber complete_through,
                                   absl::Time now, const std::atomic<bool>* cancelled,
                                   CompactionOutcome* outcome, const CallLimits& limits) {
  MergingCursor input;
  CursorPool pool;
  TabletChange change;
  std::vector<Ref<SSTable>> replaced = inputs.dropped;
  std::vector<RunCursor*> cursors;
  for (const SortedRun& run : inputs.merged) {
    cursors.push_back(pool.Make<RunCursor>(&run, ReadSettings{.fill_cache = false}));
    input.Add(cursors.back());
    outcome->bytes_read += run.bytes();
    replaced.insert(replaced.end(), run.files.begin(), run.files.end());
  }
  for (const Ref<SSTable>& file : inputs.dropped) outcome->bytes_dropped += file->info().size;
  for (const Ref<SSTable>& file : replaced) change.removed.push_back(file->info().file_number);

  // Flushes may come meanwhile, but nobody else changes these.
  const Ref<const GroupFiles> files = Version()->groups()[group].files;
  const uint64_t order = files->OldestOrder(inputs.target);
  for (const Ref<SSTable>& file : inputs.moved) {
    // Many are where they should be, and METADATA is small.
    if (files->OldestOrder({file}) == order) continue;
    change.added.push_back({order, file->info()});
    outcome->bytes_moved += file->info().size;
  }
  if (replaced.empty() && change.added.empty()) return absl::OkStatus();

  CompactionJob job = MakeJob(layout, group, inputs.is_major, now);
  job.retention.complete_through = complete_through;
  job.rate_limiter = environment_->rate_limiter;
  job.cancelled = cancelled;
  job.limits = limits;
  for (const Ref<SSTable>& file : inputs.moved) job.split_at.push_back(file->info().smallest_key);
  ClippedCursor clipped(&input, keys_.begin(), keys_.end());
  const bool within = Shortcuts().Has(Shortcut::kUnclipped) &&
                      std::all_of(replaced.begin(), replaced.end(), [&](const Ref<SSTable>& file) {
                        return keys_.Contains(file->info());
                      });
  const absl::StatusOr<std::vector<SSTableInfo>> ran =
      job.Run(within ? static_cast<EntryCursor*>(&input) : &clipped);
  if (!ran.ok()) {
    for (const RunCursor* cursor : cursors) {
      if (!cursor->status().ok()) outcome->unreadable_file = cursor->file()->info().file_number;
    }
    return ran.status();
  }
  const std::vector<SSTableInfo>& written = *ran;
  for (const SSTableInfo& info : written) outcome->Add(info);
  BT_RETURN_IF_ERROR(CommitOutput(layout, group, written, order, std::move(change), outcome));
  for (const Ref<SSTable>& file : replaced) environment_->remove_file(file->info().file_number);
  return absl::OkStatus();
}

size_t Tablet::MostRunsOf(const TableLayout& layout,
                          const std::vector<GroupVersion>& groups) const {
  size_t most = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].runs.size() <= most) continue;
    if (!MakePolicy(layout.groups[i].options)->BoundsRuns()) continue;
    for (const FileQuarantine::Stretch& stretch : quarantine_.StretchesOf(i, groups[i].runs)) {
      most = std::max(most, stretch.count);
    }
  }
  return most;
}

SequenceNumber Tablet::FirstUnflushed() const {
  const Pin<TabletVersion> version = Version();
  SequenceNumber first = kMaxSequence;
  const auto look = [&](const Ref<Memtable>& memtable) {
    if (const SequenceNumber s = memtable->first_sequence(); s != 0) first = std::min(first, s);
  };
  for (const GroupVersion& group : version->groups()) {
    look(group.active);
    for (const Ref<Memtable>& memtable : group.frozen) look(memtable);
  }
  return first;
}

SequenceNumber Tablet::FlushedThrough(size_t group) const {
  return Version()->groups()[group].files->redo().sequence;
}

// --- For METADATA, merges and deletions ---

TabletState Tablet::State() const {
  const Pin<TabletVersion> version = Version();
  TabletState state;
  state.rows = rows_;
  state.last_timestamp = last_timestamp_.load();
  for (size_t i = 0; i < version->groups().size(); ++i) {
    state.groups[version->layout().groups[i].id] = version->groups()[i].files->State();
  }
  return state;
}

bool Tablet::ReachesInto(const Tablet& other) const {
  const auto has = [](const GroupFiles& files, const GroupFiles::File& file) {
    return std::any_of(files.files().begin(), files.files().end(), [&](const auto& f) {
      return f.order == file.order && f.table->info().file_number == file.table->info().file_number;
    });
  };
  const Pin<TabletVersion> theirs = other.Version();
  const Pin<TabletVersion> own = Version();
  for (size_t i = 0; i < own->groups().size(); ++i) {
    for (const GroupFiles::File& file : own->groups()[i].files->files()) {
      if (!other.keys_.Overlaps(file.table->info())) continue;
      if (i >= theirs->groups().size() || !has(*theirs->groups()[i].files, file)) return true;
    }
  }
  return false;
}

// --- Quarantined files ---

void Tablet::Quarantine(size_t group, uint64_t number, const absl::Status& status) {
  MutexLock lock(&mutex_);
  if (FileBytes(group, number) == 0) return;
  quarantine_.Add(group, number, status);
  NoteQuarantine();
}

void Tablet::LiftQuarantine() {
  MutexLock lock(&mutex_);
  if (quarantine_.Lift()) NoteQuarantine();
}

void Tablet::NoteQuarantine() {
  const Pin<TabletVersion> version = version_.Get();
  most_runs_.store(MostRunsOf(version->layout(), version->groups()), std::memory_order_relaxed);
  SetMayPickOther(true);
}

void Tablet::AddQuarantined(std::vector<QuarantinedFile>* files) const {
  const std::shared_ptr<const TableLayout> layout = Layout();
  for (const FileQuarantine::File& file : quarantine_.List()) {
    files->push_back({.server = environment_->server,
                      .table = layout->name,
                      .locality_group = layout->groups[file.group].name,
                      .end_row = rows_.end(),
                      .number = file.number,
                      .status = file.status,
                      .since = file.since});
  }
}

uint64_t Tablet::FileBytes(size_t group, uint64_t number) const {
  const Pin<TabletVersion> version = Version();
  for (const GroupFiles::File& file : version->groups()[group].files->files()) {
    if (file.table->info().file_number == number) return file.table->info().size;
  }
  return 0;
}

void Tablet::RemoveFiles() {
  const Pin<TabletVersion> version = Version();
  for (const GroupVersion& group : version->groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files)
        environment_->remove_file(file->info().file_number);
    }
  }
}

std::vector<FrozenMemtables> FrozenOf(const std::shared_ptr<Tablet>& tablet) {
  std::vector<FrozenMemtables> frozen;
  const Pin<TabletVersion> version = tablet->Version();
  for (size_t group = 0; group < version->groups().size(); ++group) {
    const std::vector<Ref<Memtable>>& memtables = version->groups()[group].frozen;
    if (!memtables.empty()) frozen.push_back({tablet, group, memtables});
  }
  return frozen;
}

}  // namespace bigtable
