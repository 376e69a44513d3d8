// The master's changes of tables and their schemas. A file of the lock service decides: writing it
// makes a table, or a change of its schema, happen, and removing it deletes the table. What is left
// to do after that a later master finds to do.
#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "master/master.h"
#include "master/split_rows.h"

namespace bigtable {

absl::Status Master::CreateTable(std::string_view name, const TableSchema& schema,
                                 const std::vector<std::string>& split_rows) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(TableLayout layout, MakeTableLayout(name, 0, schema));
  if (name == metadata_layout_.name) {
    return absl::InvalidArgumentError(
        Cat("a table must not be called ", Quoted(name), ", as the database's own is"));
  }
  BT_ASSIGN_OR_RETURN(const std::vector<RowRange> ranges, RangesBetween(split_rows));
  if (FindTable(name).ok()) {
    return absl::AlreadyExistsError(Cat("there is a table ", Quoted(name), " already"));
  }
  BT_RETURN_IF_ERROR(CheckAccessLists(nullptr, layout));
  // Never used before: what the log may still hold of deleted tables is not this table's. The
  // sequence numbers that METADATA's mutation takes are larger, so neither will it be used again.
  layout.table_id = TakeSequence();
  BT_RETURN_IF_ERROR(Step());
  BT_RETURN_IF_ERROR(cluster_->metadata()->table()->AddTable(layout.table_id, ranges));
  std::vector<Unassigned> tablets;
  for (const RowRange& rows : ranges) {
    tablets.push_back({&layout, {layout.table_id, rows.end()}, std::string(rows.begin()), 0});
  }
  BT_ASSIGN_OR_RETURN(std::vector<Share> shares, Distribute(ServerRole::kUser, tablets));
  // A server that has no log yet gets one: an error of that is one of the creation.
  for (const Share& share : shares) {
    BT_RETURN_IF_ERROR(Step());
    BT_RETURN_IF_ERROR(share.host->Start(lock_->epoch()));
  }
  BT_RETURN_IF_ERROR(Step());
  if (const absl::Status written = schemas_.Write(layout); !written.ok()) {
    BT_RETURN_IF_ERROR(Step());  // a later master goes by what it finds
    // It may be there all the same.
    if (const absl::Status removed = schemas_.Remove(name);
        !removed.ok() && !absl::IsNotFound(removed)) {
      RefuseWrites(Annotate(removed, Cat("the schema of table ", name, " may be there")));
    }
    return written;
  }
  {
    MutexLock lock(&mutex_);
    tables_[std::string(name)] = layout;
  }
  info_log_->Info("created table ", name, " as ", layout.table_id, " of ", ranges.size(),
                  " tablets");
  TellOfTable(&EventListener::OnTableCreated, name);
  // From here on the table is there: what cannot be loaded now will be.
  if (const absl::Status loaded = LoadAll(std::move(shares), {}); !loaded.ok()) {
    info_log_->Warning("table ", name, " is not served yet: ", ToStd(loaded.message()));
    is_assigned_ = false;
    Wake();
  }
  return absl::OkStatus();
}

absl::Status Master::DeleteTable(std::string_view name) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(const TableLayout layout, FindTable(name));
  BT_RETURN_IF_ERROR(Step());
  if (const absl::Status removed = schemas_.Remove(name); !removed.ok()) {
    BT_RETURN_IF_ERROR(Step());
    RestoreSchema(layout);
    return removed;
  }
  {
    MutexLock lock(&mutex_);
    tables_.erase(tables_.find(name));
  }
  TellOfTable(&EventListener::OnTableDeleted, name);
  BT_RETURN_IF_ERROR(DropTablets(layout.table_id));
  info_log_->Info("deleted table ", name);
  return absl::OkStatus();
}

absl::Status Master::DropTablets(uint64_t table_id) {
  std::vector<HostedTablet> dropped;
  bool forgotten = false;
  // Whatever becomes of the rest, nobody else lets go of them. Their files are swept by the next
  // opening, as long as METADATA may name them.
  absl::Cleanup erase = [&] {
    for (const HostedTablet& hosted : dropped) hosted.host->Erase(hosted.tablet, forgotten);
  };
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
    BT_RETURN_IF_ERROR(Step());
    BT_ASSIGN_OR_RETURN(auto tablets, host->Drop(lock_->epoch(), table_id));
    for (std::shared_ptr<Tablet>& tablet : tablets) dropped.push_back({std::move(tablet), host});
  }
  BT_RETURN_IF_ERROR(Step());
  BT_RETURN_IF_ERROR(cluster_->metadata()->table()->RemoveTable(table_id));
  forgotten = true;
  std::move(erase).Invoke();
  cluster_->environment()->inherited_counters.ForgetTable(table_id);
  cluster_->environment()->unserved.ForgetTable(table_id);
  cluster_->environment()->background.RetryForSpace();
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
    if (const absl::Status status = host->server()->MaintainLog(); !status.ok()) {
      info_log_->Warning("after a table was deleted: ", ToStd(status.message()));
    }
  }
  return absl::OkStatus();
}

