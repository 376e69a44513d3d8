#include "replication/replica.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "backend/database_backend.h"
#include "base/status.h"
#include "base/strings.h"
#include "replication/source_history.h"
#include "schema/mutation_format.h"

namespace bigtable {
namespace {

CallOptions OptionsOf(const CallLimits& limits) {
  return {.deadline = limits.deadline.wall(), .cancellation = limits.cancellation};
}

// The mutation without the operations of families that the table does not have: they were dropped
// later, or the changes before that are not followed. Nullopt: nothing is left.
std::optional<RowMutation> WithFamilies(const RowMutation& mutation,
                                        const std::set<std::string, std::less<>>& families) {
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  OperationReader reader(encoded.operations);
  std::string operations;
  bool has_all = true;
  for (MutationOperation operation; reader.Next(&operation);) {
    if (operation.is_of_row() || families.contains(operation.family)) {
      AppendOperation(&operations, operation);
    } else {
      has_all = false;
    }
  }
  if (has_all) return mutation;
  if (operations.empty()) return std::nullopt;
  return EncodedMutation{.row = encoded.row, .operations = operations, .takes_server_time = false}
      .ToMutation();
}

absl::StatusOr<DatabaseHistory> HistoryOf(Database* database) {
  absl::StatusOr<DatabaseHistory> history = DatabaseBackend::Of(database)->History();
  if (!absl::IsNotFound(history.status())) return history;
  return absl::FailedPreconditionError(history.status().message());
}

absl::Status InDirectory(const DatabaseDirectory& directory, const absl::Status& status) {
  return absl::Status(status.code(),
                      Cat(directory.path(), ": ", ToStd(status.message()),
                          "; a follower begins with a checkpoint of the database that it follows, "
                          "in a directory of its own"));
}

}  // namespace

absl::Status Replica::Pass(Looks looks, const CallLimits& limits) {
  absl::Status passed = PassOnce(looks, limits);
  if (!passed.ok()) {
    tables_.clear();
    state_.reset();
    found_at_.reset();
    batch_.Clear();
    in_batch_.clear();
  }
  return passed;
}

absl::Status Replica::PassOnce(Looks looks, const CallLimits& limits) {
  constexpr absl::Duration kFindTables = absl::Seconds(1);
  if (is_image_) {
    const absl::Status refreshed = source_->Refresh(OptionsOf(limits));
    is_image_ = !absl::IsFailedPrecondition(refreshed) && !absl::IsUnimplemented(refreshed);
    if (is_image_) BT_RETURN_IF_ERROR(refreshed);
  }
  if (looks == Looks::kNow || !found_at_.has_value() ||
      SteadyTime::Now() - *found_at_ >= kFindTables) {
    BT_RETURN_IF_ERROR(FindTables(limits));
    found_at_ = SteadyTime::Now();
  }
  BT_RETURN_IF_ERROR(CheckSource());
  for (auto& [_, followed] : tables_) followed.feed->BeginPass();
  while (!tables_.empty()) {
    ChangeFeed* const slowest =
        std::min_element(tables_.begin(), tables_.end(), [](const auto& a, const auto& b) {
          return a.second.feed->complete() < b.second.feed->complete();
        })->second.feed.get();
    BT_RETURN_IF_ERROR(ApplyThrough(slowest->complete(), limits));
    if (slowest->has_caught_up()) break;
    const absl::Status read = slowest->Read(limits);
    const bool is_gone = absl::IsNotFound(read) || absl::IsInvalidArgument(read);
    if (is_gone && options_->tables.empty()) {
      // The table was deleted, and perhaps created again.
      const std::string name = slowest->name();
      BT_RETURN_IF_ERROR(CheckSource());
      BT_RETURN_IF_ERROR(DeleteOwn(name));
      return absl::UnavailableError(Cat("table ", name, " was deleted"));
    }
    BT_RETURN_IF_ERROR(read);
    BT_RETURN_IF_ERROR(CheckSource());
  }
  RegisterReader();
  return absl::OkStatus();
}

// --- Tables ---

absl::Status Replica::CheckBeginsEmpty(Database* source, const FollowerOptions& options) {
  BT_RETURN_IF_ERROR(HistoryOf(source).status());
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      TablesOfSource(source, options, {}, {}));
  for (const std::string& name : names) {
    const absl::StatusOr<Table*> table = source->OpenTable(name);
    const absl::Status begins =
        table.ok() ? BeginningOf(name, TableBackend::Of(**table).get(), {}).status()
                   : table.status();
    const bool was_deleted = absl::IsNotFound(begins) && options.tables.empty();
    if (!was_deleted) BT_RETURN_IF_ERROR(begins);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Replica::TablesOfSource(
    Database* source, const FollowerOptions& options,
    const std::map<std::string, ChangePosition>& known, const CallLimits& limits) {
  if (!options.tables.empty()) return options.tables;
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, source->ListTables(OptionsOf(limits)));
  std::vector<std::string> with_streams;
  for (const std::string& name : names) {
    if (name == FollowerTable::kName) continue;
    if (known.contains(name)) {
      with_streams.push_back(name);
      continue;
    }
    const absl::StatusOr<TableSchema> schema = source->GetSchema(name, OptionsOf(limits));
    if (absl::IsNotFound(schema.status())) continue;  // deleted meanwhile
    BT_RETURN_IF_ERROR(schema.status());
    if (schema->changes.retention != absl::ZeroDuration()) with_streams.push_back(name);
  }
  return with_streams;
}

absl::Status Replica::ReadState(const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(of_source_, HistoryOf(source_));
  BT_ASSIGN_OR_RETURN(of_own_, HistoryOf(own_));
  BT_ASSIGN_OR_RETURN(FollowerTable state, FollowerTable::Open(own_, directory_, file_system_));
  BT_ASSIGN_OR_RETURN(FollowerTable::Contents contents, state.Read());
  absl::StatusOr<FollowerTable::Contents> first = FirstContents(state, contents, limits);
  BT_RETURN_IF_ERROR(first.status());
  if (!state.is_marked() || first->source != contents.source) {
    BT_RETURN_IF_ERROR(state.Begin(contents, *first));
  }
  known_ = std::move(first->applied);
  state_ = std::move(state);
  return absl::OkStatus();
}

absl::StatusOr<FollowerTable::Contents> Replica::FirstContents(
    const FollowerTable& state, const FollowerTable::Contents& contents,
    const CallLimits& limits) const {
  const uint64_t source = of_source_.latest();
  const bool has_positions = contents.source != 0 || !contents.applied.empty();
  if (!state.is_marked()) {
    const absl::Status is_copy = CheckIsCopy(of_own_, of_source_);
    // If there are positions, the copy is of a follower: they are not of the other database, but of
    // what that one follows.
    if (is_copy.ok()) return FollowerTable::Contents{.source = source};
    if (!has_positions) {
      BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                          TablesOfSource(source_, *options_, {}, limits));
      BT_RETURN_IF_ERROR(CheckSource());
      for (const std::string& name : names) {
        const absl::Status opened = own_->OpenTable(name).status();
        if (opened.ok()) return InDirectory(directory_, is_copy);
        if (!absl::IsNotFound(opened)) return opened;
      }
      return FollowerTable::Contents{.source = source};
    }
  }
  // Followers of earlier versions have noted no source.
  if (contents.source != 0 || !state.is_marked()) {
    if (const absl::Status goes_on = CheckGoesOn(contents.source, contents.applied, of_source_);
        !goes_on.ok()) {
      return InDirectory(directory_, goes_on);
    }
  }
  return FollowerTable::Contents{.source = source, .applied = contents.applied};
}

