// This library's ways: counters, batches and transactions on the rows of one table.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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

constexpr std::string_view kColumn = "f:number";

// Whether the table is one tablet, or two on two servers.
enum class Tablets { kOne, kTwo };
enum class Counters { kNumbers, kSums };

absl::StatusOr<int64_t> NumberIn(const absl::StatusOr<bigtable::Row>& row) {
  if (!row.ok()) return row.status();
  return row->empty() ? 0 : bigtable::DecodeBigEndian(row->cells()[0].value);
}

class BigtableStore final : public Store {
 public:
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& directory, Tablets tablets,
                                                     Counters counters) {
    bigtable::DatabaseOptions options;
    options.memory_budget = kMemoryLimit;
    options.tablet_servers = tablets == Tablets::kOne ? 1 : 2;
    absl::StatusOr<std::unique_ptr<bigtable::Database>> database =
        bigtable::Database::Open(directory, options);
    if (!database.ok()) return database.status();
    // The peers keep only the newest value of a key, and so does this table.
    bigtable::TableSchema schema;
    schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1),
                            .value_type = counters == Counters::kSums
                                              ? bigtable::ValueType::kInt64Sum
                                              : bigtable::ValueType::kBytes};
    bigtable::CreateTableOptions create;
    if (tablets == Tablets::kTwo) create.split_rows = {"5"};
    if (absl::Status s = (*database)->CreateTable("table", schema, create); !s.ok()) return s;
    absl::StatusOr<bigtable::Table*> table = (*database)->OpenTable("table");
    if (!table.ok()) return table.status();
    return absl::WrapUnique<Store>(new BigtableStore(*std::move(database), *table, counters));
  }

  absl::Status Increment(uint64_t row) override {
    const RowKey key(row);
    if (counters_ == Counters::kSums) {
      return table_->Apply(
          bigtable::RowMutation(key.view()).AddToCell(kColumn, bigtable::Timestamp(0), int64_t{1}));
    }
    return table_->ReadModifyWriteRow(bigtable::ReadModifyWrite(key.view()).Increment(kColumn, 1))
        .status();
  }
  absl::Status WriteBatch(std::span<const uint64_t> rows, std::string_view value) override {
    // As the peers reuse their batches.
    thread_local bigtable::WriteBatch batch;
    batch.Clear();
    for (const uint64_t row : rows) {
      const RowKey key(row);
      batch.Apply(table_, bigtable::RowMutation(key.view()).Set(kColumn, value));
    }
    return database_->Apply(batch);
  }
  absl::Status Transfer(uint64_t from, uint64_t to) override {
    const RowKey payer(from);
    const RowKey payee(to);
    return database_->RunTransaction([&](bigtable::Transaction* transaction) -> absl::Status {
      const auto before_from = NumberIn(transaction->ReadRow(table_, payer.view()));
      if (!before_from.ok()) return before_from.status();
      const auto before_to = NumberIn(transaction->ReadRow(table_, payee.view()));
      if (!before_to.ok()) return before_to.status();
      if (absl::Status s = Set(transaction, payer, *before_from - 1); !s.ok()) return s;
      return Set(transaction, payee, *before_to + 1);
    });
  }
  absl::StatusOr<int64_t> Number(uint64_t row) override {
    return NumberIn(table_->ReadRow(RowKey(row).view()));
  }
  absl::StatusOr<std::string> Value(uint64_t row) override {
    return table_->Get(RowKey(row).view(), kColumn);
  }

 private:
  // The last digit first, so that rows fall into both tablets whatever their number is.
  class RowKey {
   public:
    explicit RowKey(uint64_t row) : text_(Key(row).view()) {
      std::swap(text_.front(), text_.back());
    }
    std::string_view view() const { return text_; }

   private:
    std::string text_;
  };

  BigtableStore(std::unique_ptr<bigtable::Database> database, bigtable::Table* table,
                Counters counters)
      : database_(std::move(database)), table_(table), counters_(counters) {}

  absl::Status Set(bigtable::Transaction* transaction, const RowKey& key, int64_t number) {
    return transaction->Apply(
        table_, bigtable::RowMutation(key.view()).Set(kColumn, bigtable::EncodeBigEndian(number)));
  }

  const std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* const table_;
  const Counters counters_;
};

StoreKind Kind(Work work, const std::string& way, Tablets tablets,
               Counters counters = Counters::kNumbers) {
  return {work, "bigtable", tablets == Tablets::kOne ? way : way + ", two servers",
          [=](const std::string& directory) {
            return BigtableStore::Open(directory, tablets, counters);
          }};
}

}  // namespace

std::vector<StoreKind> BigtableStores() {
  return {Kind(Work::kIncrements, "read-modify-write", Tablets::kOne),
          Kind(Work::kIncrements, "aggregate", Tablets::kOne, Counters::kSums),
          Kind(Work::kBatches, "WriteBatch", Tablets::kOne),
          Kind(Work::kBatches, "WriteBatch", Tablets::kTwo),
          Kind(Work::kTransactions, "Transaction", Tablets::kOne),
          Kind(Work::kTransactions, "Transaction", Tablets::kTwo)};
}

}  // namespace bench
