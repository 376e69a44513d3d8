#include "master/table_changes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

#include "base/limited_mutex.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "master/split_rows.h"
#include "metadata/metadata_format.h"
#include "schema/schema_checks.h"

namespace bigtable {

absl::StatusOr<std::vector<ServerShare>> TableChanges::FindServers(
    const TableLayout& layout, const std::vector<TabletState>& tablets,
    const CallLimits& limits) const {
  std::vector<UnassignedTablet> unassigned;
  unassigned.reserve(tablets.size());
  const auto shared = std::make_shared<const TableLayout>(layout);
  for (const TabletState& tablet : tablets) {
    uint64_t bytes = 0;
    for (const auto& [_, group] : tablet.groups) {
      for (const TabletFile& file : group.files) bytes += file.bytes();
    }
    unassigned.push_back(
        {shared, {layout.table_id, tablet.rows.end()}, std::string(tablet.rows.begin()), bytes});
  }
  BT_ASSIGN_OR_RETURN(std::vector<ServerShare> shares,
                      assignment_->Distribute(ServerRole::kUser, unassigned));
  for (const ServerShare& share : shares) {
    BT_RETURN_IF_ERROR(share.host->AwaitTurn(limits));
  }
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  return shares;
}

absl::Status TableChanges::AwaitTurns(std::string_view table, const CallLimits& limits) const {
  const absl::StatusOr<uint64_t> table_id = catalogue_->FindId(table);
  if (!table_id.ok()) return absl::OkStatus();  // the caller reports it
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    BT_RETURN_IF_ERROR(host->AwaitTurn(*table_id, limits));
  }
  return context_->AwaitChanges(limits);
}

absl::Status TableChanges::CreateTable(std::string_view name, const TableSchema& schema,
                                       const std::vector<std::string>& split_rows,
                                       const CallLimits& limits) {
  BT_ASSIGN_OR_RETURN(TableLayout layout, MakeTableLayout(name, 0, schema));
  BT_ASSIGN_OR_RETURN(const std::vector<RowRange> ranges, RangesBetween(split_rows));
  std::vector<TabletState> tablets(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) tablets[i].rows = ranges[i];
  bool may_be_named;
  return AddTable(std::move(layout), tablets, limits, &may_be_named);
}

SequenceNumber LargestSequence(const RestoredTable& table) {
  SequenceNumber largest = table.layout.LastChange();
  for (const TabletState& tablet : table.tablets) {
    largest = std::max(largest, LargestSequence(tablet));
  }
  for (const FamilyLayout& family : table.layout.families) {
    if (family.created != 0) largest = std::max(largest, family.created + kLeftForOldest);
  }
  return largest;
}

absl::Status TableChanges::RestoreTable(RestoredTable table, const CallLimits& limits,
                                        bool* may_be_named) {
  *may_be_named = false;
  // What a new table of this schema needs, such as operators that are registered. But a group may
  // have lost its families.
  TableSchema schema = table.layout.ToSchema();
  std::erase_if(schema.locality_groups, [&](const auto& group) {
    return std::none_of(schema.families.begin(), schema.families.end(), [&](const auto& family) {
      return family.second.locality_group == group.first;
    });
  });
  BT_RETURN_IF_ERROR(MakeTableLayout(table.layout.name, 0, schema).status());
  {
    // An ingestion relies on it that no mutation reaches the numbers that it has chosen.
    const LimitedMutexLock lock(parts_.ingestion, &limits, "an ingestion of files");
    BT_RETURN_IF_ERROR(lock.status());
    // The id of the table, and everything that is written to it, gets larger numbers.
    parts_.sequences->AdvanceTo(LargestSequence(table));
  }
  return AddTable(std::move(table.layout), table.tablets, limits, may_be_named);
}

