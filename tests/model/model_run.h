// Runs the steps of a plan on a fresh database and on the model, and reports the first difference.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "model/model_follower_steps.h"
#include "model/model_names.h"
#include "model/model_plan.h"
#include "model/model_schemas.h"
#include "support/cold_file_system.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/temp_directory.h"

namespace bigtable {

// One thread at a time.
class ModelRun : public ModelFollowerSteps {
 public:
  explicit ModelRun(const ModelPlan& plan) : ModelFollowerSteps(plan) {
    Random random(plan.seed);
    if (plan.settings.crashes == ModelSettings::Crashes::kNever) {
      directory_.emplace();
      path_ = directory_->database();
    } else {
      memory_ = std::make_unique<InMemoryFileSystem>();
      path_ = "/db";
    }
    first_path_ = path_;
    Open(random);
    if (ok() && plan.settings.observers) CreateTable(random, kModelIndexTable);
    if (ok()) CreateTable(random, "t0");
    if (ok() && random.OneIn(2)) CreateTable(random, "t1");
    FindStreams();
  }
  ~ModelRun() { Drop(); }
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;

  // Does the step. False if something was wrong.
  bool Do(const ModelStep& step) {
    Random random(step.seed);
    ++operations_;
    BeginStep(step);
    DoStep(step, random);
    FindStreams();
    CheckCalls();
    return ok();
  }

  // The checks at the end of a run.
  bool Finish() {
    Random random(plan_.seed);
    CompareAll();
    for (size_t i = 0; ok() && i < snapshots_.size(); ++i) CompareAll(&snapshots_[i]);
    if (ok() && cursor_ != nullptr) Check(cursor_->Finish(random));
    if (ok() && plan_.settings.filters) CompactAll();
    if (ok() && plan_.settings.follower) Follow(random);
    if (ok()) Reopen(random);
    if (ok()) ReplayAllAgain(random);
    if (ok()) CheckRecordings();
    return ok();
  }

 private:
  void DoStep(const ModelStep& step, Random& random) {
    switch (step.kind) {
      case StepKind::kApply:
        Apply(random);
        break;
      case StepKind::kApplyBatch:
        ApplyBatch(random);
        break;
      case StepKind::kApplyWriteBatch:
        ApplyWriteBatch(random);
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
      case StepKind::kIngest:
        if (random.OneIn(3)) {
          RestoreTable(random);
        } else {
          Ingest(random);
        }
        break;
      case StepKind::kWriteConcurrently:
        WriteConcurrently(random);
        break;
      case StepKind::kReadModifyWrite:
        ReadModifyWrite(random);
        break;
      case StepKind::kCheckAndMutate:
        CheckAndMutate(random);
        break;
      case StepKind::kMutateAtomically:
        MutateAtomically(random);
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
        TakeSnapshot(random);
        break;
      case StepKind::kReleaseSnapshot:
        ReleaseSnapshot(random);
        break;
      case StepKind::kCompareAll:
        if (random.OneIn(2)) {
          CompareFollowed(random);
        } else {
          CompareAll();
        }
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
      case StepKind::kDropRowRange:
        DropRowRange(random);
        break;
      case StepKind::kCreateTable:
        CreateTable(random, RandomTableName(random));
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
      case StepKind::kSetObservers:
        SetObservers(random);
        break;
      case StepKind::kSetChangeStream:
        SetChangeStream(random);
        break;
      case StepKind::kReadChanges:
        ReadChanges(random);
        break;
      case StepKind::kFollow:
        Follow(random);
        break;
      case StepKind::kSetQuota:
        SetQuota(random);
        break;
      case StepKind::kExhaustRate:
        ExhaustRate(random);
        break;
      case StepKind::kExhaustStorage:
        ExhaustStorage(random);
        break;
      case StepKind::kReopen:
        Reopen(random);
        break;
      case StepKind::kReopenReadOnly:
        ReopenReadOnly(random);
        break;
      case StepKind::kContinueWithCopy:
        ContinueWithCopy(random);
        break;
      case StepKind::kCrash:
        Crash(random);
        break;
    }
  }
  void CreateTable(Random& random, const std::string& name) {
    TableSchema schema = RandomSchema(random, plan_.settings);
    if (plan_.settings.observers) Observe(random, name, &schema);
    const bool is_new = !model_.tables.contains(name);
    ModelSchemaSteps::CreateTable(random, name, schema);
    const auto created = model_.tables.find(name);
    if (!is_new || created == model_.tables.end() || !created->second.has_changes()) return;
    if (HasUnfollowed(name)) BreakFollower(random);
  }
  void SetChangeStream(Random& random) {
    const auto count = [&] {
      return std::count_if(model_.tables.begin(), model_.tables.end(),
                           [](const auto& table) { return table.second.has_changes(); });
    };
    const auto before = count();
    ModelChangeSteps::SetChangeStream(random);
    if (ok() && count() != before) BreakFollower(random);
  }
  // Mutations that come in as files, all at one moment.
  void Ingest(Random& random) {
    // Observers are not called, and rates are not counted.
    if (plan_.settings.quotas || plan_.settings.observers) return Log("(no files)");
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    std::vector<ModelMutation> mutations;
    for (int64_t i = random.Between(1, 30); i > 0; --i) {
      mutations.push_back(RandomMutation(random, model, clock_.micros()));
    }
    TakeNoServerTime(&mutations);
    Log(Cat("Ingest ", table, ":"));
    FileSystem* const file_system = memory_ != nullptr ? memory_.get() : FileSystem::Posix();
    const std::string directory = Cat(first_path_, "-files");
    const absl::StatusOr<TableSchema> schema = database_->GetSchema(table);
    if (!Check(schema.status(), "GetSchema")) return;
    if (!Check(file_system->CreateDirectory(directory), "CreateDirectory")) return;
    absl::StatusOr<std::unique_ptr<SSTableSorter>> sorter =
        SSTableSorter::Create(directory, *schema,
                              {.memory = 1 << 20,
                               .file_size = 64 << 10,
                               .threads = static_cast<int>(random.Between(1, 2)),
                               .clock = &clock_,
                               .file_system = file_system});
    if (!Check(sorter.status(), "SSTableSorter::Create")) return;
    std::erase_if(mutations, [&](const ModelMutation& mutation) {
      const absl::Status added = (*sorter)->Add(mutation.Make());
      if (added.ok() != model.Accepts(mutation))
        Check(Cat("SSTableSorter::Add: ", ToStd(added.message())));
      if (added.ok()) script_.back() += "\n    " + ModelWriteSteps::Describe(mutation);
      return !added.ok();
    });
    const absl::StatusOr<std::vector<std::string>> files = (*sorter)->Finish();
    if (!Check(files.status(), "SSTableSorter::Finish")) return;
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const Stillness still(this);
    const absl::Status status =
        engine->Ingest(*files, {.moves_files = random.OneIn(2), .verifies = random.OneIn(2)})
            .status();
    if (model.has_changes()) {
      return Expect(absl::StatusCode::kFailedPrecondition, status, "Ingest beside a change stream");
    }
    if (!Check(status, "Ingest")) return;
    operations_ += mutations.size();
    ModelWrite write(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kSeveral);
    for (const ModelMutation& mutation : mutations) {
      Check(write.Apply(table, mutation), "a mutation of files");
    }
    Written(&write, absl::OkStatus(), status);
  }
  // Filters have changed everything then.
  void CompactAll() {
    Forget();
    for (const auto& [name, table] : model_.tables) {
      Log(Cat("Compact ", name));
      if (Check(database_->Compact(name), "Compact")) NoteCompacted(name);
    }
    if (ok()) CompareAll();
  }

