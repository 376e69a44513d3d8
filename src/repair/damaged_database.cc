#include "repair/damaged_database.h"

#include <algorithm>
#include <utility>

#include "admission/access_list_store.h"
#include "admission/quota_store.h"
#include "base/entry_key.h"
#include "base/ref_counted.h"
#include "base/status.h"
#include "base/strings.h"
#include "cluster/metadata_copies.h"
#include "cluster/server_directory.h"
#include "cluster/server_role.h"
#include "master/schema_store.h"
#include "metadata/root_tablet.h"
#include "repair/read_errors.h"
#include "sstable/sstable.h"

namespace bigtable {
namespace {

std::string Text(const absl::Status& status) { return std::string(ToStd(status.message())); }

}  // namespace

absl::Status DamagedDatabase::Read() {
  BT_RETURN_IF_ERROR(ReadDirectory());
  BT_RETURN_IF_ERROR(ReadSmallFiles());
  return ReadMetadata();
}

absl::Status DamagedDatabase::ReadDirectory() {
  const auto list = [&](const std::string& path) -> absl::StatusOr<std::vector<std::string>> {
    auto names = parts_.file_system->ListDirectory(path);
    if (absl::IsNotFound(names.status())) return std::vector<std::string>();
    return names;
  };
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> files, list(directory_.sstables()));
  for (const std::string& name : files) {
    if (const auto number = DatabaseDirectory::SSTableNumber(name)) sstables_.insert(*number);
  }
  BT_ASSIGN_OR_RETURN(servers_, list(directory_.logs()));
  absl::StatusOr<std::vector<std::string>> with_file = small_files_.List(ServerRecord::kDirectory);
  BT_RETURN_IF_ERROR(with_file.status());
  servers_.insert(servers_.end(), with_file->begin(), with_file->end());
  std::erase_if(servers_, [](const std::string& name) {
    return !ServerDirectory::NumberOf(name).has_value();
  });
  std::sort(servers_.begin(), servers_.end(), [](const std::string& a, const std::string& b) {
    return std::pair(ServerDirectory::NumberOf(a), a) < std::pair(ServerDirectory::NumberOf(b), b);
  });
  servers_.erase(std::unique(servers_.begin(), servers_.end()), servers_.end());
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> small, list(directory_.lock_service()));
  if (!sstables_.empty() || !servers_.empty() || !small.empty()) return absl::OkStatus();
  return absl::NotFoundError(Cat(directory_.path(), ": there is nothing of a database here"));
}

absl::StatusOr<std::optional<std::string>> DamagedDatabase::ReadSmallFile(
    const std::string& name, std::string_view consequence) {
  absl::StatusOr<SmallFile> file = small_files_.ReadWithGeneration(name);
  if (file.ok()) {
    if (!file->damage.ok()) {
      Find(small_files_.PathOf(name), Cat(Text(file->damage), "; its copy was read"));
    }
    return std::move(file->contents);
  }
  if (!IsDamage(file.status())) return file.status();
  Find(small_files_.PathOf(name), Cat(Text(file.status()), "; ", consequence));
  return std::nullopt;
}

absl::Status DamagedDatabase::ReadSmallFiles() {
  for (const std::string_view folder : {SchemaStore::kDirectory, AccessListStore::kDirectory}) {
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, small_files_.List(folder));
    for (const std::string& file : names) {
      const std::string name = Cat(folder, "/", file);
      const bool is_schema = folder == SchemaStore::kDirectory;
      BT_ASSIGN_OR_RETURN(const std::optional<std::string> contents,
                          ReadSmallFile(name, is_schema ? "the table gets a schema from its files"
                                                        : "the access list is lost"));
      if (!is_schema) {
        if (contents.has_value()) service_files_[name] = *contents;
        continue;
      }
      if (!contents.has_value()) {
        lost_schemas_.insert(file);
        continue;
      }
      absl::StatusOr<TableLayout> layout = TableLayout::Decode(*contents);
      if (layout.ok()) {
        service_files_[name] = *contents;
        layouts_.emplace(layout->table_id, *std::move(layout));
      } else {
        lost_schemas_.insert(file);
        Find(small_files_.PathOf(name),
             Cat(Text(layout.status()), "; the table gets a schema from its files"));
      }
    }
  }
  const std::string quotas(QuotaStore::kFile);
  if (!small_files_.Exists(quotas)) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(const std::optional<std::string> contents,
                      ReadSmallFile(quotas, "the quotas are lost"));
  if (contents.has_value()) service_files_[quotas] = *contents;
  return absl::OkStatus();
}