absl::Status TableChanges::AddTable(TableLayout layout, const std::vector<TabletState>& tablets,
                                    const CallLimits& limits, bool* may_be_named) {
  *may_be_named = false;
  const std::string& name = layout.name;
  if (name == MetadataLayout().name) {
    return absl::InvalidArgumentError(
        Cat("a table must not be called ", Quoted(name), ", which is the database's own"));
  }
  // Nobody waits for the mutex meanwhile.
  if (!catalogue_->Has(name)) {
    BT_RETURN_IF_ERROR(FindServers(layout, tablets, limits).status());
  }
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  if (catalogue_->Has(name)) {
    return absl::AlreadyExistsError(Cat("there is a table ", Quoted(name), " already"));
  }
  BT_RETURN_IF_ERROR(CheckAccessLists(nullptr, layout));
  // Never used before, so records of deleted tables in the log are not taken for this table's.
  // METADATA's mutation takes larger sequence numbers, so the number will not be used again.
  layout.table_id = TakeSequence();
  layout.observers_id = layout.observers.empty() ? 0 : layout.table_id;
  // A restored table has no changes from before its backup. The number of its stream is not that of
  // the table, which says that the stream has everything that was ever written.
  const bool is_restored_with_stream = layout.changes_since != 0;
  if (layout.has_changes()) {
    layout.changes_since = is_restored_with_stream ? TakeSequence() : layout.table_id;
  }
  layout.schema_changes.clear();
  BT_ASSIGN_OR_RETURN(std::vector<ServerShare> shares, FindServers(layout, tablets, limits));
  BT_RETURN_IF_ERROR(context_->Step());
  *may_be_named = true;
  absl::Status added = context_->metadata->table()->AddTable(layout.table_id, tablets);
  if (added.ok()) {
    ShareFiles(tablets);
    added = StartServers(shares);
  }
  if (!added.ok()) {
    BT_RETURN_IF_ERROR(context_->Step());  // otherwise the next master erases the tablets
    *may_be_named = !context_->metadata->table()->RemoveTable(layout.table_id).ok();
    return added;
  }
  // After an error, the tablets stay in METADATA until the next master: a file that was removed may
  // be there again after a crash.
  BT_RETURN_IF_ERROR(WriteNewSchema(layout));
  catalogue_->Set(layout);
  context_->info_log->Info("created table ", name, " as ", layout.table_id, " of ", tablets.size(),
                           " tablets");
  Notify(&EventListener::OnTableCreated, name);
  // The table exists after this point. Tablets that cannot be loaded now are loaded later.
  if (const absl::Status loaded = assignment_->LoadAll(std::move(shares), {}); !loaded.ok()) {
    context_->info_log->Warning("table ", name, " is not served yet: ", ToStd(loaded.message()));
    assignment_->MarkUnassigned();
    context_->wake();
  }
  return absl::OkStatus();
}

absl::Status TableChanges::StartServers(const std::vector<ServerShare>& shares) {
  // A server without a log gets one here. If that fails, the creation fails.
  for (const ServerShare& share : shares) {
    BT_RETURN_IF_ERROR(context_->Step());
    BT_RETURN_IF_ERROR(share.host->Start(context_->epoch()));
  }
  return context_->Step();
}

void TableChanges::ShareFiles(const std::vector<TabletState>& tablets) const {
  std::set<uint64_t> named;
  for (const TabletState& tablet : tablets) {
    std::set<uint64_t> of_tablet;
    tablet.AddFiles(&of_tablet);
    for (const uint64_t number : of_tablet) {
      if (!named.insert(number).second) parts_.shared_files->Share(number);
    }
  }
}

absl::Status TableChanges::WriteNewSchema(const TableLayout& layout) {
  const absl::Status written = catalogue_->schemas()->Write(layout);
  if (written.ok()) return written;
  BT_RETURN_IF_ERROR(context_->Step());  // a later master uses the file as it finds it
  // The file may have been written in spite of the error.
  const absl::Status removed = catalogue_->schemas()->Remove(layout.name);
  if (removed.ok() || absl::IsNotFound(removed)) return written;
  const absl::StatusOr<bool> exists = catalogue_->schemas()->Has(layout.name, layout.table_id);
  if (!exists.ok()) {
    RefuseWrites(Annotate(removed, Cat("the schema of table ", layout.name, " may exist")));
  }
  return exists.ok() && *exists ? absl::OkStatus() : written;
}

