// Runs the steps of a plan on a fresh database and on the model, and tells the first difference.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "client/model_cursors.h"
#include "client/model_plan.h"
#include "client/model_writers.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/tally.h"
#include "support/temp_directory.h"
#include "support/test_clock.h"

namespace bigtable {

class ModelRun {
 public:
  explicit ModelRun(const ModelPlan& plan) : plan_(plan) {
    Random random(plan.seed);
    if (plan.settings.crashes == ModelSettings::Crashes::kNever) {
      directory_.emplace();
      path_ = directory_->database();
    } else {
      memory_ = std::make_unique<InMemoryFileSystem>();
      path_ = "/db";
    }
    Open(random);
    if (ok()) CreateTable(random, "t0", RandomSchema(random, plan.settings));
    if (ok() && random.OneIn(2)) CreateTable(random, "t1", RandomSchema(random, plan.settings));
  }
  ~ModelRun() {
    Drop();
    Tally("operations", operations_);
    Tally("reads", reads_);
    Tally("reopenings", reopenings_);
  }
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;

  // Does the step; false when something was wrong.
  bool Do(const ModelStep& step) {
    Random random(step.seed);
    ++operations_;
    switch (step.kind) {
      case StepKind::kApply:
        Apply(random);
        break;
      case StepKind::kApplyBatch:
        ApplyBatch(random);
        break;
      case StepKind::kApplyLarge:
        ApplyLarge(random);
        break;
      case StepKind::kApplyInvalid:
        ApplyInvalid(random);
        break;
      case StepKind::kFill:
        Fill(random);
        break;
      case StepKind::kWriteConcurrently:
        WriteConcurrently(random);
        break;
      case StepKind::kReadRow:
        ReadRow(random);
        break;
      case StepKind::kReadRows:
      case StepKind::kOpenReader:
        ReadRows(random, step.kind == StepKind::kOpenReader);
        break;
      case StepKind::kScan:
      case StepKind::kOpenScan:
        Scan(random, step.kind == StepKind::kOpenScan);
        break;
      case StepKind::kAdvanceCursor:
        AdvanceCursor(random);
        break;
      case StepKind::kTakeSnapshot:
        TakeSnapshot();
        break;
      case StepKind::kReleaseSnapshot:
        ReleaseSnapshot(random);
        break;
      case StepKind::kCompareAll:
        CompareAll();
        break;
      case StepKind::kAdvanceClock:
      case StepKind::kJumpBack:
        MoveClock(random, step.kind == StepKind::kJumpBack);
        break;
      case StepKind::kFlush:
      case StepKind::kCompact:
        Rewrite(random, step.kind == StepKind::kCompact);
        break;
      case StepKind::kWaitUntilQuiet:
        Log("WaitUntilQuiet");
        Check(database_->WaitUntilQuiet(), "WaitUntilQuiet");
        Check(database_->Statistics().background_error, "background_error");
        break;
      case StepKind::kPauseOrContinue:
        PauseOrContinue(random);
        break;
      case StepKind::kSplitTablet:
        SplitTablet(random);
        break;
      case StepKind::kMergeTablets:
        MergeTablets(random);
        break;
      case StepKind::kMoveTablet:
        MoveTablet(random);
        break;
      case StepKind::kCreateTable:
        CreateTable(random, RandomTableName(random), RandomSchema(random, plan_.settings));
        break;
      case StepKind::kDeleteTable:
        DeleteTable(RandomTableName(random));
        break;
      case StepKind::kAddFamily:
        AddFamily(random);
        break;
      case StepKind::kDropFamily:
        DropFamily(random);
        break;
      case StepKind::kUpdateFamily:
        UpdateFamily(random);
        break;
      case StepKind::kSetLocalityGroup:
        SetLocalityGroup(random);
        break;
      case StepKind::kSetSplitRule:
        SetSplitRule(random);
        break;
      case StepKind::kReopen:
        Reopen(random);
        break;
      case StepKind::kReopenReadOnly:
        ReopenReadOnly(random);
        break;
      case StepKind::kCrash:
        Crash(random);
        break;
    }
    return ok();
  }

