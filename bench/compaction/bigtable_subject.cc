#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "common/strings.h"
#include "common/workload.h"
#include "subject.h"
#include "touch_sink.h"

namespace bench {
namespace {

constexpr std::string_view kTable = "table";
constexpr std::string_view kColumn = "f:q";
constexpr std::string_view kGroup = "default";

// A clock that advances by a second with each operation, so that the same cells expire at the same
// time in each run.
class OperationClock final : public bigtable::Clock {
 public:
  static constexpr absl::Duration kStep = absl::Seconds(1);

  absl::Time Now() override {
    return absl::FromUnixSeconds(kStart) + kStep * steps_.load(std::memory_order_relaxed);
  }
  void Step() { steps_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr int64_t kStart = 1'600'000'000;
  std::atomic<int64_t> steps_{0};
};

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
  database.compaction_threads = options.compaction_threads;
  if (options.positional) database.read_mode = bigtable::FileSystem::ReadMode::kPositional;
  return database;
}

bigtable::TableSchema SchemaFor(const SubjectOptions& options) {
  bigtable::TableSchema schema;
  // A split in the middle of a run would leave two trees, each half as large.
  schema.split.tablet_size = options.tablet_size;
  schema.locality_groups[std::string(kGroup)] = {
      .compaction = options.policy.value,
      .compaction_factor = options.policy.factor,
      .compaction_policy = options.policy.registered,
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

class BigtableSubject final : public Subject {
 public:
  static absl::StatusOr<std::unique_ptr<Subject>> Open(const SubjectOptions& options) {
    auto subject = absl::WrapUnique(new BigtableSubject(options.format));
    bigtable::DatabaseOptions database_options = DatabaseOptionsFor(options);
    database_options.clock = &subject->clock_;
    database_options.event_listener = &subject->events_;
    if (options.counts_touches) {
      database_options.trace_one_of = 1;
      database_options.trace_sink = &subject->touches_;
    }
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

  void Step() override { clock_.Step(); }
  absl::Status Write(uint64_t row) override;
  absl::Status Delete(uint64_t row) override;
  absl::Status Read(uint64_t row) override;
  absl::Status ReadMissing(uint64_t row) override;
  absl::StatusOr<uint64_t> Scan(uint64_t first, uint64_t rows) override;
  absl::Status WaitUntilQuiet() override { return database_->WaitUntilQuiet(); }
  absl::Status Settle() override;
  absl::Status Close() override { return database_->Close(); }
  absl::StatusOr<SubjectFigures> Figures() const override;
  void CountTouches() override { touches_.Begin(); }
  ReadTouches TakeTouches() override { return touches_.End(); }
  std::vector<Event> TakeEvents() override { return events_.Take(); }

 private:
  explicit BigtableSubject(const RowFormat& format) : format_(format), values_(format.value_size) {}

  const RowFormat format_;
  const Values values_;
  OperationClock clock_;
  TouchSink touches_;
  EventLog events_;
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;  // the database's
};

bigtable::LocalityGroupStatistics GroupStatistics(const bigtable::DatabaseStatistics& all) {
  const auto table = all.tables.find(std::string(kTable));
  if (table == all.tables.end()) return {};
  const auto group = table->second.find(std::string(kGroup));
  return group == table->second.end() ? bigtable::LocalityGroupStatistics() : group->second;
}

double TabletsOf(const bigtable::DatabaseStatistics& all) {
  double tablets = 0;
  for (const auto& [name, server] : all.servers) {
    tablets += static_cast<double>(std::count_if(
        server.tablets.begin(), server.tablets.end(),
        [](const bigtable::TabletStatistics& tablet) { return tablet.table == kTable; }));
  }
  return tablets;
}

absl::Status BigtableSubject::Write(uint64_t row) {
  bigtable::RowMutation mutation(format_.KeyOf(row).view());
  mutation.Set(kColumn, values_.Of(row));
  return table_->Apply(mutation);
}

absl::Status BigtableSubject::Delete(uint64_t row) {
  bigtable::RowMutation mutation(format_.KeyOf(row).view());
  mutation.DeleteRow();
  return table_->Apply(mutation);
}

absl::Status BigtableSubject::Read(uint64_t row) {
  const RowKey key = format_.KeyOf(row);
  absl::StatusOr<bigtable::Row> found = table_->ReadRow(key.view());
  if (!found.ok()) return found.status();
  if (found->cells().size() != 1 || found->cells().front().value != values_.Of(row)) {
    return absl::DataLossError(
        Concat("row ", key.view(), " has ", found->cells().size(), " cells, or another value"));
  }
  return absl::OkStatus();
}

absl::Status BigtableSubject::ReadMissing(uint64_t row) {
  const RowKey key = format_.MissingKeyOf(row);
  absl::StatusOr<bigtable::Row> found = table_->ReadRow(key.view());
  if (!found.ok()) return found.status();
  if (!found->empty()) {
    return absl::DataLossError(Concat("row ", key.view(), " was never written, but exists"));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BigtableSubject::Scan(uint64_t first, uint64_t rows) {
  bigtable::ReadOptions options;
  options.row_limit = static_cast<int64_t>(rows);
  bigtable::RowReader reader =
      table_->ReadRows(bigtable::RowRange::StartingAt(format_.KeyOf(first).view()), options);
  uint64_t seen = 0;
  for (; reader.Next(); ++seen) Touch(reader.row().cells().front().value);
  if (!reader.status().ok()) return reader.status();
  return seen;
}

absl::Status BigtableSubject::Settle() {
  if (absl::Status s = database_->Flush(kTable); !s.ok()) return s;
  return database_->WaitUntilQuiet();
}

absl::StatusOr<SubjectFigures> BigtableSubject::Figures() const {
  const bigtable::DatabaseStatistics all = database_->Statistics();
  const bigtable::LocalityGroupStatistics group = GroupStatistics(all);
  const auto number = [](uint64_t n) { return static_cast<double>(n); };
  return SubjectFigures{.stall_seconds = absl::ToDoubleSeconds(all.total_write_delay),
                        .log_bytes = number(all.log_bytes_written),
                        .flush_bytes = number(all.minor_compaction_bytes_written),
                        .merge_read_bytes = number(all.merging_compaction_bytes_read),
                        .merge_bytes = number(all.merging_compaction_bytes_written),
                        .moved_bytes = number(all.compaction_bytes_moved),
                        .dropped_bytes = number(all.compaction_bytes_dropped),
                        .tablets = TabletsOf(all),
                        .file_bytes = number(group.file_bytes),
                        .entries = number(group.entries),
                        .sorted_runs = number(group.sorted_runs),
                        .files = number(group.files),
                        .memtables = number(group.memtables)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Subject>> OpenBigtableSubject(const SubjectOptions& options) {
  return BigtableSubject::Open(options);
}

}  // namespace bench