absl::Status TableChanges::DeleteTable(std::string_view name, const CallLimits& limits) {
  BT_RETURN_IF_ERROR(AwaitTurns(name, limits));
  uint64_t table_id;
  {
    LimitedLock lock(&catalogue_->change_mutex(), limits);
    BT_RETURN_IF_ERROR(lock.status());
    BT_ASSIGN_OR_RETURN(const TableLayout layout, catalogue_->Find(name));
    BT_RETURN_IF_ERROR(AwaitTurns(name, limits));
    BT_RETURN_IF_ERROR(context_->Step());
    if (const absl::Status removed = catalogue_->schemas()->Remove(name); !removed.ok()) {
      BT_RETURN_IF_ERROR(context_->Step());
      if (Settle(layout, nullptr) != SchemaFound::kAfter) return removed;
    }
    catalogue_->Erase(name);
    Notify(&EventListener::OnTableDeleted, name);
    table_id = layout.table_id;
    BT_RETURN_IF_ERROR(BeginDeletion(table_id));
    ForgetQuotaOf(table_id);
    context_->info_log->Info("deleted table ", name);
  }
  const CallLimits of_wait = context_->WithEnd(limits);
  const absl::Status finished = FinishDeletion(table_id, IfStalled::kWait, of_wait);
  if (finished.ok() || (of_wait.Check().ok() && context_->active())) return finished;
  context_->info_log->Info("the space of table ", name,
                           " is freed later: ", ToStd(finished.message()));
  return absl::OkStatus();
}

// The table is gone, so an error is not the deletion's: no table will have this id again, and the
// next change of a quota forgets it.
void TableChanges::ForgetQuotaOf(uint64_t table_id) {
  const absl::StatusOr<QuotaSet> quotas = quotas_.Read();
  if (quotas.ok() && !quotas->tables.contains(table_id)) return;
  const absl::Status forgotten = ChangeQuotas([](QuotaSet*) {});
  if (forgotten.ok()) return;
  context_->info_log->Warning("the quota of a deleted table was not removed: ",
                              ToStd(forgotten.message()));
}

absl::Status TableChanges::BeginDeletion(uint64_t table_id) {
  std::vector<HostedTablet> dropped;
  // After an error, those that were dropped are forgotten nevertheless.
  const absl::Cleanup note = [&] {
    MutexLock lock(&deletions_mutex_);
    deletions_[table_id].in_memory = std::move(dropped);
  };
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    BT_RETURN_IF_ERROR(context_->Step());
    BT_ASSIGN_OR_RETURN(auto tablets, host->Drop(context_->epoch(), table_id));
    for (std::shared_ptr<Tablet>& tablet : tablets) dropped.push_back({std::move(tablet), host});
  }
  return absl::OkStatus();
}

absl::Status TableChanges::FreeMemory(uint64_t table_id, IfStalled if_stalled,
                                      const CallLimits& limits) {
  const CallLimits at_once{.deadline = Deadline::In(absl::ZeroDuration())};
  std::vector<HostedTablet> dropped;
  {
    MutexLock lock(&deletions_mutex_);
    const auto found = deletions_.find(table_id);
    if (found != deletions_.end()) dropped = found->second.in_memory;
  }
  absl::Status ended;
  const ServerHost* stalled = nullptr;  // the tablets of a server follow one another
  for (const HostedTablet& hosted : dropped) {
    BT_RETURN_IF_ERROR(limits.Check());
    if (hosted.host.get() == stalled) continue;
    const absl::Status waited = context_->background->WaitForTablet(
        hosted.tablet.get(), if_stalled == IfStalled::kGiveUp ? at_once : limits);
    ended.Update(waited);
    if (!waited.ok()) continue;
    const absl::Status freed =
        hosted.host->server()->DropMemtables(hosted.tablet.get(), LimitsOfWait(if_stalled, limits));
    ended.Update(freed);
    if (freed.ok()) {
      RecordFreed(table_id, hosted);
    } else {
      stalled = hosted.host.get();
    }
  }
  return ended;
}

void TableChanges::RecordFreed(uint64_t table_id, const HostedTablet& freed) {
  MutexLock lock(&deletions_mutex_);
  const auto found = deletions_.find(table_id);
  if (found == deletions_.end()) return;
  const auto is_same = [&](const HostedTablet& other) { return other.tablet == freed.tablet; };
  // Another thread may have been faster.
  if (std::erase_if(found->second.in_memory, is_same) > 0) found->second.freed.push_back(freed);
}