// The schema's file is what changes the table; then its tablets follow, one server after another.
absl::Status Master::ChangeTable(std::string_view name,
                                 absl::FunctionRef<absl::Status(TableLayout*)> change) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(TableLayout before, FindTable(name));
  before.EndHolds();
  TableLayout layout = before;
  BT_RETURN_IF_ERROR(change(&layout));
  BT_RETURN_IF_ERROR(CheckAccessLists(&before, layout));
  BT_RETURN_IF_ERROR(ChangeRules(before, &layout));
  BT_RETURN_IF_ERROR(Step());
  if (const absl::Status written = schemas_.Write(layout); !written.ok()) {
    BT_RETURN_IF_ERROR(Step());
    // Otherwise the file may have the change: what is held stays so until that is clear.
    if (RestoreSchema(before)) BT_RETURN_IF_ERROR(Distribute(before));
    return written;
  }
  BT_RETURN_IF_ERROR(Distribute(layout));
  Wake();  // for another rule of splits
  TellOfTable(&EventListener::OnTableChanged, name);
  return absl::OkStatus();
}

absl::Status Master::Distribute(const TableLayout& layout) {
  {
    MutexLock lock(&mutex_);
    tables_[layout.name] = layout;
  }
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
    BT_RETURN_IF_ERROR(Step());
    BT_RETURN_IF_ERROR(host->SetLayout(lock_->epoch(), layout));
  }
  return absl::OkStatus();
}

// What was written before a rule is changed is judged by the rule as it was, and what comes after
// it by the new one (compaction/past_rules.h), so the change needs a sequence number of which this
// holds for every compaction, also for those that are under way, and for tablets that learn of it
// late. The steps:
//
// 1. All tablets of the table are told to hold: compactions and flushes that begin from then on
//    collect nothing in the family. Those that have begun before, with the rule as it was, read
//    only what was written before, since they took it together with the layout.
// 2. A number is taken: all that was read by these has smaller ones.
// 3. The schema is written, with the number.
// 4. The tablets get it, which ends the hold. Each does so in the turn of its writer, after all
//    writes with smaller numbers.
//
// Tablets are loaded under the schema's mutex, with what tables_ has. If this ends before step 3, a
// later master or process finds the rule as it was, and no harm is done by what was not collected;
// after it, it finds the new rule with its number.
absl::Status Master::ChangeRules(const TableLayout& before, TableLayout* layout) {
  TableLayout held = before;
  std::vector<FamilyLayout*> changed;
  for (FamilyLayout& family : layout->families) {
    FamilyLayout* const was = held.FindFamily(family.name);
    if (was == nullptr || was->created != family.created || was->gc == family.gc) continue;
    was->held = true;
    changed.push_back(&family);
  }
  if (changed.empty()) return absl::OkStatus();
  BT_RETURN_IF_ERROR(Distribute(held));
  const SequenceNumber sequence = TakeSequence();
  const absl::Time now = cluster_->environment()->options.clock->Now();
  for (FamilyLayout* family : changed) {
    const GcRule rule = std::exchange(family->gc, before.FindFamily(family->name)->gc);
    family->ChangeRule(rule, sequence, now);
  }
  return absl::OkStatus();
}

// --- Access lists ---

absl::Status Master::CheckAccessLists(const TableLayout* before, const TableLayout& layout) const {
  for (const FamilyLayout& family : layout.families) {
    if (family.access_list.empty()) continue;
    const FamilyLayout* const was = before == nullptr ? nullptr : before->FindFamily(family.name);
    if (was != nullptr && was->access_list == family.access_list) continue;
    BT_RETURN_IF_ERROR(access_lists_.Read(family.access_list).status());
  }
  return absl::OkStatus();
}

absl::Status Master::SetAccessList(std::string_view name, const AccessList& list) {
  MutexLock schema_lock(&schema_mutex_);
  BT_RETURN_IF_ERROR(Step());
  BT_RETURN_IF_ERROR(access_lists_.Write(name, list));
  info_log_->Info("access list ", name, " has ", list.readers.size(), " readers and ",
                  list.writers.size(), " writers");
  return absl::OkStatus();
}

absl::Status Master::DeleteAccessList(std::string_view name) {
  MutexLock schema_lock(&schema_mutex_);
  {
    MutexLock lock(&mutex_);
    for (const auto& [table, layout] : tables_) {
      for (const FamilyLayout& family : layout.families) {
        if (family.access_list != name) continue;
        return absl::FailedPreconditionError(Cat("access list ", Quoted(name),
                                                 " is that of family ", Quoted(family.name),
                                                 " of table ", table));
      }
    }
  }
  BT_RETURN_IF_ERROR(Step());
  return access_lists_.Remove(name);
}

void Master::TellOfTable(void (EventListener::*function)(const TableEvent&),
                         std::string_view table) {
  if (ListenerQueue* const events = cluster_->environment()->events.get()) {
    events->Push(function, {absl::Now(), std::string(table)});
  }
}

bool Master::RestoreSchema(const TableLayout& layout) {
  // A later master goes by what it finds.
  if (!active()) return false;
  const absl::Status status = schemas_.Write(layout);
  if (status.ok()) return true;
  RefuseWrites(Annotate(
      status, Cat("the schema of table ", layout.name, " cannot be written, and may be changed")));
  return false;
}

void Master::RefuseWrites(const absl::Status& status) {
  for (const std::shared_ptr<ServerHost>& host : cluster_->servers()->Users()) {
    host->server()->SetError(status);
  }
}

}  // namespace bigtable