absl::Status Replica::CheckSource() const {
  BT_ASSIGN_OR_RETURN(const DatabaseHistory now, HistoryOf(source_));
  if (now == of_source_) return absl::OkStatus();
  return absl::UnavailableError(Cat("database ", NameOfIdentity(now.latest()),
                                    " has taken the place of database ",
                                    NameOfIdentity(of_source_.latest()), ", which was followed"));
}

absl::Status Replica::FindTables(const CallLimits& limits) {
  if (!state_.has_value()) {
    BT_RETURN_IF_ERROR(ReadState(limits));
    BT_RETURN_IF_ERROR(EndStorageQuotas());
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      TablesOfSource(source_, *options_, known_, limits));
  BT_RETURN_IF_ERROR(CheckSource());
  for (const std::string& name : names) {
    if (!tables_.contains(name)) BT_RETURN_IF_ERROR(Begin(name, limits));
  }
  if (!options_->tables.empty()) return absl::OkStatus();
  std::vector<std::string> deleted;
  for (const auto& [name, _] : known_) {
    if (std::find(names.begin(), names.end(), name) == names.end()) deleted.push_back(name);
  }
  for (const std::string& name : deleted) BT_RETURN_IF_ERROR(DeleteOwn(name));
  return absl::OkStatus();
}

