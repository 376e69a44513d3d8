// Database::Apply of a WriteBatch: mutations of several rows, tables, tablets and servers, applied
// together or not at all, and seen so by every reader.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/faulty_network.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// Tables "t" and "u" of four tablets each, on three servers.
class WriteBatchTest : public TabletsFixture {
 protected:
  void OpenTables() {
    Open(WithServers(3));
    t_ = CreateSplitTable("t", 4, 10);
    u_ = CreateSplitTable("u", 4, 10);
  }
  // A row of each tablet of both tables.
  WriteBatch EverywhereBatch(std::string_view value) const {
    WriteBatch batch;
    for (Table* const table : {t_, u_}) {
      for (const int row : {1, 11, 21, 31}) {
        batch.Apply(table, RowMutation(RowOf(row)).Set("f:q", Timestamp(1), value));
      }
    }
    return batch;
  }
  std::string ShowEverywhere(const ReadOptions& options = {}) const {
    std::string text;
    for (Table* const table : {t_, u_}) {
      for (const int row : {1, 11, 21, 31}) {
        text += Show(table->ReadRow(RowOf(row), Filter::PassAll(), options)) + ";";
      }
    }
    return text;
  }
  static std::string Everywhere(std::string_view value) {
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += value.empty() ? ";" : absl::StrCat("f:q@1=", std::string(value), ";");
    return text;
  }

  Table* t_ = nullptr;
  Table* u_ = nullptr;
};

TEST_F(WriteBatchTest, AllMutationsAreAppliedAndRecovered) {
  OpenTables();
  ASSERT_OK(database_->Apply(EverywhereBatch("a")));
  EXPECT_EQ(ShowEverywhere(), Everywhere("a"));
  ASSERT_OK(database_->Apply(EverywhereBatch("b"), {.durability = Durability::kSync}));
  EXPECT_EQ(ShowEverywhere(), Everywhere("b"));

  Kill();
  Open(WithServers(2));
  t_ = OpenTable("t");
  u_ = OpenTable("u");
  EXPECT_EQ(ShowEverywhere(), Everywhere("b"));
  ASSERT_OK(database_->Flush("t"));
  Reopen(WithServers(3));
  t_ = OpenTable("t");
  u_ = OpenTable("u");
  EXPECT_EQ(ShowEverywhere(), Everywhere("b"));
}

TEST_F(WriteBatchTest, MutationsTakeEffectInCallOrder) {
  OpenTables();
  WriteBatch batch;
  batch.Apply(t_, RowMutation(RowOf(1)).Set("f:q", Timestamp(1), "first"));
  batch.Apply(u_, RowMutation(RowOf(31)).Set("f:q", Timestamp(1), "other"));
  batch.Apply(t_, RowMutation(RowOf(1)).DeleteRow().Set("f:r", Timestamp(2), "second"));
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "f:r@2=second");
  // Within one tablet too, and as often as one likes.
  batch.Clear();
  batch.Apply(t_, RowMutation(RowOf(2)).DeleteRow());
  batch.Apply(t_, RowMutation(RowOf(2)).Set("f:q", Timestamp(1), "x"));
  ASSERT_OK(database_->Apply(batch));
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(2))), "f:q@1=x");
}

TEST_F(WriteBatchTest, TheServersTimeIncreasesInEachTablet) {
  OpenTables();
  WriteBatch batch;
  for (int i = 0; i < 3; ++i) {
    batch.Apply(t_, RowMutation(RowOf(1)).Set("f:q", absl::StrCat(i)));
    batch.Apply(u_, RowMutation(RowOf(1)).Set("f:q", absl::StrCat(i)));
  }
  ASSERT_OK(database_->Apply(batch));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "f:q@1002=2 f:q@1001=1 f:q@1000=0");
  EXPECT_EQ(Show(u_->ReadRow(RowOf(1))), "f:q@1002=2 f:q@1001=1 f:q@1000=0");
}

