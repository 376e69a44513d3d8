// Batches over several tablet servers and what interrupts them: the death of the process and of the
// machine, faults of the disk, full disks, and servers that lose their locks. After any of it all
// of a batch is there or none, and what is there of each server is a prefix of its writes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "atomicity/batch_machine.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

std::vector<size_t> RandomPlaces(Random& random) {
  std::vector<size_t> places;
  while (places.empty()) {
    for (size_t place = 0; place < kBatchPlaceCount; ++place) {
      if (random.OneIn(3)) places.push_back(place);
    }
  }
  return places;
}

Durability RandomDurability(Random& random) {
  return random.OneIn(4) ? Durability::kSync : Durability::kBuffered;
}

// What is found after the crash becomes what is acknowledged and promised from now on.
void Settle(const std::vector<std::set<size_t>>& found, std::vector<BatchOperation>* operations) {
  for (size_t k = 0; k < operations->size(); ++k) {
    BatchOperation& operation = (*operations)[k];
    operation.is_acknowledged = operation.is_promised = found[operation.places.front()].contains(k);
  }
}

Unsynced RandomUnsynced(Random& random) {
  if (random.OneIn(4)) return Unsynced::kEverything;
  return random.OneIn(6) ? Unsynced::kNothing : Unsynced::kRandomPart;
}

// One life of a machine, with all that may happen to it, up to its crash.
class Life {
 public:
  Life(Random* random, BatchMachine* machine, std::vector<BatchOperation>* operations)
      : random_(*random), machine_(*machine), operations_(*operations) {}

  void Run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) Step();
    machine_.faults().ClearFaults();
    machine_.disk().set_max_total_bytes(InMemoryFileSystem::kUnlimited);
    // What is not seen now is not found later beside what is.
    if (random_.OneIn(2)) ExpectWhole(operations_, machine_.Read());
  }
  bool has_lost_server() const { return has_lost_server_; }

 private:
  void Step() {
    if (random_.OneIn(30)) return Flush();
    if (random_.OneIn(30)) return Trouble();
    if (random_.OneIn(10)) return Recover();
    operations_.push_back({.places = RandomPlaces(random_)});
    machine_
        .Apply(&operations_.back(), operations_.size() - 1, RandomDurability(random_),
               absl::Milliseconds(100))
        .IgnoreError();
  }
  void Flush() {
    const char* const table = random_.OneIn(2) ? "t" : "u";
    if (!machine_.database()
             ->Flush(table, {.deadline = absl::Now() + absl::Milliseconds(100)})
             .ok())
      return;
    for (BatchOperation& operation : operations_) {
      const bool is_flushed =
          std::any_of(operation.places.begin(), operation.places.end(),
                      [&](size_t place) { return kBatchPlaces[place].table[0] == table[0]; });
      operation.is_promised |= operation.is_acknowledged && is_flushed;
    }
  }
  void Trouble() {
    FaultyFileSystem& faults = machine_.faults();
    switch (random_.Below(5)) {
      case 0:
        faults.CountCalls();
        return faults.FailCall(1 + random_.Below(6), absl::UnavailableError("fault"),
                               FaultyFileSystem::Repeat::kOnce, RandomDone());
      case 1:
        return faults.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "server-"},
                                absl::UnavailableError("sync fault"), RandomDone());
      case 2:
        return faults.FailCalls({.kinds = {FileCall::kLogWrite}, .path_contains = "server-"},
                                absl::UnavailableError("write fault"), RandomDone());
      case 3:
        return machine_.disk().set_max_total_bytes(machine_.disk().total_bytes() + 1000);
      case 4:
        return LoseServer();
    }
  }
  FaultyFileSystem::Done RandomDone() {
    return static_cast<FaultyFileSystem::Done>(random_.Below(3));
  }
  void LoseServer() {
    DatabasePeer peer(machine_.database());
    const std::vector<TabletServer*> servers = peer.Servers();
    if (servers.empty()) return;
    has_lost_server_ = true;
    peer.Kill(servers[random_.Below(servers.size())]);
  }
  // A fault that stays would keep calls waiting for ever.
  void Recover() {
    machine_.faults().ClearFaults();
    machine_.disk().set_max_total_bytes(InMemoryFileSystem::kUnlimited);
    machine_.database()->Resume().IgnoreError();
  }

  Random& random_;
  BatchMachine& machine_;
  std::vector<BatchOperation>& operations_;
  bool has_lost_server_ = false;
};

