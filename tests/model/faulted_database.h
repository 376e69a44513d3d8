// A database on a file system whose calls fail at random, with the rows that it must have
// (uncertain_rows.h). Opens it, makes calls fail, lets it continue or crash, and checks that each
// result is right or a clean error. Subclasses do the operations in between.
//
// One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_FAULTED_DATABASE_H_
#define BIGTABLE_TESTS_CLIENT_FAULTED_DATABASE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_schemas.h"
#include "model/uncertain_rows.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/tally.h"
#include "support/watchdog.h"

namespace bigtable {

class FaultedDatabase {
 public:
  FaultedDatabase(uint64_t seed, Watchdog* watchdog)
      : random_(seed), schema_(MakeSchema(random_)), rows_(schema_, kPassing), watchdog_(watchdog) {
    loses_power_ = random_.OneIn(2);
    faulty_options_.hide_log_mappings = random_.OneIn(2);
    faulty_options_.hide_file_mappings = random_.OneIn(2);
    faulty_ = std::make_unique<FaultyFileSystem>(memory_.get(), faulty_options_);
    if (!Check(Open(), "Open")) return;
    if (!Check(database_->CreateTable(kTable, schema_), "CreateTable")) return;
    Check(FindTable(), "OpenTable");
  }
  ~FaultedDatabase() {
    faulty_->ClearFaults();
    database_.reset();  // before the file systems
    Tally("faults", faults_ + faulty_->faults());
  }
  FaultedDatabase(const FaultedDatabase&) = delete;
  FaultedDatabase& operator=(const FaultedDatabase&) = delete;

  const std::string& failure() const { return failure_; }
  // The steps that were done, one on each line, with their errors.
  const std::vector<std::string>& script() const { return script_; }

 protected:
  static constexpr const char* kTable = "t";
  static constexpr const char* kPassing = "c";  // the family that is dropped and added
  static constexpr const char* kFault = "a fault of the test";

  static TableSchema MakeSchema(Random& random) {
    TableSchema schema;
    schema.split.tablet_size = random.OneIn(2) ? 0 : 64 << 10;
    for (const char* const group : {"default", "second"}) {
      schema.locality_groups[group] = RandomLocalityGroup(random);
    }
    schema.families["a"] = {};
    schema.families["b"] = {.locality_group = "second", .gc = GcRule::MaxVersions(2)};
    schema.families[kPassing] = {.locality_group = "second"};
    return schema;
  }

  // --- Outcomes ---

