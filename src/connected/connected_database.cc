#include "connected/connected_database.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "base/strings.h"
#include "connected/connected_table.h"

namespace bigtable {

std::unique_ptr<Database> ConnectedTo(std::unique_ptr<DatabaseService> service) {
  return ConnectedDatabase::Wrap(std::move(service));
}

std::unique_ptr<Database> ConnectedDatabase::Wrap(std::unique_ptr<DatabaseService> service) {
  return std::unique_ptr<Database>(
      new Database(std::make_unique<ConnectedDatabase>(std::move(service))));
}

absl::Status ConnectedDatabase::Close() {
  MutexLock lock(&mutex_);
  if (!closed_) close_status_ = service_->Close();
  closed_ = true;
  return close_status_;
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
    table.reset(
        new Table(std::make_shared<ConnectedTable>(std::string(name), service_->NewTable(name))));
  }
  return table.get();
}

bool ConnectedDatabase::Has(const Table* table) {
  MutexLock lock(&mutex_);
  return std::any_of(tables_.begin(), tables_.end(),
                     [&](const auto& opened) { return opened.second.get() == table; });
}

}  // namespace bigtable
