// The log of a lost server: where its sorted pieces are, and which of its batches are read.
#include "recovery/dead_log.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "commitlog/commit_log.h"
#include "commitlog/log_format.h"
#include "recovery/batch_recovery.h"
#include "recovery/server_record.h"
#include "recovery/sorted_log.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

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
    AddPartOf(log, first, {other});
  }
  // The same, or a whole batch if there are no others.
  void AddPartOf(CommitLog* log, SequenceNumber first, const std::vector<OtherBatchPart>& others) {
    BatchPayload payload;
    if (!others.empty()) payload.SetOthers(others);
    const std::string rows[] = {absl::StrCat(first), absl::StrCat(first + 1)};
    const std::string operations[] = {OperationsOf(first), OperationsOf(first + 1)};
    for (size_t i = 0; i < 2; ++i) {
      payload.Add({kTable, 7, {.row = rows[i], .operations = operations[i]}});
    }
    const RecordType type = others.empty() ? RecordType::kBatch : RecordType::kBatchPart;
    ASSERT_OK(log->Append(type, first + 1, payload.pieces(), nullptr));
  }
  // A batch of one mutation.
  void AddBatchOfOne(CommitLog* log, SequenceNumber sequence) {
    const std::string row = absl::StrCat(sequence), operations = OperationsOf(sequence);
    BatchPayload payload;
    payload.Add({kTable, 7, {.row = row, .operations = operations}});
    ASSERT_OK(log->Append(RecordType::kBatch, sequence, payload.pieces(), nullptr));
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
      EXPECT_EQ(record.mutation.operations, OperationsOf(sequence));
      EXPECT_EQ(record.server_timestamp, 7);
      read.push_back(sequence);
      return absl::OkStatus();
    };
    EXPECT_OK(log.Read(RowRange::All(), kTable, 0, note,
                       [](SequenceNumber) { return absl::OkStatus(); }));
    return read;
  }
  // The sequence number and the batch of each mutation.
  static std::vector<std::pair<SequenceNumber, SequenceNumber>> ReadBatches(const DeadLog& log) {
    std::vector<std::pair<SequenceNumber, SequenceNumber>> read;
    const auto note = [&](const MutationRecord& record, SequenceNumber sequence) {
      read.emplace_back(sequence, record.batch);
      return absl::OkStatus();
    };
    EXPECT_OK(log.Read(RowRange::All(), kTable, 0, note,
                       [](SequenceNumber) { return absl::OkStatus(); }));
    std::sort(read.begin(), read.end());
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
  EXPECT_THAT(Files("/"), ElementsAre("db"));
  EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
}

// The size of a log is that of its segments, of which other files are none.
TEST_F(DeadLogTest, ALogOfOnePieceIsSortedInMemory) {
  WriteAndClose("a", 3);
  uint64_t size = 0;
  for (const std::string& name : Files("/db/a")) {
    const uint64_t bytes = file_system_.Contents("/db/a/" + name).size();
    if (ParseSegmentName(name).has_value()) size += bytes;
  }
  ASSERT_GT(size, 0u);
  {
    const auto dead = Sort("a", {.sorted_directory = "/db/sorted/a", .piece_size = size});
    EXPECT_THAT(Files("/db"), Not(Contains("sorted")));
    EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
  }
  const auto dead = Sort("a", {.sorted_directory = "/db/sorted/a", .piece_size = size - 1});
  EXPECT_THAT(Files("/db"), Contains("sorted"));
  EXPECT_THAT(Read(*dead), ElementsAre(1, 2, 3));
}

