// The death of the process. A child writes to a database on disk and reports acknowledged writes
// through a pipe. The parent kills it at a random time, opens the database and checks it: every
// acknowledged write is there, the found writes are a prefix of all writes, and no write is there
// in part.
//
// The child is this program, run with KillTestChild alone, because a process that has had databases
// open must not fork without exec.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/expect_status.h"
#include "support/numbered_writes.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

constexpr const char* kChildVariable = "BIGTABLE_KILL_TEST_CHILD";

// The instructions of the child, which its environment contains.
struct Order {
  std::string path;
  uint64_t options_seed = 0;
  Durability durability = Durability::kBuffered;
  uint64_t writes = 0;           // of each writer
  std::vector<uint64_t> starts;  // the first write of each writer
  bool changes_tablets = false;  // the child also changes tablets
  int pipe = -1;

  std::string Encode() const {
    return absl::StrCat(path, ";", options_seed, ";", static_cast<int>(durability), ";", writes,
                        ";", absl::StrJoin(starts, ","), ";", int{changes_tablets}, ";", pipe);
  }
  static Order Decode(const std::string& text) {
    const std::vector<std::string> fields = absl::StrSplit(text, ';');
    Order order;
    order.path = fields.at(0);
    order.options_seed = std::stoull(fields.at(1));
    order.durability = static_cast<Durability>(std::stoi(fields.at(2)));
    order.writes = std::stoull(fields.at(3));
    for (const auto& start : absl::StrSplit(fields.at(4), ',')) {
      order.starts.push_back(std::stoull(std::string(start)));
    }
    order.changes_tablets = std::stoi(fields.at(5)) != 0;
    order.pipe = std::stoi(fields.at(6));
    return order;
  }

  DatabaseOptions Options() const {
    Random random(options_seed);
    DatabaseOptions options = SmallOptions(random);
    options.durability = durability;
    options.tablet_servers = static_cast<int>(random.Between(1, 3));
    return options;
  }
};

// Sent through the pipe when a write was acknowledged. Small enough for the pipe to take at once.
struct Acknowledgement {
  uint64_t writer;
  uint64_t number;
};

// --- The child ---

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "KillTestChild: %s\n", why.c_str());
  std::_Exit(1);
}

void Write(const Order& order, Database* database, Table* table, int writer) {
  const uint64_t start = order.starts[static_cast<size_t>(writer)];
  for (uint64_t k = start; k < start + order.writes; ++k) {
    const absl::Status status = table->Apply(NumberedWrite(writer, k));
    if (!status.ok()) Die(absl::StrCat("write ", k, ": ", status.ToString()));
    // Without a log nothing is promised before the flush.
    if (order.durability == Durability::kNone) {
      if (k + 1 < start + order.writes) continue;
      if (const absl::Status flushed = database->Flush(kNumberedTable); !flushed.ok()) {
        Die(flushed.ToString());
      }
    }
    const Acknowledgement acknowledgement{static_cast<uint64_t>(writer), k};
    if (write(order.pipe, &acknowledgement, sizeof acknowledgement) != sizeof acknowledgement) {
      Die("the parent has died");
    }
  }
}

// Splits, merges and moves tablets, so that the child is also killed during these.
void ChangeTablets(const Order& order, Database* database) {
  Random random(order.options_seed);
  const int servers = order.Options().tablet_servers;
  while (true) {
    const std::string row =
        NumberedRow(static_cast<int>(random.Below(order.starts.size())), random.Next());
    const absl::StatusOr<std::vector<TabletInfo>> tablets = database->ListTablets(kNumberedTable);
    if (!tablets.ok()) Die(tablets.status().ToString());
    absl::Status status;
    switch (random.Below(4)) {
      case 0:
        if (tablets->size() < 6) status = database->SplitTablet(kNumberedTable, row);
        break;
      case 1:
        if (tablets->size() > 1) {
          const size_t i = 1 + random.Below(tablets->size() - 1);
          status = database->MergeTablets(kNumberedTable, (*tablets)[i].rows.begin());
        }
        break;
      case 2:
        status = database->MoveTablet(
            kNumberedTable, row, static_cast<int>(random.Below(static_cast<uint64_t>(servers))));
        break;
      default:
        absl::SleepFor(absl::Milliseconds(random.Below(10)));
        break;
    }
    // The table's split rule may have made the change first.
    if (!status.ok() && !absl::IsAlreadyExists(status) && !absl::IsNotFound(status)) {
      Die(absl::StrCat("a change of tablets: ", status.ToString()));
    }
  }
}

