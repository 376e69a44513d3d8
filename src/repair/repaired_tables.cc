#include "repair/repaired_tables.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "changes/change_file.h"
#include "compaction/merging_cursor.h"
#include "master/schema_store.h"
#include "schema/schema_checks.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "tablet/tablet_id.h"
#include "transfer/image_copy.h"

namespace bigtable {
namespace {

constexpr uint64_t kFileSize = 64 << 20;
constexpr std::string_view kDefaultName = "default";
// What a family of contributions has as its operator if its schema is lost.
constexpr std::string_view kUnknownOperator = "unknown";

// `key` may be the beginning of one.
std::string RowTextOf(std::string_view key) {
  std::string scratch;
  return std::string(RowOf(WithWholeRow(std::string(key)), &scratch));
}

// The rows of a gap in a file with this description, which may be empty. The ends of a gap may be
// keys that the index has shortened.
RowRange RowsOf(const KeyGap& gap, const SSTableInfo& info) {
  const std::string& first = gap.after.empty() ? info.smallest_key : gap.after;
  const std::string& last = gap.last.has_value() ? *gap.last : info.largest_key;
  const bool knows_first = !gap.after.empty() || IsWellFormed(first);
  if (!gap.last.has_value() && !IsWellFormed(last)) {
    return knows_first ? RowRange::StartingAt(RowTextOf(first)) : RowRange::All();
  }
  return RowRange::Closed(knows_first ? RowTextOf(first) : "", RowTextOf(last));
}

// The first key of the rows after a tablet; nothing if it is the last.
std::optional<std::string> EndKey(const RowRange& rows) {
  if (!rows.end().has_value()) return std::nullopt;
  return RowPrefix(*rows.end());
}

}  // namespace

absl::Status RepairedTables::Run() {
  for (const uint64_t number : damaged_->sstables()) {
    target_->file_numbers()->AdvanceTo(number);
  }
  FindTablets();
  BT_RETURN_IF_ERROR(FindFiles());
  BT_RETURN_IF_ERROR(ReadFiles());
  BT_RETURN_IF_ERROR(ReadLogs());
  MakeLayouts();
  NameLosses();
  last_ = std::max(last_, damaged_->last_sequence());
  std::map<std::string, std::string> service_files = damaged_->service_files();
  for (auto& [id, table] : tables_) {
    last_ = std::max(last_, id);
    for (const TabletState& state : table.tablets) last_ = std::max(last_, LargestSequence(state));
    for (const auto& [_, group] : table.groups) {
      for (const auto& [number, file] : group.files) {
        last_ = std::max({last_, file.order, file.info.max_sequence});
      }
    }
  }
  ++last_;  // the order of what logs have
  for (auto& [_, table] : tables_) {
    // What was lost is in no stream of changes, so the streams begin anew.
    if (table.layout.changes_since != 0) table.layout.changes_since = last_;
    table.layout.schema_changes.clear();
    service_files[SchemaStore::FileOf(table.layout.name)] = table.layout.Encode();
  }
  for (auto& [id, table] : tables_) BT_RETURN_IF_ERROR(WriteTable(id, &table));
  BT_RETURN_IF_ERROR(RemoveUnused());
  BT_RETURN_IF_ERROR(target_->Finish(service_files, last_));
  std::sort(report_->tables.begin(), report_->tables.end(),
            [](const RepairedTable& a, const RepairedTable& b) { return a.name < b.name; });
  return absl::OkStatus();
}

// --- What there is ---

void RepairedTables::FindTablets() {
  for (const auto& [id, layout] : damaged_->layouts()) {
    tables_[id].layout = layout;
    tables_[id].has_entries = true;
  }
  std::map<uint64_t, std::set<std::string>> ends;
  for (const SalvagedMetadata::Tablet& tablet : damaged_->tablets()) {
    Table& table = tables_[tablet.id.table_id];
    if (!damaged_->is_metadata_lost()) {
      table.tablets.push_back(tablet.state);
      table.tablets.back().groups.erase(kChangesGroupId);
    } else {
      ends[tablet.id.table_id].insert(tablet.state.rows.begin());
      if (tablet.id.end_row.has_value()) ends[tablet.id.table_id].insert(*tablet.id.end_row);
    }
  }
  for (auto& [id, bounds] : ends) {
    bounds.erase("");
    std::string begin;
    for (const std::string& end : bounds) {
      tables_[id].tablets.emplace_back().rows = RowRange::RightOpen(begin, end);
      begin = end;
    }
    tables_[id].tablets.emplace_back().rows = RowRange::StartingAt(begin);
  }
}

absl::Status RepairedTables::FindFiles() {
  for (const SalvagedMetadata::Tablet& tablet : damaged_->tablets()) {
    for (const auto& [group_id, group] : tablet.state.groups) {
      if (group_id == kChangesGroupId) continue;
      for (const TabletFile& file : group.files) {
        const bool is_there = damaged_->sstables().contains(file.info.file_number);
        // An old row names files that a compaction has replaced.
        if (damaged_->is_metadata_lost() && !is_there) continue;
        tables_[tablet.id.table_id].groups[group_id].files.emplace(file.info.file_number, file);
        files_.try_emplace(file.info.file_number);
      }
    }
  }
  if (!damaged_->is_metadata_lost()) return absl::OkStatus();
  for (const uint64_t number : damaged_->sstables()) {
    if (files_.contains(number) || damaged_->metadata_sstables().contains(number)) continue;
    BT_RETURN_IF_ERROR(FindFile(number));
  }
  return absl::OkStatus();
}

// To which group a file belongs that no row of METADATA names.
absl::Status RepairedTables::FindFile(uint64_t number) {
  const std::string path = damaged_->directory().sstable(number);
  BT_ASSIGN_OR_RETURN(const DamagedDatabase::FileFacts* const facts, damaged_->FactsOf(number));
  if (facts == nullptr) {
    report_->findings.push_back(
        {path, "cannot be opened, and nothing else says whose it is; it is left out", {{}}});
    return absl::OkStatus();
  }
  const auto leave_out = [&](std::string_view why) {
    LostRows lost;
    if (IsWellFormed(facts->info.smallest_key)) {
      lost.rows =
          RowRange::Closed(RowTextOf(facts->info.smallest_key), RowTextOf(facts->info.largest_key));
    }
    report_->findings.push_back({path, Cat(why, "; it is left out"), {lost}});
    return absl::OkStatus();
  };
  if (facts->info.entries == 0) return absl::OkStatus();
  if (facts->info.file_number != number) {
    return leave_out("an ingested file, whose place among other entries only METADATA knew");
  }
  const TabletFile file{.order = facts->info.max_sequence, .info = facts->info};
  if (facts->owner.has_value()) {
    if (facts->owner->table_id == kMetadataTableId) return absl::OkStatus();
    if (facts->owner->group_id == kChangesGroupId) return absl::OkStatus();
    Table& table = tables_[facts->owner->table_id];
    table.name = facts->owner->table;
    Group& group = table.groups[facts->owner->group_id];
    group.name = facts->owner->group;
    group.files.emplace(number, file);
    files_.try_emplace(number);
    return absl::OkStatus();
  }
  // From an older program.
  Table* fits = nullptr;
  uint32_t group_id = 0;
  for (auto& [_, table] : tables_) {
    bool has_all = !facts->info.families.empty();
    std::set<uint32_t> groups;
    for (const SSTableInfo::FamilyBytes& family : facts->info.families) {
      const FamilyLayout* const found = table.layout.FindFamily(family.name);
      has_all &= found != nullptr;
      if (found != nullptr) groups.insert(found->group_id);
    }
    if (!has_all || groups.size() != 1) continue;
    if (fits != nullptr) return leave_out("several tables have its families");
    fits = &table;
    group_id = *groups.begin();
  }
  if (fits == nullptr) return leave_out("no table has its families");
  fits->groups[group_id].files.emplace(number, file);
  files_.try_emplace(number);
  return absl::OkStatus();
}

absl::Status RepairedTables::ReadFiles() {
  for (auto& [id, table] : tables_) {
    for (auto& [group_id, group] : table.groups) {
      for (const auto& [number, file] : group.files) {
        BT_RETURN_IF_ERROR(ReadFile(id, &table, group_id, file));
        Group& of_file = group;
        const File& read = files_[number];
        if (read.salvaged.owner.has_value() && read.salvaged.owner->table_id == id) {
          table.name = read.salvaged.owner->table;
          if (read.salvaged.owner->group_id == group_id) {
            of_file.name = read.salvaged.owner->group;
          }
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RepairedTables::ReadFile(uint64_t id, Table* table, uint32_t group_id,
                                      const TabletFile& file) {
  const uint64_t number = file.info.file_number;
  const std::string path = damaged_->directory().sstable(number);
  std::string family;
  const auto note = [&](std::string_view key, std::string_view /*value*/) {
    const std::string_view found = FamilyOf(key, RowPrefixSize(key));
    if (!found.empty() && found != family) {
      family = found;
      table->families.emplace(family, group_id);
    }
    if (IsContribution(KindOf(key))) table->aggregates.insert(family);
    return absl::OkStatus();
  };
  File& read = files_[number];
  BT_ASSIGN_OR_RETURN(read.salvaged, SalvageSSTable(parts_, path, &file.info, note));
  table->has_entries |= read.salvaged.entries > 0;
  if (read.salvaged.damage.ok()) return absl::OkStatus();
  RepairFinding& finding = report_->findings.emplace_back();
  finding.path = path;
  finding.problem = ToStd(read.salvaged.damage.message());
  if (read.salvaged.gaps.empty()) finding.problem += "; all of its entries were read";
  for (const KeyGap& gap : read.salvaged.gaps) {
    finding.lost.push_back({"", RowsOf(gap, file.info)});
  }
  table->has_entries = true;  // or had
  of_table_.emplace_back(report_->findings.size() - 1, id);
  return absl::OkStatus();
}

// --- Logs ---

absl::Status RepairedTables::ReadLogs() {
  const auto deliver = [&](const MutationRecord& mutation, SequenceNumber sequence) {
    AddLogged(mutation, sequence);
    return absl::OkStatus();
  };
  return damaged_->ReadLogs(deliver, [&](const LogGap& gap) { return LostInLog(gap); });
}

std::vector<LostRows> RepairedTables::LostInLog(const LogGap& gap) {
  if (damaged_->is_metadata_lost()) return {{}};
  std::vector<LostRows> lost;
  for (const auto& [id, table] : tables_) {
    for (const TabletState& state : table.tablets) {
      // A group without a redo point was never flushed.
      bool is_redone = state.groups.size() >= std::max<size_t>(table.layout.groups.size(), 1);
      for (const auto& [_, group] : state.groups)
        is_redone &= gap.before <= group.redo.sequence + 1;
      if (!is_redone) lost.push_back({table.layout.name, state.rows});
    }
  }
  return lost;
}

bool RepairedTables::IsRedone(const Table& table, std::string_view row, uint32_t group_id,
                              SequenceNumber sequence) const {
  if (damaged_->is_metadata_lost()) return false;
  const auto tablet = std::find_if(table.tablets.begin(), table.tablets.end(),
                                   [&](const auto& state) { return state.rows.Contains(row); });
  if (tablet == table.tablets.end()) return true;
  const auto group = tablet->groups.find(group_id);
  return group != tablet->groups.end() && sequence <= group->second.redo.sequence;
}

void RepairedTables::AddLogged(const MutationRecord& mutation, SequenceNumber sequence) {
  auto found = tables_.find(mutation.table_id);
  if (found == tables_.end()) {
    // METADATA has no such table: it was deleted.
    if (!damaged_->is_metadata_lost() || mutation.table_id == kMetadataTableId) return;
    found = tables_.emplace(mutation.table_id, Table()).first;
  }
  OperationReader operations(mutation.mutation.operations);
  MutationOperation operation;
  for (uint32_t ordinal = 0; operations.Next(&operation); ++ordinal) {
    AddOperation(&found->second, mutation, {sequence, ordinal}, operation);
  }
  ++report_->mutations;
}

void RepairedTables::AddOperation(Table* table, const MutationRecord& mutation,
                                  EntryVersion version, const MutationOperation& operation) {
  const std::string_view row = mutation.mutation.row;
  const int64_t timestamp =
      operation.takes_server_time() ? mutation.server_timestamp : operation.timestamp;
  const auto add = [&](uint32_t group_id, std::string key) {
    if (IsRedone(*table, row, group_id, version.sequence)) return;
    AppendTrailer(&key, timestamp, version, operation.kind);
    table->groups[group_id].logged.emplace(std::move(key), operation.value);
    table->has_entries = true;
  };
  std::string key = RowPrefix(row);
  const bool has_layout = !table->layout.groups.empty();
  if (operation.is_of_row()) {
    std::set<uint32_t> groups = {};
    for (const GroupLayout& group : table->layout.groups) groups.insert(group.id);
    for (const auto& [id, _] : table->groups) groups.insert(id);
    for (const uint32_t id : groups) {
      std::string of_group = key;
      AppendNoFamily(&of_group, id);
      add(id, std::move(of_group));
    }
    return;
  }
  uint32_t group_id = 0;
  if (const FamilyLayout* const family = table->layout.FindFamily(operation.family)) {
    group_id = family->group_id;
  } else if (has_layout) {
    return;  // the family was deleted
  } else {
    group_id = table->families.emplace(operation.family, 0).first->second;
    if (IsContribution(operation.kind)) table->aggregates.insert(std::string(operation.family));
  }
  if (ScopeOf(operation.kind) == EntryScope::kFamily) {
    AppendNoColumn(&key, operation.family);
  } else {
    AppendColumn(&key, operation.family, operation.qualifier);
  }
  add(group_id, std::move(key));
}

// --- Schemas ---

void RepairedTables::MakeLayouts() {
  std::erase_if(tables_, [&](const auto& entry) {
    const auto& [id, table] = entry;
    const bool is_nothing =
        table.layout.groups.empty() && (!table.has_entries || table.families.empty());
    if (!is_nothing) return false;
    report_->findings.push_back(
        {damaged_->directory().path(),
         Cat("table ", id,
             " has neither a schema nor entries: it was empty, and its schema is "
             "lost, or it was being created or deleted; it is left out"),
         {}});
    return true;
  });
  std::set<std::string> names;
  for (const auto& [id, table] : tables_) {
    if (!table.layout.groups.empty()) names.insert(table.layout.name);
  }
  size_t without = 0;
  for (const auto& [id, table] : tables_) without += table.layout.groups.empty() ? 1 : 0;
  for (auto& [id, table] : tables_) {
    if (!table.layout.groups.empty()) continue;
    // The only table without a schema is that of the only schema that cannot be read.
    if (without == 1 && damaged_->lost_schemas().size() == 1) {
      table.name = *damaged_->lost_schemas().begin();
    }
    MakeLayout(id, &table, &names);
  }
  for (const std::string& name : damaged_->lost_schemas()) {
    if (names.contains(name)) continue;
    report_->findings.push_back(
        {damaged_->directory().path(),
         Cat("no file has entries of table ", Quoted(name), ", whose schema is lost"),
         {{name, {}}}});
  }
}

void RepairedTables::MakeLayout(uint64_t id, Table* table, std::set<std::string>* names) {
  TableLayout& layout = table->layout;
  layout.table_id = id;
  layout.name = table->name;
  if (!CheckTableName(layout.name).ok() || names->contains(layout.name)) {
    layout.name = Cat("recovered_", id);
  }
  names->insert(layout.name);
  table->groups.try_emplace(0);
  std::set<std::string> group_names;
  for (const auto& [group_id, group] : table->groups) {
    std::string name = group.name;
    if (name.empty()) name = group_id == 0 ? std::string(kDefaultName) : Cat("group_", group_id);
    if (!group_names.insert(name).second) name = Cat("group_", group_id);
    layout.groups.push_back({group_id, name, {}});
    layout.next_group_id = group_id + 1;
  }
  for (const auto& [name, group_id] : table->families) {
    Family family;
    if (table->aggregates.contains(name)) family.value_operator = kUnknownOperator;
    layout.AddFamily(name, group_id, family, 0);
  }
  report_->findings.push_back(
      {damaged_->directory().path(),
       Cat("table ", id, " has no schema that can be read, or it was being deleted; it is table ",
           Quoted(layout.name), " now, with the families of its files and default options"),
       {}});
}

// Findings were made before the names of tables were known.
void RepairedTables::NameLosses() {
  for (const auto& [finding, id] : of_table_) {
    const auto table = tables_.find(id);
    if (table == tables_.end()) continue;
    for (LostRows& lost : report_->findings[finding].lost) lost.table = table->second.layout.name;
  }
}

// --- Writing ---

absl::Status RepairedTables::WriteTable(uint64_t id, Table* table) {
  if (table->tablets.empty()) table->tablets.emplace_back();
  if (damaged_->is_metadata_lost()) {
    BT_RETURN_IF_ERROR(WriteMerged(table));
  } else {
    BT_RETURN_IF_ERROR(WriteWithMetadata(table));
  }
  RepairedTable& result = report_->tables.emplace_back();
  result.name = table->layout.name;
  result.has_new_schema = !damaged_->layouts().contains(id);
  result.tablets = table->tablets.size();
  std::set<uint64_t> numbers;
  const int64_t now = absl::ToUnixMicros(absl::Now());
  for (TabletState& state : table->tablets) {
    for (const GroupLayout& group : table->layout.groups) state.groups[group.id];
    for (auto& [_, group] : state.groups) {
      group.redo = {.sequence = last_};
      for (const TabletFile& file : group.files) {
        state.last_timestamp =
            std::max(state.last_timestamp, std::min(file.info.max_timestamp, now));
      }
    }
    state.AddFiles(&numbers);
    target_->AddTablet(id, state);
  }
  result.files = numbers.size();
  used_.insert(numbers.begin(), numbers.end());
  return absl::OkStatus();
}

absl::Status RepairedTables::WriteWithMetadata(Table* table) {
  for (TabletState& state : table->tablets) {
    for (auto& [group_id, group] : state.groups) {
      std::vector<TabletFile> placed;
      for (const TabletFile& file : group.files) {
        BT_RETURN_IF_ERROR(Place(*table, group_id, file));
        for (const SSTableInfo& info : files_[file.info.file_number].placed) {
          if (MayHaveRowsOf(group_id, info, state.rows))
            placed.push_back({file.order, info, file.share});
        }
      }
      group.files = std::move(placed);
    }
    for (const auto& [group_id, group] : table->groups) {
      const auto begin = group.logged.lower_bound(RowPrefix(state.rows.begin()));
      const std::optional<std::string> end_key = EndKey(state.rows);
      const auto end =
          end_key.has_value() ? group.logged.lower_bound(*end_key) : group.logged.end();
      BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written,
                          WriteLogged(*table, group_id, begin, end));
      for (const SSTableInfo& info : written) state.groups[group_id].files.push_back({last_, info});
    }
  }
  return absl::OkStatus();
}

// All files of a group, and what logs have of it, become one run, whatever their order is.
absl::Status RepairedTables::WriteMerged(Table* table) {
  for (const auto& [group_id, group] : table->groups) {
    std::vector<Ref<SSTable>> inputs;
    std::vector<SSTableInfo> infos;
    for (const auto& [number, file] : group.files) {
      BT_RETURN_IF_ERROR(Place(*table, group_id, file));
      for (const SSTableInfo& info : files_[number].placed) infos.push_back(info);
    }
    BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> logged,
                        WriteLogged(*table, group_id, group.logged.begin(), group.logged.end()));
    infos.insert(infos.end(), logged.begin(), logged.end());
    std::deque<SSTableCursor> cursors;
    MergingCursor merged;
    for (const SSTableInfo& info : infos) {
      BT_ASSIGN_OR_RETURN(
          Ref<SSTable> input,
          SSTable::Open(parts_.file_system, target_->directory().sstable(info.file_number), info,
                        {.read_mode = FileSystem::ReadMode::kPositional, .budget = parts_.budget}));
      inputs.push_back(std::move(input));
      merged.Add(&cursors.emplace_back(inputs.back().get(), ReadSettings{.fill_cache = false}));
    }
    std::string last;
    merged.SeekToFirst();
    for (TabletState& state : table->tablets) {
      SSTableSeries series(NewFiles(*table, group_id));
      const std::optional<std::string> end = EndKey(state.rows);
      for (; merged.valid() && (!end.has_value() || merged.key() < *end); merged.Next()) {
        if (merged.key() == last) continue;  // in several files
        last = merged.key();
        BT_RETURN_IF_ERROR(series.Add(last, merged.value()));
      }
      BT_RETURN_IF_ERROR(merged.status());
      BT_RETURN_IF_ERROR(series.Finish());
      for (const SSTableInfo& info : series.infos()) {
        state.groups[group_id].files.push_back({last_, info});
      }
      BT_RETURN_IF_ERROR(parts_.limits.Check("the repair"));
    }
  }
  return absl::OkStatus();
}

absl::Status RepairedTables::Place(const Table& table, uint32_t group_id, const TabletFile& file) {
  File& source = files_[file.info.file_number];
  if (std::exchange(source.is_placed, true)) return absl::OkStatus();
  if (!source.salvaged.damage.ok()) return Rewrite(table, group_id, file);
  source.placed = {file.info};
  return LinkOrCopy(file.info.file_number);
}

absl::Status RepairedTables::LinkOrCopy(uint64_t number) {
  BT_RETURN_IF_ERROR(parts_.limits.Check("the repair"));
  const std::string from = damaged_->directory().sstable(number);
  const std::string to = target_->directory().sstable(number);
  written_.insert(number);
  const absl::Status linked = parts_.file_system->LinkFile(from, to);
  if (linked.ok()) {
    ++report_->files_linked;
    return parts_.file_system->SyncFile(to);
  }
  if (!absl::IsUnimplemented(linked)) return linked;
  ++report_->files_copied;
  return CopyFile(parts_.file_system, from, parts_.file_system, to, parts_.limits).status();
}

absl::Status RepairedTables::Rewrite(const Table& table, uint32_t group_id,
                                     const TabletFile& file) {
  File& source = files_[file.info.file_number];
  if (source.salvaged.entries == 0) return absl::OkStatus();
  SSTableSeries series(NewFiles(table, group_id));
  const std::string path = damaged_->directory().sstable(file.info.file_number);
  const auto add = [&](std::string_view key, std::string_view value) {
    return series.Add(key, value);
  };
  BT_ASSIGN_OR_RETURN(const SalvagedSSTable again, SalvageSSTable(parts_, path, &file.info, add));
  if (again.entries != source.salvaged.entries) {
    return absl::UnavailableError(Cat(path, ": ", source.salvaged.entries,
                                      " entries could be read at first, and then ", again.entries));
  }
  BT_RETURN_IF_ERROR(series.Finish());
  source.placed = series.infos();
  ++report_->files_rewritten;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SSTableInfo>> RepairedTables::WriteLogged(
    const Table& table, uint32_t group_id, std::map<std::string, std::string>::const_iterator begin,
    std::map<std::string, std::string>::const_iterator end) {
  SSTableSeries series(NewFiles(table, group_id));
  for (auto entry = begin; entry != end; ++entry) {
    BT_RETURN_IF_ERROR(series.Add(entry->first, entry->second));
  }
  BT_RETURN_IF_ERROR(series.Finish());
  return series.infos();
}

SSTableSeries::Options RepairedTables::NewFiles(const Table& table, uint32_t group_id) {
  SSTableSeries::Options options;
  options.file_size = kFileSize;
  options.budget = parts_.budget.get();
  const size_t index = table.layout.GroupIndex(group_id);
  if (index < table.layout.groups.size()) {
    const GroupLayout& group = table.layout.groups[index];
    options.group = group.options;
    options.owner = SSTableOwner{table.layout.table_id, table.layout.name, group.id, group.name};
  }
  options.name_next = [this] {
    const uint64_t number = target_->file_numbers()->Take();
    written_.insert(number);
    return SSTableSeries::File{number, target_->directory().sstable(number)};
  };
  options.create = [this](const std::string& path) {
    return parts_.file_system->NewWritableFile(path);
  };
  return options;
}

// What a merge has read, and no tablet names.
absl::Status RepairedTables::RemoveUnused() {
  for (const uint64_t number : written_) {
    if (used_.contains(number)) continue;
    BT_RETURN_IF_ERROR(parts_.file_system->RemoveFile(target_->directory().sstable(number)));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
