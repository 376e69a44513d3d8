// Any operation may run when a call of the file system fails, and any call may fail: once, or from
// then on, with none, half or all of it done. During the fault every result is right or a clean
// error. After it, Resume continues; or the process or the machine dies, and the reopened database
// has all acknowledged writes, and none in part.
//
// A failure prints its seed and the steps. Which call fails depends on the seed and on background
// threads, so it may take several attempts to reproduce it:
//
//   BIGTABLE_TEST_SEED=7 bigtable_model_test --gtest_filter='RandomFaultTest.*'
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/faulted_database.h"
#include "model/model_cursors.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/random.h"
#include "support/scoped_merge_part.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/wait_for_rows.h"
#include "support/watchdog.h"

namespace bigtable {
namespace {

class FaultRun : public FaultedDatabase {
 public:
  using FaultedDatabase::FaultedDatabase;

  // False if something was wrong.
  bool Step() {
    Tally("operations");
    const uint64_t kind = random_.Below(100);
    if (kind < 40) {
      Write(1);
    } else if (kind < 48) {
      Write(static_cast<size_t>(random_.Between(2, 8)));
    } else if (kind < 56) {
      random_.OneIn(3) ? GetRows() : ReadRow();
    } else if (kind < 60) {
      ReadAll();
    } else if (kind < 76) {
      Upkeep();
    } else if (kind < 82) {
      ChangeFamily();
    } else if (kind < 91) {
      is_faulty_&& random_.OneIn(3) ? EndFaults() : BeginFault();
    } else if (kind < 93) {
      Resume();
    } else if (kind < 96) {
      Reopen();
    } else {
      Crash();
    }
    return failure().empty();
  }
  // The checks at the end of a run.
  void Finish() {
    if (failure().empty()) EndFaults();
    if (failure().empty()) Crash();
    if (failure().empty()) Reopen();
  }

 private:
  void EndFaults() {
    Log("Faults end");
    ClearFaults();
    if (random_.OneIn(3)) return Crash();
    Resume();
    if (!failure().empty()) return;
    Check(database_->Flush(kTable), "Flush after the faults");
    Check(database_->Compact(kTable), "Compact after the faults");
    // Work that began before the faults ended may fail after Resume, and is then retried.
    absl::Status quiet = database_->WaitUntilQuiet();
    for (int tries = 0; tries < 100 && !quiet.ok(); ++tries) {
      absl::SleepFor(absl::Milliseconds(10));
      quiet = database_->WaitUntilQuiet();
    }
    Check(quiet, "WaitUntilQuiet after the faults");
    const DatabaseStatistics statistics = database_->Statistics();
    Check(statistics.background_error, "background_error after the faults");
    if (!statistics.failing_work.empty()) {
      Check(statistics.failing_work[0].status, "failing_work after the faults");
    }
    if (!statistics.quarantined_files.empty()) {
      Check(statistics.quarantined_files[0].status, "quarantined_files after the faults");
    }
    if (!failure().empty()) return;
    rows_.MakeDurable();
    ReadAll();
  }
  void Resume() {
    Log("Resume");
    has_deadline_ = false;
    if (!IsClean(database_->Resume(), "Resume")) return;
    rows_.ForgetDoubts();
    if (!is_faulty_) is_hurt_ = false;
  }

  // --- Writing ---