  void Log(std::string line) {
    watchdog_->Step(Cat(absl::StrJoin(script_, "\n"), "\n", line));
    script_.push_back(std::move(line));
  }
  void Fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok()) Fail(Cat(what, ": ", status.ToString()));
    return status.ok();
  }
  // Whether a call may return this status: the error of the fault, for any operation, or an
  // exceeded deadline.
  bool IsClean(const absl::Status& status, std::string_view what) {
    if (status.ok()) return true;
    script_.back() += Cat(" - ", status.ToString());
    if (!is_faulty_ && !is_hurt_) {
      Fail(Cat(what, ", without a fault: ", status.ToString()));
    } else if (absl::IsDeadlineExceeded(status) ? !has_deadline_
                                                : !absl::StrContains(status.message(), kFault)) {
      Fail(Cat(what, ", an error that does not name the cause: ", status.ToString()));
    }
    return false;
  }
  template <typename Options>
  Options WithDeadline(Options options = {}) {
    has_deadline_ = is_faulty_;
    if (has_deadline_) options.deadline = absl::Now() + absl::Milliseconds(200);
    return options;
  }

  // --- Faults ---

  void BeginFault() {
    using Kinds = std::vector<FileCall>;
    static const std::vector<Kinds> kKinds = {
        {},
        {},
        {FileCall::kLogWrite, FileCall::kLogSync},
        {FileCall::kNewLogFile},
        {FileCall::kAppend, FileCall::kSync, FileCall::kClose},
        {FileCall::kRead, FileCall::kPopulate},
        {FileCall::kNewWritableFile, FileCall::kNewRandomAccessFile},
        {FileCall::kReadFile, FileCall::kFileSize, FileCall::kListDirectory},
        {FileCall::kRenameFile, FileCall::kRemoveFile, FileCall::kSyncDirectory},
    };
    static const std::vector<std::string> kPaths = {"",     "",        "",          "/log/",
                                                    ".sst", "/schema", "/lockserv", "/metadata"};
    using Done = FaultyFileSystem::Done;
    using Repeat = FaultyFileSystem::Repeat;
    const FileCallFilter filter = {random_.Pick(kKinds), random_.Pick(kPaths)};
    const uint64_t call = uint64_t{1} << random_.Below(7);
    const uint64_t n = call / 2 + random_.Below(call) / 2 + 1;
    const bool once = random_.OneIn(2);
    const auto done = static_cast<Done>(random_.Below(3));
    const bool full = random_.OneIn(2);
    Log(Cat("Call ", n, " fails", once ? "" : " and all that follow", ", ", full ? "ENOSPC" : "EIO",
            ", done ", static_cast<int>(done), ", of ", filter.kinds.size(), " kinds from ",
            filter.kinds.empty() ? 0 : static_cast<int>(filter.kinds[0]), ", path \"",
            filter.path_contains, "\""));
    faults_ += faulty_->faults();
    faulty_->CountCalls(filter);
    const std::string text = Cat(kFault, full ? ": no space" : ": input/output error");
    faulty_->FailCall(n, full ? absl::ResourceExhaustedError(text) : absl::UnavailableError(text),
                      once ? Repeat::kOnce : Repeat::kFromThenOn, done);
    is_faulty_ = is_hurt_ = true;
  }
  void ClearFaults() {
    faulty_->ClearFaults();
    is_faulty_ = false;
  }

  // --- Opening ---

  absl::Status Open() {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 16 << 20;
    options.memtable_size = 64 << 10;
    options.log_segment_size = 64 << 10;
    options.target_file_size = 1 << 20;
    options.tablet_servers = servers_ = static_cast<int>(random_.Between(1, 3));
    options.balance_interval = absl::InfiniteDuration();
    options.scan_cache = random_.OneIn(4);
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    if (opened.ok()) database_ = *std::move(opened);
    return opened.status();
  }
  absl::Status FindTable() {
    const absl::StatusOr<Table*> table = database_->OpenTable(kTable);
    table_ = table.ok() ? *table : nullptr;
    return table.status();
  }
  // Opens with the current faults, and without faults if that fails. Then all data must be there.
  void OpenAgain(UncertainRows::Crash crash) {
    Tally("reopenings");
    has_deadline_ = false;
    table_ = nullptr;
    if (!IsClean(Open(), "Open") || !IsClean(FindTable(), "OpenTable")) {
      if (!failure_.empty()) return;
      Log("Faults end, and it is opened again");
      ClearFaults();
      database_.reset();
      if (!Check(Open(), "Open without faults") || !Check(FindTable(), "OpenTable")) return;
    }
    is_hurt_ = is_faulty_;
    Recover(crash);
  }
  void Recover(UncertainRows::Crash crash) {
    const absl::StatusOr<TableSchema> schema = database_->GetSchema(kTable);
    UncertainRows::Rows found;
    if (IsClean(schema.status(), "GetSchema")) {
      RowReader reader = table_->ReadRows(RowRange::All());
      while (reader.Next()) found[std::string(reader.row().key())] = ToModel(reader.row()).cells;
      if (IsClean(reader.status(), "ReadRows")) {
        const auto wrong = rows_.Recover(crash, schema->families.contains(kPassing), found);
        if (!wrong.has_value()) return;
        return Fail(Cat("After the crash, ", *wrong, " is wrong:\n",
                        Describe(ModelRow{*wrong, found[*wrong]}), "\n  before:\n",
                        Describe(ModelRow{*wrong, rows_.Read(*wrong)})));
      }
    }
    if (!failure_.empty()) return;
    Log("Faults end, and it is read again");
    ClearFaults();
    if (Check(database_->Resume(), "Resume")) Recover(crash);
  }
  void Reopen() {
    Log("Close and open");
    has_deadline_ = false;
    const bool closed = IsClean(database_->Close(), "Close");
    database_.reset();
    if (!failure_.empty()) return;
    if (closed) {
      rows_.MakeDurable();
      rows_.ForgetDoubts();
    }
    OpenAgain(UncertainRows::Crash::kOfProcess);
  }
  void Crash() {
    Log(loses_power_ ? "Power loss" : "Crash");
    if (loses_power_) Tally("power losses");
    std::unique_ptr<InMemoryFileSystem> disk =
        memory_->CrashClone(random_.Next(), !loses_power_      ? Unsynced::kEverything
                                            : random_.OneIn(3) ? Unsynced::kNothing
                                                               : Unsynced::kRandomPart);
    ClearFaults();  // so that the old database ends soon
    database_.reset();
    memory_ = std::move(disk);
    faults_ += faulty_->faults();
    faulty_ = std::make_unique<FaultyFileSystem>(memory_.get(), faulty_options_);
    is_hurt_ = false;
    if (random_.OneIn(3)) BeginFault();
    OpenAgain(loses_power_ ? UncertainRows::Crash::kOfMachine : UncertainRows::Crash::kOfProcess);
  }

  Random random_;
  const TableSchema schema_;
  UncertainRows rows_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  int servers_ = 1;
  bool is_faulty_ = false;     // calls may fail
  bool is_hurt_ = false;       // an earlier fault may still have an effect
  bool has_deadline_ = false;  // the current call has a deadline

 private:
  Watchdog* const watchdog_;
  bool loses_power_ = false;
  FaultyFileSystem::Options faulty_options_;
  std::unique_ptr<InMemoryFileSystem> memory_ = std::make_unique<InMemoryFileSystem>();
  std::unique_ptr<FaultyFileSystem> faulty_;
  uint64_t faults_ = 0;  // counted for earlier openings
  std::vector<std::string> script_;
  std::string failure_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_FAULTED_DATABASE_H_
