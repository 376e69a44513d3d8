#include "bigtable/operation.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "bigtable/database.h"

#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

absl::StatusOr<Table*> OpenShared(std::string_view path) {
  static Mutex mutex;
  static std::map<std::string, std::unique_ptr<Database>, std::less<>> databases;
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size()) {
    return absl::InvalidArgumentError("the path must be that of a database and a table in it");
  }
  const std::string_view directory = path.substr(0, slash);
  MutexLock lock(&mutex);
  auto found = databases.find(directory);
  if (found == databases.end()) {
    DatabaseOptions options;
    options.create_if_missing = false;
    BT_ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(directory, options));
    found = databases.emplace(directory, std::move(database)).first;
  }
  return found->second->OpenTable(path.substr(slash + 1));
}

}  // namespace

Table* OpenOrDie(std::string_view path) {
  const absl::StatusOr<Table*> table = OpenShared(path);
  if (table.ok()) return *table;
  const std::string message = Cat("OpenOrDie(", Quoted(path), "): ", table.status().ToString());
  std::fprintf(stderr, "%s\n", message.c_str());
  std::abort();
}

void Apply(Operation* operation, const RowMutation* mutation) {
  operation->status_ = mutation->table() == nullptr
                           ? absl::InvalidArgumentError("the mutation was not made for a table")
                           : mutation->table()->Apply(*mutation);
}

}  // namespace bigtable
