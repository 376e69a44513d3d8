#include "trial.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <sys/resource.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "bigtable/bigtable.h"

#include "common/child_process.h"
#include "common/measure.h"
#include "common/page_cache.h"
#include "common/strings.h"
#include "common/workload.h"
#include "memory_cgroup.h"

namespace bench {
namespace {

constexpr std::string_view kTable = "memory";
constexpr std::string_view kColumn = "f:q";
constexpr int64_t kRowsOfShortScan = 100;

bigtable::TableSchema Schema() {
  bigtable::TableSchema schema;
  schema.locality_groups["default"] = {.compression = bigtable::Compression::kNone,
                                       .block_size = 4096,
                                       .filter = bigtable::FilterKind::kRowIndex};
  schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  return schema;
}

// Reads of one kind. One thread.
class Reads {
 public:
  Reads(bigtable::Table* table, std::string_view kind, uint64_t rows)
      : table_(table),
        kind_(kind),
        rows_(rows),
        stream_(table->ReadRows(bigtable::RowRange::All())) {}

  // Runs the next operation; returns the number for which it counts.
  absl::StatusOr<int64_t> Next() {
    if (kind_ == "random_reads") return Row();
    if (kind_ == "short_scans") return ShortScan();
    if (kind_ == "mixed") return ++count_ % 10 == 0 ? ShortScan() : Row();
    return LongScan();
  }

 private:
  absl::StatusOr<int64_t> Row() {
    const Key key(random_.Below(rows_));
    absl::StatusOr<bigtable::Row> row = table_->ReadRow(key.view());
    if (!row.ok()) return row.status();
    if (row->empty()) return absl::NotFoundError(ToAbsl(key.view()));
    Touch(row->cells().front().value);
    return 1;
  }
  absl::StatusOr<int64_t> ShortScan() {
    const Key key(random_.Below(rows_ - kRowsOfShortScan));
    bigtable::RowReader rows = table_->ReadRows(bigtable::RowRange::StartingAt(key.view()),
                                                {.row_limit = kRowsOfShortScan});
    int64_t count = 0;
    for (; rows.Next(); ++count) Touch(rows.row().cells().front().value);
    if (!rows.status().ok()) return rows.status();
    if (count != kRowsOfShortScan) {
      return absl::InternalError(Concat("a short scan had ", count, " rows"));
    }
    return 1;
  }
  // A thousand rows of a long scan.
  absl::StatusOr<int64_t> LongScan() {
    constexpr int64_t kStep = 1000;
    for (int64_t count = 0; count < kStep; ++count) {
      if (!stream_.Next()) {
        if (!stream_.status().ok()) return stream_.status();
        stream_ = table_->ReadRows(bigtable::RowRange::All());
        if (!stream_.Next()) return absl::InternalError("the table is empty");
      }
      Touch(stream_.row().cells().front().value);
    }
    return kStep;
  }

  bigtable::Table* const table_;
  const std::string kind_;
  const uint64_t rows_;
  bigtable::RowReader stream_;
  Random random_{42};
  uint64_t count_ = 0;
};

// CPU in microseconds, and bytes from the disk, used by this process so far.
struct Used {
  double cpu_micros = 0;
  double disk_bytes = 0;
};
Used UsedSoFar() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return {micros(usage.ru_utime) + micros(usage.ru_stime),
          static_cast<double>(usage.ru_inblock) * 512};
}

absl::StatusOr<Figures> Measure(const Trial& trial) {
  if (absl::Status s = MemoryCgroup::Enter(trial.cgroup); !s.ok()) return s;
  bigtable::DatabaseOptions options;
  options.create_if_missing = false;
  options.memory_budget = trial.memory_budget;
  if (trial.way == "mapped") options.read_mode = bigtable::FileSystem::ReadMode::kMapped;
  if (trial.way == "positional") options.read_mode = bigtable::FileSystem::ReadMode::kPositional;
  auto database = bigtable::Database::Open(trial.directory, options);
  if (!database.ok()) return database.status();
  absl::StatusOr<bigtable::Table*> table = (*database)->OpenTable(kTable);
  if (!table.ok()) return table.status();

  Figures figures;
  {
    Reads reads(*table, trial.reads, trial.rows);
    const absl::Time begin = absl::Now();
    absl::Time half = absl::InfiniteFuture();
    Used before;
    int64_t counted = 0;
    for (absl::Time now = begin; now < begin + 2 * trial.time; now = absl::Now()) {
      if (half == absl::InfiniteFuture() && now >= begin + trial.time) {
        half = now;
        before = UsedSoFar();
      }
      // The clock is not read for each operation.
      for (int i = 0; i < 20; ++i) {
        absl::StatusOr<int64_t> count = reads.Next();
        if (!count.ok()) return count.status();
        if (half != absl::InfiniteFuture()) counted += *count;
      }
    }
    const auto count = static_cast<double>(counted);
    const Used after = UsedSoFar();
    figures = {.per_second = count / absl::ToDoubleSeconds(absl::Now() - half),
               .cpu_micros = (after.cpu_micros - before.cpu_micros) / count,
               .disk_kilobytes = (after.disk_bytes - before.disk_bytes) / 1024 / count};
  }
  if (absl::Status s = (*database)->Close(); !s.ok()) return s;
  return figures;
}

}  // namespace

absl::Status MakeTable(const std::string& directory, uint64_t rows) {
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

absl::StatusOr<Figures> RunTrial(const Trial& trial) {
  if (absl::Status s = DropFromPageCache(trial.directory); !s.ok()) return s;
  const std::string description = Concat(trial.reads, ", ", trial.way);
  ChildProcess child(description);
  absl::Status s =
      child.Start({"benchmarks", std::string(kTrialArgument), trial.way, trial.reads,
                   Concat(trial.rows), Concat(trial.memory_budget),
                   Concat(absl::ToInt64Milliseconds(trial.time)), trial.directory, trial.cgroup});
  if (!s.ok()) return s;
  Figures figures;
  s = child.ReadLines([&](std::string_view line) {
    const std::vector<std::string> words = Split(line, ' ');
    return words.size() == 3 && absl::SimpleAtod(words[0], &figures.per_second) &&
                   absl::SimpleAtod(words[1], &figures.cpu_micros) &&
                   absl::SimpleAtod(words[2], &figures.disk_kilobytes)
               ? absl::OkStatus()
               : absl::InternalError(Concat(description, ": not three figures: ", line));
  });
  if (!s.ok()) return s;
  return figures;
}

int TrialMain(const std::vector<std::string>& arguments) {
  DieWithParent();
  Trial trial;
  uint64_t milliseconds = 0;
  if (arguments.size() != 7 || !absl::SimpleAtoi(arguments[2], &trial.rows) ||
      !absl::SimpleAtoi(arguments[3], &trial.memory_budget) ||
      !absl::SimpleAtoi(arguments[4], &milliseconds)) {
    std::cerr << "bench/memory/run: a trial has other arguments\n";
    return EXIT_FAILURE;
  }
  trial.way = arguments[0];
  trial.reads = arguments[1];
  trial.time = absl::Milliseconds(milliseconds);
  trial.directory = arguments[5];
  trial.cgroup = arguments[6];
  const absl::StatusOr<Figures> figures = Measure(trial);
  if (!figures.ok()) {
    std::cerr << "bench/memory/run: " << trial.reads << ", " << trial.way << ": "
              << figures.status() << "\n";
    return EXIT_FAILURE;
  }
  absl::PrintF("%.9g %.9g %.9g\n", figures->per_second, figures->cpu_micros,
               figures->disk_kilobytes);
  return EXIT_SUCCESS;
}

}  // namespace bench
