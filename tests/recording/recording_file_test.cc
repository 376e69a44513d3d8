// The file of a recording: faults, limits, damage, and threads.
#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/coding.h"
#include "recorded_calls.h"
#include "recording/recording_format.h"
#include "support/random.h"

namespace bigtable {
namespace {

class RecordingFileTest : public RecordingFixture {
 protected:
  // About `bytes` of records.
  void WriteRecords(size_t bytes, const std::string& row = std::string(10'000, 'r')) {
    for (size_t done = 0; done < bytes; done += row.size()) Set(table_, row, "f:q", 1, "v");
  }
};

TEST_F(RecordingFileTest, IsANewOne) {
  const std::string before = file_system_->Contents(kRecording);
  const auto again = CallRecorder::Create(kRecording, {.file_system = file_system_.get()});
  EXPECT_EQ(again.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(file_system_->Contents(kRecording), before);
  const auto nowhere = CallRecorder::Create("/nowhere/calls", {.file_system = file_system_.get()});
  EXPECT_EQ(nowhere.status().code(), absl::StatusCode::kNotFound);
}

TEST_F(RecordingFileTest, OptionsOutOfRangeAreRefused) {
  const auto refused =
      CallRecorder::Create("/x", {.most_bytes = 1000, .file_system = file_system_.get()});
  EXPECT_EQ(refused.status().message(),
            "RecordingOptions::most_bytes must be at least 1048576, and is 1000");
  EXPECT_FALSE(file_system_->FileExists("/x"));
}

TEST_F(RecordingFileTest, EndsBeforeItIsTooLarge) {
  Record({.most_bytes = 1 << 20});
  WriteRecords(3 << 20);
  const size_t calls = Calls().size();
  EXPECT_LE(file_system_->Contents(kRecording).size(), size_t{1} << 20);
  EXPECT_GT(calls, 50u);
  EXPECT_EQ(calls + recorder_->Counts().lost_calls, (3 << 20) / 10'000 + 1u);
}

// The schemas of tables count, too.
TEST_F(RecordingFileTest, IsNotTooLargeForItsTables) {
  Record({.most_bytes = 1 << 20});
  for (int i = 0; i < 60; ++i) {
    TableSchema schema = SchemaOfT();
    for (int family = 0; family < 300; ++family) {
      schema.families[std::string(60, 'f') + Cat(100 + family)] = {};
    }
    Table* const table = CreateTable(Cat("t", i), schema);
    Set(table, "r", "f:q", 1, "v");
  }
  EXPECT_GT(Calls().size(), 10u);
  EXPECT_GT(recorder_->Counts().lost_calls, 0u);
  EXPECT_LE(file_system_->Contents(kRecording).size(), size_t{1} << 20);
}

TEST_F(RecordingFileTest, IsOfOneDatabaseOnly) {
  DatabaseOptions options = Options();
  options.recorder = recorder_;
  EXPECT_STATUS(kFailedPrecondition, "has recorded a database before",
                Database::Open("/other", options));
  EXPECT_FALSE(file_system_->FileExists("/other"));
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kFailedPrecondition, "or has ended", Database::Open(kPath, options));
}

TEST_F(RecordingFileTest, ADatabaseThatIsNotOpenedLeavesTheRecorder) {
  auto recorder = CallRecorder::Create("/second", {.file_system = file_system_.get()});
  ASSERT_OK(recorder);
  DatabaseOptions options = Options();
  options.recorder = *recorder;
  options.error_if_exists = true;
  ASSERT_OK(database_->Close());
  EXPECT_STATUS(kAlreadyExists, "", Database::Open(kPath, options));
  options.error_if_exists = false;
  EXPECT_OK(Database::Open(kPath, options));
}

TEST_F(RecordingFileTest, IsReadWhileItIsWritten) {
  Set(table_, "r", "f:q", 1, "v");
  // The recorder's thread writes it within a second.
  std::vector<RecordedCall> calls;
  for (int i = 0; i < 3000 && calls.empty(); ++i) {
    absl::SleepFor(absl::Milliseconds(10));
    const std::unique_ptr<RecordingReader> reader = Reader();
    calls = Rest(reader.get());
    EXPECT_OK(reader->status());
    EXPECT_TRUE(reader->is_truncated());
  }
  EXPECT_EQ(calls.size(), 1u);
}

TEST_F(RecordingFileTest, NothingIsRecordedAfterFinish) {
  Set(table_, "r", "f:q", 1, "v");
  EXPECT_OK(recorder_->Finish());
  Set(table_, "r", "f:q", 1, "v");
  EXPECT_OK(recorder_->Finish());
  EXPECT_EQ(Calls().size(), 1u);
}

TEST_F(RecordingFileTest, CallsDoNotWaitForTheFileButAreLost) {
  FaultyFileSystem faulty(file_system_.get());
  Record({.file_system = &faulty});
  faulty.StallCalls({.kinds = {FileCall::kAppend}, .path_contains = kRecording});
  WriteRecords(20 << 20);
  const uint64_t lost = recorder_->Counts().lost_calls;
  EXPECT_GT(lost, 500u);
  EXPECT_LT(recorder_->Counts().bytes, size_t{16} << 20);  // that wait in memory
  faulty.ReleaseCalls();
  Set(table_, "last", "f:q", 1, "v");
  // Calls() also holds that the file names the calls that were lost.
  const std::vector<RecordedCall> calls = Calls();
  EXPECT_EQ(calls.size() + recorder_->Counts().lost_calls, (20 << 20) / 10'000 + 2u);
  ASSERT_OK(database_->Close());
  EXPECT_NE(file_system_->Contents("/db/LOG").find(Cat("lost ", recorder_->Counts().lost_calls)),
            std::string::npos);
  database_.reset();
  recorder_.reset();
}

TEST_F(RecordingFileTest, AnErrorOfTheFileIsTheRecordersAlone) {
  FaultyFileSystem faulty(file_system_.get());
  Record({.file_system = &faulty});
  Set(table_, "r", "f:q", 1, "v");
  faulty.FailCalls({.kinds = {FileCall::kAppend}}, absl::ResourceExhaustedError("no space"));
  WriteRecords(20 << 20);
  EXPECT_OK(table_->ReadRow("r"));
  EXPECT_EQ(recorder_->Finish().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(recorder_->Finish().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_GT(recorder_->Counts().lost_calls, 0u);
  EXPECT_OK(database_->Close());
  database_.reset();
  recorder_.reset();
}

TEST_F(RecordingFileTest, AFileThatCannotBeBegunIsRemoved) {
  FaultyFileSystem faulty(file_system_.get());
  faulty.FailCalls({.kinds = {FileCall::kAppend}}, absl::UnavailableError("broken"));
  EXPECT_EQ(CallRecorder::Create("/new", {.file_system = &faulty}).status().code(),
            absl::StatusCode::kUnavailable);
  EXPECT_FALSE(file_system_->FileExists("/new"));
}

TEST_F(RecordingFileTest, ACallThatIsTooLargeIsLost) {
  std::vector<RowMutation> batch;
  for (int i = 0; i < 300; ++i) {
    RowMutation mutation(std::string(60'000, 'r'));
    batch.push_back(mutation.Set("f:q", "v"));
  }
  for (const absl::Status& status : table_->ApplyBatch(batch)) EXPECT_OK(status);
  Set(table_, "r", "f:q", 1, "v");
  EXPECT_EQ(Calls().size(), 1u);
  EXPECT_EQ(recorder_->Counts().lost_calls, 1u);
}

TEST_F(RecordingFileTest, AnyPrefixIsARecordingThatIsCutOff) {
  for (int i = 0; i < 3; ++i) {
    Set(table_, "r", "f:q", 1, "v");
    ASSERT_FALSE(database_->GetSchema("t")->families.empty());
  }
  ASSERT_OK(recorder_->Finish());
  const std::string whole = file_system_->Contents(kRecording);
  size_t beginnings = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    file_system_->SetContents(kRecording, whole.substr(0, size));
    const auto reader = RecordingReader::Open(kRecording, file_system_.get());
    if (!reader.ok()) {
      EXPECT_EQ(reader.status().message(), "/calls is not a recording of calls") << size;
      ++beginnings;
      continue;
    }
    EXPECT_TRUE(Rest(reader->get()).empty());
    EXPECT_OK((*reader)->status());
    EXPECT_TRUE((*reader)->is_truncated());
  }
  EXPECT_LT(beginnings, 30u);
}

TEST_F(RecordingFileTest, ADamagedByteIsAnError) {
  Set(table_, "r", "f:q", 1, "v");
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Family("f"))), "f:q@1=v");
  ASSERT_OK(recorder_->Finish());
  const std::string whole = file_system_->Contents(kRecording);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    file_system_->SetContents(kRecording, damaged);
    const auto reader = RecordingReader::Open(kRecording, file_system_.get());
    if (!reader.ok()) continue;
    EXPECT_TRUE(Rest(reader->get()).empty()) << i;
    EXPECT_TRUE(absl::IsDataLoss((*reader)->status()) || (*reader)->is_truncated()) << i;
  }
}

// With checksums that match, so that the records themselves are read.
TEST_F(RecordingFileTest, RandomRecordsAreReadOrRefused) {
  Set(table_, "r", "f:q", 1, "v");
  EXPECT_EQ(Show(table_->ReadRow("r", Filter::Chain(Filter::Family("f"), Filter::Latest(1)))),
            "f:q@1=v");
  ASSERT_OK(recorder_->Finish());
  const std::string whole = file_system_->Contents(kRecording);
  const size_t first = kRecordingBlockHeader + LoadFixed32(whole.data());
  Random random(7);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string block = whole.substr(first);
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      block[kRecordingBlockHeader + random.Below(block.size() - kRecordingBlockHeader)] =
          static_cast<char>(random.Below(256));
    }
    FinishBlock(&block, first);
    file_system_->SetContents(kRecording, whole.substr(0, first) + block);
    const std::unique_ptr<RecordingReader> reader = Reader();
    EXPECT_LE(Rest(reader.get()).size(), 2u);
    refused += reader->status().ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 500);
}

TEST_F(RecordingFileTest, ConcurrentCallsAreAllRecorded) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, row = std::string(1, static_cast<char>('a' + i))] {
      for (int call = 0; call < kCalls; ++call) Set(table_, row, "f:q", call + 1, "v");
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, std::vector<int64_t>> times;
  std::map<std::string, uint64_t> thread_of;
  for (const RecordedCall& call : Calls()) {
    const RecordedMutation& mutation = call.mutations.at(0);
    times[mutation.row].push_back(mutation.operations.at(0).timestamp->micros());
    EXPECT_EQ(thread_of.emplace(mutation.row, call.thread).first->second, call.thread);
  }
  EXPECT_EQ(times.size(), size_t{kThreads});
  for (const auto& [row, of_row] : times) {
    EXPECT_EQ(of_row.size(), size_t{kCalls});
    EXPECT_TRUE(std::is_sorted(of_row.begin(), of_row.end()));
  }
}

}  // namespace
}  // namespace bigtable