TEST_F(WriteBatchTest, ARefusedMutationKeepsTheOthersFromBeingApplied) {
  OpenTables();
  const auto refused = [&](Table* table, const RowMutation& mutation) {
    WriteBatch batch = EverywhereBatch("x");
    batch.Apply(table, mutation);
    const absl::Status status = database_->Apply(batch);
    EXPECT_EQ(ShowEverywhere(), Everywhere("")) << status;
    return status;
  };
  EXPECT_STATUS(kInvalidArgument, "a row key must not be empty",
                refused(t_, RowMutation("").Set("f:q", "x")));
  EXPECT_STATUS(kInvalidArgument, "no colon", refused(t_, RowMutation("a").Set("f", "x")));
  EXPECT_STATUS(kNotFound, "\"g\"", refused(u_, RowMutation("a").Set("g:q", "x")));
  // In one tablet.
  WriteBatch batch;
  batch.Apply(t_, RowMutation(RowOf(1)).Set("f:q", "x"));
  batch.Apply(t_, RowMutation(RowOf(2)).Set("g:q", "x"));
  EXPECT_STATUS(kNotFound, "\"g\"", database_->Apply(batch));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "");
}

TEST_F(WriteBatchTest, OptionsAndTablesAreChecked) {
  OpenTables();
  EXPECT_OK(database_->Apply(WriteBatch()));
  const WriteBatch batch = EverywhereBatch("x");
  EXPECT_STATUS(kInvalidArgument, "durability",
                database_->Apply(batch, {.durability = static_cast<Durability>(9)}));
  EXPECT_STATUS(kDeadlineExceeded, "", database_->Apply(batch, {.deadline = absl::InfinitePast()}));
  InMemoryFileSystem other_disk;
  DatabaseOptions options = Options();
  options.file_system = &other_disk;
  auto other = Database::Open(kPath, options);
  ASSERT_OK(other);
  EXPECT_STATUS(kInvalidArgument, "another database", (*other)->Apply(batch));
  ASSERT_OK(database_->DeleteTable("u"));
  EXPECT_STATUS(kNotFound, "table u was deleted", database_->Apply(batch));
  EXPECT_EQ(Show(t_->ReadRow(RowOf(1))), "");
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "closed", database_->Apply(batch));
}

TEST_F(WriteBatchTest, LimitsAreNamed) {
  OpenTables();
  WriteBatch batch;
  const RowMutation mutation = RowMutation("r").DeleteRow();
  for (size_t i = 0; i < WriteBatch::kMaxMutations; ++i) batch.Apply(t_, mutation);
  EXPECT_OK(batch.status());
  batch.Apply(t_, mutation);
  EXPECT_STATUS(kInvalidArgument, absl::StrCat(WriteBatch::kMaxMutations), batch.status());
  EXPECT_STATUS(kInvalidArgument, "at most", database_->Apply(batch));
  batch.Clear();
  EXPECT_OK(batch.status());
  EXPECT_EQ(batch.mutation_count(), 0u);
}

TEST_F(WriteBatchTest, ACallerNeedsPermissionForAllMutations) {
  OpenTables();
  ASSERT_OK(database_->SetAccessList("writers", {.readers = {}, .writers = {"ann"}}));
  TableSchema schema = StillSchema();
  schema.families["f"].access_list = "writers";
  ASSERT_OK(database_->CreateTable("closed", schema));
  const absl::StatusOr<Table*> as_bob = database_->OpenTable("closed", {.caller = "bob"});
  ASSERT_OK(as_bob);
  WriteBatch batch = EverywhereBatch("x");
  batch.Apply(*as_bob, RowMutation("r").Set("f:q", "x"));
  EXPECT_STATUS(kPermissionDenied, "bob", database_->Apply(batch));
  EXPECT_EQ(ShowEverywhere(), Everywhere(""));

  // Also beside mutations of the same tablet that the program itself or another caller may make.
  Table* const as_program = OpenTable("closed");
  const absl::StatusOr<Table*> as_ann = database_->OpenTable("closed", {.caller = "ann"});
  ASSERT_OK(as_ann);
  for (Table* const other : {as_program, *as_ann}) {
    for (const bool is_first : {true, false}) {
      WriteBatch mixed;
      if (is_first) mixed.Apply(other, RowMutation("r").Set("f:q", "x"));
      mixed.Apply(*as_bob, RowMutation("r").Set("f:q", "x"));
      if (!is_first) mixed.Apply(other, RowMutation("r").Set("f:q", "x"));
      EXPECT_STATUS(kPermissionDenied, "bob", database_->Apply(mixed));
    }
  }
  WriteBatch both;
  both.Apply(as_program, RowMutation("r").Set("f:q", Timestamp(1), "x"));
  both.Apply(*as_ann, RowMutation("r").Set("f:q", Timestamp(2), "y"));
  EXPECT_OK(database_->Apply(both));
  EXPECT_EQ(Show(as_program->ReadRow("r")), "f:q@2=y f:q@1=x");
}