TEST(RandomBatchCrashTest, BatchesAreWholeAfterFaultsAndCrashes) {
  ForEachSeed(kSlow ? 30 : 150, [](uint64_t seed) {
    Random random(seed);
    std::vector<BatchOperation> operations;
    auto disk = std::make_unique<InMemoryFileSystem>();
    for (int life = 0; life < 3; ++life) {
      SCOPED_TRACE(absl::StrCat("life ", life));
      const bool maps_logs = random.OneIn(2);
      const int servers = 1 + static_cast<int>(random.Below(3));
      BatchMachine machine(std::move(disk), maps_logs);
      ASSERT_OK(machine.Start(servers));
      Life run(&random, &machine, &operations);
      run.Run(static_cast<int>(random.Below(120)));
      if (testing::Test::HasFailure()) return;
      const Unsynced survives = RandomUnsynced(random);
      disk = machine.Crash(random.Next(), survives);
      Tally("power losses");

      BatchMachine after(disk->CrashClone(0, Unsynced::kEverything), true);
      ASSERT_OK(after.Start(2));
      const auto found = after.Read();
      ExpectWhole(operations, found);
      const bool all = survives == Unsynced::kEverything;
      ExpectPrefix(operations, found, all, [](size_t place) { return static_cast<int>(place); });
      if (!run.has_lost_server()) {
        ExpectPrefix(operations, found, all,
                     [&](size_t place) { return machine.server_of(place); });
      }
      if (testing::Test::HasFailure()) return;
      Settle(found, &operations);
    }
  });
}

// What is flushed of a batch is durable, and the rest of it is in the log of the same server. All
// memtables are new, so no older mutation makes the flush sync the log.
TEST(BatchCrashTest, AFlushOfAPartOfABatchKeepsTheRestOfIt) {
  for (const size_t flushed : {0, 3, 5}) {  // a place of each table
    SCOPED_TRACE(flushed);
    BatchMachine machine(std::make_unique<InMemoryFileSystem>(), true);
    ASSERT_OK(machine.Start(1));
    std::vector<BatchOperation> operations(2, {.places = {0, 1, 2, 3, 4, 5}});
    ASSERT_OK(machine.Apply(&operations[0], 0, Durability::kSync));
    for (const char* const table : {"t", "u", "v"}) ASSERT_OK(machine.database()->Flush(table));
    ASSERT_OK(machine.Apply(&operations[1], 1, Durability::kBuffered));
    ASSERT_OK(machine.database()->Flush(kBatchPlaces[flushed].table));
    BatchMachine after(machine.Crash(1, Unsynced::kNothing), true);
    ASSERT_OK(after.Start(2));
    for (const std::set<size_t>& found : after.Read()) {
      EXPECT_THAT(found, testing::ElementsAre(0, 1));
    }
  }
}

