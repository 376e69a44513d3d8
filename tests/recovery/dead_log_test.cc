// The log of a lost server: where its sorted pieces are, and which of its batches are read.
#include "recovery/dead_log.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "commitlog/commit_log.h"
#include "recovery/batch_recovery.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kTable = 5;

std::string OperationsOf(SequenceNumber sequence) {
  std::string operations;
  AppendOperation(&operations, {.family = "f", .value = absl::StrCat(sequence)});
  return operations;
}

class DeadLogTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(file_system_.CreateDirectory("/db")); }

  std::unique_ptr<CommitLog> NewLog(const std::string& server) {
    auto log = CommitLog::Create(&file_system_, "/db/" + server, {.segment_size = 64 << 10});
    EXPECT_OK(log.status());
    return *std::move(log);
  }
  // The row of a mutation has its sequence number.
  void AddMutation(CommitLog* log, SequenceNumber sequence) {
    const std::string row = absl::StrCat(sequence), operations = OperationsOf(sequence);
    std::string header;
    AppendMutationHeader(&header, {kTable, 7, {.row = row, .operations = operations}});
    const std::string_view pieces[] = {header, operations};
    ASSERT_OK(log->Append(RecordType::kMutation, sequence, pieces, nullptr));
  }
  // The part of a batch with the mutations `first` and `first` + 1.
  void AddPart(CommitLog* log, SequenceNumber first, const OtherBatchPart& other) {
    BatchPayload payload;
    payload.SetOthers({&other, 1});
    const std::string rows[] = {absl::StrCat(first), absl::StrCat(first + 1)};
    const std::string operations[] = {OperationsOf(first), OperationsOf(first + 1)};
    for (size_t i = 0; i < 2; ++i) {
      payload.Add({kTable, 7, {.row = rows[i], .operations = operations[i]}});
    }
    ASSERT_OK(log->Append(RecordType::kBatchPart, first + 1, payload.pieces(), nullptr));
  }
  std::unique_ptr<DeadLog> Sort(const std::string& server, const DeadLog::Options& options = {}) {
    auto dead = DeadLog::Sort(&file_system_, server, "/db/" + server, options);
    EXPECT_OK(dead.status());
    return *std::move(dead);
  }
  static std::vector<SequenceNumber> Read(const DeadLog& log) {
    std::vector<SequenceNumber> read;
    const auto note = [&](const MutationRecord& record, SequenceNumber sequence) {
      EXPECT_EQ(record.mutation.row, absl::StrCat(sequence));
      read.push_back(sequence);
      return absl::OkStatus();
    };
    EXPECT_OK(log.Read(RowRange::All(), kTable, 0, note,
                       [](SequenceNumber) { return absl::OkStatus(); }));
    return read;
  }
  std::vector<std::string> Files(const std::string& directory) {
    auto names = file_system_.ListDirectory(directory);
    EXPECT_OK(names.status());
    return *std::move(names);
  }
  void WriteAndClose(const std::string& server, SequenceNumber last) {
    const std::unique_ptr<CommitLog> log = NewLog(server);
    for (SequenceNumber sequence = 1; sequence <= last; ++sequence) {
      AddMutation(log.get(), sequence);
    }
    ASSERT_OK(log->Close());
  }

  InMemoryFileSystem file_system_;
};

TEST_F(DeadLogTest, ASmallLogIsSortedInMemory) {
  WriteAndClose("a", 3);
  const auto dead = Sort("a", {.sorted_directory = "/db/sorted/a"});
  EXPECT_THAT(Files("/db"), Not(Contains("sorted")));
  EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
}

TEST_F(DeadLogTest, PiecesOfALargeLogAreOnDiskUntilItIsRead) {
  WriteAndClose("a", 3);
  auto dead = Sort("a", {.sorted_directory = "/db/sorted/a", .piece_size = 1});
  EXPECT_THAT(Files("/db/sorted/a"), Not(IsEmpty()));
  EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
  dead.reset();
  EXPECT_THAT(Files("/db/sorted"), IsEmpty());
}

TEST_F(DeadLogTest, ALargeLogWithoutADirectoryIsSortedInMemory) {
  WriteAndClose("a", 3);
  const auto dead = Sort("a", {.piece_size = 1});
  EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
}

TEST_F(DeadLogTest, OnlyTheMutationsOfATableAreRead) {
  WriteAndClose("a", 3);
  const auto dead = Sort("a");
  const auto fail = [](const MutationRecord&, SequenceNumber) {
    return absl::InternalError("a mutation of another table");
  };
  EXPECT_OK(dead->Read(RowRange::All(), kTable + 1, 0, fail,
                       [](SequenceNumber) { return absl::OkStatus(); }));
}

class BatchRecoveryTest : public DeadLogTest {
 protected:
  // The logs of two servers. A batch with the sequence numbers 3 to 5 has its first two mutations
  // in "a", which has a mutation after it. The part in "b" is lost.
  void SetUp() override {
    DeadLogTest::SetUp();
    const std::unique_ptr<CommitLog> log = NewLog("a");
    AddMutation(log.get(), 1);
    AddMutation(log.get(), 2);
    AddPart(log.get(), 3, {"b", 5});
    AddMutation(log.get(), 6);
    ASSERT_OK(log->Close());
    WriteAndClose("b", 2);
    logs_.push_back(Sort("a"));
    logs_.push_back(Sort("b"));
  }

  std::vector<std::unique_ptr<DeadLog>> logs_;
};

TEST_F(BatchRecoveryTest, ALogEndsBeforeAnIncompleteBatch) {
  EXPECT_THAT(SettleBatches(logs_, {}), ElementsAre(logs_[0].get()));
  EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2));
  EXPECT_THAT(Read(*logs_[1]), ElementsAre(1, 2));
}

TEST_F(BatchRecoveryTest, AVoidBatchIsSkippedAndWhatFollowsItIsRead) {
  EXPECT_THAT(SettleBatches(logs_, {{.first = 3, .last = 5}}), IsEmpty());
  EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2, 6));
}

}  // namespace
}  // namespace bigtable