absl::Status TableChanges::FinishDeletion(uint64_t table_id, IfStalled if_stalled,
                                          const CallLimits& limits) {
  BT_RETURN_IF_ERROR(FreeMemory(table_id, if_stalled, limits));
  BT_RETURN_IF_ERROR(context_->AwaitChanges(LimitsOfWait(if_stalled, limits)));
  {
    LimitedLock lock(&catalogue_->change_mutex(), LimitsOfWait(if_stalled, limits));
    BT_RETURN_IF_ERROR(lock.status());
    BT_RETURN_IF_ERROR(ForgetTablets(table_id));
  }
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    const CallLimits of_wait = LimitsOfWait(if_stalled, limits);
    const absl::Status status = host->server()->log().Maintain(of_wait);
    if (status.ok() || !of_wait.Check().ok()) continue;
    context_->info_log->Warning("after a table was deleted: ", ToStd(status.message()));
  }
  return absl::OkStatus();
}

absl::Status TableChanges::ForgetTablets(uint64_t table_id) {
  BT_RETURN_IF_ERROR(context_->Step());  // otherwise the next master erases the tablets
  std::vector<HostedTablet> dropped;
  {
    MutexLock lock(&deletions_mutex_);
    const auto found = deletions_.find(table_id);
    if (found == deletions_.end()) return absl::OkStatus();  // another thread was faster
    dropped = found->second.freed;
  }
  const absl::Status removed = context_->metadata->table()->RemoveTable(table_id);
  {
    MutexLock lock(&deletions_mutex_);
    if (!removed.ok()) {
      deletions_[table_id].pause.Failed(NowNanos());
      return removed;
    }
    deletions_.erase(table_id);
  }
  for (const HostedTablet& hosted : dropped) hosted.host->Erase(hosted.tablet);
  parts_.inherited_counters->ForgetTable(table_id);
  context_->unserved->ForgetTable(table_id);
  context_->background->RetryForSpace();
  return absl::OkStatus();
}

std::vector<uint64_t> TableChanges::Deletions(IfStalled if_stalled) const {
  std::vector<uint64_t> ids;
  MutexLock lock(&deletions_mutex_);
  for (const auto& [table_id, deletion] : deletions_) {
    if (if_stalled == IfStalled::kWait || deletion.pause.IsDue(NowNanos())) ids.push_back(table_id);
  }
  return ids;
}

absl::Status TableChanges::FinishDeletions(IfStalled if_stalled, const CallLimits& limits) {
  absl::Status ended;
  for (const uint64_t table_id : Deletions(if_stalled)) {
    const absl::Status finished = FinishDeletion(table_id, if_stalled, limits);
    if (finished.ok()) continue;
    const absl::Status check = limits.Check();
    ended.Update(check);
    const bool is_waiting = if_stalled == IfStalled::kGiveUp && absl::IsDeadlineExceeded(finished);
    if (!check.ok() || is_waiting) continue;
    context_->info_log->Warning("a deleted table is not forgotten: ", ToStd(finished.message()));
  }
  return ended;
}

// Writing the schema's file makes the change. Its tablets follow, one server after another.
absl::Status TableChanges::ChangeTable(std::string_view name, const CallLimits& limits,
                                       absl::FunctionRef<absl::Status(TableLayout*)> change) {
  BT_RETURN_IF_ERROR(AwaitTurns(name, limits));
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_ASSIGN_OR_RETURN(TableLayout before, catalogue_->Find(name));
  before.EndHolds();
  TableLayout layout = before;
  BT_RETURN_IF_ERROR(change(&layout));
  BT_RETURN_IF_ERROR(CheckAccessLists(&before, layout));
  BT_RETURN_IF_ERROR(AwaitTurns(name, limits));
  BT_RETURN_IF_ERROR(NumberChanges(before, &layout));
  BT_RETURN_IF_ERROR(context_->Step());
  if (const absl::Status written = catalogue_->schemas()->Write(layout); !written.ok()) {
    BT_RETURN_IF_ERROR(context_->Step());
    // If it is unknown whether the file has the change, held families stay held.
    const SchemaFound found = Settle(before, &layout);
    if (found == SchemaFound::kBefore) BT_RETURN_IF_ERROR(Distribute(before));
    if (found != SchemaFound::kAfter) return written;
  }
  BT_RETURN_IF_ERROR(Distribute(layout));
  context_->wake();  // the split rule may have changed
  Notify(&EventListener::OnTableChanged, name);
  return absl::OkStatus();
}

