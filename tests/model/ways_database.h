// A random database over a tiny alphabet, so that neighbouring keys collide all the time, and its
// model: how it is opened, written, and changed in ways that change no read. ways_reads.h reads it.
// One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_WAYS_DATABASE_H_
#define BIGTABLE_TESTS_CLIENT_WAYS_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/testing/manual_clock.h"

#include "base/strings.h"
#include "model/model_commits.h"
#include "model/model_engine_observers.h"
#include "model/model_mutations.h"
#include "model/ways_random.h"
#include "support/cold_file_system.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/model.h"
#include "support/model_quotas.h"
#include "support/model_write.h"
#include "support/random.h"
#include "support/scoped_empty_rows.h"
#include "support/scoped_index_sizes.h"
#include "support/scoped_lesson.h"
#include "support/scoped_shortcuts.h"
#include "support/tally.h"
#include "support/test_clock.h"

namespace bigtable {

class WaysDatabase {
 public:
  // Shortcuts are on when the database is made, whatever an earlier run has set.
  explicit WaysDatabase(uint64_t seed)
      : random_(seed),
        cold_(&memory_, /*is_cold=*/false),
        faulty_(&cold_),
        words_(random_),
        shortcuts_(0),
        lesson_(1 + seed % 16),
        empty_rows_(ScopedEmptyRows::OfSeed(seed)),
        index_sizes_(seed) {
    by_message_ = random_.OneIn(4);
    if (!Open()) return;
    TableSchema schema = RandomWaysSchema(random_);
    if (!by_message_ && random_.OneIn(2)) Observe(&schema);
    model_.tables.emplace(kTable, ModelTable(schema));
    if (!Check(database_->CreateTable(kTable, schema), "CreateTable")) return;
    if (!by_message_ && !MakeOther()) return;
    FindTables();
    PauseFilters();
  }
  ~WaysDatabase() {
    EndLateWrite();
    Close();
  }
  WaysDatabase(const WaysDatabase&) = delete;
  WaysDatabase& operator=(const WaysDatabase&) = delete;

  const std::string& failure() const { return failure_; }
  const std::vector<std::string>& script() const { return script_; }

 protected:
  static constexpr const char* kTable = "t";
  static constexpr const char* kOther = "other";
  static constexpr int kServers = 2;  // of the table; one more server has the other table

  struct Taken {
    std::shared_ptr<const Snapshot> snapshot;
    uint64_t sequence;  // in the model
    int64_t micros;     // by the clock
  };

  // --- Outcomes ---