TEST_F(DeadLogTest, EachErrorOfTheFileSystemIsReturned) {
  WriteAndClose("a", 3);
  for (const uint64_t piece_size : {uint64_t{1}, uint64_t{1} << 20}) {
    int failed = 0;
    for (uint64_t call = 1;; ++call) {
      FaultyFileSystem faulty(&file_system_);
      faulty.CountCalls(
          {{FileCall::kListDirectory, FileCall::kFileSize, FileCall::kReadFile,
            FileCall::kNewRandomAccessFile, FileCall::kCreateDirectory, FileCall::kNewWritableFile,
            FileCall::kAppend, FileCall::kClose, FileCall::kRenameFile},
           ""});
      faulty.FailCall(call, absl::UnavailableError("a fault"));
      const auto dead = DeadLog::Sort(
          &faulty, "a", "/db/a", {.sorted_directory = "/db/sorted/a", .piece_size = piece_size});
      if (faulty.faults() == 0) {
        ASSERT_OK(dead);
        EXPECT_THAT(Read(**dead), ElementsAre(1, 2, 3));
        break;
      }
      ++failed;
      EXPECT_STATUS(kUnavailable, "a fault", dead.status());
    }
    EXPECT_GE(failed, piece_size == 1 ? 15 : 4);
  }
}

TEST_F(DeadLogTest, AMissingLogThatNeedNotExistIsEmpty) {
  const auto dead = Sort("missing", {.replay = {.must_exist = false}});
  EXPECT_THAT(Read(*dead), IsEmpty());
}

