#include "tablet/tablet.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/base/macros.h"
#include "absl/time/clock.h"

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "base/status.h"
#include "changes/change_file.h"
#include "compaction/policies.h"

namespace bigtable {

Tablet::Tablet(const TabletEnvironment* environment, std::shared_ptr<const TableLayout> layout,
               const RowRange& rows)
    : environment_(environment),
      rows_(rows),
      id_{layout->table_id, rows.end()},
      keys_(rows),
      writer_(environment, counters_.get(), empty_rows_),
      version_(new TabletVersion(std::move(layout), {}, MakeRef<ReadLimit>(), environment->budget,
                                 NewScanCacheId(), empty_rows_)) {}

absl::StatusOr<std::unique_ptr<Tablet>> Tablet::Open(const TabletEnvironment* environment,
                                                     std::shared_ptr<const TableLayout> layout,
                                                     const TabletState& state) {
  std::unique_ptr<Tablet> tablet(new Tablet(environment, layout, state.rows));
  std::vector<GroupVersion> versions;
  std::vector<SequenceNumber> redo;
  MutexLock lock(&tablet->mutex_);
  for (const GroupLayout& group : layout->groups) {
    const auto found = state.groups.find(group.id);
    const GroupState group_state = found == state.groups.end() ? GroupState() : found->second;
    BT_ASSIGN_OR_RETURN(
        std::vector<Ref<SSTable>> tables,
        OpenSSTables(*environment, group, group_state.files, environment->defers_files));
    GroupVersion version;
    version.SetFiles(MakeRef<GroupFiles>(group_state, std::move(tables)));
    tablet->NoteShares(*version.files);
    version.active = tablet->NewMemtable(version);
    versions.push_back(std::move(version));
    redo.push_back(group_state.redo.sequence);
  }
  Ref<const GroupFiles> change_files;
  if (const auto found = state.groups.find(kChangesGroupId); found != state.groups.end()) {
    BT_ASSIGN_OR_RETURN(
        std::vector<Ref<SSTable>> tables,
        OpenSSTables(*environment, GroupLayout(), found->second.files, environment->defers_files));
    change_files = MakeRef<GroupFiles>(found->second, std::move(tables));
  }
  server_writer.Assume("the tablet is new");
  tablet->writer_.Begin(std::move(redo), state.last_timestamp);
  tablet->empty_rows_->StartAfter(LargestSequence(state));
  tablet->Publish(std::move(layout), std::move(versions), MakeRef<ReadLimit>(),
                  std::move(change_files));
  return tablet;
}

// --- For the writer ---

void Tablet::Rotate(size_t group, SequenceNumber last, RotationReason reason) {
  const Memtable& active = writer_.active(group);
  if (active.is_unused()) return;
  ABSL_ASSERT(active.last_sequence() <= last && "its readers see everything that is in it");
  if (environment_->events != nullptr) {
    environment_->events->Push(&EventListener::OnMemtableRotated,
                               {.time = absl::Now(),
                                .location = LocationOf(*this, *writer_.layout(), group),
                                .reason = reason,
                                .bytes = active.bytes()});
  }
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  groups[group].immutable.insert(groups[group].immutable.begin(), groups[group].active);
  groups[group].active = NewMemtable(groups[group]);
  current->shared_read_limit()->Set(last);
  Publish(current->shared_layout(), std::move(groups), MakeRef<ReadLimit>(),
          current->change_files());
}

void Tablet::RotateAll(SequenceNumber last) {
  for (size_t group = 0; group < writer_.groups(); ++group) Rotate(group, last);
}

void Tablet::DropMemtables(SequenceNumber last) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  for (GroupVersion& group : groups) {
    group.active = NewMemtable({});
    group.immutable.clear();
  }
  current->shared_read_limit()->Set(last);
  Publish(current->shared_layout(), std::move(groups), MakeRef<ReadLimit>(),
          current->change_files());
}

void Tablet::SetLayout(std::shared_ptr<const TableLayout> layout, SequenceNumber last) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  ABSL_ASSERT(groups.size() <= layout->groups.size() && "locality groups are only added");
  while (groups.size() < layout->groups.size()) {
    groups.push_back({NewMemtable({}), {}, {}, MakeRef<GroupFiles>()});
  }
  current->shared_read_limit()->Set(last);
  Publish(std::move(layout), std::move(groups), MakeRef<ReadLimit>(), current->change_files());
}

void Tablet::PublishChange(size_t group, const TabletChange& change,
                           const std::vector<Ref<SSTable>>& added, size_t flushed,
                           bool changes_rows) {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  GroupVersion& version = groups[group];
  version.SetFiles(version.files->After(change, added));
  for (const TabletFile& file : change.added)
    estimates_.SetShare(file.info.file_number, file.share);
  // Memtables that were rotated since then stand before those that were flushed.
  ABSL_ASSERT(flushed <= version.immutable.size() && "what was flushed is the oldest");
  version.immutable.resize(version.immutable.size() - flushed);
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
  Publish(current->shared_layout(), std::move(groups), current->shared_read_limit(),
          current->change_files(), changes_rows);
}