absl::Status TableChanges::SetChangeStream(std::string_view name, const ChangeStreamRule& rule,
                                           const CallLimits& limits) {
  BT_RETURN_IF_ERROR(CheckChangeStreamRule(rule));
  bool opens = false;
  const absl::Status changed = ChangeTable(name, limits, [&](TableLayout* layout) {
    opens = !layout->has_changes() && rule.retention != absl::ZeroDuration();
    if (opens) return absl::AbortedError("an ingestion may be running");
    layout->SetChangeStream(rule);
    return absl::OkStatus();
  });
  if (!opens) return changed;
  // An ingestion has found that the table has no stream, which would not have its files.
  const LimitedMutexLock lock(parts_.ingestion, &limits, "an ingestion of files");
  BT_RETURN_IF_ERROR(lock.status());
  return ChangeTable(name, limits, [&](TableLayout* layout) {
    layout->SetChangeStream(rule);
    return absl::OkStatus();
  });
}

absl::Status TableChanges::Distribute(const TableLayout& layout) {
  catalogue_->Set(layout);
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    BT_RETURN_IF_ERROR(context_->Step());
    BT_RETURN_IF_ERROR(host->SetLayout(context_->epoch(), layout));
  }
  return absl::OkStatus();
}

// Mutations before a change of a rule are judged by the old rule, and those after it by the new
// rule (retention/past_rules.h). So the change needs a sequence number for which this holds in
// every compaction, including those that are running, and on tablets that get the new schema late.
// The steps:
//
//  1. All tablets of the table are set to hold: compactions and flushes that begin after this
//     collect nothing in the family. Those that began before it use the old rule, and read only
//     earlier mutations, because they took these together with the layout.
//  2. A sequence number is taken. It is larger than that of any mutation that those have read.
//  3. The schema is written, with the number.
//  4. The tablets get the schema, which ends the hold. Each does so in its group commit queue,
//     after all writes with smaller numbers.
//
// A family that is dropped and added again in one change is replaced in the same way, but step 1
// closes the old one: every write to it has a smaller number than the new one then. Otherwise the
// new one, which may hold other values in another locality group, would have some of these writes.
//
// A reader of the table's change stream has to know which families a change was written with. So
// while there is a stream, every change of families gets a number in these steps, and the schema
// keeps it with the families after it (TableLayout::schema_changes). Step 1 also closes families
// that are dropped: no write to them has a larger number. A family that is added takes writes only
// after step 4. The opening of a stream gets its number in these steps too: the stream has the
// writes with larger numbers, and no others. From step 1 on, readers of changes wait
// (TableLayout::is_changing).
//
// Tablets are loaded under change_mutex, with the layout of the catalogue. If this ends before step
// 3, a later master or process finds the old rule, and the entries that were not collected do no
// harm. After step 3 it finds the new rule with its number.
absl::Status TableChanges::NumberChanges(const TableLayout& before, TableLayout* layout) {
  TableLayout held = before;
  const bool opens_stream = layout->has_changes() && !before.has_changes();
  const bool is_streamed =
      layout->has_changes() && before.has_changes() && layout->families != before.families;
  held.is_changing = opens_stream || is_streamed;
  std::vector<FamilyLayout*> changed;
  for (FamilyLayout& family : layout->families) {
    FamilyLayout* const was = held.FindFamily(family.name);
    if (was == nullptr || (was->created == family.created && was->gc == family.gc)) continue;
    was->closed = was->created != family.created;
    was->held = !was->closed;
    changed.push_back(&family);
  }
  for (FamilyLayout& family : held.families) {
    if (is_streamed && layout->FindFamily(family.name) == nullptr) family.closed = true;
  }
  if (changed.empty() && !held.is_changing) return absl::OkStatus();
  BT_RETURN_IF_ERROR(Distribute(held));
  const SequenceNumber sequence = TakeSequence();
  const absl::Time now = parts_.clock->Now();
  for (FamilyLayout* family : changed) {
    const FamilyLayout& was = *before.FindFamily(family->name);
    if (was.created != family->created) {
      family->created = sequence;
      continue;
    }
    const GcRule rule = std::exchange(family->gc, was.gc);
    family->ChangeRule(rule, sequence, now);
  }
  if (opens_stream) layout->changes_since = sequence;
  if (is_streamed) {
    layout->KeepFirstSchema(before, now);
    layout->AddSchemaChange(sequence, now, SlowestReaderOf(layout->table_id));
  }
  return absl::OkStatus();
}

// --- Finishing earlier changes ---