absl::Status Replica::Begin(const std::string& name, const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(Table* const of_source, source_->OpenTable(name));
  std::shared_ptr<TableBackend> source = TableBackend::Of(*of_source);
  auto known = known_.find(name);
  if (known == known_.end()) {
    BT_ASSIGN_OR_RETURN(ChangePosition first, FirstPosition(name, source.get(), limits));
    BT_RETURN_IF_ERROR(CheckSource());
    // What follows, such as a change of families, is durable at once, and would be taken for a
    // change of the source if the row were lost.
    BT_RETURN_IF_ERROR(
        state_->table()->Apply(FollowerTable::Set(name, first), {.durability = Durability::kSync}));
    known = known_.emplace(name, std::move(first)).first;
  }
  absl::StatusOr<Table*> own = own_->OpenTable(name);
  if (absl::IsNotFound(own.status())) {
    BT_RETURN_IF_ERROR(CreateOwn(name, source.get(), limits));
    own = own_->OpenTable(name);
  }
  BT_RETURN_IF_ERROR(own.status());
  BT_RETURN_IF_ERROR(own_->SetObservers(name, {}));
  Followed& followed = tables_[name];  // after an error all are forgotten
  followed.feed = std::make_unique<ChangeFeed>(name, std::move(source), known->second);
  followed.own = *own;
  return SetFamilies(&followed);
}

absl::StatusOr<ChangePosition> Replica::FirstPosition(const std::string& name, TableBackend* source,
                                                      const CallLimits& limits) const {
  const absl::StatusOr<Table*> own = own_->OpenTable(name);
  if (own.ok()) {
    const absl::StatusOr<ChangeRound> last = TableBackend::Of(**own)->ReadChanges(
        {.since = absl::InfinitePast(), .only_last = true, .limits = limits});
    BT_RETURN_IF_ERROR(last.status());
    absl::Status is_copy = CheckIsCopy(of_own_, of_source_);
    if (is_copy.ok()) is_copy = CheckIsAsCopied(of_own_, last->position);
    if (!is_copy.ok()) return InDirectory(directory_, is_copy);
    return last->position;
  }
  if (!absl::IsNotFound(own.status())) return own.status();
  BT_ASSIGN_OR_RETURN(const ChangeRound oldest, BeginningOf(name, source, limits));
  return oldest.begin;
}

absl::StatusOr<ChangeRound> Replica::BeginningOf(const std::string& name, TableBackend* source,
                                                 const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(ChangeRound oldest, source->ReadChanges({.since = absl::InfinitePast(),
                                                               .most_bytes = 0,
                                                               .without_collections = true,
                                                               .limits = limits}));
  if (!oldest.is_whole) {
    return absl::OutOfRangeError(
        Cat("table ", name,
            " has more than its change stream: a follower of it begins with a checkpoint, or with "
            "a restored backup"));
  }
  return oldest;
}

