// The master's changes of tables and their schemas.
#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

#include "base/status.h"
#include "base/strings.h"
#include "master/master.h"
#include "master/split_rows.h"

namespace bigtable {

absl::StatusOr<std::shared_ptr<TableRoute>> Master::FindTable(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = tables_.find(name);
  if (found != tables_.end()) return found->second;
  std::string names;
  for (const auto& [other, table] : tables_) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", other);
  }
  return absl::NotFoundError(
      Cat("there is no table ", Quoted(name), "; there are: ", names.empty() ? "none" : names));
}

std::vector<std::string> Master::TableNames() const {
  MutexLock lock(&mutex_);
  std::vector<std::string> names;
  for (const auto& [name, tablet] : tables_) names.push_back(name);
  return names;
}

absl::Status Master::CreateTable(std::string_view name, const TableSchema& schema,
                                 const std::vector<std::string>& split_rows) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(TableLayout layout, MakeTableLayout(name, 0, schema));
  BT_ASSIGN_OR_RETURN(const std::vector<RowRange> ranges, RangesBetween(split_rows));
  if (FindTable(name).ok()) {
    return absl::AlreadyExistsError(Cat("there is a table ", Quoted(name), " already"));
  }
  // Never used before: what the log may still hold of deleted tables is not this table's. The
  // sequence numbers that METADATA's mutation takes are larger, so neither will it be used again.
  layout.table_id = sequences_.Take(1);
  BT_RETURN_IF_ERROR(metadata_->AddTable(layout.table_id, ranges));
  std::vector<TabletState> states(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) states[i].rows = ranges[i];
  BT_ASSIGN_OR_RETURN(std::shared_ptr<const ServedTable> table, OpenTable(layout, states));
  absl::Status created;
  for (TabletServer* server : table->servers()) {
    if (created.ok()) created = StartServer(ServerDirectory::Kind::kUser, server);
  }
  if (created.ok()) created = schemas_.Write(layout);
  if (!created.ok()) {
    for (const ServedTablet& tablet : table->tablets()) {
      tablet.server->RemoveTablet(tablet.tablet->id());
    }
    return created;
  }
  info_log_.Info("created table ", name, " as ", layout.table_id, " of ", ranges.size(),
                 " tablets");
  TellOfTable(&EventListener::OnTableCreated, name);
  MutexLock lock(&mutex_);
  tables_[std::string(name)] = std::make_shared<TableRoute>(std::move(table));
  return absl::OkStatus();
}

absl::Status Master::DeleteTable(std::string_view name) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(name));
  const std::shared_ptr<const ServedTable> table = route->Share();
  if (const absl::Status removed = schemas_.Remove(name); !removed.ok()) {
    RestoreSchema(*table->Layout());
    return removed;
  }
  // From here on the table is deleted; what is left to do, the next opening does if this fails.
  {
    MutexLock lock(&mutex_);
    tables_.erase(tables_.find(name));
  }
  TellOfTable(&EventListener::OnTableDeleted, name);
  for (const ServedTablet& served : table->tablets()) {
    served.server->RemoveTablet(served.tablet->id());
    background_.WaitForTablet(served.tablet.get());
  }
  const absl::Status forgotten = metadata_->RemoveTable(table->table_id());
  for (const ServedTablet& served : table->tablets()) {
    if (forgotten.ok()) served.tablet->RemoveFiles();
    // Tables that users hold keep the tablet, but not what was in it.
    served.server->Empty(served.tablet.get());
  }
  BT_RETURN_IF_ERROR(forgotten);
  for (TabletServer* server : table->servers()) {
    if (const absl::Status status = server->MaintainLog(); !status.ok()) {
      info_log_.Warning("after table ", name, " was deleted: ", ToStd(status.message()));
    }
  }
  info_log_.Info("deleted table ", name);
  return absl::OkStatus();
}

// The schema's file is what changes the table; then its tablets follow, one after the other.
absl::Status Master::ChangeTable(std::string_view name,
                                 absl::FunctionRef<absl::Status(TableLayout*)> change) {
  MutexLock schema_lock(&schema_mutex_);
  BT_ASSIGN_OR_RETURN(const std::shared_ptr<TableRoute> route, FindTable(name));
  const std::shared_ptr<const ServedTable> table = route->Share();
  const std::shared_ptr<const TableLayout> before = table->Layout();
  TableLayout layout = *before;
  BT_RETURN_IF_ERROR(change(&layout));
  if (const absl::Status written = schemas_.Write(layout); !written.ok()) {
    RestoreSchema(*before);
    return written;
  }
  for (const ServedTablet& served : table->tablets()) {
    served.server->SetLayout(served.tablet.get(), layout);
  }
  WakeUpkeep();  // for another rule of splits
  TellOfTable(&EventListener::OnTableChanged, name);
  return absl::OkStatus();
}

void Master::TellOfTable(void (EventListener::*function)(const TableEvent&),
                         std::string_view table) {
  if (events_ != nullptr) events_->Push(function, {absl::Now(), std::string(table)});
}

void Master::RestoreSchema(const TableLayout& layout) {
  const absl::Status status = schemas_.Write(layout);
  if (status.ok()) return;
  for (TabletServer* server : UserServers()) {
    server->SetError(Annotate(status, Cat("the schema of table ", layout.name,
                                          " cannot be written, and may be changed")));
  }
}

}  // namespace bigtable