absl::Status TableChanges::Finish() {
  if (const absl::Status read = parts_.change_readers->Read(context_->lock->session());
      !read.ok()) {
    context_->info_log->Warning("the readers of changes are not known, so all changes are kept: ",
                                ToStd(read.message()));
  }
  if (context_->read_only) return absl::OkStatus();
  MetadataTable* const metadata = context_->metadata->table();
  const auto layouts = catalogue_->All();
  std::set<uint64_t> known;
  for (const auto& layout : layouts) {
    known.insert(layout->table_id);
    // METADATA's sequence numbers must be passed before new mutations of METADATA get theirs.
    BT_ASSIGN_OR_RETURN(const std::vector<TabletState> states,
                        metadata->ReadTable(layout->table_id));
    for (const TabletState& state : states) parts_.sequences->AdvanceTo(LargestSequence(state));
  }
  for (const auto& layout : layouts) {
    BT_RETURN_IF_ERROR(context_->Step());
    BT_RETURN_IF_ERROR(metadata->SettleTable(layout->table_id));
    for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
      BT_RETURN_IF_ERROR(host->SetLayout(context_->epoch(), *layout));
    }
  }
  // Tables without a schema: their creation or deletion was interrupted.
  std::set<uint64_t> unknown;
  BT_ASSIGN_OR_RETURN(const std::vector<uint64_t> in_metadata, metadata->Tables());
  unknown.insert(in_metadata.begin(), in_metadata.end());
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    for (const auto& tablet : host->server()->tablets().All()) unknown.insert(tablet->table_id());
  }
  for (const uint64_t table_id : unknown) {
    if (known.contains(table_id)) continue;
    BT_RETURN_IF_ERROR(BeginDeletion(table_id));
    // If an earlier master has begun it, there may be work on its tablets that stalls. Then upkeep
    // finishes it. At an opening there are no tablets.
    if (FreeMemory(table_id, IfStalled::kGiveUp, {}).ok()) {
      BT_RETURN_IF_ERROR(ForgetTablets(table_id));
    }
  }
  return absl::OkStatus();
}

absl::Status TableChanges::RestoreSchemas(const CallLimits& limits) {
  const std::vector<std::shared_ptr<ServerHost>> hosts = context_->servers->Users();
  if (std::all_of(hosts.begin(), hosts.end(),
                  [](const auto& host) { return host->server()->write_error().status().ok(); })) {
    return absl::OkStatus();
  }
  for (const auto& served : catalogue_->All()) {
    BT_RETURN_IF_ERROR(context_->Step());
    TableLayout layout = *served;
    BT_RETURN_IF_ERROR(catalogue_->schemas()->Write(layout, limits));
    if (!layout.EndHolds()) continue;
    BT_RETURN_IF_ERROR(AwaitTurns(layout.name, limits));
    BT_RETURN_IF_ERROR(Distribute(layout));
  }
  return absl::OkStatus();
}

// --- Access lists ---

absl::Status TableChanges::CheckAccessLists(const TableLayout* before,
                                            const TableLayout& layout) const {
  for (const FamilyLayout& family : layout.families) {
    if (family.access_list.empty()) continue;
    const FamilyLayout* const was = before == nullptr ? nullptr : before->FindFamily(family.name);
    if (was != nullptr && was->access_list == family.access_list) continue;
    BT_RETURN_IF_ERROR(access_lists_.Read(family.access_list).status());
  }
  return absl::OkStatus();
}

absl::Status TableChanges::SetAccessList(std::string_view name, const AccessList& list,
                                         const CallLimits& limits) {
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  BT_RETURN_IF_ERROR(context_->Step());
  BT_RETURN_IF_ERROR(access_lists_.Write(name, list));
  context_->info_log->Info("access list ", name, " has ", list.readers.size(), " readers and ",
                           list.writers.size(), " writers");
  return absl::OkStatus();
}

absl::Status TableChanges::DeleteAccessList(std::string_view name, const CallLimits& limits) {
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  for (const auto& layout : catalogue_->All()) {
    for (const FamilyLayout& family : layout->families) {
      if (family.access_list != name) continue;
      return absl::FailedPreconditionError(Cat("access list ", Quoted(name), " is that of family ",
                                               Quoted(family.name), " of table ", layout->name));
    }
  }
  BT_RETURN_IF_ERROR(context_->Step());
  return access_lists_.Remove(name);
}

// --- Quotas ---