// The death of the process at each step of a batch, which the calls of an unmapped log stand for:
// the part of each server is written by one call.
TEST(BatchCrashTest, TheProcessDiesBeforeEachWriteOfAPart) {
  int whole = 0, none = 0;
  for (uint64_t call = 1; call <= 6; ++call) {
    for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                            FaultyFileSystem::Done::kAll}) {
      SCOPED_TRACE(absl::StrCat("call ", call));
      BatchMachine machine(std::make_unique<InMemoryFileSystem>(), false);
      ASSERT_OK(machine.Start(3));
      std::vector<BatchOperation> operations(3, {.places = {0, 1, 2, 3, 4, 5}});
      ASSERT_OK(machine.Apply(&operations[0], 0, Durability::kBuffered));
      machine.faults().CountCalls({.kinds = {FileCall::kLogWrite, FileCall::kLogSync}});
      machine.faults().FailCall(call, absl::UnavailableError("death"),
                                FaultyFileSystem::Repeat::kFromThenOn, done);
      machine.faults().FailCalls({.kinds = {FileCall::kNewWritableFile, FileCall::kAppend}},
                                 absl::UnavailableError("death"));
      machine.Apply(&operations[1], 1, Durability::kSync).IgnoreError();

      BatchMachine after(machine.Crash(1, Unsynced::kEverything), true);
      ASSERT_OK(after.Start(2));
      const auto found = after.Read();
      ExpectWhole(operations, found);
      ExpectPrefix(operations, found, true, [](size_t) { return 0; });
      ++(found[0].contains(1) ? whole : none);
      // It is settled: another opening finds the same, whatever the first one had done by then.
      ASSERT_OK(after.Apply(&operations[2], 2, Durability::kSync));
      BatchMachine again(after.Crash(1, Unsynced::kNothing), true);
      ASSERT_OK(again.Start(3));
      EXPECT_EQ(again.Read()[0].contains(1), found[0].contains(1));
      EXPECT_TRUE(again.Read()[5].contains(2));
    }
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(none, 0);
}

// Recovery is interrupted before each of its calls, and the next opening goes on.
TEST(BatchCrashTest, RecoveryIsInterruptedAtEachCall) {
  BatchMachine machine(std::make_unique<InMemoryFileSystem>(), false);
  ASSERT_OK(machine.Start(3));
  std::vector<BatchOperation> operations(3, {.places = {0, 1, 2, 3, 4, 5}});
  ASSERT_OK(machine.Apply(&operations[0], 0, Durability::kSync));
  // So nothing else is in the logs, and no flush moves a redo point behind the part.
  for (const char* const table : {"t", "u", "v"}) ASSERT_OK(machine.database()->Flush(table));
  // One of three logs gets no part, and nothing can say so.
  machine.faults().CountCalls({.kinds = {FileCall::kLogWrite}});
  machine.faults().FailCall(2, absl::UnavailableError("death"));
  machine.faults().FailCalls({.kinds = {FileCall::kNewWritableFile, FileCall::kAppend}},
                             absl::UnavailableError("death"));
  ASSERT_FALSE(machine.Apply(&operations[1], 1, Durability::kBuffered).ok());
  const auto disk = machine.Crash(1, Unsynced::kEverything);
  int interrupted = 0;
  bool is_open = false;
  // Most calls are those before the logs are removed.
  for (uint64_t call = 1; !is_open; call += call < 380 ? 7 : kSlow ? 2 : 1) {
    ASSERT_LT(call, 2000u);
    SCOPED_TRACE(absl::StrCat("call ", call));
    BatchMachine first(disk->CrashClone(1, Unsynced::kEverything), true);
    first.faults().CountCalls();
    first.faults().FailCall(call, absl::UnavailableError("death"),
                            FaultyFileSystem::Repeat::kFromThenOn);
    is_open = first.Start(2).ok();
    interrupted += is_open ? 0 : 1;
    BatchMachine after(
        first.Crash(call, call % 2 == 0 ? Unsynced::kEverything : Unsynced::kRandomPart), true);
    ASSERT_OK(after.Start(3));
    const auto found = after.Read();
    ExpectWhole(operations, found);
    EXPECT_TRUE(found[0].contains(0));
    EXPECT_FALSE(found[0].contains(1));
  }
  EXPECT_GT(interrupted, 60);
}