TEST_F(WriteBatchTest, ASnapshotSeesAllOfABatchOrNone) {
  OpenTables();
  ASSERT_OK(database_->Apply(EverywhereBatch("a")));
  const auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  ASSERT_OK(database_->Apply(EverywhereBatch("b")));
  EXPECT_EQ(ShowEverywhere({.snapshot = *snapshot}), Everywhere("a"));
  EXPECT_EQ(ShowEverywhere(), Everywhere("b"));
}

TEST_F(WriteBatchTest, TabletsThatWereSplitAndMovedAreFound) {
  OpenTables();
  ASSERT_OK(database_->Apply(EverywhereBatch("a")));
  ASSERT_OK(database_->SplitTablet("t", RowOf(15)));
  ASSERT_OK(database_->MergeTablets("u", RowOf(20)));
  for (int server = 0; server < 3; ++server) {
    ASSERT_OK(database_->MoveTablet("t", RowOf(21), server));
    ASSERT_OK(database_->Apply(EverywhereBatch(absl::StrCat(server))));
    EXPECT_EQ(ShowEverywhere(), Everywhere(absl::StrCat(server)));
  }
}

TEST_F(WriteBatchTest, WithoutALogABatchIsAppliedWholly) {
  OpenTables();
  ASSERT_OK(database_->Apply(EverywhereBatch("a"), {.durability = Durability::kNone}));
  EXPECT_EQ(ShowEverywhere(), Everywhere("a"));
  ASSERT_OK(database_->Apply(EverywhereBatch("b")));
  EXPECT_EQ(ShowEverywhere(), Everywhere("b"));
}

TEST_F(WriteBatchTest, ALostServerIsReplacedAndTheBatchIsApplied) {
  OpenTables();
  DatabasePeer peer(database_.get());
  ASSERT_OK(database_->Apply(EverywhereBatch("a")));
  for (const char* const value : {"b", "c"}) {
    peer.Kill(peer.Servers()[1]);
    ASSERT_OK(database_->Apply(EverywhereBatch(value)));
    EXPECT_EQ(ShowEverywhere(), Everywhere(value));
  }
  Kill();
  Open(WithServers(3));
  t_ = OpenTable("t");
  u_ = OpenTable("u");
  EXPECT_EQ(ShowEverywhere(), Everywhere("c"));
}

TEST_F(WriteBatchTest, MessagesCarryNoBatches) {
  OpenTables();
  DatabasePeer peer(database_.get());
  FaultyNetwork network(1, FaultyNetwork::Faults{});
  peer.UseServices([&](ServerHost* host) { return network.To(host); });
  Table* const t = t_;
  ASSERT_OK(t->Apply(RowMutation(RowOf(1)).Set("f:q", Timestamp(1), "x")));
  EXPECT_STATUS(kUnimplemented, "messages", database_->Apply(EverywhereBatch("a")));
  database_.reset();
}

