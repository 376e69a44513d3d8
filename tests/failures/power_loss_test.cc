// The death of the machine, on a file system that keeps a random part of the data that was not
// synced. A prefix of the writes is found, and it has everything that was synced.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"
#include "support/numbered_writes.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

constexpr const char* kPath = "/db";

// A machine with a database of numbered writes.
class Machine {
 public:
  explicit Machine(std::unique_ptr<InMemoryFileSystem> disk) : disk_(std::move(disk)) {}

  // Starts the machine. Creates the table if it does not exist.
  absl::Status Start(Random& random) {
    DatabaseOptions options = SmallOptions(random);
    options.file_system = disk_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    Tally("reopenings");
    absl::StatusOr<Table*> table = database_->OpenTable(kNumberedTable);
    if (absl::IsNotFound(table.status())) {
      const absl::Status created = database_->CreateTable(kNumberedTable, NumberedSchema());
      if (!created.ok()) return created;
      table = database_->OpenTable(kNumberedTable);
    }
    if (!table.ok()) return table.status();
    table_ = *table;
    absl::StatusOr<std::vector<uint64_t>> counts = CountNumberedWrites(table_, 1);
    if (!counts.ok()) return counts.status();
    started_ = acknowledged_ = synced_ = (*counts)[0];
    return absl::OkStatus();
  }

  absl::Status Write(Durability durability) {
    Tally("operations");
    const uint64_t k = started_++;
    const absl::Status status = table_->Apply(NumberedWrite(0, k), {.durability = durability});
    if (!status.ok()) return status;
    acknowledged_ = k + 1;
    if (durability == Durability::kSync) synced_ = k + 1;
    return absl::OkStatus();
  }
  // A flush makes all earlier acknowledged writes as durable as a sync.
  absl::Status Flush() {
    const uint64_t before = acknowledged_;
    const absl::Status status = database_->Flush(kNumberedTable);
    if (status.ok() && synced_ < before) synced_ = before;
    return status;
  }
  absl::Status Compact() { return database_->Compact(kNumberedTable); }

  std::unique_ptr<InMemoryFileSystem> LosePower(uint64_t seed, Unsynced survives) const {
    Tally("power losses");
    return disk_->CrashClone(seed, survives);
  }