  std::string RowName() { return Cat("row", random_.Below(12)); }
  ModelMutation MakeMutation() {
    using Kind = ModelOperation::Kind;
    ModelMutation mutation{RowName(), {}};
    ++timestamp_;
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      ModelOperation op;
      op.family = random_.OneIn(2) ? "a" : rows_.HasFamily() && random_.OneIn(2) ? kPassing : "b";
      op.qualifier = Cat("q", random_.Below(2));
      op.timestamp = timestamp_;
      if (random_.OneIn(12)) {
        static const std::vector<Kind> kDeletions = {Kind::kDeleteColumn, Kind::kDeleteFamily,
                                                     Kind::kDeleteRow};
        op.kind = random_.Pick(kDeletions);
      } else {
        const uint64_t size = random_.OneIn(8) ? 6000 : random_.OneIn(3) ? 600 : 20;
        op.value = Cat(timestamp_, ".", i, ":") + random_.Bytes(random_.Below(size));
      }
      mutation.operations.push_back(std::move(op));
    }
    return mutation;
  }
  void Write(size_t count) {
    std::vector<ModelMutation> models;
    std::vector<RowMutation> mutations;
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      ModelMutation model = MakeMutation();
      if (rows_.IsDoubtful(model.row)) continue;
      absl::StrAppend(&text, " ", model.row);
      for (const ModelOperation& op : model.operations) {
        static constexpr const char* kKinds[] = {"", "-column ", "-cell ", "-family ", "-row "};
        absl::StrAppend(&text, " ", kKinds[static_cast<size_t>(op.kind)], op.family, ":",
                        op.qualifier, "@", timestamp_);
      }
      mutations.push_back(model.Make());
      models.push_back(std::move(model));
    }
    if (models.empty()) return;
    WriteOptions options = WithDeadline<WriteOptions>();
    if (random_.OneIn(3)) options.durability = Durability::kSync;
    Log(Cat("Write", options.durability.has_value() ? " and sync" : "", text));
    const std::vector<absl::Status> statuses =
        count == 1 ? std::vector{table_->Apply(mutations[0], options)}
                   : table_->ApplyBatch(mutations, options);
    const bool log_failed = !database_->Statistics().background_error.ok();
    for (size_t i = 0; i < models.size(); ++i) {
      if (IsClean(statuses[i], "Write")) {
        rows_.Acknowledge(models[i], options.durability.has_value());
      } else if (log_failed && !absl::IsDeadlineExceeded(statuses[i])) {
        rows_.Doubt(models[i]);
      }
    }
  }
  void ChangeFamily() {
    Log(rows_.HasFamily() ? "DropFamily" : "AddFamily");
    has_deadline_ = false;
    const absl::Status status =
        rows_.HasFamily() ? database_->DropFamily(kTable, kPassing)
                          : database_->AddFamily(kTable, kPassing, schema_.families.at(kPassing));
    if (IsClean(status, "the change of the family")) {
      rows_.ChangeFamily();
    } else if (!database_->Statistics().background_error.ok()) {
      rows_.DoubtFamily();
    }
  }
  // Changes that no read sees.
  void Upkeep() {
    const std::string row = RowName();
    const auto call = WithDeadline<CallOptions>();
    absl::Status status;
    switch (random_.Below(8)) {
      case 0:
      case 1:
        Log("Flush");
        status = database_->Flush(kTable, call);
        if (status.ok()) rows_.MakeDurable();
        break;
      case 2:
        Log("Compact");
        status = database_->Compact(kTable, call);
        break;
      case 3:
        Log(Cat("Split at ", row));
        status = database_->SplitTablet(kTable, row, call);
        if (absl::IsAlreadyExists(status)) return;
        break;
      case 4:
        Log(Cat("Merge at ", row));
        status = database_->MergeTablets(kTable, row, call);
        if (absl::IsNotFound(status)) return;
        break;
      case 5: {
        const int server = static_cast<int>(random_.Below(static_cast<uint64_t>(servers_)));
        Log(Cat("Move ", row, " to ", server));
        status = database_->MoveTablet(kTable, row, server, call);
        break;
      }
      case 6:
        Log("SetLocalityGroup");
        has_deadline_ = false;
        status = database_->SetLocalityGroup(kTable, "second", RandomLocalityGroup(random_));
        break;
      default:
        Log("WaitUntilQuiet");
        status = database_->WaitUntilQuiet(call);
        break;
    }
    IsClean(status, "upkeep");
  }

  // --- Reading ---

  void ReadRow() {
    const std::string name = RowName();
    Log(Cat("Read ", name));
    const absl::StatusOr<Row> row = table_->ReadRow(name, {}, WithDeadline<ReadOptions>());
    if (!IsClean(row.status(), "ReadRow")) return;
    const std::string wrong = Difference({name, rows_.Read(name)}, ToModel(*row));
    if (!wrong.empty()) Fail(Cat("ReadRow", wrong));
  }
  void GetRows() {
    std::vector<std::string> names;
    for (uint64_t n = random_.Below(6); n > 0; --n) names.push_back(RowName());
    Log(Cat("Get ", names.size(), " rows"));
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const bool is_async = random_.OneIn(2);
    const auto options = WithDeadline<ReadOptions>();
    const std::vector<absl::StatusOr<Row>> rows =
        is_async ? WaitForRows(table_, names, {}, options) : table_->GetRows(keys, {}, options);
    if (rows.size() != names.size()) return Fail(Cat("GetRows: ", rows.size(), " results"));
    for (size_t i = 0; i < names.size(); ++i) {
      if (!IsClean(rows[i].status(), "GetRows")) continue;
      const std::string wrong = Difference({names[i], rows_.Read(names[i])}, ToModel(*rows[i]));
      if (!wrong.empty()) return Fail(Cat("GetRows", wrong));
    }
  }
  void ReadAll() {
    auto options = WithDeadline<ReadOptions>();
    options.reverse = random_.OneIn(3);
    Log(Cat("Read all", options.reverse ? " in reverse" : ""));
    std::vector<ModelRow> expected;
    for (auto& [row, cells] : rows_.ReadAll()) expected.push_back({row, cells});
    if (options.reverse) std::reverse(expected.begin(), expected.end());
    RowReader reader = table_->ReadRows(RowRange::All(), options);
    size_t n = 0;
    for (; reader.Next(); ++n) {
      if (n == expected.size()) return Fail(Cat("one row too many: ", reader.row().key()));
      const std::string wrong = Difference(expected[n], ToModel(reader.row()));
      if (!wrong.empty()) return Fail(Cat("ReadRows", wrong));
    }
    if (!IsClean(reader.status(), "ReadRows")) return;
    if (n < expected.size()) Fail(Cat("ReadRows lacks ", Describe(expected[n])));
  }

  int64_t timestamp_ = 0;
};

TEST(RandomFaultTest, NoAcknowledgedWriteIsLostAndNoWriteIsThereInPart) {
  Watchdog watchdog;
  const ScopedMergePart parts(1);
  ForEachSeed(kSlow ? 8 : 40, [&watchdog](uint64_t seed) {
    FaultRun run(seed, &watchdog);
    bool ok = run.failure().empty();
    for (int i = 0; ok && i < 150; ++i) ok = run.Step();
    if (ok) run.Finish();
    if (run.failure().empty()) return;
    ADD_FAILURE() << "Seed " << seed << ":\n"
                  << absl::StrJoin(run.script(), "\n") << "\n"
                  << run.failure();
  });
}

}  // namespace
}  // namespace bigtable