// Values of all rows are equal whenever they are read at one time, and what is read later is not
// older.
TEST_F(WriteBatchTest, ConcurrentReadersSeeWholeBatches) {
  OpenTables();
  ASSERT_OK(database_->Apply(EverywhereBatch("1000")));
  constexpr int kBatches = 2000;
  constexpr int kLeastReads = 50;
  constexpr int kReads = kSlow ? kLeastReads : 1000;
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  std::atomic<int> next{1001};
  std::atomic<int> reads{0};
  // Each batch adds versions that the reads of its rows pass. Writers that ran ahead of the
  // readers, as they do on a busy machine, would make reads slower and slower.
  const auto is_ahead = [&] { return next - 1001 > kBatches / kReads * (reads + 20); };
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      WriteBatch batch;
      while (!done) {
        if (is_ahead()) {
          absl::SleepFor(absl::Microseconds(100));
          continue;
        }
        // A version of its own for each batch: the newest one is that of the last batch.
        const int value = next++;
        batch.Clear();
        for (Table* const table : {t_, u_}) {
          for (const int row : {1, 11, 21, 31}) {
            batch.Apply(table, RowMutation(RowOf(row))
                                   .Delete("f:q")
                                   .Set("f:q", Timestamp(1), absl::StrCat(value)));
          }
        }
        EXPECT_OK(database_->Apply(batch));
      }
    });
  }
  const auto read_in_order = [&](Table* first, int first_row, Table* then, int then_row) {
    // One writer's batches ascend, and so does what one reader sees of one row.
    const auto before = first->ReadRow(RowOf(first_row));
    const auto after = then->ReadRow(RowOf(then_row));
    EXPECT_OK(before);
    EXPECT_OK(after);
    ++reads;
    return std::pair(std::string(before->cells()[0].value), std::string(after->cells()[0].value));
  };
  std::vector<std::thread> readers;
  readers.emplace_back([&] {
    while (!done) {
      const auto snapshot = database_->TakeSnapshot();
      EXPECT_OK(snapshot);
      const std::string seen = ShowEverywhere({.snapshot = *snapshot});
      EXPECT_EQ(seen, Everywhere(std::string_view(seen).substr(6, seen.find(';') - 6)));
      const auto [before, after] = read_in_order(t_, 1, u_, 31);
      const auto [again, last] = read_in_order(u_, 31, t_, 1);
      // If the first row did not change in between, the second had the same value all the time.
      if (before == last) {
        EXPECT_EQ(before, after);
        EXPECT_EQ(before, again);
      }
    }
  });
  readers.emplace_back([&] {
    while (!done) {
      RowReader rows = t_->ReadRows(RowRange::All());
      std::string first;
      for (const Row& row : rows) {
        if (first.empty()) first = row.cells()[0].value;
        EXPECT_EQ(row.cells()[0].value, first);
      }
      EXPECT_OK(rows.status());
    }
  });
  // Readers wait for the writers of each snapshot: a thread that spins here would slow them down.
  const SteadyTime begin = SteadyTime::Now();
  const auto is_enough = [&] {
    if (next > kBatches + 1000 && reads >= kReads) return true;
    // Each read at a snapshot waits for turns of the writers, and on a busy machine these wait for
    // a processor.
    return reads >= kLeastReads && SteadyTime::Now() - begin > absl::Seconds(5);
  };
  while (!is_enough()) absl::SleepFor(absl::Milliseconds(1));
  done = true;
  for (std::thread& thread : writers) thread.join();
  for (std::thread& thread : readers) thread.join();
}

// The writers of eight threads each add to a row of their own in every tablet, and beside them
// tablets are split, merged and moved, and servers are lost.
TEST_F(WriteBatchTest, ThreadsLoseNothingWhenTabletsChange) {
  OpenTables();
  constexpr int kThreads = 8;
  constexpr int kBatches = kSlow ? 200 : 1500;
  std::atomic<int> left{kThreads};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 1; i <= kBatches; ++i) {
        WriteBatch batch;
        for (const int row : {2, 12, 22, 32}) {
          batch.Apply(i % 2 == 0 ? t_ : u_,
                      RowMutation(RowOf(row)).Set(absl::StrCat("f:", thread), Timestamp(i), "x"));
        }
        EXPECT_OK(database_->Apply(
            batch, {.durability = i % 100 == 0 ? Durability::kSync : Durability::kBuffered}));
      }
      --left;
    });
  }
  DatabasePeer peer(database_.get());
  // A server that was lost just now takes no tablet.
  const auto expect_changed = [](const absl::Status& status) {
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  };
  for (int step = 0; left > 0; ++step) {
    expect_changed(database_->MoveTablet("t", RowOf(22), step % 3));
    const absl::Status changed = step % 2 == 0 ? database_->SplitTablet("u", RowOf(12))
                                               : database_->MergeTablets("u", RowOf(12));
    if (!absl::IsAlreadyExists(changed) && !absl::IsNotFound(changed)) expect_changed(changed);
    if (step % 4 == 3 && !peer.Servers().empty()) peer.Kill(peer.Servers().front());
  }
  for (std::thread& thread : threads) thread.join();
  const auto count = [&](Table* table, int row) {
    const auto found = table->ReadRow(RowOf(row));
    EXPECT_OK(found);
    return found.ok() ? found->cells().size() : 0;
  };
  for (const int row : {2, 12, 22, 32}) {
    EXPECT_EQ(count(t_, row), size_t{kThreads} * kBatches / 2);
    EXPECT_EQ(count(u_, row), size_t{kThreads} * kBatches / 2);
  }
}

}  // namespace
}  // namespace bigtable