TEST_F(DeadLogTest, PiecesOfALargeLogAreOnDiskUntilItIsRead) {
  WriteAndClose("a", 3);
  auto dead = Sort("a", {.sorted_directory = "/db/sorted/a", .piece_size = 1});
  EXPECT_EQ(Files("/db/sorted/a").size(), 4u);  // a piece for each mutation, and the manifest
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

TEST_F(DeadLogTest, ATabletsRowsAreReadThatAreNotFlushed) {
  WriteAndClose("a", 5);
  const auto dead = Sort("a");
  const auto read = [&](const RowRange& rows, SequenceNumber after) {
    std::vector<SequenceNumber> found;
    EXPECT_OK(dead->Read(
        rows, kTable, after,
        [&](const MutationRecord&, SequenceNumber sequence) {
          found.push_back(sequence);
          return absl::OkStatus();
        },
        [](SequenceNumber through) {
          EXPECT_EQ(through, 5u);
          return absl::OkStatus();
        }));
    return found;
  };
  EXPECT_THAT(read(RowRange::StartingAt("3"), 0), ElementsAre(3, 4, 5));
  EXPECT_THAT(read(RowRange::RightOpen("2", "4"), 0), ElementsAre(2, 3));
  EXPECT_THAT(read(RowRange::All(), 3), ElementsAre(4, 5));
  EXPECT_THAT(read(RowRange::RightOpen("2", "5"), 3), ElementsAre(4));
  EXPECT_THAT(read(RowRange::All(), 5), IsEmpty());
}

// As a later version of the program may have written it, which knows more kinds of operations.
TEST_F(DeadLogTest, AMutationWithAnUnknownOperationIsNotRecoveredInPart) {
  auto log = NewLog("s");
  AddMutation(log.get(), 1);
  std::string header;
  const std::string operations = OperationsOf(2) + '\x7e';
  AppendMutationHeader(&header, {kTable, 7, {.row = "2", .operations = operations}});
  const std::string_view pieces[] = {header, operations};
  ASSERT_OK(log->Append(RecordType::kMutation, 2, pieces, nullptr));
  ASSERT_OK(log->Close());
  const absl::Status status = DeadLog::Sort(&file_system_, "s", "/db/s", {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the record with sequence number 2: its mutation of row \"2\" has an operation that "
            "this program does not know");
}

TEST_F(DeadLogTest, AnErrorOfAReceiverEndsTheReading) {
  WriteAndClose("a", 3);
  const auto dead = Sort("a", {.sorted_directory = "/db/sorted/a", .piece_size = 1});
  int delivered = 0, ends = 0;
  const auto note = [&](const MutationRecord&, SequenceNumber) {
    ++delivered;
    return absl::OkStatus();
  };
  const auto refuse = [&](const MutationRecord&, SequenceNumber) {
    ++delivered;
    return absl::UnavailableError("not taken");
  };
  const auto between = [&](SequenceNumber) {
    return ++ends == 2 ? absl::UnavailableError("not flushed") : absl::OkStatus();
  };
  EXPECT_STATUS(kUnavailable, "not flushed", dead->Read(RowRange::All(), kTable, 0, note, between));
  EXPECT_EQ(delivered, 2);
  EXPECT_STATUS(kUnavailable, "not taken", dead->Read(RowRange::All(), kTable, 0, refuse, between));
  EXPECT_EQ(delivered, 3);
}

TEST_F(DeadLogTest, APieceOfABatchThatCannotBeWrittenIsAnError) {
  {
    const std::unique_ptr<CommitLog> log = NewLog("a");
    AddPart(log.get(), 1, {"b", 5});
    AddPart(log.get(), 3, {"b", 7});
    AddPart(log.get(), 5, {"b", 9});
    ASSERT_OK(log->Close());
  }
  const DeadLog::Options options{.sorted_directory = "/db/sorted/a", .piece_size = 1};
  FaultyFileSystem faulty(&file_system_);
  faulty.FailCalls({{FileCall::kNewWritableFile}, "sorted-"}, absl::UnavailableError("no piece"));
  EXPECT_STATUS(kUnavailable, "no piece", DeadLog::Sort(&faulty, "a", "/db/a", options).status());
  EXPECT_THAT(Read(*Sort("a", options)), ElementsAre(1, 2, 3, 4, 5, 6));
}

// In memory, and in files: a piece for each mutation, and one for all.
TEST_F(DeadLogTest, AMutationKnowsTheEndOfItsBatchOverAllParts) {
  {
    const std::unique_ptr<CommitLog> a = NewLog("a");
    const std::unique_ptr<CommitLog> b = NewLog("b");
    AddMutation(a.get(), 1);
    AddPartOf(a.get(), 2, {});
    AddMutation(b.get(), 4);
    AddPart(a.get(), 5, {"b", 8});
    AddPart(b.get(), 7, {"a", 6});
    AddPartOf(a.get(), 9, {{"b", 12}, {"c", 300}});
    AddPartOf(b.get(), 11, {{"c", 300}, {"a", 10}});
    AddBatchOfOne(b.get(), 301);
    AddMutation(a.get(), 302);
    ASSERT_OK(a->Close());
    ASSERT_OK(b->Close());
  }
  for (const DeadLog::Options& options :
       {DeadLog::Options{}, DeadLog::Options{.sorted_directory = "/db/sorted/s", .piece_size = 1},
        DeadLog::Options{.sorted_directory = "/db/sorted/s", .piece_size = 10000}}) {
    SCOPED_TRACE(options.piece_size);
    const auto a = Sort("a", options);
    EXPECT_EQ(Files("/db").size(), options.sorted_directory.empty() ? 2u : 3u);
    EXPECT_THAT(ReadBatches(*a),
                ElementsAre(Pair(1, 0), Pair(2, 3), Pair(3, 3), Pair(5, 8), Pair(6, 8),
                            Pair(9, 300), Pair(10, 300), Pair(302, 0)));
    const auto b = Sort("b", options);
    EXPECT_THAT(ReadBatches(*b), ElementsAre(Pair(4, 0), Pair(7, 8), Pair(8, 8), Pair(11, 300),
                                             Pair(12, 300), Pair(301, 301)));
  }
}

// What a part says of the others is not checked before.
TEST_F(DeadLogTest, APartWhoseBatchIsTooLongIsDataLoss) {
  const std::unique_ptr<CommitLog> log = NewLog("a");
  AddPart(log.get(), 1, {"b", kMaxSequence});
  ASSERT_OK(log->Close());
  EXPECT_STATUS(kDataLoss, "sequence number 1: its batch ends with the sequence number",
                DeadLog::Sort(&file_system_, "a", "/db/a", {}).status());
}

// It was interrupted, and had another format.
TEST_F(DeadLogTest, ASortedLogOfAnEarlierProgramIsMadeAgain) {
  const std::string directory = "/db/sorted/a", manifest = directory + "/SORTED";
  const DeadLog::Options options{.sorted_directory = directory, .piece_size = 1};
  {
    const std::unique_ptr<CommitLog> log = NewLog("a");
    AddMutation(log.get(), 1);
    AddPartOf(log.get(), 2, {});
    ASSERT_OK(log->Close());
  }
  std::string bytes;
  {
    const auto dead = Sort("a", options);
    bytes = file_system_.Contents(manifest);
  }
  bytes[8] = 1;
  StoreFixed64(bytes.data() + 16,
               Checksum(std::string_view(bytes).substr(24), LoadFixed64(bytes.data() + 8)));
  ASSERT_OK(file_system_.CreateDirectory(directory));
  file_system_.SetContents(manifest, bytes);
  file_system_.SetContents(directory + "/sorted-00000009", "a piece of that format");
  EXPECT_STATUS(kDataLoss,
                "/db/sorted/a/SORTED at offset 8: this part of a sorted log has format "
                "version 1, of an earlier program; the log must be sorted again",
                SortedLog::Open(&file_system_, directory, {}).status());
  const auto dead = Sort("a", options);
  EXPECT_THAT(ReadBatches(*dead), ElementsAre(Pair(1, 0), Pair(2, 3), Pair(3, 3)));
  EXPECT_EQ(Files(directory).size(), 4u);
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
  EXPECT_THAT(SettleBatches(logs_), ElementsAre(logs_[0].get()));
  EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2));
  EXPECT_THAT(Read(*logs_[1]), ElementsAre(1, 2));
}