void Tablet::PublishChangeFiles(const TabletChange& change,
                                const std::vector<Ref<SSTable>>& added) {
  ABSL_ASSERT(change.group_id == kChangesGroupId && "other groups have versions of their own");
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  Ref<const GroupFiles> before = current->change_files();
  if (!before) before = MakeRef<GroupFiles>();
  Publish(current->shared_layout(), current->groups(), current->shared_read_limit(),
          before->After(change, added));
}

void Tablet::DropFiles() {
  MutexLock lock(&mutex_);
  const Pin<TabletVersion> current = version_.Get();
  std::vector<GroupVersion> groups = current->groups();
  for (GroupVersion& group : groups) group.SetFiles(group.files->Emptied());
  quarantine_.Lift();
  Publish(current->shared_layout(), std::move(groups), current->shared_read_limit(), {});
}

void Tablet::Publish(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
                     Ref<ReadLimit> read_limit, Ref<const GroupFiles> change_files,
                     bool changes_rows) {
  mutex_.AssertHeld();
  ABSL_ASSERT(groups.size() == layout->groups.size() && "groups are as in the layout");
  const Pin<TabletVersion> current = version_.Get();
  const bool layout_changed = current->shared_layout() != layout;
  const bool rows_changed = layout_changed || changes_rows;
  const uint64_t scan_cache_id = rows_changed ? NewScanCacheId() : current->scan_cache_id();
  if (rows_changed) empty_rows_->BeginEpoch();
  const bool memtables_changed = current->shared_read_limit().get() != read_limit.get();
  ABSL_ASSERT(
      (!memtables_changed || current->groups().empty() || current->read_limit() != kMaxSequence) &&
      "versions with other memtables have a limit before these are written");
  if (memtables_changed) {
    server_writer.Assume("background work publishes no other active memtables");
    writer_.Use(layout, groups);
  }
  most_runs_.store(MostRunsOf(*layout, groups), std::memory_order_relaxed);
  version_.Publish(new TabletVersion(std::move(layout), std::move(groups), std::move(read_limit),
                                     environment_->budget, scan_cache_id, empty_rows_,
                                     std::move(change_files)));
  if (environment_->on_version != nullptr) environment_->on_version();
  // A rotation alone changes nothing for compactions.
  if (!memtables_changed || layout_changed) SetMayPickOther(true);
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
  for (const Ref<Memtable>& memtable : known.immutable) include_memtable(*memtable);
  for (const SortedRun& run : known.runs) include(run.smallest_key(), run.largest_key());
  // If row keys count up, the next one may well differ in the last byte of the common prefix.
  const size_t common =
      Shortcuts().Has(Shortcut::kMemtablePrefix) ? CommonPrefix(smallest, largest) : 0;
  return MakeRef<Memtable>(environment_->budget,
                           std::string(smallest.substr(0, common > 0 ? common - 1 : 0)));
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

void Tablet::NoteShares(const GroupFiles& files) {
  for (const GroupFiles::File& file : files.files()) {
    estimates_.SetShare(file.table->info().file_number, file.share);
  }
}

SequenceNumber Tablet::FlushedThrough(size_t group) const {
  return Version()->groups()[group].files->redo().sequence;
}

// --- For METADATA ---

TabletState Tablet::State() const {
  const Pin<TabletVersion> version = Version();
  TabletState state;
  state.rows = rows_;
  state.last_timestamp = writer_.last_timestamp();
  for (size_t i = 0; i < version->groups().size(); ++i) {
    state.groups[version->layout().groups[i].id] = version->groups()[i].files->State();
  }
  if (version->change_files()) state.groups[kChangesGroupId] = version->change_files()->State();
  return state;
}

// --- Quarantined files ---

void Tablet::Quarantine(size_t group, uint64_t number, const absl::Status& status) {
  MutexLock lock(&mutex_);
  if (Version()->groups()[group].files->BytesOf(number) == 0) return;
  quarantine_.Add(group, number, status);
  OnQuarantineChanged();
}

void Tablet::LiftQuarantine() {
  MutexLock lock(&mutex_);
  if (quarantine_.Lift()) OnQuarantineChanged();
}

void Tablet::OnQuarantineChanged() {
  const Pin<TabletVersion> version = version_.Get();
  most_runs_.store(MostRunsOf(version->layout(), version->groups()), std::memory_order_relaxed);
  SetMayPickOther(true);
}

uint64_t Tablet::DiskBytes() const {
  uint64_t bytes = 0;
  const Pin<TabletVersion> version = Version();
  for (const GroupVersion& group : version->groups()) {
    for (const GroupFiles::File& file : group.files->files()) {
      bytes += estimates_.BytesWithin(*file.table);
    }
  }
  return bytes;
}

EventLocation LocationOf(const Tablet& tablet, const TableLayout& layout, size_t group) {
  return {tablet.environment()->server, layout.name, layout.groups[group].name,
          tablet.rows().end()};
}

void AddQuarantined(const Tablet& tablet, std::vector<QuarantinedFile>* files) {
  const std::shared_ptr<const TableLayout> layout = tablet.Layout();
  for (const FileQuarantine::File& file : tablet.quarantine().List()) {
    files->push_back({.server = tablet.environment()->server,
                      .table = layout->name,
                      .locality_group = layout->groups[file.group].name,
                      .end_row = tablet.rows().end(),
                      .number = file.number,
                      .status = file.status,
                      .since = file.since});
  }
}

}  // namespace bigtable
