// Damage to any file of a database: flipped bytes, a cut end, a removed file, or two swapped files.
// Every read after it, in any way, is right, or an error that names the file. Only the end of a log
// may be missing, after the last position that is known to be synced: then a prefix is there.
//
// A failure prints its seed and the damage. To reproduce it:
//
//   BIGTABLE_TEST_SEED=7 bigtable_model_test --gtest_filter='RandomFlipTest.*'
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "model/damage.h"
#include "model/damaged_database.h"
#include "model/model_cursors.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/watchdog.h"

namespace bigtable {
namespace {

class FlipRun {
 public:
  FlipRun(DamagedDatabase* truth, uint64_t seed) : truth_(truth), random_(seed) {}

  // Empty if the run was right.
  std::string Run() {
    disk_ = truth_->disk().CrashClone(1, Unsynced::kEverything);
    damage_ = HurtSomeFile(random_, disk_.get());
    if (!damage_.paths.empty()) Look();
    return failure_.empty() ? "" : Cat(damage_.text, "\n", failure_);
  }

 private:
  // --- Outcomes ---

  void Fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  // OK, or an error that names the damaged file.
  bool Passes(const absl::Status& status, std::string_view way) {
    if (status.ok()) return true;
    const std::string text(status.message());
    const bool is_named =
        std::any_of(damage_.paths.begin(), damage_.paths.end(), [&](const std::string& path) {
          return absl::StrContains(text, path.substr(path.rfind('/') + 1)) ||
                 (absl::StrContains(path, "/log/") && absl::StrContains(text, FolderOf(path)));
        });
    // If the end of METADATA's log is lost, the error names a file that METADATA no longer names.
    const bool is_without_end = absl::IsDataLoss(status) && (damage_.Touches("/log/metadata-") ||
                                                             damage_.Touches("/log/root-"));
    if (!is_named && !is_without_end) {
      Fail(Cat(way, ", an error that does not name the file: ", status.ToString()));
    }
    return false;
  }

  // --- Reads ---

