#include "connected/connected_database.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_table.h"
#include "schema/mutation_format.h"

namespace bigtable {

std::unique_ptr<Database> ConnectedTo(std::unique_ptr<DatabaseService> service) {
  return DatabaseBackend::NewDatabase(std::make_unique<ConnectedDatabase>(std::move(service)));
}

absl::Status ConnectedDatabase::Close() {
  MutexLock lock(&mutex_);
  if (!closed_) close_status_ = service_->Close();
  closed_ = true;
  return close_status_;
}

absl::Status ConnectedDatabase::CreateTable(std::string_view name, const TableSchema& schema,
                                            const CreateTableOptions& options) {
  return service_->CreateTable(name, schema, options);
}

absl::Status ConnectedDatabase::DeleteTable(std::string_view name, const CallOptions& options) {
  return service_->DeleteTable(name, options);
}

absl::StatusOr<Table*> ConnectedDatabase::FindTable(std::string_view name,
                                                    const OpenTableOptions& options) {
  absl::StatusOr<Table*> table = OpenTable(name, options);
  if (absl::IsNotFound(table.status())) return nullptr;
  return table;
}

absl::StatusOr<Table*> ConnectedDatabase::OpenTable(std::string_view name,
                                                    const OpenTableOptions& options) {
  if (options.caller.has_value()) {
    return absl::UnimplementedError(
        "OpenTableOptions::caller is for an embedded database; to the service that this one is "
        "connected to, the credentials are the caller");
  }
  // A caller may be allowed to use a table and not to see its schema: then the first use of the
  // table shows whether it exists.
  const absl::Status found =
      service_->GetSchema(name, {options.deadline, options.cancellation}).status();
  if (!found.ok() && !absl::IsPermissionDenied(found)) return found;
  MutexLock lock(&mutex_);
  std::unique_ptr<Table>& table = tables_[std::string(name)];
  if (table == nullptr) {
    table = TableBackend::NewTable(
        std::make_shared<ConnectedTable>(std::string(name), service_->NewTable(name)));
  }
  return table.get();
}

absl::StatusOr<std::vector<std::string>> ConnectedDatabase::ListTables(const CallOptions& options) {
  return service_->ListTables(options);
}

absl::StatusOr<TableSchema> ConnectedDatabase::GetSchema(std::string_view table,
                                                         const CallOptions& options) {
  return service_->GetSchema(table, options);
}

absl::Status ConnectedDatabase::ModifyFamilies(std::string_view table,
                                               const std::vector<FamilyChange>& changes,
                                               const CallOptions& options) {
  return service_->ModifyFamilies(table, changes, options);
}

absl::Status ConnectedDatabase::Apply(const WriteBatch& batch, const WriteOptions& options) {
  BT_RETURN_IF_ERROR(batch.status());
  if (batch.mutations_.empty()) return absl::OkStatus();
  const std::string_view bytes = batch.bytes_;
  const WriteBatch::Mutation& first = batch.mutations_.front();
  const std::string_view row = bytes.substr(first.begin, first.row_size);
  std::string operations;
  bool takes_server_time = false;
  for (const WriteBatch::Mutation& mutation : batch.mutations_) {
    if (!Has(mutation.table)) {
      return absl::InvalidArgumentError(
          Cat("table ", mutation.table->name(), " of the batch is of another database"));
    }
    const std::string_view its_row = bytes.substr(mutation.begin, mutation.row_size);
    if (mutation.table != first.table || its_row != row) {
      return absl::UnimplementedError(
          Cat("a batch of several rows is for an embedded database; the service that this one is "
              "connected to changes one row at a time, and the batch has rows ",
              Quoted(row), " and ", Quoted(its_row)));
    }
    const size_t begin = mutation.begin + mutation.row_size;
    operations += bytes.substr(begin, mutation.end - begin);
    takes_server_time |= mutation.takes_server_time;
  }
  const EncodedMutation all{
      .row = row, .operations = operations, .takes_server_time = takes_server_time};
  return first.table->Apply(all.ToMutation(), options);
}

absl::Status ConnectedDatabase::Resume(const CallOptions& options) {
  return service_->Resume(options);
}

bool ConnectedDatabase::Has(const Table* table) {
  MutexLock lock(&mutex_);
  return std::any_of(tables_.begin(), tables_.end(),
                     [&](const auto& opened) { return opened.second.get() == table; });
}

}  // namespace bigtable