  // --- Opening and closing ---

  void Open(Random& random, bool read_only = false) {
    DatabaseOptions options = RandomOptions(random);
    servers_ = options.tablet_servers;
    options.read_only = read_only;
    SetReadOnly(read_only);
    options.clock = &clock_;
    cold_.reset();
    if (memory_ != nullptr && random.OneIn(3)) {
      cold_ = std::make_unique<ColdFileSystem>(memory_.get());
      Log("(nothing of the files is in memory)");
    }
    options.file_system = cold_ != nullptr ? static_cast<FileSystem*>(cold_.get()) : memory_.get();
    if (plan_.settings.crashes == ModelSettings::Crashes::kMachine) {
      options.durability = Durability::kSync;
    }
    if (random.OneIn(4) && !Record(random, &options)) return;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path_, options);
    if (!Check(opened.status(), "Open")) return;
    database_ = *std::move(opened);
    DatabasePeer(database_.get()).SetQuotaClock(&quota_time_);
    ++reopenings_;
    if (plan_.settings.messages) {
      network_ = std::make_unique<FaultyNetwork>(plan_.seed, FaultyNetwork::Everything());
      DatabasePeer peer(database_.get());
      peer.UseServices([this](ServerHost* host) { return network_->To(host); });
    }
    pauses_ = 0;
  }
  // What a second opening has that reads beside this one. It outlives openings of the database.
  void CompareFollowed(Random& random) {
    // It would count rates of calls by a clock of its own.
    if (memory_ == nullptr || plan_.settings.quotas) return CompareAll();
    Log("(followed)");
    if (beside_ == nullptr) {
      DatabaseOptions options = RandomOptions(random);
      options.follow = true;
      options.follow_interval = absl::InfiniteDuration();
      options.clock = &clock_;
      options.file_system = memory_.get();
      absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(path_, options);
      if (!Check(opened.status(), "Open, to follow")) return;
      beside_ = *std::move(opened);
    } else if (!Check(beside_->Refresh(), "Refresh")) {
      return;
    }
    ForgetStreams();
    database_.swap(beside_);
    CompareAll();
    ForgetStreams();
    database_.swap(beside_);
    Tally("followed states");
  }
  // The calls are recorded from here on.
  bool Record(Random& random, DatabaseOptions* options) {
    const RecordedKeys keys = random.OneIn(2) ? RecordedKeys::kPlain : RecordedKeys::kHashed;
    absl::StatusOr<std::shared_ptr<CallRecorder>> recorder = CallRecorder::Create(
        Recording(++recordings_), {.keys = keys, .file_system = &recording_files_});
    if (!Check(recorder.status(), "CallRecorder::Create")) return false;
    options->recorder = *std::move(recorder);
    return true;
  }
  static std::string Recording(int number) { return Cat("/calls", number); }
  // All that were made can be read.
  void CheckRecordings() {
    for (int i = 1; ok() && i <= recordings_; ++i) {
      auto recording = RecordingReader::Open(Recording(i), &recording_files_);
      if (!Check(recording.status(), "RecordingReader::Open")) return;
      for (RecordedCall call; (*recording)->Next(&call);) Tally("recorded calls");
      Check((*recording)->status(), "RecordingReader::Next");
    }
  }
  // Drops everything that depends on the database.
  void Forget() {
    cursor_.reset();
    snapshots_.clear();
    ForgetStreams();
    EndFollower();
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
  void Reopen(Random& random) {
    Log("Reopen");
    if (!Close(random)) return;
    Open(random);
    if (ok()) CompareAll();
  }
  // The copy takes the place of the database, which changes meanwhile.
  void ContinueWithCopy(Random& random) {
    const std::string path = Cat(first_path_, "-", ++copies_);
    const bool restores = random.OneIn(2);
    Log(Cat(restores ? "Backup" : "Checkpoint", ", continue with ", path));
    Forget();
    if (!(restores ? RestoreBackup(path) : Check(database_->Checkpoint(path), "Checkpoint"))) {
      return;
    }
    if (random.OneIn(2) && !model_.tables.empty()) {
      Check(database_->DeleteTable(model_.tables.begin()->first), "DeleteTable");
    }
    if (!Close(random)) return;
    beside_.reset();
    ForgetFollower();
    path_ = path;
    Open(random);
    if (ok()) CompareAll();
  }
  // All backups of a run are in one directory.
  bool RestoreBackup(const std::string& path) {
    absl::StatusOr<std::unique_ptr<BackupEngine>> engine =
        BackupEngine::Open(Cat(first_path_, "-backups"), memory_.get());
    if (!Check(engine.status(), "BackupEngine::Open")) return false;
    const absl::StatusOr<BackupInfo> made = (*engine)->Create(database_.get());
    return Check(made.status(), "BackupEngine::Create") &&
           Check((*engine)->DeleteOld(2), "BackupEngine::DeleteOld") &&
           Check((*engine)->Restore(made->id, path, {.file_system = memory_.get()}),
                 "BackupEngine::Restore");
  }
  // A table of a backup that is made just now becomes another one, beside it.
  void RestoreTable(Random& random) {
    const std::string source = AnyTable(random);
    const std::string name = RandomTableName(random);
    const bool is_plain = !plan_.settings.quotas && !plan_.settings.observers;
    if (memory_ == nullptr || !is_plain || source.empty()) return Log("(no restore)");
    Log(Cat("RestoreTable ", source, " as ", name));
    absl::StatusOr<std::unique_ptr<BackupEngine>> engine =
        BackupEngine::Open(Cat(first_path_, "-backups"), memory_.get());
    if (!Check(engine.status(), "BackupEngine::Open")) return;
    const absl::StatusOr<BackupInfo> made =
        (*engine)->Create(database_.get(), {.tables = {source}});
    if (!Check(made.status(), "BackupEngine::Create")) return;
    const absl::Status restored = (*engine)->RestoreTable(made->id, source, database_.get(), name);
    if (!Check((*engine)->DeleteOld(2), "BackupEngine::DeleteOld")) return;
    if (model_.tables.contains(name)) {
      return Expect(absl::StatusCode::kAlreadyExists, restored, "RestoreTable");
    }
    if (!Check(restored, "RestoreTable")) return;
    model_.RestoreTable(source, name);
    Tally("restored tables");
    if (model_.tables.at(name).has_changes()) BreakFollower(random);
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
    ForgetStreams();
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
    beside_.reset();
    memory_ = std::move(clone);
    if (random.OneIn(4)) LookReadOnly(random);
    if (ok()) Open(random);
    if (ok()) CompareAll();
  }

  std::optional<TempDirectory> directory_;  // either directory_ or memory_ is used
  std::unique_ptr<ColdFileSystem> cold_;    // on top of memory_; null: the database does without
  std::unique_ptr<Database> beside_;        // see CompareFollowed; null: not opened yet
  std::string first_path_;
  int copies_ = 0;
  InMemoryFileSystem recording_files_;
  int recordings_ = 0;
  std::unique_ptr<FaultyNetwork> network_;  // of the current opening of the database
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_RUN_H_