// A server syncs its log, or flushes, behind the part of a batch whose other part is not synced.
TEST(BatchCrashTest, WhatFollowsAPartIsNotDurableBeforeAllOfTheBatchIs) {
  for (const bool flushes : {false, true}) {
    SCOPED_TRACE(flushes ? "flush" : "sync");
    BatchMachine machine(std::make_unique<InMemoryFileSystem>(), true);
    ASSERT_OK(machine.Start(3));
    std::vector<BatchOperation> operations = {{.places = {0, 1, 2, 3, 4, 5}}, {.places = {0}}};
    ASSERT_OK(machine.Apply(&operations[0], 0, Durability::kBuffered));
    if (flushes) {
      ASSERT_OK(machine.database()->Flush("t"));
    } else {
      ASSERT_OK(machine.Apply(&operations[1], 1, Durability::kSync));
    }
    BatchMachine after(machine.Crash(1, Unsynced::kNothing), true);
    ASSERT_OK(after.Start(3));
    const auto found = after.Read();
    ExpectWhole(operations, found);
    EXPECT_TRUE(found[0].contains(0));
    EXPECT_EQ(found[0].contains(1), !flushes);
  }
}

// The log of one server cannot be synced. The others go on without the batch, and after a crash it
// is on none.
TEST(BatchCrashTest, ABatchThatOneServerCouldNotKeepIsOnNone) {
  BatchMachine machine(std::make_unique<InMemoryFileSystem>(), true);
  ASSERT_OK(machine.Start(3));
  std::vector<BatchOperation> operations(7, {.places = {0, 1, 2, 3, 4, 5}});
  ASSERT_OK(machine.Apply(&operations[0], 0, Durability::kSync));
  machine.faults().CountCalls({.kinds = {FileCall::kLogSync}});
  machine.faults().FailCall(2, absl::UnavailableError("sync fault"));
  EXPECT_STATUS(kUnavailable, "sync fault", machine.Apply(&operations[1], 1, Durability::kSync));
  // One server refuses writes, and those of the others are acknowledged.
  size_t acknowledged = 0;
  for (size_t place = 0; place < kBatchPlaceCount - 1; ++place) {
    operations[2 + place].places = {place};
    acknowledged += machine.Apply(&operations[2 + place], 2 + place, Durability::kSync).ok();
  }
  EXPECT_GT(acknowledged, 0u);
  EXPECT_LT(acknowledged, kBatchPlaceCount - 1);
  for (const auto survives : {Unsynced::kEverything, Unsynced::kNothing}) {
    BatchMachine after(machine.Crash(1, survives), true);
    ASSERT_OK(after.Start(3));
    const auto found = after.Read();
    ExpectWhole(operations, found);
    EXPECT_FALSE(found[0].contains(1));
    ExpectPrefix(operations, found, true, [](size_t place) { return static_cast<int>(place); });
  }
  ASSERT_OK(machine.database()->Resume());
  ASSERT_OK(machine.Apply(&operations[1], 1, Durability::kSync));
  EXPECT_TRUE(machine.Read()[0].contains(1));
}

// There is no room for the part of one server.
TEST(BatchCrashTest, AFullDiskRefusesTheBatchAlone) {
  BatchMachine machine(std::make_unique<InMemoryFileSystem>(), true);
  ASSERT_OK(machine.Start(3));
  std::vector<BatchOperation> operations;
  machine.disk().set_max_total_bytes(machine.disk().total_bytes() + (100 << 10));
  bool was_refused = false;
  for (size_t k = 0; k < 20000 && !was_refused; ++k) {
    operations.push_back({.places = {k % 2, 2, 3, 5}});
    const absl::Status status = machine.Apply(&operations.back(), k, Durability::kBuffered);
    was_refused = !status.ok();
    if (was_refused) {
      EXPECT_STATUS(kResourceExhausted, "found no room", status);
    }
  }
  EXPECT_TRUE(was_refused);
  ExpectWhole(operations, machine.Read());
  machine.disk().set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  operations.push_back({.places = {0, 1, 2, 3, 4, 5}});
  absl::Status status;
  for (int i = 0; i < 1000; ++i) {
    status = machine.Apply(&operations.back(), operations.size() - 1, Durability::kBuffered);
    if (status.ok()) break;
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_OK(status);
  BatchMachine after(machine.Crash(1, Unsynced::kEverything), true);
  ASSERT_OK(after.Start(3));
  const auto found = after.Read();
  ExpectWhole(operations, found);
  ExpectPrefix(operations, found, true, [](size_t place) { return static_cast<int>(place); });
}

}  // namespace
}  // namespace bigtable
