// Database whose tables are reached through a service, and which has no directory.
#ifndef BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_
#define BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/database.h"
#include "bigtable/options.h"
#include "bigtable/table.h"

#include "base/mutex.h"
#include "connected/table_service.h"

namespace bigtable {

// Thread-safe.
class ConnectedDatabase {
 public:
  static std::unique_ptr<Database> Wrap(std::unique_ptr<DatabaseService> service);

  explicit ConnectedDatabase(std::unique_ptr<DatabaseService> service)
      : service_(std::move(service)) {}

  DatabaseService* service() const { return service_.get(); }

  absl::Status Close();
  // Looks whether the table exists, unless it was opened before.
  absl::StatusOr<Table*> OpenTable(std::string_view name, const OpenTableOptions& options);
  // Whether the database has opened the table.
  bool Has(const Table* table);

 private:
  const std::unique_ptr<DatabaseService> service_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status close_status_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::unique_ptr<Table>, std::less<>> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_DATABASE_H_