[[noreturn]] void RunChild(const Order& order) {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(order.path, order.Options());
  if (!database.ok()) Die(database.status().ToString());
  absl::StatusOr<Table*> table = (*database)->OpenTable(kNumberedTable);
  if (absl::IsNotFound(table.status())) {
    TableSchema schema = NumberedSchema();
    schema.split = {.tablet_size = 256 << 10, .merge_size = 32 << 10};
    const absl::Status created = (*database)->CreateTable(kNumberedTable, schema);
    if (!created.ok()) Die(created.ToString());
    table = (*database)->OpenTable(kNumberedTable);
  }
  if (!table.ok()) Die(table.status().ToString());

  std::vector<std::thread> writers;
  for (size_t i = 1; i < order.starts.size(); ++i) {
    writers.emplace_back(Write, order, database->get(), *table, static_cast<int>(i));
  }
  if (order.changes_tablets) {
    writers.emplace_back(ChangeTablets, order, database->get());
  }
  Write(order, database->get(), *table, 0);
  for (std::thread& writer : writers) writer.join();
  while (true) pause();
}

TEST(KillTestChild, WritesUntilItIsKilled) {
  const char* const order = std::getenv(kChildVariable);
  if (order == nullptr) GTEST_SKIP() << "only as a child of KillTest";
  RunChild(Order::Decode(order));
}

// --- The parent ---