// Not with the present families: what is written to them comes with the changes that come before
// it. A mutation may not fit a later family, and a rule judges only what is there when it comes.
absl::Status Replica::CreateOwn(const std::string& name, TableBackend* source,
                                const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(TableSchema schema, source_->GetSchema(name, OptionsOf(limits)));
  BT_ASSIGN_OR_RETURN(const ChangeRound oldest, BeginningOf(name, source, limits));
  schema.families = oldest.first_schema->families;
  schema.locality_groups = oldest.first_schema->locality_groups;
  schema.observers.clear();
  BT_RETURN_IF_ERROR(CopyAccessLists(schema));
  // A group whose families were dropped.
  std::erase_if(schema.locality_groups, [&](const auto& group) {
    return std::none_of(schema.families.begin(), schema.families.end(), [&](const auto& family) {
      return family.second.locality_group == group.first;
    });
  });
  return own_->CreateTable(name, schema);
}

absl::Status Replica::CopyAccessLists(const TableSchema& schema) const {
  for (const auto& [_, family] : schema.families) {
    if (family.access_list.empty()) continue;
    absl::StatusOr<AccessList> list = source_->GetAccessList(family.access_list);
    // It was deleted since, so a later change takes it from the family.
    if (absl::IsNotFound(list.status())) list = AccessList();
    BT_RETURN_IF_ERROR(list.status());
    BT_RETURN_IF_ERROR(own_->SetAccessList(family.access_list, *list));
  }
  return absl::OkStatus();
}

absl::Status Replica::EndStorageQuotas() const {
  BT_ASSIGN_OR_RETURN(const auto tables, own_->ListTableQuotas());
  for (auto [name, quota] : tables) {
    if (std::exchange(quota.storage_bytes, 0) == 0) continue;
    BT_RETURN_IF_ERROR(own_->SetTableQuota(name, quota));
  }
  BT_ASSIGN_OR_RETURN(const auto callers, own_->ListCallerQuotas());
  for (auto [name, quota] : callers) {
    if (std::exchange(quota.storage_bytes, 0) == 0) continue;
    BT_RETURN_IF_ERROR(own_->SetCallerQuota(name, quota));
  }
  return absl::OkStatus();
}

absl::Status Replica::DeleteOwn(const std::string& name) {
  tables_.erase(name);
  const absl::Status gone = own_->DeleteTable(name);
  if (!gone.ok() && !absl::IsNotFound(gone)) return gone;
  BT_RETURN_IF_ERROR(state_->Forget(name));
  known_.erase(name);
  return absl::OkStatus();
}

absl::Status Replica::SetFamilies(Followed* followed) const {
  BT_ASSIGN_OR_RETURN(const TableSchema schema, own_->GetSchema(followed->own->name()));
  followed->families.clear();
  for (const auto& [name, _] : schema.families) followed->families.insert(name);
  return absl::OkStatus();
}

// --- Applying ---

absl::Status Replica::ApplyThrough(SequenceNumber through, const CallLimits& limits) {
  // The rest of a batch that goes on behind the number is not read yet.
  for (const auto& [_, followed] : tables_) {
    for (const TableChange& change : followed.feed->pending()) {
      if (change.sequence > through) break;
      if (change.batch > through) through = change.sequence - 1;
    }
  }
  constexpr uint64_t kMostBytes = 1 << 20;
  uint64_t batch = 0;  // of the last change
  while (true) {
    Followed* first = nullptr;
    for (auto& [_, followed] : tables_) {
      if (followed.feed->pending().empty()) continue;
      const TableChange& change = followed.feed->pending().front();
      if (change.sequence > through) continue;
      if (first == nullptr || change.sequence < first->feed->pending().front().sequence) {
        first = &followed;
      }
    }
    if (first == nullptr) break;
    const TableChange& next = first->feed->pending().front();
    const bool is_in_batch = batch != 0 && next.batch == batch;
    const bool is_mutation = next.kind == TableChange::Kind::kMutation;
    if (!is_in_batch && (!is_mutation || batch_.byte_size() >= kMostBytes)) {
      BT_RETURN_IF_ERROR(Commit());
      BT_RETURN_IF_ERROR(limits.Check("following"));
    }
    const TableChange change = first->feed->Take();
    batch = change.batch;
    if (change.kind == TableChange::Kind::kDropRows) {
      BT_RETURN_IF_ERROR(DropRows(*first, change));
    } else if (change.kind == TableChange::Kind::kFamilies) {
      BT_RETURN_IF_ERROR(ChangeFamilies(first, change));
    }
    Add(first, change);
    // Both can be done again, as long as nothing that follows is applied.
    if (!is_mutation) BT_RETURN_IF_ERROR(Commit());
  }
  return Commit();
}