// --- METADATA ---

void DamagedDatabase::LoseMetadata(const std::string& path, std::string_view problem) {
  report_->is_metadata_lost = true;
  Find(path, Cat(problem, "; tables are made of all SSTables that are there for them"));
}

absl::Status DamagedDatabase::ReadMetadata() {
  const std::string root_file(RootTablet::kFile);
  absl::StatusOr<RootState> root;
  if (const auto file = small_files_.ReadWithGeneration(root_file); file.ok()) {
    root = DecodeRoot(file->contents);
    if (!file->damage.ok()) {
      Find(small_files_.PathOf(root_file), Cat(Text(file->damage), "; its copy was read"));
    }
  } else {
    root = file.status();
  }
  if (!root.ok() && !IsDamage(root.status())) return root.status();
  std::vector<TabletState> states;
  if (root.ok()) {
    states = {root->tablet};
    BT_RETURN_IF_ERROR(ReadMetadataFiles(root->tablet));
  } else {
    LoseMetadata(small_files_.PathOf(root_file), Text(root.status()));
  }
  BT_RETURN_IF_ERROR(ReadMetadataLogs(NameOfRole(ServerRole::kRoot), states));
  std::vector<std::string> problems;
  states.clear();
  for (const SalvagedMetadata::Tablet& tablet : rows_.Tablets(&problems)) {
    if (tablet.id.table_id == kMetadataTableId) states.push_back(tablet.state);
  }
  if (states.empty() && !is_metadata_lost()) {
    // A database that was closed before its first table was created has rows, too.
    LoseMetadata(directory_.path(), "METADATA's root tablet names no tablet of METADATA");
  }
  if (!is_metadata_lost()) {
    for (const TabletState& state : states) BT_RETURN_IF_ERROR(ReadMetadataFiles(state));
  }
  if (is_metadata_lost()) BT_RETURN_IF_ERROR(ReadAllMetadataFiles());
  BT_RETURN_IF_ERROR(ReadMetadataLogs(NameOfRole(ServerRole::kMetadata), states));
  // A log has damage that a flush had not yet covered.
  if (is_metadata_lost()) BT_RETURN_IF_ERROR(ReadAllMetadataFiles());
  problems.clear();
  for (SalvagedMetadata::Tablet& tablet : rows_.Tablets(&problems)) {
    if (tablet.id.table_id != kMetadataTableId) tablets_.push_back(std::move(tablet));
  }
  for (const std::string& problem : problems) LoseMetadata(directory_.path(), problem);
  CheckTablets();
  return absl::OkStatus();
}

absl::Status DamagedDatabase::ReadMetadataFiles(const TabletState& state) {
  for (const auto& [_, group] : state.groups) {
    for (const TabletFile& file : group.files) {
      BT_RETURN_IF_ERROR(ReadMetadataFile(file.info.file_number, &file.info));
    }
  }
  return absl::OkStatus();
}

