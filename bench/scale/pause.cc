#include "pause.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/bigtable.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"
#include "pacer.h"
#include "paper/bigtable_engine.h"

namespace bench {
namespace {

using Clock = Pacer::Clock;

constexpr std::string_view kTable = "pause";
constexpr std::string_view kColumn = "f:q";
constexpr uint64_t kReadSeed = 5;
constexpr uint64_t kWriteSeed = 6;

// The first row of tablet `i` of the initial tablets.
uint64_t FirstRowOf(uint64_t tablet, uint64_t rows) { return rows * tablet / kPauseTablets; }

// The rows at which the tablets are split, in order: each tablet in the middle, then each child,
// and so on, and consecutive splits are far apart. This is the order of numbers with their bits
// reversed.
uint64_t SplitRow(uint64_t split, uint64_t rows) {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  for (uint64_t bits = kPauseTablets + split; bits != 0; bits >>= 1) {
    numerator = 2 * numerator + (bits & 1);
    denominator *= 2;
  }
  return rows * numerator / denominator;
}

class PauseRun {
 public:
  explicit PauseRun(const PauseOptions& options)
      : options_(options),
        read_latencies_(1, Operations()),
        write_latencies_(1, Operations()),
        change_latencies_(1, Changes()) {}

  absl::StatusOr<PauseFigures> Run() {
    if (absl::Status s = Load(); !s.ok()) return s;
    if (absl::Status s = ComeToRest(); !s.ok()) return s;
    if (absl::Status s = Measure(); !s.ok()) return s;
    if (absl::Status s = Check(); !s.ok()) return s;
    if (absl::Status s = database_->Close(); !s.ok()) return s;
    return Figures();
  }

 private:
  uint64_t Operations() const { return static_cast<uint64_t>(options_.time / kPausePeriod); }
  uint64_t Changes() const { return static_cast<uint64_t>(options_.time / kChangeInterval); }

