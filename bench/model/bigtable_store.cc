// Counters of this library, a row each.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "common/workload.h"
#include "store.h"

namespace bench {
namespace {

constexpr std::string_view kColumn = "f:count";

class ReadModifyWriteStore final : public Store {
 public:
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& directory) {
    bigtable::DatabaseOptions options;
    options.memory_budget = kMemoryLimit;
    absl::StatusOr<std::unique_ptr<bigtable::Database>> database =
        bigtable::Database::Open(directory, options);
    if (!database.ok()) return database.status();
    // The peers keep only the newest value of a key, and so does this table.
    bigtable::TableSchema schema;
    schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
    absl::StatusOr<bigtable::Table*> table = (*database)->OpenOrCreateTable("counters", schema);
    if (!table.ok()) return table.status();
    return absl::WrapUnique<Store>(new ReadModifyWriteStore(*std::move(database), *table));
  }

  absl::Status Increment(uint64_t counter) override {
    const Key key(counter);
    return table_->ReadModifyWriteRow(bigtable::ReadModifyWrite(key.view()).Increment(kColumn, 1))
        .status();
  }
  absl::StatusOr<int64_t> Value(uint64_t counter) override {
    const Key key(counter);
    const absl::StatusOr<std::string> value = table_->Get(key.view(), kColumn);
    if (absl::IsNotFound(value.status())) return 0;
    if (!value.ok()) return value.status();
    return bigtable::DecodeBigEndian(*value);
  }

 private:
  ReadModifyWriteStore(std::unique_ptr<bigtable::Database> database, bigtable::Table* table)
      : database_(std::move(database)), table_(table) {}

  const std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* const table_;
};

}  // namespace

std::vector<StoreKind> BigtableStores() {
  return {{"bigtable", "read-modify-write", ReadModifyWriteStore::Open}};
}

}  // namespace bench
