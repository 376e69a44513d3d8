#include "bigtable/database.h"

#include <utility>

#include "backend/database_backend.h"
#include "base/status.h"
#include "client/embedded_database.h"
#include "client/followed_database.h"
#include "options/check_options.h"

namespace bigtable {

Database::Database(std::unique_ptr<DatabaseBackend> backend) : backend_(std::move(backend)) {}
Database::~Database() { Close().IgnoreError(); }

absl::StatusOr<std::unique_ptr<Database>> Database::Open(std::string_view path,
                                                         const DatabaseOptions& options) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  BT_ASSIGN_OR_RETURN(const DatabaseOptions checked, CheckedOptions(path, options));
  if (checked.follow) {
    BT_ASSIGN_OR_RETURN(std::unique_ptr<FollowedDatabase> followed,
                        FollowedDatabase::Open(path, checked));
    return DatabaseBackend::NewDatabase(std::move(followed));
  }
  BT_ASSIGN_OR_RETURN(std::unique_ptr<EmbeddedDatabase> opened,
                      EmbeddedDatabase::Open(path, checked));
  return DatabaseBackend::NewDatabase(std::move(opened));
}

absl::Status Database::Close() { return backend_->Close(); }

absl::Status Database::CreateTable(std::string_view name, const TableSchema& schema,
                                   const CreateTableOptions& options) {
  return backend_->CreateTable(name, schema, options);
}

absl::Status Database::DeleteTable(std::string_view name, const CallOptions& options) {
  return backend_->DeleteTable(name, options);
}

absl::StatusOr<Table*> Database::OpenTable(std::string_view name, const OpenTableOptions& options) {
  return backend_->OpenTable(name, options);
}

absl::StatusOr<Table*> Database::OpenOrCreateTable(std::string_view name, const TableSchema& schema,
                                                   const CreateTableOptions& options) {
  const OpenTableOptions of_opening{.deadline = options.deadline,
                                    .cancellation = options.cancellation};
  BT_ASSIGN_OR_RETURN(Table* const found, backend_->FindTable(name, of_opening));
  if (found != nullptr) return found;
  const absl::Status created = CreateTable(name, schema, options);
  // Another thread may have created it first.
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  return OpenTable(name, of_opening);
}

absl::StatusOr<std::vector<std::string>> Database::ListTables(const CallOptions& options) {
  return backend_->ListTables(options);
}

absl::StatusOr<TableSchema> Database::GetSchema(std::string_view table,
                                                const CallOptions& options) {
  return backend_->GetSchema(table, options);
}

absl::Status Database::ModifyFamilies(std::string_view table,
                                      const std::vector<FamilyChange>& changes,
                                      const CallOptions& options) {
  return backend_->ModifyFamilies(table, changes, options);
}

absl::Status Database::AddFamily(std::string_view table, std::string_view name,
                                 const Family& family, const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Add(std::string(name), family)}, options);
}

absl::Status Database::DropFamily(std::string_view table, std::string_view name,
                                  const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Drop(std::string(name))}, options);
}

absl::Status Database::UpdateFamily(std::string_view table, std::string_view name,
                                    const FamilyUpdate& update, const CallOptions& options) {
  return ModifyFamilies(table, {FamilyChange::Update(std::string(name), update)}, options);
}

absl::Status Database::SetLocalityGroup(std::string_view table, std::string_view name,
                                        const LocalityGroup& group, const CallOptions& options) {
  return backend_->SetLocalityGroup(table, name, group, options);
}

absl::Status Database::SetSplitRule(std::string_view table, const SplitRule& rule,
                                    const CallOptions& options) {
  return backend_->SetSplitRule(table, rule, options);
}

absl::Status Database::SetChangeStream(std::string_view table, const ChangeStreamRule& rule,
                                       const CallOptions& options) {
  return backend_->SetChangeStream(table, rule, options);
}

absl::Status Database::SetObservers(std::string_view table,
                                    const std::vector<std::string>& observers,
                                    const CallOptions& options) {
  return backend_->SetObservers(table, observers, options);
}