  // What must hold in the end.
  bool Finish() {
    Random random(plan_.seed);
    CompareAll();
    for (size_t i = 0; ok() && i < snapshots_.size(); ++i) CompareAll(&snapshots_[i]);
    if (ok() && cursor_ != nullptr) Check(cursor_->Finish(random));
    if (ok()) Reopen(random);
    return ok();
  }

  const std::string& failure() const { return failure_; }
  // What was done, a line each.
  const std::vector<std::string>& script() const { return script_; }

 private:
  struct Taken {
    std::shared_ptr<const Snapshot> snapshot;
    uint64_t sequence;  // the model's
  };
  // Where a read looks, in the engine and in the model.
  struct Moment {
    ReadOptions options;
    uint64_t sequence;
  };

  bool ok() const { return failure_.empty(); }
  void Log(std::string line) { script_.push_back(std::move(line)); }
  void Check(const std::string& wrong) {
    if (ok() && !wrong.empty()) failure_ = wrong;
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok()) Check(Cat(what, ": ", status.ToString()));
    return status.ok();
  }
  void Expect(absl::StatusCode code, const absl::Status& status, std::string_view what) {
    if (status.code() != code) {
      Check(Cat(what, ": ", status.ToString(), "\n  expected: ", absl::StatusCodeToString(code)));
    }
  }

  // --- Opening and closing ---

