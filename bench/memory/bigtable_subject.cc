// This engine: its default read mode, and each of the two modes as a setting.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/bigtable.h"

#include "common/strings.h"
#include "common/workload.h"
#include "subject.h"

namespace bench {
namespace {

constexpr std::string_view kTable = "memory";
constexpr std::string_view kColumn = "f:q";

bigtable::TableSchema Schema() {
  bigtable::TableSchema schema;
  schema.locality_groups["default"] = {.compression = bigtable::Compression::kNone,
                                       .block_size = 4096,
                                       .filter = bigtable::FilterKind::kRowIndex};
  schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  return schema;
}

absl::StatusOr<std::string_view> ValueOf(const absl::StatusOr<bigtable::Row>& row) {
  if (!row.ok()) return row.status();
  if (row->empty()) return absl::NotFoundError(ToAbsl(row->key()));
  return row->cells().front().value;
}

class BigtableCursor final : public RowCursor {
 public:
  BigtableCursor(bigtable::Table* table, std::string_view from,
                 const bigtable::ReadOptions& options)
      : rows_(table->ReadRows(bigtable::RowRange::StartingAt(from), options)) {}

  bool Next() override {
    if (!rows_.Next()) return false;
    key_ = rows_.row().key();
    value_ = rows_.row().cells().front().value;
    return true;
  }
  absl::Status status() const override { return rows_.status(); }

 private:
  bigtable::RowReader rows_;
};

class Bigtable final : public Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options) {
    bigtable::DatabaseOptions settings;
    settings.create_if_missing = false;
    settings.memory_budget = options.memory_budget;
    // What is not in memory is read past the page cache by default, and its rows are kept.
    if (options.way == kLargeBudgetWay) settings.memory_budget *= kShareOfPageCache;
    if (options.way == "mapped") settings.read_mode = bigtable::FileSystem::ReadMode::kMapped;
    if (options.way == "positional") {
      settings.read_mode = bigtable::FileSystem::ReadMode::kPositional;
    }
    auto database = bigtable::Database::Open(options.directory, settings);
    if (!database.ok()) return database.status();
    absl::StatusOr<bigtable::Table*> table = (*database)->OpenTable(kTable);
    if (!table.ok()) return table.status();
    return absl::WrapUnique(new Bigtable(*std::move(database), *table));
  }

  absl::StatusOr<std::string_view> Get(std::string_view key) override {
    row_ = table_->ReadRow(key);
    return ValueOf(row_);
  }
  absl::Status GetBatch(absl::Span<const std::string_view> keys,
                        std::vector<std::string_view>* values) override {
    rows_ = table_->GetRows(keys);
    values->clear();
    for (const absl::StatusOr<bigtable::Row>& row : rows_) {
      const absl::StatusOr<std::string_view> value = ValueOf(row);
      if (!value.ok()) return value.status();
      values->push_back(*value);
    }
    return absl::OkStatus();
  }
  void GetAsync(std::string_view key, const Done& done) override {
    table_->ReadRowAsync(std::string(key), {}, {},
                         [done](const absl::StatusOr<bigtable::Row>& row) { done(ValueOf(row)); });
  }
  std::unique_ptr<RowCursor> Scan(std::string_view from, uint64_t limit) override {
    bigtable::ReadOptions options;
    if (limit != kNoLimit) options.row_limit = static_cast<int64_t>(limit);
    return std::make_unique<BigtableCursor>(table_, from, options);
  }
  absl::Status Write(std::string_view key, std::string_view value) override {
    return table_->Apply(bigtable::RowMutation(key).Set(kColumn, value));
  }
  absl::Status Close() override {
    row_ = bigtable::Row();
    rows_.clear();
    return database_->Close();
  }

 private:
  Bigtable(std::unique_ptr<bigtable::Database> database, bigtable::Table* table)
      : database_(std::move(database)), table_(table), row_(bigtable::Row()) {}

  const std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* const table_;
  absl::StatusOr<bigtable::Row> row_;                // what the last Get returned
  std::vector<absl::StatusOr<bigtable::Row>> rows_;  // the same of GetBatch
};

absl::Status Make(const std::string& directory, uint64_t rows) {
  bigtable::DatabaseOptions options;
  options.memory_budget = 256 << 20;
  auto database = bigtable::Database::Open(directory, options);
  if (!database.ok()) return database.status();
  if (absl::Status s = (*database)->CreateTable(kTable, Schema()); !s.ok()) return s;
  absl::StatusOr<bigtable::Table*> table = (*database)->OpenTable(kTable);
  if (!table.ok()) return table.status();
  const Values values;
  for (uint64_t row = 0; row < rows; ++row) {
    bigtable::RowMutation mutation(Key(row).view());
    mutation.Set(kColumn, values.Of(row));
    absl::Status s = (*table)->Apply(mutation, {.durability = bigtable::Durability::kNone});
    if (!s.ok()) return s;
  }
  if (absl::Status s = (*database)->Flush(kTable); !s.ok()) return s;
  if (absl::Status s = (*database)->WaitUntilQuiet(); !s.ok()) return s;
  return (*database)->Close();
}

}  // namespace

SubjectKind BigtableSubject() {
  return {.engine = "bigtable",
          .ways = {std::string(kDefaultWay), std::string(kLargeBudgetWay), "mapped", "positional"},
          .writes = true,
          .make = Make,
          .open = Bigtable::Open};
}

}  // namespace bench