absl::Status Database::SetAccessList(std::string_view name, const AccessList& list,
                                     const CallOptions& options) {
  return backend_->SetAccessList(name, list, options);
}

absl::Status Database::DeleteAccessList(std::string_view name, const CallOptions& options) {
  return backend_->DeleteAccessList(name, options);
}

absl::StatusOr<AccessList> Database::GetAccessList(std::string_view name,
                                                   const CallOptions& options) {
  return backend_->GetAccessList(name, options);
}

absl::StatusOr<std::vector<std::string>> Database::ListAccessLists(const CallOptions& options) {
  return backend_->ListAccessLists(options);
}

absl::Status Database::SetTableQuota(std::string_view table, const Quota& quota,
                                     const CallOptions& options) {
  return backend_->SetTableQuota(table, quota, options);
}

absl::Status Database::SetCallerQuota(std::string_view caller, const Quota& quota,
                                      const CallOptions& options) {
  return backend_->SetCallerQuota(caller, quota, options);
}

absl::StatusOr<Quota> Database::GetTableQuota(std::string_view table, const CallOptions& options) {
  return backend_->GetTableQuota(table, options);
}

absl::StatusOr<Quota> Database::GetCallerQuota(std::string_view caller,
                                               const CallOptions& options) {
  return backend_->GetCallerQuota(caller, options);
}

absl::StatusOr<std::map<std::string, Quota>> Database::ListTableQuotas(const CallOptions& options) {
  return backend_->ListTableQuotas(options);
}

absl::StatusOr<std::map<std::string, Quota>> Database::ListCallerQuotas(
    const CallOptions& options) {
  return backend_->ListCallerQuotas(options);
}

absl::StatusOr<std::vector<TabletInfo>> Database::ListTablets(std::string_view table,
                                                              const CallOptions& options) {
  return backend_->ListTablets(table, options);
}

absl::Status Database::SplitTablet(std::string_view table, std::string_view row,
                                   const CallOptions& options) {
  return backend_->SplitTablet(table, row, options);
}

absl::Status Database::MergeTablets(std::string_view table, std::string_view row,
                                    const CallOptions& options) {
  return backend_->MergeTablets(table, row, options);
}

absl::Status Database::MoveTablet(std::string_view table, std::string_view row, int server,
                                  const CallOptions& options) {
  return backend_->MoveTablet(table, row, server, options);
}

absl::Status Database::Apply(const WriteBatch& batch, const WriteOptions& options) {
  return backend_->Apply(batch, options);
}

absl::StatusOr<Transaction> Database::BeginTransaction(const CallOptions& options) {
  return backend_->BeginTransaction(options);
}

absl::StatusOr<std::shared_ptr<const Snapshot>> Database::TakeSnapshot() {
  return backend_->TakeSnapshot();
}

absl::Status Database::Checkpoint(std::string_view directory, const CallOptions& options) {
  return backend_->Checkpoint(directory, options);
}

absl::Status Database::Flush(std::string_view table, const CallOptions& options) {
  return backend_->Flush(table, options);
}

absl::Status Database::Compact(std::string_view table, const CallOptions& options) {
  return backend_->Compact(table, options);
}

absl::Status Database::WaitUntilQuiet(const CallOptions& options) {
  return backend_->WaitUntilQuiet(options);
}

void Database::PauseCompactions() { backend_->PauseCompactions(); }

void Database::ContinueCompactions() { backend_->ContinueCompactions(); }

void Database::CancelCompactions() { backend_->CancelCompactions(); }

void Database::SetCompactionRate(uint64_t bytes_per_second) {
  backend_->SetCompactionRate(bytes_per_second);
}

absl::Status Database::SetOptions(const std::map<std::string, std::string>& values) {
  return backend_->SetOptions(values);
}

std::map<std::string, std::string> Database::ChangeableOptions() const {
  return backend_->ChangeableOptions();
}

absl::Status Database::Resume(const CallOptions& options) { return backend_->Resume(options); }

absl::Status Database::Refresh(const CallOptions& options) { return backend_->Refresh(options); }

DatabaseStatistics Database::Statistics() { return backend_->Statistics(); }

}  // namespace bigtable