  void Look() {
    const absl::Status opened = Open();
    if (!Passes(opened, "Open")) return;
    expected_ = truth_->all();
    ChooseExpected();
    for (const auto& [table, schema] : truth_->schemas()) LookAt(table, schema);
    if (failure_.empty() && random_.OneIn(4)) {
      // Damage must not be repaired by rewriting the data.
      for (const auto& [table, schema] : truth_->schemas()) {
        Passes(database_->Compact(table), "Compact");
      }
      for (const auto& [table, schema] : truth_->schemas()) LookAt(table, schema);
      if (!Passes(database_->Close(), "Close")) return;
      database_.reset();
      if (!Passes(Open(), "Open again")) return;
      for (const auto& [table, schema] : truth_->schemas()) LookAt(table, schema);
    }
    database_.reset();
  }
  absl::Status Open() {
    absl::StatusOr<std::unique_ptr<Database>> database =
        Database::Open("/db", truth_->Options(disk_.get()));
    if (database.ok()) database_ = *std::move(database);
    return database.status();
  }
  // The expected rows may lack the end of a log, as far as it was damaged.
  void ChooseExpected() {
    if (!damage_.Touches("/log/")) return;
    DamagedDatabase::Tables found;
    for (const auto& [name, schema] : truth_->schemas()) {
      const absl::StatusOr<Table*> table = database_->OpenTable(name);
      if (!table.ok()) return;
      RowReader reader = (*table)->ReadRows(RowRange::All());
      DamagedDatabase::Rows& rows = found[name];
      while (reader.Next()) rows[std::string(reader.row().key())] = ToModel(reader.row()).cells;
      if (!reader.status().ok()) return;
    }
    const size_t damaged = damage_.flipped > 0 ? damage_.flipped : SIZE_MAX;
    if (found != expected_ && truth_->IsPrefix(found, damaged)) expected_ = std::move(found);
  }
  void LookAt(const std::string& name, const TableSchema& schema) {
    if (!failure_.empty()) return;
    // Removing a schema file is how a table is deleted.
    const bool may_be_gone =
        damage_.Touches(Cat("/schema/", name)) && absl::StrContains(damage_.text, "is removed");
    const absl::StatusOr<TableSchema> read = database_->GetSchema(name);
    if (may_be_gone && absl::IsNotFound(read.status())) return;
    if (!Passes(read.status(), "GetSchema")) return;
    if (*read != schema) return Fail(Cat("GetSchema of ", name, " is different"));
    const absl::StatusOr<Table*> table = database_->OpenTable(name);
    if (!Passes(table.status(), "OpenTable")) return;
    for (const bool verify : {false, true}) {
      ReadOptions options;
      options.verify_checksums = verify;
      Rows(*table, {}, options);
      options.reverse = true;
      Rows(*table, {}, options);
      options.reverse = false;
      RowByRow(*table, options);
      Cells(*table, schema, options);
    }
    using Kind = ModelFilter::Kind;
    Rows(*table, {.kind = Kind::kLatest, .n = 1}, {});
    Rows(*table, {.kind = Kind::kTimestampRange, .from_micros = 50, .to_micros = 150}, {});
    Rows(*table, {.kind = Kind::kColumn, .family = "g", .begin = "q1"}, {});
    ReadAsCallers(name, schema);
  }
  std::vector<ModelRow> Expected(const std::string& table, const ModelFilter& filter) const {
    std::vector<ModelRow> expected;
    for (const auto& [row, cells] : expected_.at(table)) {
      ModelRow passed{row, filter.Apply(row, cells)};
      if (!passed.cells.empty()) expected.push_back(std::move(passed));
    }
    return expected;
  }
  void Rows(Table* table, const ModelFilter& filter, const ReadOptions& options) {
    const std::string way = Cat("ReadRows of ", table->name(), " with ", filter.DebugString(),
                                options.reverse ? " in reverse" : "");
    std::vector<ModelRow> expected = Expected(table->name(), filter);
    if (options.reverse) std::reverse(expected.begin(), expected.end());
    RowReader reader = table->ReadRows(RowRange::All(), filter.Make(), options);
    size_t n = 0;
    for (; reader.Next(); ++n) {
      if (n == expected.size()) return Fail(Cat(way, ": a row too many, ", reader.row().key()));
      const std::string wrong = Difference(expected[n], ToModel(reader.row()));
      if (!wrong.empty()) return Fail(Cat(way, wrong));
    }
    if (!Passes(reader.status(), way)) return;
    if (n < expected.size()) Fail(Cat(way, " lacks ", Describe(expected[n])));
  }
  void RowByRow(Table* table, const ReadOptions& options) {
    const DamagedDatabase::Rows& rows = expected_.at(table->name());
    for (uint64_t i = 0; i <= DamagedDatabase::kRows; ++i) {  // and one missing row
      const std::string key = DamagedDatabase::RowName(i);
      const absl::StatusOr<Row> row = table->ReadRow(key, {}, options);
      const std::string way = Cat("ReadRow of ", table->name(), " ", key);
      if (!Passes(row.status(), way)) continue;
      const auto at = rows.find(key);
      const ModelRow expected{key, at == rows.end() ? std::vector<ModelCell>() : at->second};
      const std::string wrong = Difference(expected, ToModel(*row));
      if (!wrong.empty()) return Fail(Cat(way, wrong));
    }
  }
  void Cells(Table* table, const TableSchema& schema, const ReadOptions& options) {
    for (const auto& [family, settings] : schema.families) {
      const std::string way = Cat("Scanner of ", table->name(), ", family ", family);
      std::vector<std::string> expected;
      for (const auto& [row, cells] : expected_.at(table->name())) {
        for (const ModelCell& cell : cells) {
          if (cell.family == family) expected.push_back(Cat(row, " ", Describe(cell)));
        }
      }
      Scanner scanner(table, options);
      ScanStream* const stream = scanner.FetchColumnFamily(family);
      stream->SetReturnAllVersions();
      size_t n = 0;
      for (; !stream->Done(); stream->Next(), ++n) {
        const ModelCell cell{family, std::string(stream->Qualifier()), stream->MicroTimestamp(),
                             std::string(stream->Value())};
        const std::string got = Cat(stream->RowName(), " ", Describe(cell));
        if (n == expected.size() || got != expected[n]) {
          return Fail(Cat(way, " returns ", got, " in place of ",
                          n == expected.size() ? "nothing" : expected[n]));
        }
      }
      if (!Passes(scanner.status(), way)) continue;
      if (n < expected.size()) return Fail(Cat(way, " lacks ", expected[n]));
    }
  }
  // No caller may read data that the list does not allow.
  void ReadAsCallers(const std::string& name, const TableSchema& schema) {
    if (!schema.families.contains("h")) return;
    for (const char* const caller : {"reader", "writer"}) {
      const absl::StatusOr<Table*> table = database_->OpenTable(name, {.caller = caller});
      if (!Passes(table.status(), "OpenTable")) continue;
      const absl::Status status =
          (*table)->ReadRow(DamagedDatabase::RowName(0), Filter::Family("h")).status();
      const bool is_refused = absl::IsPermissionDenied(status);
      if (is_refused && std::string_view(caller) == "writer") continue;
      if (status.ok() && std::string_view(caller) == "writer") Fail("the writer may read");
      Passes(status, Cat("a read by the ", caller));
    }
  }

  DamagedDatabase* const truth_;
  Random random_;
  std::unique_ptr<InMemoryFileSystem> disk_;
  std::unique_ptr<Database> database_;
  Damage damage_;
  DamagedDatabase::Tables expected_;
  std::string failure_;
};

TEST(RandomFlipTest, DamageIsNoticedOrHarmless) {
  Watchdog watchdog;
  ForEachSeed(kSlow ? 3 : 20, [&watchdog](uint64_t seed) {
    watchdog.Step(Cat("making the database of seed ", seed));
    DamagedDatabase truth(seed);
    if (testing::Test::HasFailure()) return;
    Random random(seed);
    for (int i = 0; i < 40; ++i) {
      FlipRun run(&truth, random.Next());
      watchdog.Step(Cat("damage ", i, " of seed ", seed));
      const std::string wrong = run.Run();
      Tally("cases");
      if (!wrong.empty()) {
        ADD_FAILURE() << "Seed " << seed << ", damage " << i << ": " << wrong;
        return;
      }
    }
  });
}

}  // namespace
}  // namespace bigtable