  void Log(std::string line) { script_.push_back(std::move(line)); }
  void Fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);  // nothing, if nothing is wrong
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok()) Fail(Cat(what, ": ", status.ToString()));
    return status.ok();
  }

  // --- Opening ---

  DatabaseOptions MakeOptions(FileSystem* file_system) {
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = kServers + 1;
    options.balance_interval = absl::InfiniteDuration();
    options.scan_cache = !random_.OneIn(4);
    options.read_mode =
        random_.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
    options.file_system = file_system;
    options.clock = &clock_;
    return options;
  }
  bool Open() {
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", MakeOptions(&faulty_));
    if (!Check(opened.status(), "Open")) return false;
    database_ = *std::move(opened);
    DatabasePeer(database_.get()).SetQuotaClock(&quota_time_);
    if (by_message_) {
      network_ = MakeNetwork();
      SendThrough(network_.get(), database_.get());
    }
    return true;
  }
  // Null: calls of the server's service, without encoding. Otherwise the calls go through a
  // network, which has no faults, or loses, repeats and damages messages.
  std::unique_ptr<FaultyNetwork> MakeNetwork() {
    if (random_.OneIn(3)) return nullptr;
    FaultyNetwork::Faults faults;
    if (random_.OneIn(2)) faults = FaultyNetwork::Everything();
    faults.delay = 0;
    return std::make_unique<FaultyNetwork>(random_.Next(), faults);
  }
  static void SendThrough(FaultyNetwork* network, Database* database) {
    DatabasePeer(database).UseServices([network](ServerHost* host) -> DataService* {
      if (network == nullptr) return host->data_service();
      return network->To(host);
    });
  }
  void Close() {
    snapshots_.clear();
    database_.reset();
    network_.reset();
  }
  // Closing flushes data that was not logged.
  void Reopen() {
    EndLateWrite();
    Log("Close and open");
    snapshots_.clear();
    if (random_.OneIn(2) && !Check(database_->Close(), "Close")) return;
    Close();
    if (!Open()) return;
    Tally("reopenings");
    FindTables();
    PauseFilters();
  }
  void FindTables() {
    const absl::StatusOr<Table*> found = database_->OpenTable(kTable);
    if (!Check(found.status(), "OpenTable")) return;
    table_ = *found;
    if (by_message_) return;
    const absl::StatusOr<Table*> other = database_->OpenTable(kOther);
    if (!Check(other.status(), "OpenTable")) return;
    other_ = *other;
    KeepApart();
  }

  // --- The other table ---

  // Its rows have the names of the first table's rows.
  bool MakeOther() {
    return Check(database_->CreateTable(kOther, {.families = {{"f", {}}}}), "CreateTable");
  }
  // The other table has a server of its own.
  void KeepApart() {
    Check(database_->MoveTablet(kOther, "a", kServers), "MoveTablet");
    const absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(kTable);
    if (!Check(tablets.status(), "ListTablets")) return;
    for (const TabletInfo& tablet : *tablets) {
      if (tablet.server != kServers) continue;
      const std::string row = tablet.rows.begin().empty() ? "\x01" : tablet.rows.begin();
      Check(database_->MoveTablet(kTable, row, 0), "MoveTablet");
    }
    Check(other_->Apply(RowMutation("z").Set("f:", "")), "Apply");
    for (TabletServer* server : DatabasePeer(database_.get()).Servers()) {
      for (const std::shared_ptr<Tablet>& tablet : server->tablets().All()) {
        if (tablet->Layout()->name == kOther) other_log_ = Cat("/log/", server->name(), "/");
      }
    }
  }
  // A write to a row of the same name on another server takes its sequence number now, and ends
  // later.
  void BeginLateWrite() {
    if (other_ == nullptr) return;
    const std::string row = words_.Row(random_);
    Log(Cat("A write to ", Quoted(row), " of the other table begins"));
    faulty_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = other_log_});
    late_ = std::thread([this, row] {
      other_->Apply(RowMutation(row).Set("f:", ""), {.durability = Durability::kSync})
          .IgnoreError();
    });
    if (!faulty_.WaitUntilStalled(1)) Fail("the write to the other table does not stall");
  }
  // While the late write stalls a log, the table is compacted, but that log is not erased.
  void Compact() {
    CallOptions options;
    if (late_.joinable()) options.deadline = absl::Now() + absl::Milliseconds(20);
    if (HasFilters()) database_->ContinueCompactions();
    const absl::Status status = database_->Compact(kTable, options);
    const bool is_late = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
    if (!late_.joinable() || !is_late) Check(status, "Compact");
    PauseFilters();
    if (!late_.joinable() && snapshots_.empty()) CheckNothingPending();
  }
  void EndLateWrite() {
    if (!late_.joinable()) return;
    Log("The write to the other table ends");
    faulty_.ReleaseCalls();
    late_.join();
  }

  // --- Writing ---

  ModelMutation MakeMutation() {
    ModelMutation mutation = words_.Mutation(random_, clock_.micros());
    for (ModelOperation& op : mutation.operations) {
      FitToFamily(random_, model_.tables.at(kTable), clock_.micros(), &op);
    }
    Log(Cat("Write ", Describe(mutation)));
    return mutation;
  }
  WriteOptions MakeWriteOptions() {
    WriteOptions options;
    options.durability = random_.OneIn(4) ? Durability::kNone : Durability::kBuffered;
    return options;
  }
  void Write() {
    if (IsObserved()) EndLateWrite();  // a snapshot for observers would wait for the write
    const ModelMutation mutation = MakeMutation();
    BeginWrite();
    Settle(mutation, table_->Apply(mutation.Make(), MakeWriteOptions()));
    CheckCalls();
    // Before the next read.
    if (random_.OneIn(3)) EndLateWrite();
  }
  void WriteBatch() {
    std::vector<RowMutation> mutations;
    std::vector<ModelMutation> models;
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      models.push_back(MakeMutation());
      mutations.push_back(models.back().Make());
    }
    if (IsObserved()) EndLateWrite();
    BeginWrite();
    if (by_message_ || random_.OneIn(2)) {
      const auto statuses = table_->ApplyBatch(mutations, MakeWriteOptions());
      for (size_t i = 0; i < models.size(); ++i) Settle(models[i], statuses[i]);
    } else {
      bigtable::WriteBatch batch;
      for (const RowMutation& mutation : mutations) batch.Apply(table_, mutation);
      const absl::Status status = database_->Apply(batch, MakeWriteOptions());
      ModelWrite write(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kSeveral);
      absl::Status refusal;
      for (const ModelMutation& mutation : models) {
        if (refusal.ok()) refusal = write.Apply(kTable, mutation);
      }
      Fail(commits_.Settle(&write, refusal, status));
    }
    CheckCalls();
  }
  // A quota of storage adds up again what is stored.
  void BeginWrite() {
    quotas_.BeginStep();
    quota_time_.Advance(absl::Seconds(1));
  }
  void Settle(const ModelMutation& mutation, const absl::Status& status) {
    ModelWrite write(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kOne);
    const absl::Status refusal = write.Apply(kTable, mutation);
    Fail(commits_.Settle(&write, refusal, status));
  }
  void CheckCalls() { Fail(commits_.CheckCalls()); }

  // --- Observers ---

  // They add to the observed row alone.
  void Observe(TableSchema* schema) {
    schema->families["s"] = {};
    schema->families["n"] = {.value_type = ValueType::kInt64Sum};
    schema->observers = ModelEngineObserver::Draw(random_, kModelIndexTable);
  }
  bool IsObserved() const { return !model_.tables.at(kTable).schema().observers.empty(); }
  void ChangeObservers() {
    if (!model_.tables.at(kTable).schema().families.contains("s")) return;
    EndLateWrite();  // the change waits for writes that have a sequence number
    const auto observers = ModelEngineObserver::Draw(random_, kModelIndexTable);
    Log(Cat("SetObservers ", absl::StrJoin(observers, ", ")));
    if (!Check(database_->SetObservers(kTable, observers), "SetObservers")) return;
    model_.tables.at(kTable).SetObservers(observers);
  }

  // --- Compaction filters ---

  // With filters, compactions run when the database is opened, in their own step, and to merge
  // tablets. So the answers do not change between two ways of reading.
  bool HasFilters() const { return model_.tables.at(kTable).filtered().has_families(); }
  void PauseFilters() {
    if (!HasFilters() || !failure_.empty()) return;
    database_->PauseCompactions();
    database_->CancelCompactions();
    SettleFilters();
  }
  // Finds out what the filters have changed.
  void SettleFilters() {
    ModelTable& model = model_.tables.at(kTable);
    for (const std::string& key : words_.rows()) {
      if (!model.filtered().MayBePending(key, model_.sequence)) continue;
      const ModelRow expected{key, model.Read(key, model_.sequence, clock_.micros())};
      const absl::StatusOr<Row> row = table_->ReadRow(key);
      if (!Check(row.status(), "ReadRow")) return;
      for (const ModelCell& cell : model.filtered().Changed(expected, ToModel(*row))) {
        if (!snapshots_.empty()) Fail("a filter has changed a cell while there was a snapshot");
        model.mutable_filtered()->SetFiltered(key, cell);
      }
    }
  }
  // A compaction has passed everything to the filters.
  void CheckNothingPending() {
    const ModelTable& model = model_.tables.at(kTable);
    for (const std::string& key : words_.rows()) {
      for (const ModelCell& cell : model.Read(key, model_.sequence, clock_.micros())) {
        if (!model.filtered().IsPending(key, cell)) continue;
        Fail(Cat("a compaction did not pass a cell to the filter: ",
                 bigtable::Describe(ModelRow{key, {cell}})));
      }
    }
  }

  // --- Changes that change no read ---

  void Split() {
    const std::string row = words_.Row(random_);
    Log(Cat("SplitTablet at ", Quoted(row)));
    const absl::Status split = database_->SplitTablet(kTable, row);
    if (!absl::IsAlreadyExists(split)) Check(split, "SplitTablet");
  }
  void Merge() {
    const std::string row = words_.Row(random_);
    Log(Cat("MergeTablets at ", Quoted(row)));
    const absl::Status merged = database_->MergeTablets(kTable, row);
    if (!absl::IsNotFound(merged)) Check(merged, "MergeTablets");
    SettleFilters();
  }
  void Move() {
    const std::string row = words_.Row(random_);
    const int server = static_cast<int>(random_.Below(kServers));
    Log(Cat("MoveTablet with ", Quoted(row), " to ", server));
    Check(database_->MoveTablet(kTable, row, server), "MoveTablet");
  }
  // The new family has the same name and rule.
  void RenewFamily() {
    const std::string name = random_.OneIn(2) ? "a" : "ab";
    const Family family = model_.tables.at(kTable).schema().families.at(name);
    if (!snapshots_.empty()) return;  // the snapshots would not see the new family
    if (random_.OneIn(2)) {
      EndLateWrite();  // the change waits for writes that have a sequence number
      Log(Cat("ModifyFamilies: replaces ", name));
      const absl::Status replaced = database_->ModifyFamilies(
          kTable, {FamilyChange::Drop(name), FamilyChange::Add(name, family)});
      if (!Check(replaced, "ModifyFamilies")) return;
    } else {
      Log(Cat("DropFamily and AddFamily ", name));
      if (!Check(database_->DropFamily(kTable, name), "DropFamily")) return;
      if (!Check(database_->AddFamily(kTable, name, family), "AddFamily")) return;
    }
    model_.tables.at(kTable).DropFamily(name);
    model_.tables.at(kTable).AddFamily(name, family);
  }
  // To a looser or tighter rule, by number or by age.
  void ChangeRule() {
    EndLateWrite();  // the change waits for writes that have a sequence number
    const std::string name = random_.OneIn(2) ? "a" : "ab";
    Family family = model_.tables.at(kTable).schema().families.at(name);
    family.gc = RandomWaysRule(random_);
    if (HoldsAggregates(family) && CombinesVersionsWithAge(family.gc)) return;
    if (HasFilters() && CountsVersions(family.gc) &&
        model_.tables.at(kTable).filtered().Concerns(name)) {
      return;
    }
    Log(Cat("UpdateFamily ", name, ": ", Describe(family.gc), " at ", clock_.micros()));
    if (!Check(database_->UpdateFamily(kTable, name, {.gc = family.gc}), "UpdateFamily")) return;
    model_.UpdateFamily(kTable, name, family, clock_.micros());
  }
  void TakeSnapshot() {
    if (late_.joinable() || snapshots_.size() == 3) return;  // a snapshot would wait for the write
    Log("TakeSnapshot");
    auto snapshot = database_->TakeSnapshot();
    if (Check(snapshot.status(), "TakeSnapshot")) {
      snapshots_.push_back({*std::move(snapshot), model_.sequence, clock_.micros()});
    }
  }
  // For later writes, compactions and openings.
  void ChooseShortcuts() {
    static const std::vector<uint64_t> kChoices = {0, ScopedShortcuts::kAll};
    const uint64_t off = random_.OneIn(2) ? random_.Pick(kChoices) : random_.Next();
    Log(Cat("Shortcuts off: ", off & ScopedShortcuts::kAll));
    shortcuts_off.store(off);
  }

  Random random_;
  TestClock clock_{1003};
  ManualClock quota_time_;
  InMemoryFileSystem memory_;
  ColdFileSystem cold_;  // if a read sets it
  FaultyFileSystem faulty_;
  const WaysWords words_;
  const ScopedShortcuts shortcuts_;
  const ScopedLesson lesson_;
  const ScopedEmptyRows empty_rows_;  // after few rows
  const ScopedIndexSizes index_sizes_;
  bool by_message_ = false;
  std::unique_ptr<FaultyNetwork> network_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  Table* other_ = nullptr;
  std::string other_log_;
  std::thread late_;
  ModelDatabase model_;
  ModelQuotas quotas_;
  ModelCommits commits_;
  std::vector<Taken> snapshots_;

 private:
  std::vector<std::string> script_;
  std::string failure_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_WAYS_DATABASE_H_