// The other log has the last mutation of its part, and no more.
TEST_F(BatchRecoveryTest, APartIsCompleteIfTheOtherLogReachesItsEnd) {
  for (const SequenceNumber last : {4, 5}) {
    const std::string server = absl::StrCat("c", last);
    {
      const std::unique_ptr<CommitLog> log = NewLog(server);
      AddMutation(log.get(), 1);
      AddPart(log.get(), 3, {"b", last});
      ASSERT_OK(log->Close());
    }
    std::vector<std::unique_ptr<DeadLog>> logs;
    logs.push_back(Sort(server));
    const std::string other = absl::StrCat("b", last);
    {
      const std::unique_ptr<CommitLog> log = NewLog(other);
      AddMutation(log.get(), 4);
      ASSERT_OK(log->Close());
    }
    auto b = DeadLog::Sort(&file_system_, "b", "/db/" + other, {});
    ASSERT_OK(b);
    logs.push_back(*std::move(b));
    const auto shortened = SettleBatches(logs);
    if (last == 4) {
      EXPECT_THAT(shortened, IsEmpty());
      EXPECT_THAT(Read(*logs[0]), ElementsAre(1, 3, 4));
    } else {
      EXPECT_THAT(shortened, ElementsAre(logs[0].get()));
      EXPECT_THAT(Read(*logs[0]), ElementsAre(1));
    }
  }
}

TEST_F(BatchRecoveryTest, APartIsCompleteIfTheOtherWasFlushed) {
  for (const SequenceNumber flushed : {SequenceNumber{5}, kMaxSequence}) {
    logs_[0] = Sort("a");
    logs_[1] = Sort("b", {.record = {.flushed = flushed}});
    EXPECT_THAT(SettleBatches(logs_), IsEmpty());
    EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2, 3, 4, 6));
  }
  logs_[0] = Sort("a");
  logs_[1] = Sort("b", {.record = {.flushed = 4}});
  EXPECT_THAT(SettleBatches(logs_), ElementsAre(logs_[0].get()));
  EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2));
  // What is flushed of an incomplete part need not be read, and later mutations are.
  logs_[0] = Sort("a", {.record = {.flushed = 4}});
  logs_[1] = Sort("b");
  EXPECT_THAT(SettleBatches(logs_), IsEmpty());
  logs_[0] = Sort("a", {.record = {.flushed = 3}});
  EXPECT_THAT(SettleBatches(logs_), ElementsAre(logs_[0].get()));
  // Nor does a part matter that is behind the end of its log, and one before it does.
  logs_[0] = Sort("a", {.record = {.last = 3}});
  EXPECT_THAT(SettleBatches(logs_), IsEmpty());
  logs_[0] = Sort("a", {.record = {.last = 4}});
  EXPECT_THAT(SettleBatches(logs_), ElementsAre(logs_[0].get()));
}