  void Open(Random& random, bool read_only = false) {
    DatabaseOptions options = RandomOptions(random);
    servers_ = options.tablet_servers;
    options.read_only = read_only;
    options.clock = &clock_;
    options.file_system = memory_.get();
    if (plan_.settings.crashes == ModelSettings::Crashes::kMachine) {
      options.durability = Durability::kSync;
    }
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path_, options);
    if (!Check(opened.status(), "Open")) return;
    database_ = *std::move(opened);
    ++reopenings_;
    if (plan_.settings.messages) {
      network_ = std::make_unique<FaultyNetwork>(plan_.seed, FaultyNetwork::Everything());
      DatabasePeer peer(database_.get());
      peer.UseServices([this](ServerHost* host) { return network_->To(host); });
    }
    pauses_ = 0;
  }
  // Lets go of all that depends on the database.
  void Forget() {
    cursor_.reset();
    snapshots_.clear();
  }
  void Drop() {
    Forget();
    database_.reset();
  }
  bool Close(Random& random) {
    Forget();
    if (random.OneIn(2) && !Check(database_->Close(), "Close")) return false;
    database_.reset();
    return true;
  }
  void CompareSchemas() {
    absl::StatusOr<std::vector<std::string>> tables = database_->ListTables();
    if (!Check(tables.status(), "ListTables")) return;
    std::vector<std::string> expected;
    for (const auto& [name, table] : model_.tables) expected.push_back(name);
    if (*tables != expected) return Check("ListTables: not the tables that there are");
    for (const auto& [name, table] : model_.tables) {
      absl::StatusOr<TableSchema> schema = database_->GetSchema(name);
      if (!Check(schema.status(), "GetSchema")) return;
      // The group "default" is there, too, when nobody defined it.
      TableSchema set = table.schema();
      set.locality_groups.try_emplace("default");
      for (auto& [family, settings] : set.families) {
        if (settings.locality_group.empty()) settings.locality_group = "default";
      }
      if (*schema != set) Check(Cat("GetSchema of ", name, ": not what was set"));
    }
  }
  void Reopen(Random& random) {
    Log("Reopen");
    if (!Close(random)) return;
    Open(random);
    if (ok()) CompareAll();
  }
  void ReopenReadOnly(Random& random) {
    Log("Reopen, read-only at first");
    if (!Close(random)) return;
    LookReadOnly(random);
    if (ok()) Open(random);
  }
  void LookReadOnly(Random& random) {
    Open(random, /*read_only=*/true);
    if (!ok()) return;
    CompareAll();
    if (!model_.tables.empty()) {
      const std::string& name = model_.tables.begin()->first;
      const absl::Status status = TableOf(name)->Apply(RowMutation("a").DeleteRow());
      Expect(absl::StatusCode::kFailedPrecondition, status, "Apply, read-only");
    }
    database_.reset();
  }
  void Crash(Random& random) {
    if (memory_ == nullptr) return Log("(no crashes here)");
    const uint64_t seed = random.Next();
    Log("Crash");
    std::unique_ptr<InMemoryFileSystem> clone = memory_->CrashClone(
        seed, plan_.settings.crashes == ModelSettings::Crashes::kMachine ? Unsynced::kRandomPart
                                                                         : Unsynced::kEverything);
    Drop();
    memory_ = std::move(clone);
    if (random.OneIn(4)) LookReadOnly(random);
    if (ok()) Open(random);
    if (ok()) CompareAll();
  }

  // --- Schemas ---

  Table* TableOf(const std::string& name) {
    absl::StatusOr<Table*> table = database_->OpenTable(name);
    return Check(table.status(), "OpenTable") ? *table : nullptr;
  }
  // A table that there is; empty if there is none.
  std::string AnyTable(Random& random) {
    const std::string name = RandomTableName(random);
    if (model_.tables.contains(name)) return name;
    return model_.tables.empty() ? "" : model_.tables.begin()->first;
  }
  static std::string Describe(const GcRule& gc) {
    return Cat(gc.max_versions() ? Cat(" versions ", *gc.max_versions()) : std::string(),
               gc.max_age() ? Cat(" age ", absl::FormatDuration(*gc.max_age())) : std::string());
  }
  void CreateTable(Random& random, const std::string& name, const TableSchema& schema) {
    const std::vector<std::string> split_rows = RandomSplitRows(random);
    Log(Cat("CreateTable ", name));
    for (const std::string& row : split_rows) script_.back() += Cat(" split at ", Quoted(row));
    for (const auto& [family, settings] : schema.families) {
      script_.back() += Cat(" ", family, "(", settings.locality_group, Describe(settings.gc), ")");
    }
    const absl::Status status = database_->CreateTable(name, schema, {.split_rows = split_rows});
    if (model_.tables.contains(name)) {
      return Expect(absl::StatusCode::kAlreadyExists, status, "CreateTable");
    }
    if (Check(status, "CreateTable")) model_.tables.emplace(name, ModelTable(schema, split_rows));
  }
  void DeleteTable(const std::string& name) {
    Log(Cat("DeleteTable ", name));
    cursor_.reset();
    const absl::Status status = database_->DeleteTable(name);
    if (!model_.tables.contains(name)) {
      return Expect(absl::StatusCode::kNotFound, status, "DeleteTable");
    }
    if (Check(status, "DeleteTable")) model_.tables.erase(name);
  }
  void AddFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name = RandomFamilyName(random);
    Family family = RandomFamily(random, model.schema(), plan_.settings);
    if (random.OneIn(10)) family.locality_group = "nowhere";
    Log(Cat("AddFamily ", table, " ", name, " in \"", family.locality_group, "\"",
            Describe(family.gc)));
    const absl::Status status = database_->AddFamily(table, name, family);
    if (family.locality_group == "nowhere") {
      if (status.ok()) Check("AddFamily to a group that is not there: OK");
    } else if (model.schema().families.contains(name)) {
      Expect(absl::StatusCode::kAlreadyExists, status, "AddFamily");
    } else if (Check(status, "AddFamily")) {
      model.AddFamily(name, family);
    }
  }
  void DropFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name = RandomFamilyName(random);
    const bool there = model.schema().families.contains(name);
    if (there && model.schema().families.size() == 1) return Log("(the last family stays)");
    Log(Cat("DropFamily ", table, " ", name));
    const absl::Status status = database_->DropFamily(table, name);
    if (!there) return Expect(absl::StatusCode::kNotFound, status, "DropFamily");
    if (Check(status, "DropFamily")) model.DropFamily(name);
  }
  void UpdateFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name =
        random.OneIn(20) ? RandomFamilyName(random) : ExistingFamily(random, model);
    Family family;
    const bool there = model.schema().families.contains(name);
    if (there) family = model.schema().families.at(name);
    FamilyUpdate update;
    if (!random.OneIn(10)) update.gc = family.gc = RandomGcRule(random, plan_.settings);
    Log(Cat("UpdateFamily ", table, " ", name,
            update.gc.has_value() ? Describe(*update.gc) : " without a change"));
    const absl::Status status = database_->UpdateFamily(table, name, update);
    if (!there) {
      Expect(absl::StatusCode::kNotFound, status, "UpdateFamily");
    } else if (Check(status, "UpdateFamily")) {
      model_.UpdateFamily(table, name, family, clock_.micros());
    }
  }
  void SetLocalityGroup(Random& random) {
    static const std::vector<std::string> kNames = {"default", "g1", "g2", "g3"};
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string name = random.Pick(kNames);
    const LocalityGroup group = RandomLocalityGroup(random);
    Log(Cat("SetLocalityGroup ", table, " ", name));
    if (Check(database_->SetLocalityGroup(table, name, group), "SetLocalityGroup")) {
      model_.tables.at(table).SetLocalityGroup(name, group);
    }
  }

  void SetSplitRule(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const SplitRule rule = RandomSplitRule(random);
    Log(Cat("SetSplitRule ", table, " ", rule.tablet_size, ", ", rule.merge_size));
    if (Check(database_->SetSplitRule(table, rule), "SetSplitRule")) {
      model_.tables.at(table).SetSplitRule(rule);
    }
  }

  // --- Writes ---

  WriteOptions RandomWriteOptions(Random& random) const {
    return bigtable::RandomWriteOptions(random, plan_.settings);
  }
  static std::string Describe(const ModelMutation& mutation) {
    using Kind = ModelOperation::Kind;
    std::string text = Quoted(std::string_view(mutation.row).substr(0, 20));
    for (const ModelOperation& op : mutation.operations) {
      const std::string column = Cat(op.family, ":", absl::CHexEscape(op.qualifier.substr(0, 20)),
                                     "@", op.timestamp ? Cat(*op.timestamp) : std::string("now"));
      switch (op.kind) {
        case Kind::kSet:
          absl::StrAppend(&text, " Set ", column, "=",
                          Quoted(std::string_view(op.value).substr(0, 12)), "/", op.value.size());
          break;
        case Kind::kDeleteColumn:
          absl::StrAppend(&text, " Delete ", op.family, ":",
                          absl::CHexEscape(op.qualifier.substr(0, 20)));
          break;
        case Kind::kDeleteCell:
          absl::StrAppend(&text, " DeleteCell ", column);
          break;
        case Kind::kDeleteFamily:
          absl::StrAppend(&text, " DeleteFamily ", op.family);
          break;
        case Kind::kDeleteRow:
          absl::StrAppend(&text, " DeleteRow");
          break;
      }
    }
    return text;
  }
  void Applied(const std::string& table, const ModelMutation& mutation,
               const absl::Status& status) {
    ++operations_;
    if (model_.Apply(table, clock_.micros(), mutation)) {
      Check(status, "Apply");
    } else {
      Expect(absl::StatusCode::kNotFound, status, "Apply to a family that is not there");
    }
  }
  void Apply(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    ApplyOne(table, RandomMutation(random, model_.tables.at(table), clock_.micros()),
             RandomWriteOptions(random));
  }
  void ApplyLarge(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    ApplyOne(table, RandomLargeMutation(random, model_.tables.at(table), clock_.micros()),
             RandomWriteOptions(random));
  }
  void ApplyOne(const std::string& table, const ModelMutation& mutation,
                const WriteOptions& options) {
    Log(Cat("Apply ", table, " ", Describe(mutation)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    Applied(table, mutation, engine->Apply(mutation.Make(), options));
  }
  // Of a mutation that is not valid nothing is applied, however much of it would be; those beside
  // it in a batch are.
  void ApplyInvalid(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    ModelMutation mutation = RandomMutation(random, model, clock_.micros());
    if (!model.Accepts(mutation)) return Log("(for two reasons)");
    RowMutation made = mutation.Make();
    Spoil(random, model, &made);
    Log(Cat("Apply with something invalid ", table, " ", Describe(mutation)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    if (random.OneIn(2)) {
      return Expect(absl::StatusCode::kInvalidArgument,
                    engine->Apply(made, RandomWriteOptions(random)), "Apply, invalid");
    }
    std::vector<ModelMutation> others;
    for (int i = 0; i < 2; ++i) others.push_back(RandomMutation(random, model, clock_.micros()));
    if (plan_.settings.messages) TakeNoServerTime(&others);
    script_.back() += Cat("\n    between ", Describe(others[0]), " and ", Describe(others[1]));
    const std::vector<RowMutation> batch = {others[0].Make(), made, others[1].Make()};
    const std::vector<absl::Status> statuses =
        engine->ApplyBatch(batch, RandomWriteOptions(random));
    if (statuses.size() != batch.size()) return Check("ApplyBatch: not a status for each");
    Applied(table, others[0], statuses[0]);
    Expect(absl::StatusCode::kInvalidArgument, statuses[1], "ApplyBatch, an invalid one");
    Applied(table, others[1], statuses[2]);
  }
  void ApplyBatch(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    std::vector<ModelMutation> mutations;
    for (int64_t i = random.Between(1, 30); i > 0; --i) {
      mutations.push_back(RandomMutation(random, model_.tables.at(table), clock_.micros()));
    }
    if (plan_.settings.messages) TakeNoServerTime(&mutations);
    ApplyTogether(table, mutations, RandomWriteOptions(random));
  }
  // Which row of a batch is the first to take the server's time is not said, and is another one
  // where a client has not noticed yet that tablets were merged.
  void TakeNoServerTime(std::vector<ModelMutation>* mutations) const {
    for (ModelMutation& mutation : *mutations) {
      for (ModelOperation& op : mutation.operations) {
        if (op.kind == ModelOperation::Kind::kSet && !op.timestamp) op.timestamp = clock_.micros();
      }
    }
  }
  // Enough to fill a memtable or two.
  void Fill(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    std::vector<ModelMutation> mutations;
    for (int64_t i = random.Between(20, 80); i > 0; --i) {
      ModelOperation op;
      op.family = ExistingFamily(random, model_.tables.at(table));
      op.qualifier = RandomQualifier(random);
      op.timestamp = RandomTimestamp(random, clock_.micros());
      op.value = random.Bytes(random.Below(2 << 10));
      mutations.push_back({RandomRow(random), {std::move(op)}});
    }
    ApplyTogether(table, mutations, RandomWriteOptions(random));
  }
  void ApplyTogether(const std::string& table, const std::vector<ModelMutation>& mutations,
                     const WriteOptions& options) {
    Log(Cat("ApplyBatch ", table, ":"));
    std::vector<RowMutation> made;
    for (const ModelMutation& mutation : mutations) {
      script_.back() += "\n    " + Describe(mutation);
      made.push_back(mutation.Make());
    }
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const std::vector<absl::Status> statuses = engine->ApplyBatch(made, options);
    if (statuses.size() != mutations.size()) return Check("ApplyBatch: not a status for each");
    for (size_t i = 0; i < mutations.size(); ++i) Applied(table, mutations[i], statuses[i]);
  }

  // --- Several threads ---

  void WriteConcurrently(Random& random) {
    std::map<std::string, Table*> tables;
    for (const auto& [name, model] : model_.tables) {
      if (Table* const table = TableOf(name)) tables.emplace(name, table);
    }
    if (!ok() || tables.empty()) return Log("(no table)");
    ModelWriters writers(random, database_.get(), tables, model_, clock_.micros(), plan_.settings,
                         ++concurrent_steps_);
    Log(Cat("Write concurrently: ", writers.Describe()));
    for (int64_t i = random.Between(0, 12); ok() && i > 0; --i) DoBeside(random);
    writers.Join();
    operations_ += writers.operations();
    reads_ += writers.reads();
    Check(writers.Settle(&model_));
    if (ok()) StampTablets(writers.shared_table(), writers.server_time());
    if (ok()) CompareAll();
  }
  // Something that must not matter to those that write, nor to who reads what was.
  void DoBeside(Random& random) {
    switch (random.Below(8)) {
      case 0:
      case 1:
        return Rewrite(random, /*compact=*/false);
      case 2:
        return Rewrite(random, /*compact=*/true);
      case 3:
        return SplitTablet(random);
      case 4:
        return MergeTablets(random);
      case 5:
        return MoveTablet(random);
      case 6:
        return AdvanceCursor(random);
      default:
        if (!snapshots_.empty()) CompareAll(&random.Pick(snapshots_));
    }
  }
  // From here on the model knows again which times the servers of the table give. It did not know
  // those of the tablets that the threads wrote to.
  void StampTablets(const std::string& table, int64_t last_server_time) {
    if (last_server_time == 0) return;
    clock_.Set(std::max(clock_.micros(), last_server_time + 1));
    if (plan_.settings.expiry) cursor_.reset();
    Log(Cat("The clock is ", clock_.micros()));
    const ModelTable& model = model_.tables.at(table);
    if (model.HasOwnWill()) return;
    const std::string family = model.schema().families.begin()->first;
    for (const std::string& begin : model.TabletBegins()) {
      const std::string row = begin.empty() ? std::string(1, '\0') : begin;
      if (ok()) ApplyOne(table, {row, {{.family = family, .value = "stamp"}}}, {});
    }
  }

  // --- Reads ---

  Moment RandomSnapshot(Random& random) {
    Moment moment;
    moment.options.verify_checksums = random.OneIn(4);
    moment.options.fill_cache = !random.OneIn(4);
    moment.sequence = model_.sequence;
    if (!snapshots_.empty() && random.OneIn(3)) {
      const Taken& taken = random.Pick(snapshots_);
      moment.options.snapshot = taken.snapshot;
      moment.sequence = taken.sequence;
    }
    return moment;
  }
  static std::string Describe(const Moment& moment) {
    return Cat(
        moment.options.snapshot != nullptr ? " at snapshot" : "",
        moment.options.reverse ? " reverse" : "",
        moment.options.row_limit > 0 ? Cat(" limit ", moment.options.row_limit) : std::string());
  }
  // The rows that a read of these ranges must bring, without limit.
  std::vector<ModelRow> Expected(const std::string& table, const std::vector<RowRange>& ranges,
                                 const ModelFilter& filter, const Moment& moment) {
    ++reads_;
    const ModelTable& model = model_.tables.at(table);
    std::vector<ModelRow> rows;
    for (const std::string& key : model.RowKeys()) {
      const bool asked = std::any_of(ranges.begin(), ranges.end(),
                                     [&key](const RowRange& range) { return range.Contains(key); });
      if (!asked) continue;
      ModelRow row{key, filter.Apply(key, model.Read(key, moment.sequence, clock_.micros()))};
      if (!row.cells.empty()) rows.push_back(std::move(row));
    }
    if (moment.options.reverse) std::reverse(rows.begin(), rows.end());
    return rows;
  }

  void ReadRow(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    const std::string key = RandomRow(random);
    const ModelFilter filter = RandomFilter(random, model);
    const Moment moment = RandomSnapshot(random);
    Log(Cat("ReadRow ", table, " ", Quoted(key.substr(0, 20)), " ", filter.DebugString(),
            Describe(moment)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const absl::StatusOr<Row> row = engine->ReadRow(key, filter.Make(), moment.options);
    ++reads_;
    if (!Check(row.status(), "ReadRow")) return;
    Check(Difference({key, filter.Apply(key, model.Read(key, moment.sequence, clock_.micros()))},
                     ToModel(*row)));
  }
  void ReadRows(Random& random, bool hold) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const RowSet rows = RandomRowSet(random);
    const ModelFilter filter = RandomFilter(random, model_.tables.at(table));
    Moment moment = RandomSnapshot(random);
    moment.options.reverse = random.OneIn(2);
    if (random.OneIn(3)) moment.options.row_limit = random.Between(1, 8);
    Log(Cat(hold ? "Open ReadRows " : "ReadRows ", table, bigtable::Describe(rows.ranges()), " ",
            filter.DebugString(), Describe(moment)));
    std::vector<ModelRow> expected = Expected(table, rows.ranges(), filter, moment);
    if (moment.options.row_limit > 0 && std::ssize(expected) > moment.options.row_limit) {
      expected.resize(static_cast<size_t>(moment.options.row_limit));
    }
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    Keep(random, hold,
         std::make_unique<ReaderCursor>(engine->ReadRows(rows, filter.Make(), moment.options),
                                        std::move(expected)));
  }
  void Scan(Random& random, bool hold) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const RowRange range = random.OneIn(3) ? RowRange::All() : RandomRowRange(random);
    Moment moment = RandomSnapshot(random);
    moment.options.reverse = random.OneIn(3);
    Log(Cat(hold ? "Open Scan " : "Scan ", table, bigtable::Describe({range}), Describe(moment)));
    auto cursor = std::make_unique<ScanCursor>(engine, range, moment.options);
    for (int64_t i = random.Between(1, 3); i > 0; --i) {
      AddStream(random, table, range, moment, cursor.get());
    }
    Check(cursor->Begin());
    if (ok()) Keep(random, hold, std::move(cursor));
  }
  void AddStream(Random& random, const std::string& table, const RowRange& range,
                 const Moment& moment, ScanCursor* cursor) {
    using Kind = ModelFilter::Kind;
    const ModelTable& model = model_.tables.at(table);
    const std::string family = ExistingFamily(random, model);
    ScanStream* const stream = cursor->AddStream(family);

    ModelFilter chain{.kind = Kind::kChain};
    chain.filters.push_back({.kind = Kind::kFamily, .family = family});
    ModelFilter columns = RandomFilter(random, model);
    columns.family = family;
    if (columns.kind == Kind::kColumnPrefix) {
      stream->SetColumnPrefix(columns.begin);
      chain.filters.push_back(columns);
    } else if (columns.kind == Kind::kColumnRange) {
      stream->SetColumnRange(columns.begin, columns.end);
      chain.filters.push_back(columns);
    } else if (columns.kind == Kind::kColumnRegex) {
      stream->SetColumnRegex(ModelRegexes()[columns.regex].text);
      chain.filters.push_back(columns);
    }
    if (random.OneIn(4)) {
      stream->SetTimestampRange(Timestamp(columns.from_micros), Timestamp(columns.to_micros));
      columns.kind = Kind::kTimestampRange;
      chain.filters.push_back(columns);
    }
    if (random.OneIn(2)) {
      stream->SetReturnAllVersions();
    } else {
      const int64_t versions = random.Between(1, 3);
      if (versions > 1) stream->SetMaxVersions(versions);
      chain.filters.push_back({.kind = Kind::kLatest, .n = versions});
    }
    if (random.OneIn(4)) {
      chain.filters.push_back(RandomFilter(random, model));
      stream->SetFilter(chain.filters.back().Make());
    }
    Log("    stream: " + chain.DebugString());
    cursor->Expect(Expected(table, {range}, chain, moment));
  }

  // Reads the stream to its end, or keeps it, to be read later.
  void Keep(Random& random, bool hold, std::unique_ptr<ModelCursor> cursor) {
    if (!hold) return Check(cursor->Finish(random));
    cursor_ = std::move(cursor);
  }
  void AdvanceCursor(Random& random) {
    if (cursor_ == nullptr) return Log("(no cursor)");
    Log("Read on");
    Check(cursor_->Advance(random, random.Between(1, 8)));
  }

  void CompareAll(const Taken* taken = nullptr) {
    CompareSchemas();
    for (const auto& [name, table] : model_.tables) {
      if (!ok()) return;
      Table* const engine = TableOf(name);
      if (engine == nullptr) return;
      Moment moment{{}, model_.sequence};
      if (taken != nullptr) {
        moment.options.snapshot = taken->snapshot;
        moment.sequence = taken->sequence;
      }
      ReaderCursor cursor(engine->ReadRows(RowRange::All(), moment.options),
                          Expected(name, {RowRange::All()}, ModelFilter{}, moment));
      Random random(plan_.seed);
      const std::string wrong = cursor.Finish(random);
      if (!wrong.empty()) Check(Cat("All of ", name, ": ", wrong));
    }
  }

  // --- Time and background work ---

  void TakeSnapshot() {
    Log("TakeSnapshot");
    absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
    if (Check(snapshot.status(), "TakeSnapshot")) {
      snapshots_.push_back({*std::move(snapshot), model_.sequence});
    }
  }
  void ReleaseSnapshot(Random& random) {
    if (snapshots_.empty()) return Log("(no snapshot)");
    Log("Release a snapshot");
    snapshots_.erase(snapshots_.begin() + random.Between(0, std::ssize(snapshots_) - 1));
  }
  void MoveClock(Random& random, bool back) {
    const int64_t by = random.Between(0, 2500);
    // What a stream that is held shows of cells that expire meanwhile is not defined.
    if (plan_.settings.expiry) cursor_.reset();
    if (!back) {
      clock_.Set(clock_.micros() + by);
    } else if (!plan_.settings.expiry) {
      clock_.Set(std::max(kFirstMicros, clock_.micros() - by));
    }
    Log(Cat("The clock is ", clock_.micros()));
  }
  void Rewrite(Random& random, bool compact) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    Log(Cat(compact ? "Compact " : "Flush ", table));
    Check(compact ? database_->Compact(table) : database_->Flush(table),
          compact ? "Compact" : "Flush");
  }
  // These change nothing that the model knows, but for the server's times.
  void SplitTablet(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string row = RandomRow(random);
    Log(Cat("SplitTablet ", table, " at ", Quoted(row)));
    const absl::Status split = database_->SplitTablet(table, row);
    if (absl::IsAlreadyExists(split)) return;
    if (Check(split, "SplitTablet")) model_.tables.at(table).SplitTablet(row);
  }
  void MergeTablets(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(table);
    if (!Check(tablets.status(), "ListTablets")) return;
    if (tablets->size() < 2) return Log("(one tablet)");
    const std::string& row = (*tablets)[1 + random.Below(tablets->size() - 1)].rows.begin();
    Log(Cat("MergeTablets ", table, " at ", Quoted(row)));
    const absl::Status merged = database_->MergeTablets(table, row);
    // The table's rule may have merged them meanwhile.
    if (absl::IsNotFound(merged) && model_.tables.at(table).HasOwnWill()) return;
    if (Check(merged, "MergeTablets")) model_.tables.at(table).MergeTablets(row);
  }
  void MoveTablet(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string row = RandomRow(random);
    const int server = static_cast<int>(random.Below(static_cast<uint64_t>(servers_)));
    Log(Cat("MoveTablet ", table, " with ", Quoted(row), " to ", server));
    Check(database_->MoveTablet(table, row, server), "MoveTablet");
  }
  void PauseOrContinue(Random& random) {
    if (pauses_ > 0 && !random.OneIn(3)) {
      Log("ContinueCompactions");
      database_->ContinueCompactions();
      --pauses_;
    } else if (random.OneIn(2)) {
      Log("CancelCompactions");
      database_->CancelCompactions();
    } else if (pauses_ < 2) {
      Log("PauseCompactions");
      database_->PauseCompactions();
      ++pauses_;
    }
  }

  const ModelPlan& plan_;
  // Not at the very beginning of time, where a new table may have used the first instant itself.
  static constexpr int64_t kFirstMicros = 10;
  TestClock clock_{kFirstMicros};
  std::optional<TempDirectory> directory_;  // one of the two
  std::unique_ptr<InMemoryFileSystem> memory_;
  std::string path_;
  std::unique_ptr<FaultyNetwork> network_;  // of the database as it is opened now
  std::unique_ptr<Database> database_;
  int servers_ = 1;
  int pauses_ = 0;
  ModelDatabase model_;
  std::vector<Taken> snapshots_;
  std::unique_ptr<ModelCursor> cursor_;
  uint64_t concurrent_steps_ = 0;
  uint64_t operations_ = 0;  // and these two for who reads how much was tested
  uint64_t reads_ = 0;
  uint64_t reopenings_ = 0;
  std::vector<std::string> script_;
  std::string failure_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_
