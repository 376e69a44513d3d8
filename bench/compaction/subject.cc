#include "subject.h"

#include <algorithm>

#include "absl/memory/memory.h"

#include "common/strings.h"

namespace bench {
namespace {

constexpr std::string_view kTable = "table";
constexpr std::string_view kColumn = "f:q";
constexpr std::string_view kGroup = "default";

Key KeyOf(uint64_t row) { return Key(2 * row); }
Key MissingKeyOf(uint64_t row) { return Key(2 * row + 1); }

bigtable::DatabaseOptions DatabaseOptionsFor(const SubjectOptions& options) {
  constexpr uint64_t kLeastSegment = 64 << 10;
  constexpr uint64_t kMostSegment = 16 << 20;
  constexpr uint64_t kLeastFile = 1 << 20;
  bigtable::DatabaseOptions database;
  database.error_if_exists = true;
  database.memory_budget = options.memory_budget;
  // As small compared to the data as the defaults are compared to some gigabytes.
  database.memtable_size = options.memtable_size;
  database.log_segment_size = std::clamp(options.memtable_size / 4, kLeastSegment, kMostSegment);
  database.target_file_size = std::max(options.memtable_size, kLeastFile);
  return database;
}

bigtable::TableSchema SchemaFor(const SubjectOptions& options) {
  bigtable::TableSchema schema;
  schema.locality_groups[std::string(kGroup)] = {
      .compaction = options.policy.value,
      .compaction_factor = options.policy.factor,
  };
  bigtable::GcRule gc = bigtable::GcRule::MaxVersions(1);
  if (options.lifetime.has_value()) {
    // A cell of exactly this age is still kept. At half a step less it is collected.
    const absl::Duration age =
        OperationClock::kStep * *options.lifetime - OperationClock::kStep / 2;
    gc = bigtable::GcRule::Union(gc, bigtable::GcRule::MaxAge(age));
  }
  schema.families["f"] = {.gc = gc};
  return schema;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Subject>> Subject::Open(const SubjectOptions& options) {
  auto subject = absl::WrapUnique(new Subject);
  bigtable::DatabaseOptions database_options = DatabaseOptionsFor(options);
  database_options.clock = &subject->clock_;
  auto database = bigtable::Database::Open(options.directory, database_options);
  if (!database.ok()) return database.status();
  subject->database_ = *std::move(database);
  absl::Status s = subject->database_->CreateTable(kTable, SchemaFor(options));
  if (!s.ok()) return s;
  absl::StatusOr<bigtable::Table*> table = subject->database_->OpenTable(kTable);
  if (!table.ok()) return table.status();
  subject->table_ = *table;
  return subject;
}

absl::Status Subject::Write(uint64_t row) {
  bigtable::RowMutation mutation(KeyOf(row).view());
  mutation.Set(kColumn, values_.Of(row));
  return table_->Apply(mutation);
}

absl::Status Subject::Delete(uint64_t row) {
  bigtable::RowMutation mutation(KeyOf(row).view());
  mutation.DeleteRow();
  return table_->Apply(mutation);
}

absl::Status Subject::Read(uint64_t row) {
  const Key key = KeyOf(row);
  absl::StatusOr<bigtable::Row> found = table_->ReadRow(key.view());
  if (!found.ok()) return found.status();
  if (found->cells().size() != 1 || found->cells().front().value != values_.Of(row)) {
    return absl::DataLossError(
        Concat("row ", key.view(), " has ", found->cells().size(), " cells, or another value"));
  }
  return absl::OkStatus();
}

absl::Status Subject::ReadMissing(uint64_t row) {
  const Key key = MissingKeyOf(row);
  absl::StatusOr<bigtable::Row> found = table_->ReadRow(key.view());
  if (!found.ok()) return found.status();
  if (!found->empty()) {
    return absl::DataLossError(Concat("row ", key.view(), " was never written, but exists"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Subject::Scan(uint64_t first, uint64_t rows) {
  bigtable::ReadOptions options;
  options.row_limit = static_cast<int64_t>(rows);
  bigtable::RowReader reader =
      table_->ReadRows(bigtable::RowRange::StartingAt(KeyOf(first).view()), options);
  uint64_t seen = 0;
  for (; reader.Next(); ++seen) Touch(reader.row().cells().front().value);
  if (!reader.status().ok()) return reader.status();
  return seen;
}

absl::Status Subject::Settle() {
  if (absl::Status s = database_->Flush(kTable); !s.ok()) return s;
  return database_->WaitUntilQuiet();
}

bigtable::LocalityGroupStatistics Subject::GroupStatistics(
    const bigtable::DatabaseStatistics& all) const {
  const auto table = all.tables.find(std::string(kTable));
  if (table == all.tables.end()) return {};
  const auto group = table->second.find(std::string(kGroup));
  return group == table->second.end() ? bigtable::LocalityGroupStatistics() : group->second;
}

}  // namespace bench
