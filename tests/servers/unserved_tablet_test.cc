// Moves, splits and merges that fail while a server refuses writes. No tablet is left without a
// server, and a call that waits for an unloadable tablet gets the reason.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

class UnservedTabletTest : public TabletsFixture {
 protected:
  void TearDown() override {
    if (faulty_ != nullptr) faulty_->ClearFaults();
    database_.reset();  // before the file system
  }
  void OpenFaulty(int servers) {
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    // Positional writes, so that a log write is a call that can fail.
    faulty_ = std::make_unique<FaultyFileSystem>(
        file_system_.get(), FaultyFileSystem::Options{.hide_log_mappings = true});
    DatabaseOptions options = WithServers(servers);
    options.file_system = faulty_.get();
    options.balance_interval = absl::Hours(1);
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  }
  static ReadOptions Soon() { return {.deadline = absl::Now() + absl::Seconds(20)}; }
  // Calls `function` once, before the n-th of the master's next steps.
  void AtMasterStep(int n, std::function<void()> function) {
    auto step = std::make_shared<std::atomic<int>>(0);
    DatabasePeer(database_.get()).OnMasterStep([=] {
      if (++*step == n) function();
    });
  }
  TabletServer* ServerOf(int number) {
    return DatabasePeer(database_.get()).Hosts()[static_cast<size_t>(number)]->server();
  }
  // Without Resume: all calls end, and all earlier data can be read.
  void ExpectServed(Table* table, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      ASSERT_OK_AND_ASSIGN(const Row row, table->ReadRow(RowOf(i), Filter(), Soon()));
      ASSERT_FALSE(row.empty()) << i;
    }
    ASSERT_OK(database_->ListTablets("t"));
    for (int i = begin; i < end; ++i) {
      const absl::Status written =
          table->Apply(RowMutation(RowOf(i)).Set("f:q", Timestamp(1), Cat("v", i)),
                       {.deadline = absl::Now() + absl::Seconds(20)});
      ASSERT_FALSE(absl::IsDeadlineExceeded(written)) << written.ToString();
    }
    const absl::Status flushed =
        database_->Flush("t", {.deadline = absl::Now() + absl::Seconds(20)});
    ASSERT_FALSE(absl::IsDeadlineExceeded(flushed)) << flushed.ToString();
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
};

// METADATA cannot record the new server, and the old server has an error of its own by then.
TEST_F(UnservedTabletTest, ATabletThatCannotMoveGoesBackToAServerThatRefusesWrites) {
  OpenFaulty(2);
  Table* const table = CreateStillTable();
  Fill(table, 0, 10);
  const int from = Tablets("t")[0].server;
  AtMasterStep(2, [&] {
    ServerOf(from)->write_error().Set(absl::UnavailableError("its disk has failed"));
    faulty_->FailCalls({{FileCall::kLogWrite, FileCall::kLogSync}, "/log/metadata-"},
                       absl::UnavailableError("input/output error"));
  });
  EXPECT_STATUS(kUnavailable, "could not be served by another server: /db/log/metadata-",
                database_->MoveTablet("t", RowOf(0), 1 - from));
  EXPECT_EQ(ShowTablets("t"), Cat("[,)@", from));
  ExpectFilled(table, 0, 10);
  EXPECT_STATUS(kUnavailable, "its disk has failed",
                table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  EXPECT_OK(database_->Flush("t"));  // there is nothing to flush
  EXPECT_TRUE(database_->Statistics().unserved_tablets.empty());
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  Fill(table, 0, 10, "w");
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), 1 - from));
  ExpectFilled(table, 0, 10, "w");
}