absl::Status TableChanges::SetTableQuota(std::string_view table, const Quota& quota,
                                         const CallLimits& limits) {
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  BT_ASSIGN_OR_RETURN(const TableLayout layout, catalogue_->Find(table));
  return ChangeQuotas(
      [&](QuotaSet* quotas) { quotas->SetTable(layout.table_id, layout.name, quota); });
}

absl::Status TableChanges::SetCallerQuota(std::string_view caller, const Quota& quota,
                                          const CallLimits& limits) {
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  return ChangeQuotas([&](QuotaSet* quotas) { quotas->SetCaller(caller, quota); });
}

absl::Status TableChanges::ChangeQuotas(absl::FunctionRef<void(QuotaSet*)> change) {
  BT_ASSIGN_OR_RETURN(QuotaSet quotas, quotas_.Read());
  change(&quotas);
  // Those of tables that were deleted, which can be left over if a master ended just then.
  std::set<uint64_t> known;
  for (const auto& layout : catalogue_->All()) known.insert(layout->table_id);
  std::erase_if(quotas.tables, [&](const auto& entry) { return !known.contains(entry.first); });
  BT_RETURN_IF_ERROR(context_->Step());
  BT_RETURN_IF_ERROR(quotas_.Write(quotas));
  parts_.quotas->Use(quotas);
  context_->info_log->Info("there are quotas of ", quotas.tables.size(), " tables and ",
                           quotas.callers.size(), " callers");
  return absl::OkStatus();
}

// --- Readers of changes ---

absl::Status TableChanges::SetChangeReader(uint64_t table_id, std::string_view reader,
                                           std::optional<SequenceNumber> through,
                                           const CallLimits& limits) {
  LimitedLock lock(&catalogue_->change_mutex(), limits);
  BT_RETURN_IF_ERROR(lock.status());
  BT_RETURN_IF_ERROR(context_->AwaitChanges(limits));
  std::set<uint64_t> known;
  for (const auto& layout : catalogue_->All()) known.insert(layout->table_id);
  if (!known.contains(table_id)) return absl::NotFoundError("the table was deleted");
  BT_ASSIGN_OR_RETURN(ChangeReaderSet set, parts_.change_readers->Get());
  std::erase_if(set.readers, [&](const auto& entry) { return !known.contains(entry.first.first); });
  const std::pair key(table_id, std::string(reader));
  if (through.has_value()) {
    set.readers[key] = *through;
  } else if (set.readers.erase(key) == 0) {
    return absl::NotFoundError(Cat("there is no reader ", Quoted(reader), " of changes"));
  }
  BT_RETURN_IF_ERROR(context_->Step());
  return parts_.change_readers->Write(context_->lock->session(), std::move(set));
}

void TableChanges::Notify(void (EventListener::*function)(const TableEvent&),
                          std::string_view table) {
  if (ListenerQueue* const events = context_->events) {
    events->Push(function, {absl::Now(), std::string(table)});
  }
}

bool TableChanges::HasFile(std::string_view table, const TableLayout* layout) const {
  const absl::StatusOr<std::shared_ptr<const TableLayout>> found =
      catalogue_->schemas()->Find(table);
  if (!found.ok() || layout == nullptr) return found.ok() && *found == nullptr;
  return *found != nullptr && (*found)->Encode() == layout->Encode();
}

TableChanges::SchemaFound TableChanges::Settle(const TableLayout& before,
                                               const TableLayout* after) {
  // A later master uses the file as it finds it.
  if (!context_->active()) return SchemaFound::kUnknown;
  // On a full disk nothing was replaced, and nothing can be written either.
  if (HasFile(before.name, &before)) return SchemaFound::kBefore;
  const absl::Status restored = catalogue_->schemas()->Write(before);
  if (restored.ok() || HasFile(before.name, &before)) return SchemaFound::kBefore;
  if (HasFile(before.name, after)) {
    context_->info_log->Warning("the schema of table ", before.name,
                                " has changed in spite of an error: ", ToStd(restored.message()));
    return SchemaFound::kAfter;
  }
  RefuseWrites(Annotate(restored, Cat("the schema of table ", before.name,
                                      " cannot be written, and may have changed")));
  return SchemaFound::kUnknown;
}

void TableChanges::RefuseWrites(const absl::Status& status) {
  // The files could not be read because the session is lost: a later master reads them.
  if (!context_->active()) return;
  for (const std::shared_ptr<ServerHost>& host : context_->servers->Users()) {
    host->server()->write_error().Set(status);
  }
}

}  // namespace bigtable