void Replica::Add(Followed* followed, const TableChange& change) {
  in_batch_.insert(followed);
  changes_applied_.fetch_add(1, std::memory_order_relaxed);
  if (change.kind != TableChange::Kind::kMutation) return;
  bytes_applied_.fetch_add(change.mutation.byte_size(), std::memory_order_relaxed);
  const std::optional<RowMutation> mutation = WithFamilies(change.mutation, followed->families);
  if (mutation.has_value()) batch_.Apply(followed->own, *mutation);
}

absl::Status Replica::Commit() {
  if (in_batch_.empty()) return absl::OkStatus();
  for (Followed* const followed : in_batch_) {
    const ChangeFeed& feed = *followed->feed;
    batch_.Apply(state_->table(), FollowerTable::Set(feed.name(), feed.applied()));
    known_[feed.name()] = feed.applied();
  }
  const absl::Status applied = own_->Apply(batch_);
  batch_.Clear();
  in_batch_.clear();
  return applied;
}

absl::Status Replica::DropRows(const Followed& followed, const TableChange& change) const {
  return followed.own->DropRowRange(change.rows);
}

absl::Status Replica::ChangeFamilies(Followed* followed, const TableChange& change) {
  const std::string& name = followed->feed->name();
  const TableSchema& schema = *change.schema;
  BT_ASSIGN_OR_RETURN(const TableSchema own, own_->GetSchema(name));
  BT_RETURN_IF_ERROR(CopyAccessLists(schema));
  std::vector<FamilyChange> changes;
  for (const auto& [family, _] : own.families) {
    if (!schema.families.contains(family)) changes.push_back(FamilyChange::Drop(family));
  }
  for (const auto& [family, settings] : schema.families) {
    const auto found = own.families.find(family);
    const bool is_new =
        std::count(change.new_families.begin(), change.new_families.end(), family) > 0;
    if (found == own.families.end() || is_new) {
      if (found != own.families.end()) changes.push_back(FamilyChange::Drop(family));
      const std::string& group = settings.locality_group;
      const auto of_source = schema.locality_groups.find(group);
      if (!own.locality_groups.contains(group) && of_source != schema.locality_groups.end()) {
        BT_RETURN_IF_ERROR(own_->SetLocalityGroup(name, group, of_source->second));
      }
      changes.push_back(FamilyChange::Add(family, settings));
    } else if (found->second != settings) {
      changes.push_back(
          FamilyChange::Update(family, {.gc = settings.gc,
                                        .access_list = settings.access_list,
                                        .compaction_filter = settings.compaction_filter,
                                        .owner = settings.owner}));
    }
  }
  if (changes.empty()) return absl::OkStatus();
  // What a loss of power takes is applied again, which must not be under the later rules.
  if (options_->database.durability != Durability::kSync) {
    BT_RETURN_IF_ERROR(own_->Flush(name));
    BT_RETURN_IF_ERROR(own_->Flush(FollowerTable::kName));
  }
  BT_RETURN_IF_ERROR(own_->ModifyFamilies(name, changes));
  return SetFamilies(followed);
}

// That changes are kept longer than needed does no harm.
void Replica::RegisterReader() {
  constexpr absl::Duration kInterval = absl::Seconds(5);
  if (options_->reader.empty()) return;
  if (registered_at_.has_value() && SteadyTime::Now() - *registered_at_ < kInterval) return;
  registered_at_ = SteadyTime::Now();
  for (auto& [name, followed] : tables_) {
    std::string position = followed.feed->applied().Encode();
    if (position == followed.registered) continue;
    const absl::StatusOr<Table*> table = source_->OpenTable(name);
    if (!table.ok() || !(*table)->SetChangeReader(options_->reader, position).ok()) continue;
    followed.registered = std::move(position);
  }
}

}  // namespace bigtable