// The same if the master dies in between: the next master has the tablet loaded where METADATA
// needs no write.
TEST_F(UnservedTabletTest, ATabletThatCannotBeAssignedElsewhereGoesToItsServerInMetadata) {
  OpenFaulty(2);
  Table* const table = CreateStillTable();
  Fill(table, 0, 10);
  const int from = Tablets("t")[0].server;
  AtMasterStep(2, [&] {
    ServerOf(from)->write_error().Set(absl::UnavailableError("its disk has failed"));
    faulty_->FailCalls({{FileCall::kLogWrite, FileCall::kLogSync}, "/log/metadata-"},
                       absl::UnavailableError("input/output error"));
    DatabasePeer(database_.get()).KillMaster();
  });
  EXPECT_FALSE(database_->MoveTablet("t", RowOf(0), 1 - from).ok());
  ExpectServed(table, 0, 10);
  EXPECT_EQ(ShowTablets("t"), Cat("[,)@", from));
  EXPECT_STATUS(kUnavailable, "its disk has failed",
                table->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v")));
  EXPECT_FALSE(DatabasePeer(database_.get())
                   .ServersOf(ServerRole::kMetadata)[0]
                   ->write_error()
                   .status()
                   .ok());
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  Fill(table, 0, 10, "w");
  ASSERT_OK(database_->MoveTablet("t", RowOf(0), 1 - from));
  ExpectFilled(table, 0, 10, "w");
}

// A server may have loaded a tablet although its answer was lost. A record that stays would end the
// first call that waits for the tablet once it is unserved again.
TEST_F(UnservedTabletTest, AFailureIsForgottenOnceTheTabletIsServedAlthoughOthersAreNot) {
  OpenFaulty(2);
  Table* const table = CreateSplitTable("t", 2, 5);
  Fill(table, 0, 10);
  const std::vector<TabletInfo> tablets = Tablets("t");
  ASSERT_NE(tablets[0].server, tablets[1].server);
  DatabasePeer peer(database_.get());
  const std::shared_ptr<Tablet> served = ServerOf(tablets[0].server)->tablets().All().front();
  peer.cluster()->environment()->unserved.RecordFailure(served->id(), "t", "",
                                                        absl::UnavailableError("no answer"));
  // METADATA cannot record who serves the other tablet.
  faulty_->FailCalls({{FileCall::kLogWrite, FileCall::kLogSync}, "/log/metadata-"},
                     absl::UnavailableError("input/output error"));
  peer.Kill(ServerOf(tablets[1].server));
  const auto unserved = [&] {
    std::vector<std::string> begins;
    for (const UnservedTablet& tablet : database_->Statistics().unserved_tablets) {
      begins.push_back(std::string(tablet.rows.begin()));
    }
    return begins;
  };
  const absl::Time end = absl::Now() + absl::Seconds(20);
  while (unserved() != std::vector<std::string>{RowOf(5)} && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_EQ(unserved(), std::vector<std::string>{RowOf(5)});
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  ExpectFilled(table, 0, 10);
}

// The next master loads the tablets. A record would end calls that have waited for five seconds.
TEST_F(UnservedTabletTest, AMasterThatHasLostItsLockRecordsNoFailure) {
  OpenFaulty(1);
  Table* const table = CreateSplitTable("t", 2, 5);
  Fill(table, 0, 10);
  DatabasePeer peer(database_.get());
  std::atomic<int> steps{0};
  std::atomic<size_t> recorded{0};
  peer.OnMasterStep([&] {
    const int step = ++steps;
    if (step == 2) peer.KillMaster();
    if (step > 2) recorded += peer.cluster()->environment()->unserved.List().size();
  });
  peer.Kill(peer.Servers()[0]);
  ExpectServed(table, 0, 10);
  EXPECT_GT(steps, 2);
  EXPECT_EQ(recorded, 0u);
  database_.reset();  // before what the steps use
}

TEST_F(UnservedTabletTest, CloseReportsWhyTabletsOfALostServerAreUnserved) {
  OpenFaulty(1);
  Fill(CreateStillTable(), 0, 10);
  faulty_->FailCalls({{FileCall::kNewLogFile}, "/log/server-"},
                     absl::ResourceExhaustedError("too many open files"));
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Servers()[0]);
  EXPECT_STATUS(kUnavailable, "too many open files", database_->Close());
}

TEST_F(UnservedTabletTest, ACallerThatWaitsForAnUnloadableTabletGetsTheReason) {
  OpenFaulty(1);
  Table* const table = CreateSplitTable("t", 2, 5);
  Fill(table, 0, 10);
  faulty_->FailCalls({{FileCall::kNewLogFile}, "/log/server-"},
                     absl::ResourceExhaustedError("too many open files"));
  DatabasePeer peer(database_.get());
  peer.Kill(peer.Servers()[0]);
  const std::string why = Cat("the tablet with row \"", RowOf(7), "\" is not served at the moment");
  const auto soon = [] { return absl::Now() + absl::Milliseconds(500); };
  absl::Status status = table->ReadRow(RowOf(7), Filter(), {.deadline = soon()}).status();
  EXPECT_STATUS(kDeadlineExceeded, why, status);
  EXPECT_STATUS(kDeadlineExceeded, "too many open files", status);
  EXPECT_STATUS(
      kDeadlineExceeded, "too many open files",
      table->Apply(RowMutation(RowOf(7)).Set("f:q", Timestamp(1), "v"), {.deadline = soon()}));
  EXPECT_STATUS(kDeadlineExceeded, "too many open files",
                database_->Flush("t", {.deadline = soon()}));
  EXPECT_STATUS(kDeadlineExceeded, "too many open files",
                database_->SplitTablet("t", RowOf(8), {.deadline = soon()}));
  const std::vector<UnservedTablet> unserved = database_->Statistics().unserved_tablets;
  ASSERT_EQ(unserved.size(), 2u);
  EXPECT_EQ(unserved[1].table, "t");
  EXPECT_EQ(unserved[1].rows.begin(), RowOf(5));
  EXPECT_EQ(unserved[1].rows.end(), std::nullopt);
  EXPECT_GE(unserved[1].failures, 1u);
  EXPECT_STATUS(kResourceExhausted, "too many open files", unserved[1].status);
  // Without a deadline.
  const absl::Time begin = absl::Now();
  status = table->ReadRow(RowOf(7)).status();
  EXPECT_STATUS(kUnavailable, why, status);
  EXPECT_STATUS(kUnavailable, "too many open files", status);
  EXPECT_STATUS(kUnavailable, "too many open files",
                table->Apply(RowMutation(RowOf(7)).Set("f:q", Timestamp(1), "v")));
  EXPECT_STATUS(kUnavailable, "too many open files", database_->ListTablets("t").status());
  EXPECT_STATUS(kUnavailable, "too many open files", database_->Flush("t"));
  EXPECT_STATUS(kUnavailable, "too many open files", database_->SplitTablet("t", RowOf(8)));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(20));
  EXPECT_GT(database_->Statistics().unserved_tablets[1].failures, unserved[1].failures);
  // Loading was retried all the time, so no Resume is needed.
  faulty_->ClearFaults();
  for (int i = 0; i < 2000 && !database_->Statistics().unserved_tablets.empty(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  ExpectFilled(table, 0, 10);
  Fill(table, 0, 10, "w");
}

// Every n-th call of the file system fails, once or from then on, during changes of tablets, and
// one of three servers refuses writes from the beginning. After the faults all calls end without
// Resume, and after Resume everything works.
class ChangesBesideAFailedServerTest : public UnservedTabletTest {
 protected:
  void FailEachCall(FaultyFileSystem::Repeat repeat, int step) {
    int failed = 0;
    for (uint64_t call = 1, whole = 0; whole < 2 && call < 400;
         call += static_cast<uint64_t>(step)) {
      SCOPED_TRACE(Cat("call ", call));
      ASSERT_NO_FATAL_FAILURE(OpenFaulty(3));
      Table* const table = CreateSplitTable("t", 3, 10);
      Fill(table, 0, 30);
      ASSERT_OK(database_->Flush("t"));
      const std::vector<TabletInfo> tablets = Tablets("t");
      ServerOf(tablets[2].server)->write_error().Set(absl::UnavailableError("its disk has failed"));
      Fill(table, 0, 20);
      faulty_->CountCalls();
      faulty_->FailCall(call, absl::UnavailableError("input/output error"), repeat);
      absl::Status done;
      done.Update(database_->MoveTablet("t", RowOf(0), tablets[1].server));
      EXPECT_FALSE(database_->MoveTablet("t", RowOf(0), tablets[2].server).ok());
      EXPECT_FALSE(database_->MoveTablet("t", RowOf(20), tablets[0].server).ok());
      done.Update(database_->SplitTablet("t", RowOf(5)));
      done.Update(database_->MergeTablets("t", RowOf(10)));
      EXPECT_FALSE(database_->MergeTablets("t", RowOf(20)).ok());
      done.Update(database_->MoveTablet("t", RowOf(0), tablets[0].server));
      whole += faulty_->faults() == 0 ? 1 : 0;
      failed += done.ok() ? 0 : 1;
      faulty_->CountCalls();
      faulty_->ClearFaults();
      ASSERT_NO_FATAL_FAILURE(ExpectServed(table, 0, 30));
      ASSERT_OK(database_->Resume());
      Fill(table, 0, 30, "w");
      ExpectFilled(table, 0, 30, "w");
      ASSERT_OK(database_->Flush("t"));
      ASSERT_OK(database_->MoveTablet("t", RowOf(20), tablets[1].server));
      ExpectFilled(table, 0, 30, "w");
      ASSERT_OK(database_->Close());
    }
    EXPECT_GT(failed, 1);
  }
};

TEST_F(ChangesBesideAFailedServerTest, ACallThatFailsOnceLeavesNoTabletUnserved) {
  FailEachCall(FaultyFileSystem::Repeat::kOnce, 1);
}

TEST_F(ChangesBesideAFailedServerTest, ADiskThatFailsForAWhileLeavesNoTabletUnserved) {
  FailEachCall(FaultyFileSystem::Repeat::kFromThenOn, 3);
}

}  // namespace
}  // namespace bigtable