absl::Status DamagedDatabase::ReadMetadataFile(uint64_t number, const SSTableInfo* expected) {
  metadata_sstables_.insert(number);
  const std::string path = directory_.sstable(number);
  const auto add = [&](std::string_view key, std::string_view value) {
    last_sequence_ = std::max(last_sequence_, VersionOf(key).sequence);
    rows_.AddEntry(key, value);
    return absl::OkStatus();
  };
  BT_ASSIGN_OR_RETURN(const SalvagedSSTable file, SalvageSSTable(parts_, path, expected, add));
  if (file.damage.ok()) return absl::OkStatus();
  // What is read twice does no harm.
  BT_ASSIGN_OR_RETURN(const SalvagedSSTable copy,
                      SalvageSSTable(parts_, directory_.copy_of_sstable(number), expected, add));
  if (copy.gaps.empty()) {
    Find(path, Cat("of METADATA: ", Text(file.damage), "; its copy was read"));
  } else if (file.gaps.empty()) {
    Find(path, Cat("of METADATA: ", Text(file.damage), "; all of its entries were read"));
  } else {
    LoseMetadata(path, Cat("of METADATA: ", Text(file.damage), "; its copy: ", Text(copy.damage)));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> DamagedDatabase::IsOfMetadata(uint64_t number) {
  BT_ASSIGN_OR_RETURN(const FileFacts* const facts, FactsOf(number));
  if (facts == nullptr) return false;
  if (facts->owner.has_value()) return facts->owner->table_id == kMetadataTableId;
  // Files of older programs do not say whose they are.
  static const TableLayout* const layout = new TableLayout(MetadataLayout());
  const SSTableInfo& info = facts->info;
  if (info.entries == 0 || info.families.empty()) return false;
  for (const SSTableInfo::FamilyBytes& family : info.families) {
    if (layout->FindFamily(family.name) == nullptr) return false;
  }
  std::string scratch;
  return TabletOfMetadataRow(RowOf(info.smallest_key, &scratch)).ok() &&
         TabletOfMetadataRow(RowOf(info.largest_key, &scratch)).ok();
}

absl::Status DamagedDatabase::ReadAllMetadataFiles() {
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> copies,
                      MetadataCopies(parts_.file_system, directory_).List());
  for (const uint64_t number : copies) {
    if (!metadata_sstables_.contains(number)) {
      BT_RETURN_IF_ERROR(ReadMetadataFile(number, nullptr));
    }
  }
  for (const uint64_t number : sstables_) {
    if (metadata_sstables_.contains(number)) continue;
    BT_ASSIGN_OR_RETURN(const bool is_of_metadata, IsOfMetadata(number));
    if (is_of_metadata) BT_RETURN_IF_ERROR(ReadMetadataFile(number, nullptr));
  }
  return absl::OkStatus();
}

// Tablets of a table have all rows, each once.
void DamagedDatabase::CheckTablets() {
  std::map<uint64_t, std::string> next;  // by table: the first row of its next tablet
  std::set<uint64_t> complete;
  for (const SalvagedMetadata::Tablet& tablet : tablets_) {
    const uint64_t id = tablet.id.table_id;
    if (tablet.state.rows.begin() != next[id] && !is_metadata_lost()) {
      LoseMetadata(
          directory_.path(),
          Cat("METADATA, table ", id, ": a tablet begins with ", Quoted(tablet.state.rows.begin()),
              ", and the one before it ends before ", Quoted(next[id])));
    }
    next[id] = tablet.state.rows.end().value_or("");
    if (!tablet.state.rows.end().has_value()) complete.insert(id);
  }
  for (const auto& [id, layout] : layouts_) next.try_emplace(id);
  for (const auto& [id, _] : next) {
    if (complete.contains(id) || is_metadata_lost()) continue;
    LoseMetadata(directory_.path(), Cat("METADATA has not all tablets of table ", id));
  }
}

absl::StatusOr<const DamagedDatabase::FileFacts*> DamagedDatabase::FactsOf(uint64_t number) {
  auto found = facts_.find(number);
  if (found == facts_.end()) {
    const auto opened = SSTable::OpenUnknown(
        parts_.file_system, directory_.sstable(number),
        {.read_mode = FileSystem::ReadMode::kPositional, .budget = parts_.budget});
    if (!opened.ok() && !IsDamage(opened.status())) return opened.status();
    std::optional<FileFacts> facts;
    if (opened.ok()) facts = FileFacts{(*opened)->info(), (*opened)->properties().owner};
    found = facts_.emplace(number, std::move(facts)).first;
  }
  return found->second.has_value() ? &*found->second : nullptr;
}

// --- Logs ---

void DamagedDatabase::AddReach(const TabletState& state, ReachOfServers* reach) {
  for (const auto& [_, group] : state.groups) {
    if (group.redo.server.empty()) continue;
    Reach& of_server = (*reach)[group.redo.server];
    of_server.synced = std::max(of_server.synced, group.redo.log_synced);
    of_server.flushed = std::max(of_server.flushed, group.redo.sequence);
  }
}

absl::StatusOr<DamagedDatabase::ServerLog> DamagedDatabase::ReadRecord(const std::string& server) {
  const std::string name = ServerRecord::FileOf(server);
  ServerLog log{.server = server, .record = {}, .has_file = small_files_.Exists(name), .log = {}};
  if (!log.has_file) return log;
  BT_ASSIGN_OR_RETURN(
      const std::optional<std::string> text,
      ReadSmallFile(name,
                    "all mutations in the server's log count, also those that were not "
                    "acknowledged"));
  if (!text.has_value()) return log;
  absl::StatusOr<ServerRecord> record = ServerRecord::FromText(server, *text);
  if (record.ok()) {
    log.record = *std::move(record);
  } else {
    Find(small_files_.PathOf(name), Text(record.status()));
  }
  return log;
}

absl::Status DamagedDatabase::SalvageOne(const ServerLog& log, SequenceNumber must_reach,
                                         ReplayCallback callback, SalvagedLog* salvaged) const {
  if (log.record.is_done) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(*salvaged, SalvageLog(parts_.file_system, directory_.log_of(log.server),
                                            must_reach, log.has_file, callback));
  return absl::OkStatus();
}

absl::Status DamagedDatabase::Deliver(
    const ServerLog& log, RecordType type, SequenceNumber sequence, std::string_view payload,
    absl::FunctionRef<bool(const OtherBatchPart&)> is_missing,
    absl::FunctionRef<absl::Status(const MutationRecord&, SequenceNumber)> deliver) {
  BT_RETURN_IF_ERROR(parts_.limits.Check("the repair"));
  if (!log.record.Recovers(sequence)) return absl::OkStatus();
  std::vector<MutationRecord> mutations(1);
  std::vector<OtherBatchPart> others;
  const bool is_read =
      type == RecordType::kMutation
          ? ParseMutationRecord(payload, &mutations[0])
          : (type != RecordType::kBatchPart || ParseBatchPart(payload, &others, &payload)) &&
                ParseBatchRecord(payload, sequence, &mutations);
  if (!is_read) {
    Find(directory_.log_of(log.server),
         Cat("the record with sequence number ", sequence, " is not a mutation"), {{}});
    return absl::OkStatus();
  }
  if (std::any_of(others.begin(), others.end(), is_missing)) return absl::OkStatus();
  SequenceNumber next = sequence - mutations.size();
  for (const MutationRecord& mutation : mutations) {
    last_sequence_ = std::max(last_sequence_, ++next);
    BT_RETURN_IF_ERROR(deliver(mutation, next));
  }
  return absl::OkStatus();
}

absl::Status DamagedDatabase::ReadMetadataLogs(std::string_view role,
                                               const std::vector<TabletState>& states) {
  const std::string prefix = Cat(role, "-");
  ReachOfServers reach;
  SequenceNumber redone = states.empty() ? 0 : kMaxSequence;  // by all
  for (const TabletState& state : states) {
    AddReach(state, &reach);
    const auto group = state.groups.find(0);
    redone = std::min(redone, group != state.groups.end() ? group->second.redo.sequence : 0);
  }
  // Redo points of METADATA count only if it is known that they are the last ones.
  const auto is_redone = [&](std::string_view row, SequenceNumber sequence) {
    for (const TabletState& state : states) {
      if (!state.rows.Contains(row)) continue;
      const auto group = state.groups.find(0);
      return group != state.groups.end() && sequence <= group->second.redo.sequence;
    }
    return false;
  };
  for (const std::string& server : servers_) {
    if (!server.starts_with(prefix)) continue;
    BT_ASSIGN_OR_RETURN(const ServerLog log, ReadRecord(server));
    const auto add = [&](const MutationRecord& mutation, SequenceNumber sequence) {
      const bool counts = mutation.table_id == kMetadataTableId &&
                          (is_metadata_lost() || !is_redone(mutation.mutation.row, sequence));
      if (counts) rows_.AddMutation(mutation.mutation, sequence);
      return absl::OkStatus();
    };
    const auto read = [&](RecordType type, SequenceNumber sequence, std::string_view payload) {
      return Deliver(
          log, type, sequence, payload, [](const auto&) { return false; }, add);
    };
    SalvagedLog salvaged;
    BT_RETURN_IF_ERROR(SalvageOne(log, reach[server].synced, read, &salvaged));
    last_sequence_ = std::max(last_sequence_, salvaged.last);
    for (const LogGap& gap : salvaged.gaps) {
      if (gap.before <= redone + 1 && !is_metadata_lost()) {
        Find(gap.path, Cat("of METADATA: ", gap.problem, "; what is missing is in SSTables"));
      } else {
        LoseMetadata(gap.path, Cat("of METADATA: ", gap.problem));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status DamagedDatabase::ReadLogs(
    absl::FunctionRef<absl::Status(const MutationRecord&, SequenceNumber)> deliver,
    absl::FunctionRef<std::vector<LostRows>(const LogGap&)> lose) {
  ReachOfServers reach;
  for (const SalvagedMetadata::Tablet& tablet : tablets_) AddReach(tablet.state, &reach);
  const std::string prefix = Cat(NameOfRole(ServerRole::kUser), "-");
  std::map<std::string, ServerLog> logs;
  // Where each ends is needed before the first batch over several of them is delivered.
  for (const std::string& server : servers_) {
    if (!server.starts_with(prefix)) continue;
    BT_ASSIGN_OR_RETURN(ServerLog read, ReadRecord(server));
    ServerLog& log = logs.emplace(server, std::move(read)).first->second;
    const auto ignore = [](RecordType, SequenceNumber, std::string_view) {
      return absl::OkStatus();
    };
    BT_RETURN_IF_ERROR(SalvageOne(log, reach[server].synced, ignore, &log.log));
    last_sequence_ = std::max(last_sequence_, log.log.last);
    for (const LogGap& gap : log.log.gaps) {
      std::vector<LostRows> lost = lose(gap);
      Find(gap.path, Cat(gap.problem, lost.empty() ? "; what is missing is in SSTables" : ""),
           std::move(lost));
    }
  }
  // As recovery/batch_recovery.h, but that what follows a batch that is incomplete is kept, and
  // that a batch counts if the log of another part is damaged.
  const auto is_missing = [&](const OtherBatchPart& other) {
    const auto found = logs.find(std::string(other.server));
    if (found == logs.end() || found->second.record.is_done) return false;
    const ServerLog& log = found->second;
    if (!log.log.gaps.empty()) return false;
    if (log.record.IsFlushed(other.last) || reach[log.server].flushed >= other.last) return false;
    return log.log.last < other.last;
  };
  for (const auto& entry : logs) {
    const ServerLog& log = entry.second;
    const auto read = [&](RecordType type, SequenceNumber sequence, std::string_view payload) {
      return Deliver(log, type, sequence, payload, is_missing, deliver);
    };
    SalvagedLog again;
    BT_RETURN_IF_ERROR(SalvageOne(log, reach[log.server].synced, read, &again));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