  // The number of writes that were begun, that were acknowledged, and that must survive a power
  // loss.
  uint64_t started() const { return started_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t synced() const { return synced_; }
  // The number of writes that must survive a crash now.
  uint64_t promised(Unsynced survives) const {
    return survives == Unsynced::kEverything ? acknowledged_ : synced_;
  }

 private:
  std::unique_ptr<InMemoryFileSystem> disk_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  std::atomic<uint64_t> started_{0};
  std::atomic<uint64_t> acknowledged_{0};
  std::atomic<uint64_t> synced_{0};
};

Unsynced RandomUnsynced(Random& random) {
  switch (random.Below(6)) {
    case 0:
      return Unsynced::kNothing;
    case 1:
      return Unsynced::kEverything;
    default:
      return Unsynced::kRandomPart;
  }
}

// One random step.
absl::Status WriteSome(Random& random, Machine* machine) {
  if (random.OneIn(150)) return machine->Flush();
  if (random.OneIn(500)) return machine->Compact();
  return machine->Write(random.OneIn(4) ? Durability::kSync : Durability::kBuffered);
}

// Starts a machine from the disk after a crash. The writes on it are a prefix, at least `promised`
// and at most `started`. Then it must work: more is written, and it crashes again.
void ExpectRecovers(Random& random, std::unique_ptr<InMemoryFileSystem> disk, uint64_t promised,
                    uint64_t started) {
  Machine machine(std::move(disk));
  ASSERT_OK(machine.Start(random));
  EXPECT_GE(machine.acknowledged(), promised) << "a promised write is lost";
  EXPECT_LE(machine.acknowledged(), started) << "a write that was never made";

  for (int i = 0; i < 60; ++i) ASSERT_OK(WriteSome(random, &machine));
  if (random.OneIn(4)) {
    ASSERT_OK(machine.Compact());
  }
  const Unsynced survives = RandomUnsynced(random);
  const uint64_t promised_again = machine.promised(survives);
  Machine again(machine.LosePower(random.Next(), survives));
  ASSERT_OK(again.Start(random));
  EXPECT_GE(again.acknowledged(), promised_again) << "a promised write is lost by a second crash";
  EXPECT_LE(again.acknowledged(), machine.started());
}

TEST(PowerLossTest, RandomCrashesKeepEverySyncedWriteAndAPrefix) {
  ForEachSeed(kSlow ? 4 : 16, [](uint64_t seed) {
    Random random(seed);
    Machine machine(std::make_unique<InMemoryFileSystem>());
    ASSERT_OK(machine.Start(random));
    for (int crash = 0; crash < 6; ++crash) {
      for (uint64_t i = random.Below(400); i > 0; --i) ASSERT_OK(WriteSome(random, &machine));
      const Unsynced survives = RandomUnsynced(random);
      ExpectRecovers(random, machine.LosePower(random.Next(), survives), machine.promised(survives),
                     machine.started());
      if (testing::Test::HasFailure()) return;
    }
  });
}

// The same disk crashes repeatedly, also soon after a start.
TEST(PowerLossTest, RandomCrashesInARowKeepEverySyncedWriteAndAPrefix) {
  ForEachSeed(kSlow ? 2 : 6, [](uint64_t seed) {
    Random random(seed);
    auto machine = std::make_unique<Machine>(std::make_unique<InMemoryFileSystem>());
    ASSERT_OK(machine->Start(random));
    for (int crash = 0; crash < 20; ++crash) {
      const uint64_t writes = random.OneIn(3) ? random.Below(3) : random.Below(300);
      for (uint64_t i = 0; i < writes; ++i) ASSERT_OK(WriteSome(random, machine.get()));
      const Unsynced survives = RandomUnsynced(random);
      const uint64_t promised = machine->promised(survives);
      const uint64_t started = machine->started();
      machine = std::make_unique<Machine>(machine->LosePower(random.Next(), survives));
      ASSERT_OK(machine->Start(random));
      ASSERT_GE(machine->acknowledged(), promised) << "crash " << crash;
      ASSERT_LE(machine->acknowledged(), started) << "crash " << crash;
    }
  });
}

// Power is lost in the middle of writes, flushes and compactions.
TEST(PowerLossTest, RandomCrashesWhileThreadsWriteFlushAndCompact) {
  struct Crash {
    std::unique_ptr<InMemoryFileSystem> disk;
    uint64_t promised;
    uint64_t started;
  };
  ForEachSeed(kSlow ? 1 : 3, [](uint64_t seed) {
    Random random(seed);
    Machine machine(std::make_unique<InMemoryFileSystem>());
    ASSERT_OK(machine.Start(random));
    std::atomic<bool> stop{false};
    std::atomic<int> errors{0};
    std::thread writer([&machine, &stop, &errors, seed] {
      Random mine(seed + 1);
      while (!stop) {
        const Durability durability = mine.OneIn(3) ? Durability::kSync : Durability::kBuffered;
        if (!machine.Write(durability).ok()) ++errors;
        absl::SleepFor(absl::Microseconds(10));  // to limit the amount of data to compare
      }
    });
    std::thread compactor([&machine, &stop, &errors, seed] {
      Random mine(seed + 2);
      while (!stop) {
        if (!(mine.OneIn(4) ? machine.Compact() : machine.Flush()).ok()) ++errors;
        absl::SleepFor(absl::Microseconds(mine.Below(3000)));
      }
    });

    std::vector<Crash> crashes;
    for (int i = 0; i < 25; ++i) {
      absl::SleepFor(absl::Microseconds(random.Below(8000)));
      const Unsynced survives = RandomUnsynced(random);
      const uint64_t promised = machine.promised(survives);
      std::unique_ptr<InMemoryFileSystem> disk = machine.LosePower(random.Next(), survives);
      crashes.push_back({std::move(disk), promised, machine.started()});
    }
    stop = true;
    writer.join();
    compactor.join();

    EXPECT_EQ(errors, 0);
    for (Crash& crash : crashes) {
      ExpectRecovers(random, std::move(crash.disk), crash.promised, crash.started);
      if (testing::Test::HasFailure()) return;
    }
  });
}

// --- Schemas ---

using Schemas = std::map<std::string, TableSchema>;

// A change of the schemas, for the engine and for the expected state.
struct SchemaChange {
  std::function<absl::Status(Database*)> apply;
  Schemas after;
};

// A random change of `before`, and its result.
SchemaChange RandomChange(Random& random, Schemas before) {
  const std::string table = absl::StrCat("t", random.Below(4));
  const auto at = before.find(table);
  if (at == before.end()) {
    TableSchema schema = NumberedSchema();
    schema.families[absl::StrCat("family", random.Below(100))] = {.locality_group = "default"};
    before[table] = schema;
    return {[table, schema](Database* db) { return db->CreateTable(table, schema); }, before};
  }
  TableSchema& schema = at->second;
  const std::string family = absl::StrCat("family", random.Below(3));
  if (random.OneIn(4)) {
    before.erase(at);
    return {[table](Database* db) { return db->DeleteTable(table); }, before};
  }
  if (random.OneIn(3)) {
    schema.locality_groups["two"] = {.block_size = size_t{1} << random.Between(10, 20)};
    const LocalityGroup group = schema.locality_groups["two"];
    return {[table, group](Database* db) { return db->SetLocalityGroup(table, "two", group); },
            before};
  }
  if (schema.families.contains(family)) {
    schema.families.erase(family);
    return {[table, family](Database* db) { return db->DropFamily(table, family); }, before};
  }
  const Family settings = {.locality_group = "one", .gc = GcRule::MaxVersions(3)};
  schema.families[family] = settings;
  return {[=](Database* db) { return db->AddFamily(table, family, settings); }, before};
}

absl::StatusOr<Schemas> ReadSchemas(InMemoryFileSystem* disk) {
  DatabaseOptions options = TestOptions();
  options.memory_budget = MemoryBudget::kMinimum;
  options.log_segment_size = 64 << 10;
  options.file_system = disk;
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(kPath, options);
  if (!database.ok()) return database.status();
  absl::StatusOr<std::vector<std::string>> names = (*database)->ListTables();
  if (!names.ok()) return names.status();
  Schemas schemas;
  for (const std::string& name : *names) {
    absl::StatusOr<TableSchema> schema = (*database)->GetSchema(name);
    if (!schema.ok()) return schema.status();
    schema->locality_groups.erase("default");
    schemas[name] = *std::move(schema);
  }
  return schemas;
}

// States are numbered. A crash leaves a state between the last one that was acknowledged before it
// and the last one that was begun before it.
TEST(PowerLossTest, RandomCrashesDuringThreadsKeepSchemaChangesAtomic) {
  struct Crash {
    std::unique_ptr<InMemoryFileSystem> disk;
    size_t first;
    size_t last;
  };
  ForEachSeed(kSlow ? 1 : 3, [](uint64_t seed) {
    Random random(seed);
    std::vector<SchemaChange> changes = {{nullptr, {}}};
    for (int i = 0; i < 60; ++i) changes.push_back(RandomChange(random, changes.back().after));
    InMemoryFileSystem disk;
    ASSERT_OK(ReadSchemas(&disk));  // creates the database
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.log_segment_size = 64 << 10;
    options.file_system = &disk;
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, Database::Open(kPath, options));

    std::atomic<size_t> begun{0};
    std::atomic<size_t> done{0};
    std::vector<absl::Status> statuses(changes.size());
    std::thread changer([&] {
      for (size_t i = 1; i < changes.size(); ++i) {
        begun = i;
        statuses[i] = changes[i].apply(database.get());
        done = i;
      }
    });
    std::vector<Crash> crashes;
    while (done + 1 < changes.size() || crashes.empty()) {
      const size_t first = done;
      std::unique_ptr<InMemoryFileSystem> clone = disk.CrashClone(random.Next());
      crashes.push_back({std::move(clone), first, begun});
      if (crashes.size() > 100) crashes.erase(crashes.begin() + random.Between(0, 99));
    }
    changer.join();

    for (const absl::Status& status : statuses) EXPECT_OK(status);
    Tally("power losses", crashes.size());
    for (Crash& crash : crashes) {
      ASSERT_OK_AND_ASSIGN(const Schemas found, ReadSchemas(crash.disk.get()));
      const bool known =
          std::any_of(changes.begin() + static_cast<ptrdiff_t>(crash.first),
                      changes.begin() + static_cast<ptrdiff_t>(crash.last) + 1,
                      [&found](const SchemaChange& change) { return change.after == found; });
      ASSERT_TRUE(known) << "after changes " << crash.first << " to " << crash.last << " there are "
                         << found.size() << " tables, in none of the states";
    }
  });
}

}  // namespace
}  // namespace bigtable
