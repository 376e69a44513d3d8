// Splits, moves and merges of tablets that are interrupted.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/status.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// Power is lost before each call of the file system that a change makes. After it the table has all
// its rows, in the tablets from before the change or in those after it, and in the latter if the
// change was acknowledged.
class TabletChangesPowerLossTest : public TabletsFixture {
 protected:
  // `change` turns the tablets [, row00010) and [row00010, ) into those that `after` shows.
  void LosePowerAtEachCall(const std::function<absl::Status(Database*)>& change,
                           const std::string& after) {
    const std::string before = "[,row00010) [row00010,)";
    int changed = 0, unchanged = 0;
    // Until several runs end without a fault: background threads make calls too.
    for (uint64_t call = 1, whole = 0; whole < 5 && call < 200; ++call) {
      InMemoryFileSystem memory;
      FaultyFileSystem faulty(&memory);
      DatabaseOptions options = WithServers(2);
      options.file_system = &faulty;
      options.durability = Durability::kSync;
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database, Database::Open(kPath, options));
      ASSERT_OK(database->CreateTable("t", StillSchema()));
      ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("t"));
      Fill(table, 0, 15);
      ASSERT_OK(database->Flush("t"));
      ASSERT_OK(database->SplitTablet("t", RowOf(10)));
      Fill(table, 15, 20);
      ASSERT_OK(database->WaitUntilQuiet());
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
          call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      const bool done = change(database.get()).ok();
      whole += done ? 1 : 0;
      for (const uint64_t seed : {uint64_t{0}, call}) {
        SCOPED_TRACE(Cat("call ", call, ", seed ", seed));
        const auto found =
            memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
        options.file_system = found.get();
        options.read_only = true;
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
        const std::string tablets = ShowRanges("t");
        ExpectFilled(OpenTable("t"), 0, 20);
        options.read_only = false;
        database_.reset();
        ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
        EXPECT_EQ(ShowRanges("t"), tablets);
        ++(tablets == after ? changed : unchanged);
        if (tablets != after) {
          EXPECT_FALSE(done);
          EXPECT_EQ(tablets, before);
        }
        ExpectFilled(OpenTable("t"), 0, 20);
        // The remains of an interrupted change do not block later work.
        ASSERT_OK(database_->Compact("t"));
        ASSERT_OK(tablets == after ? database_->Flush("t") : change(database_.get()));
        ExpectFilled(OpenTable("t"), 0, 20);
        ASSERT_OK(database_->Close());
      }
      database.reset();  // a clean close is not possible any more
    }
    EXPECT_GT(changed, 0);
    EXPECT_GT(unchanged, 0);
  }
};

TEST_F(TabletChangesPowerLossTest, ASplitIsMadeOrNot) {
  LosePowerAtEachCall([](Database* database) { return database->SplitTablet("t", RowOf(5)); },
                      "[,row00005) [row00005,row00010) [row00010,)");
}

TEST_F(TabletChangesPowerLossTest, AMergeIsMadeOrNot) {
  LosePowerAtEachCall([](Database* database) { return database->MergeTablets("t", RowOf(10)); },
                      "[,)");
}

TEST_F(TabletChangesPowerLossTest, AMoveLosesNothing) {
  LosePowerAtEachCall(
      [](Database* database) {
        BT_RETURN_IF_ERROR(database->MoveTablet("t", RowOf(10), 1));
        return database->SplitTablet("t", RowOf(15));
      },
      "[,row00010) [row00010,row00015) [row00015,)");
}

// A single call of the file system fails during a change. After Resume everything works again, and
// the change can be made.
class TabletChangesFaultTest : public TabletsFixture {
 protected:
  // `change` turns the tablets [, row00010) and [row00010, ) into those that `after` shows.
  void FailEachCallOnce(const std::function<absl::Status(Database*)>& change,
                        const std::string& after) {
    const std::string before = "[,row00010) [row00010,)";
    int failed = 0;
    for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; ++call) {
      SCOPED_TRACE(Cat("call ", call));
      FaultyFileSystem faulty(file_system_.get());
      DatabaseOptions options = WithServers(2);
      options.file_system = &faulty;
      ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
      Table* const table = CreateStillTable();
      Fill(table, 0, 15);
      ASSERT_OK(database_->Flush("t"));
      ASSERT_OK(database_->SplitTablet("t", RowOf(10)));
      Fill(table, 15, 20);
      ASSERT_OK(database_->WaitUntilQuiet());
      faulty.CountCalls();
      faulty.FailCall(
          call, absl::ResourceExhaustedError("disk full"), FaultyFileSystem::Repeat::kOnce,
          call % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
      const bool done = change(database_.get()).ok();
      whole += faulty.faults() == 0 ? 1 : 0;
      failed += done ? 0 : 1;
      faulty.CountCalls();
      ExpectFilled(table, 0, 20);  // reads continue
      ASSERT_OK(database_->Resume());
      EXPECT_EQ(ShowRanges("t"), done ? after : before);
      Fill(table, 0, 20, "w");
      ASSERT_OK(done ? absl::OkStatus() : change(database_.get()));
      EXPECT_EQ(ShowRanges("t"), after);
      ExpectFilled(table, 0, 20, "w");
      ASSERT_OK(database_->Compact("t"));
      ASSERT_OK(database_->WaitUntilQuiet());
      const std::unique_ptr<InMemoryFileSystem> found =
          file_system_->CrashClone(call, Unsynced::kEverything);
      options.file_system = found.get();
      ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> reopened, Database::Open(kPath, options));
      database_.swap(reopened);
      EXPECT_EQ(ShowRanges("t"), after);
      ExpectFilled(OpenTable("t"), 0, 20, "w");
      ASSERT_OK(database_->Close());
      database_.swap(reopened);
      ASSERT_OK(database_->DeleteTable("t"));
      ASSERT_OK(database_->Close());
      database_.reset();
      file_system_ = std::make_unique<InMemoryFileSystem>();
    }
    EXPECT_GT(failed, 1);
  }
};

TEST_F(TabletChangesFaultTest, ASplitThatFailsCanBeMadeLater) {
  FailEachCallOnce([](Database* database) { return database->SplitTablet("t", RowOf(5)); },
                   "[,row00005) [row00005,row00010) [row00010,)");
}

TEST_F(TabletChangesFaultTest, AMergeThatFailsCanBeMadeLater) {
  FailEachCallOnce([](Database* database) { return database->MergeTablets("t", RowOf(10)); },
                   "[,)");
}

TEST_F(TabletChangesFaultTest, AMoveThatFailsCanBeMadeLater) {
  FailEachCallOnce(
      [](Database* database) {
        for (const int server : {0, 1, 0}) {
          BT_RETURN_IF_ERROR(database->MoveTablet("t", RowOf(10), server));
        }
        return absl::OkStatus();
      },
      "[,row00010) [row00010,)");
}

}  // namespace
}  // namespace bigtable