// A log that ends earlier takes parts from others, whichever is looked at first.
TEST_F(BatchRecoveryTest, ALogThatEndsBeforeAPartEndsTheLogsThatNeedIt) {
  for (const bool is_reversed : {false, true}) {
    const std::string suffix = is_reversed ? "-2" : "-1";
    const std::string a = "a" + suffix, b = "b" + suffix, c = "c" + suffix;
    {
      const std::unique_ptr<CommitLog> log = NewLog(a);
      AddMutation(log.get(), 1);
      AddPart(log.get(), 10, {b, 13});  // complete, as long as b has 13
      ASSERT_OK(log->Close());
    }
    {
      const std::unique_ptr<CommitLog> log = NewLog(b);
      AddMutation(log.get(), 2);
      AddPart(log.get(), 5, {c, 8});  // not complete
      AddPart(log.get(), 12, {a, 11});
      ASSERT_OK(log->Close());
    }
    WriteAndClose(c, 3);
    std::vector<std::unique_ptr<DeadLog>> logs;
    for (const std::string& server : {a, b, c}) logs.push_back(Sort(server));
    if (is_reversed) std::swap(logs[0], logs[2]);
    EXPECT_EQ(SettleBatches(logs).size(), 2u);
    EXPECT_THAT(Read(*logs[is_reversed ? 2 : 0]), ElementsAre(1));
    EXPECT_THAT(Read(*logs[1]), ElementsAre(2));
  }
}

// The log of a server that is not among them was flushed, or the server lives.
TEST_F(BatchRecoveryTest, APartOfAServerWhoseLogIsNotReadIsComplete) {
  std::vector<std::unique_ptr<DeadLog>> one;
  one.push_back(std::move(logs_[0]));
  EXPECT_THAT(SettleBatches(one), IsEmpty());
  EXPECT_THAT(Read(*one[0]), ElementsAre(1, 2, 3, 4, 6));
}

TEST_F(BatchRecoveryTest, AVoidBatchIsSkippedAndWhatFollowsItIsRead) {
  // Whichever record says so: the process may have died before all of them did.
  for (const size_t i : {0, 1}) {
    logs_[0] = Sort("a");
    logs_[1] = Sort("b");
    ServerRecord record = logs_[i]->record();
    record.void_batches = {{.first = 3, .last = 5}};
    logs_[i]->set_record(record);
    EXPECT_THAT(SettleBatches(logs_), IsEmpty());
    EXPECT_THAT(Read(*logs_[0]), ElementsAre(1, 2, 6));
    EXPECT_EQ(logs_[0]->record(), record);
    EXPECT_EQ(logs_[1]->record(), record);
  }
}

// Other ranges than that of the incomplete batch change nothing.
TEST_F(BatchRecoveryTest, OnlyTheVoidBatchIsSkipped) {
  ServerRecord record;
  record.void_batches = {{.first = 1, .last = 1}, {.first = 6, .last = 9}};
  logs_[1]->set_record(record);
  EXPECT_THAT(SettleBatches(logs_), ElementsAre(logs_[0].get()));
  EXPECT_THAT(Read(*logs_[0]), ElementsAre(2));
  EXPECT_THAT(Read(*logs_[1]), ElementsAre(2));
  EXPECT_EQ(logs_[0]->record().last, 2u);
}

}  // namespace
}  // namespace bigtable