  absl::Status Load() {
    bigtable::DatabaseOptions database_options;
    database_options.memory_budget = options_.memory_limit;
    database_options.tablet_servers = kPauseServers;
    auto database = bigtable::Database::Open(options_.directory, database_options);
    if (!database.ok()) return database.status();
    database_ = *std::move(database);

    bigtable::TableSchema schema;
    schema.locality_groups["default"] = PaperGroup(false);
    schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
    schema.split.tablet_size = 0;
    absl::Status s = database_->CreateTable(
        kTable, schema, {.split_rows = EvenSplitRows(options_.rows, kPauseTablets)});
    if (!s.ok()) return s;
    absl::StatusOr<bigtable::Table*> table = database_->OpenTable(kTable);
    if (!table.ok()) return table.status();
    table_ = *table;
    for (uint64_t row = 0; row < options_.rows; ++row) {
      if (s = Write(row); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // Waits until everything is in SSTables and on disk, nothing is due, and every block was
  // verified.
  absl::Status ComeToRest() {
    if (absl::Status s = database_->Flush(kTable); !s.ok()) return s;
    if (absl::Status s = database_->WaitUntilQuiet(); !s.ok()) return s;
    if (absl::Status s = SyncFileSystem(options_.directory); !s.ok()) return s;
    for (uint64_t row = 0; row < options_.rows; ++row) {
      if (absl::Status s = Read(row); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status Measure() {
    const Clock::time_point start = Clock::now();
    absl::Status read;
    absl::Status written;
    std::thread reader([&] {
      read = Serve(start, kReadSeed, read_latencies_, [&](uint64_t row) { return Read(row); });
    });
    std::thread writer([&] {
      written =
          Serve(start, kWriteSeed, write_latencies_, [&](uint64_t row) { return Write(row); });
    });
    absl::Status changed = ChangeTablets(start);
    reader.join();
    writer.join();
    for (const absl::Status& s : {read, written, changed}) {
      if (!s.ok()) return s;
    }
    return absl::OkStatus();
  }

  template <typename Operation>
  absl::Status Serve(Clock::time_point start, uint64_t seed, Latencies& latencies,
                     Operation&& operation) {
    Random random(seed);
    Pacer pacer(start, absl::ToChronoNanoseconds(kPausePeriod));
    for (uint64_t i = 0; i < Operations(); ++i) {
      const uint64_t row = random.Below(options_.rows);
      const Clock::time_point begin = pacer.Wait();
      if (absl::Status s = operation(row); !s.ok()) return s;
      latencies.Record(Clock::now() - begin);
    }
    return absl::OkStatus();
  }

  absl::Status ChangeTablets(Clock::time_point start) {
    if (options_.change == Change::kNone) return absl::OkStatus();
    const Clock::time_point end = start + absl::ToChronoNanoseconds(options_.time);
    Pacer pacer(start, absl::ToChronoNanoseconds(kChangeInterval));
    // Fewer than are due, if one takes longer than the interval.
    while (pacer.due() < end && Clock::now() < end) {
      pacer.Wait();
      absl::Status s = change_latencies_.Time([&] { return ChangeOne(); });
      if (!s.ok()) return s;
      ++changes_;
    }
    return absl::OkStatus();
  }

  absl::Status ChangeOne() {
    if (options_.change == Change::kSplits) {
      return database_->SplitTablet(kTable, Key(SplitRow(changes_, options_.rows)).view());
    }
    const uint64_t tablet = changes_ % kPauseTablets;
    return database_->MoveTablet(kTable, Key(FirstRowOf(tablet, options_.rows)).view(),
                                 ServerAfterNextMove(tablet));
  }

  // Tablet i is at first on server i modulo the number of servers, and moves to the next one each
  // time.
  int ServerAfterNextMove(uint64_t tablet) const {
    const uint64_t moves = changes_ / kPauseTablets + 1;
    return static_cast<int>((tablet + moves) % kPauseServers);
  }

  // Checks that every row exists once, and that the tablets are the expected ones.
  absl::Status Check() {
    bigtable::RowReader reader = table_->ReadRows(bigtable::RowRange::All());
    uint64_t rows = 0;
    while (reader.Next()) ++rows;
    if (!reader.status().ok()) return reader.status();
    if (rows != options_.rows) {
      return absl::DataLossError(Concat("a scan saw ", rows, " of ", options_.rows, " rows"));
    }
    absl::StatusOr<std::vector<bigtable::TabletInfo>> tablets = database_->ListTablets(kTable);
    if (!tablets.ok()) return tablets.status();
    const uint64_t due = kPauseTablets + (options_.change == Change::kSplits ? changes_ : 0);
    if (tablets->size() != due) {
      return absl::InternalError(
          Concat("there are ", tablets->size(), " tablets instead of ", due));
    }
    return absl::OkStatus();
  }

  PauseFigures Figures() {
    PauseFigures figures = {
        .read_p50_us = read_latencies_.Percentile(0.5),
        .read_p99_us = read_latencies_.Percentile(0.99),
        .read_p999_us = read_latencies_.Percentile(0.999),
        .read_longest_us = read_latencies_.Percentile(1),
        .write_p50_us = write_latencies_.Percentile(0.5),
        .write_p99_us = write_latencies_.Percentile(0.99),
        .write_p999_us = write_latencies_.Percentile(0.999),
        .write_longest_us = write_latencies_.Percentile(1),
    };
    if (options_.change == Change::kNone) return figures;
    figures.changes = static_cast<double>(changes_);
    figures.change_p50_us = change_latencies_.Percentile(0.5);
    figures.change_longest_us = change_latencies_.Percentile(1);
    return figures;
  }

  absl::Status Write(uint64_t row) {
    const Key key(row);
    bigtable::RowMutation mutation(key.view());
    mutation.Set(kColumn, values_.Of(row));
    return table_->Apply(mutation);
  }

  absl::Status Read(uint64_t row) {
    const Key key(row);
    absl::StatusOr<bigtable::Row> found = table_->ReadRow(key.view());
    if (!found.ok()) return found.status();
    if (found->cells().size() != 1 || found->cells().front().value.size() != kValueSize) {
      return absl::DataLossError(
          Concat("row ", key.view(), " differs from the row that was written"));
    }
    Touch(found->cells().front().value);
    return absl::OkStatus();
  }

  const PauseOptions& options_;
  const Values values_;
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;  // the database's
  Latencies read_latencies_;
  Latencies write_latencies_;
  Latencies change_latencies_;
  uint64_t changes_ = 0;
};

}  // namespace

std::string_view ChangeName(Change change) {
  switch (change) {
    case Change::kNone:
      return "none";
    case Change::kSplits:
      return "splits";
    case Change::kMoves:
      return "moves";
  }
  return "";
}

std::optional<Change> ChangeNamed(std::string_view name) {
  for (const Change change : kAllChanges) {
    if (name == ChangeName(change)) return change;
  }
  return std::nullopt;
}

absl::StatusOr<PauseFigures> MeasurePause(const PauseOptions& options) {
  return PauseRun(options).Run();
}

}  // namespace bench