class Child {
 public:
  explicit Child(Order order) : acknowledged_(order.starts) {
    std::array<int, 2> ends;
    if (pipe(ends.data()) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0) std::abort();
    pipe_ = ends[0];
    order.pipe = ends[1];
    // All memory is allocated before the fork.
    const std::string variable = absl::StrCat(kChildVariable, "=", order.Encode());
    std::string filter = "--gtest_filter=KillTestChild.*";
    std::string name = "/proc/self/exe";
    std::vector<char*> arguments = {name.data(), filter.data(), nullptr};
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    environment.push_back(const_cast<char*>(variable.c_str()));
    environment.push_back(nullptr);
    id_ = fork();
    if (id_ == 0) {
      dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
      execve("/proc/self/exe", arguments.data(), environment.data());
      _exit(127);
    }
    close(ends[1]);
    if (id_ < 0) std::abort();
  }
  ~Child() {
    Kill();
    close(pipe_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits until this number of writes was acknowledged, or the child is dead.
  void WaitForWrites(uint64_t count) {
    for (uint64_t seen = 0; seen < count;) {
      const uint64_t some = ReadSome();
      if (some == 0) return;
      seen += some;
    }
  }
  // Kills the child, and reads its last reports. False if it had died by itself.
  bool Kill() {
    if (id_ < 0) return true;
    kill(id_, SIGKILL);
    while (ReadSome() > 0) {
    }
    int status = 0;
    waitpid(id_, &status, 0);
    id_ = -1;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }
  // For each writer, one more than the number of its last acknowledged write.
  const std::vector<uint64_t>& acknowledged() const { return acknowledged_; }

 private:
  // The number of acknowledgements that were read; 0 when the child is dead.
  uint64_t ReadSome() {
    std::array<Acknowledgement, 256> some;
    ssize_t n = 0;
    do {
      n = read(pipe_, some.data(), sizeof some);
    } while (n < 0 && errno == EINTR);
    const uint64_t count = n < 0 ? 0 : static_cast<uint64_t>(n) / sizeof some[0];
    for (uint64_t i = 0; i < count; ++i) acknowledged_.at(some[i].writer) = some[i].number + 1;
    return count;
  }

  pid_t id_ = -1;
  int pipe_ = -1;
  std::vector<uint64_t> acknowledged_;
};

// The number of writes in the database, for each writer.
absl::StatusOr<std::vector<uint64_t>> Recover(const Order& order, bool read_only) {
  DatabaseOptions options = order.Options();
  options.read_only = read_only;
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(order.path, options);
  if (!database.ok()) return database.status();
  Tally("reopenings");
  absl::StatusOr<Table*> table = (*database)->OpenTable(kNumberedTable);
  if (absl::IsNotFound(table.status())) return std::vector<uint64_t>(order.starts.size());
  if (!table.ok()) return table.status();
  return CountNumberedWrites(*table, static_cast<int>(order.starts.size()));
}

// Kills a child that follows `order`, and compares the database with the acknowledged writes. After
// that, the order's starts are those of the next child.
void RunRound(Random& random, Order* order) {
  order->options_seed = random.Next();
  order->changes_tablets = !random.OneIn(4);
  Child child(*order);
  if (random.OneIn(5)) {  // also while the database is opened
    absl::SleepFor(absl::Microseconds(random.Below(30'000)));
  } else {
    child.WaitForWrites(random.Below(order->writes * order->starts.size()));
    absl::SleepFor(absl::Microseconds(random.Below(100)));
  }
  ASSERT_TRUE(child.Kill()) << "the child died by itself: see its messages above";
  Tally("kills");

  if (random.OneIn(4) && std::filesystem::exists(order->path + "/LOG")) {
    const absl::StatusOr<std::vector<uint64_t>> seen = Recover(*order, /*read_only=*/true);
    ASSERT_TRUE(seen.ok() || absl::IsNotFound(seen.status())) << seen.status();
  }
  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> found, Recover(*order, /*read_only=*/false));
  for (size_t writer = 0; writer < found.size(); ++writer) {
    EXPECT_GE(found[writer], child.acknowledged()[writer]) << "an acknowledged write is lost";
    EXPECT_LE(found[writer], child.acknowledged()[writer] + 1) << "a write that was never made";
  }
  order->starts = found;
}

void ForgetAll(Order* order) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                       Database::Open(order->path, order->Options()));
  ASSERT_OK(database->DeleteTable(kNumberedTable));
  ASSERT_OK(database->Close());
  order->starts.assign(order->starts.size(), 0);
}

// Rounds in one directory, or each in a fresh one.
void RunRounds(uint64_t seed, int rounds, Durability durability, uint64_t writes, bool fresh) {
  Random random(seed);
  std::optional<TempDirectory> directory;
  Order order;
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    if (round == 0 || fresh) {
      // A killed process leaves the same on any file system, so mostly no disk is used.
      directory.emplace(durability == Durability::kSync ? TempDirectory::Where::kDisk
                                                        : TempDirectory::Where::kMemory);
      order = Order{};
      order.path = directory->database();
      order.durability = durability;
      order.starts.assign(random.OneIn(3) ? 3 : 1, 0);
      order.writes = writes / order.starts.size();
    }
    RunRound(random, &order);
    // Checking everything again each time must not take longer than writing it.
    if (*std::max_element(order.starts.begin(), order.starts.end()) > writes) {
      ForgetAll(&order);
    }
  }
}

// Five seeds: fifty kills.
TEST(KillTest, RandomKillsLoseNothingAcknowledgedAndKeepAPrefix) {
  ForEachSeed(kSlow ? 2 : 5, [](uint64_t seed) {
    RunRounds(seed, kSlow ? 4 : 10, Durability::kBuffered, kSlow ? 2'000 : 10'000,
              /*fresh=*/seed % 2 == 0);
  });
}

TEST(KillTest, RandomKillsLoseNothingSynced) {
  ForEachSeed(2, [](uint64_t seed) {
    RunRounds(seed, 5, Durability::kSync, 200, /*fresh=*/seed % 2 == 0);
  });
}

TEST(KillTest, FlushedDataNeedsNoLog) {
  const TempDirectory directory;
  Order order;
  order.path = directory.database();
  order.durability = Durability::kNone;
  order.writes = 1'000;
  order.starts = {0};
  Child child(order);
  child.WaitForWrites(1);  // the child reports once, after the flush
  ASSERT_TRUE(child.Kill());

  ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> found, Recover(order, /*read_only=*/false));

  EXPECT_EQ(found[0], 1'000u);
}

// A lock whose holder is dead is free.
TEST(KillTest, AKilledProcessLeavesTheDirectoryFree) {
  const TempDirectory directory;
  Order order;
  order.path = directory.database();
  order.writes = 10;
  order.starts = {0};
  Child child(order);
  child.WaitForWrites(10);

  const absl::Status beside = Database::Open(order.path, order.Options()).status();
  ASSERT_TRUE(child.Kill());
  const absl::Status after = Database::Open(order.path, order.Options()).status();

  EXPECT_STATUS(kFailedPrecondition, order.path, beside);
  EXPECT_OK(after);
}

}  // namespace
}  // namespace bigtable
