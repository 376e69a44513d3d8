// The file OPTIONS, which records the options of a database.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/capturing_sink.h"
#include "support/database_fixture.h"

namespace bigtable {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class OptionsFileTest : public DatabaseFixture {
 protected:
  static constexpr const char* kFile = "/db/OPTIONS";

  bool HasFile() { return file_system_->FileExists(kFile); }
  std::vector<std::string> Lines() {
    const absl::StatusOr<std::string> text = file_system_->ReadFile(kFile);
    EXPECT_OK(text);
    return text.ok() ? absl::StrSplit(*text, '\n') : std::vector<std::string>();
  }
  // Opens the database on `faulty`, with the messages of its info log in sink_.
  absl::StatusOr<std::unique_ptr<Database>> OpenOn(FileSystem* faulty) {
    DatabaseOptions options = Options();
    options.file_system = faulty;
    sink_ = std::make_shared<CapturingSink>();
    options.log_sink = sink_;
    return Database::Open(kPath, options);
  }
  std::string InfoLog() {
    std::string text;
    for (const CapturingSink::Message& message : sink_->messages()) text += message.text + "\n";
    return text;
  }

  std::shared_ptr<CapturingSink> sink_;
};

TEST_F(OptionsFileTest, HasTheOptionsOfTheOpening) {
  DatabaseOptions options = Options();
  options.balance_interval = absl::Seconds(90);
  options.compaction_rate = 1'000'000'000;
  options.compaction_threads = 2;
  options.durability = Durability::kSync;
  options.log_segment_size = 128 << 10;
  options.max_open_files = 100;
  options.memtable_size = 1 << 20;
  options.metadata_tablet_size = 2 << 20;
  options.read_mode = FileSystem::ReadMode::kPositional;
  options.scan_cache = true;
  options.tablet_servers = 3;
  options.target_file_size = 4 << 20;
  Open(options);

  EXPECT_THAT(Lines(),
              ElementsAre("bigtable options, format 1", "allow_foreign_files=false",
                          "balance_interval=1m30s", "compaction_rate=1000000000",
                          "compaction_threads=2", "create_if_missing=true", "durability=sync",
                          "error_if_exists=false", "follow=false", "follow_interval=1s",
                          "log_segment_size=131072", "max_open_files=100", "memory_budget=33554432",
                          "memtable_size=1048576", "metadata_tablet_size=2097152",
                          "read_mode=positional", "read_only=false", "scan_cache=true",
                          "tablet_servers=3", "target_file_size=4194304", "trace_one_of=0", ""));
  EXPECT_FALSE(file_system_->FileExists(absl::StrCat(kFile, "~")));
}

TEST_F(OptionsFileTest, HasTheValuesInEffect) {
  DatabaseOptions options = Options();
  options.tablet_servers = 0;  // the number of processors
  options.shared_memory_budget = std::make_shared<MemoryBudget>(40 << 20);
  Open(options);

  EXPECT_THAT(Lines(), Not(Contains("tablet_servers=0")));
  EXPECT_THAT(Lines(), Contains("memory_budget=41943040"));
}

TEST_F(OptionsFileTest, HasEachChangeAtOnce) {
  Open();
  ASSERT_THAT(Lines(), Contains("durability=buffered"));

  ASSERT_OK(database_->SetOptions({{"durability", "none"}, {"memtable_size", "65536"}}));
  EXPECT_THAT(Lines(), Contains("durability=none"));
  EXPECT_THAT(Lines(), Contains("memtable_size=65536"));
  database_->SetCompactionRate(7);
  EXPECT_THAT(Lines(), Contains("compaction_rate=7"));
  EXPECT_THAT(Lines(), Contains("durability=none"));
  const std::vector<std::string> before = Lines();
  EXPECT_FALSE(database_->SetOptions({{"durability", "sync"}, {"x", "1"}}).ok());
  EXPECT_EQ(Lines(), before);
}

TEST_F(OptionsFileTest, StaysAndHasTheOptionsOfTheNextOpening) {
  Open();
  ASSERT_OK(database_->SetOptions({{"durability", "sync"}}));
  ASSERT_OK(database_->Close());
  EXPECT_THAT(Lines(), Contains("durability=sync"));  // with which it ran
  database_.reset();

  DatabaseOptions options = Options();
  options.target_file_size = 1 << 20;
  Open(options);
  EXPECT_EQ(database_->ChangeableOptions()["durability"], "buffered");  // it is not read
  EXPECT_THAT(Lines(), Contains("durability=buffered"));
  EXPECT_THAT(Lines(), Contains("target_file_size=1048576"));
}

TEST_F(OptionsFileTest, SurvivesALossOfPower) {
  Open();
  ASSERT_OK(database_->SetOptions({{"compaction_rate", "5"}}));

  const std::unique_ptr<InMemoryFileSystem> after = file_system_->CrashClone(1, Unsynced::kNothing);
  ASSERT_OK_AND_ASSIGN(const std::string text, after->ReadFile(kFile));
  EXPECT_THAT(text, HasSubstr("compaction_rate=5\n"));
}

TEST_F(OptionsFileTest, WhateverItHasIsReplaced) {
  Open();
  ASSERT_OK(database_->Close());
  database_.reset();
  {
    ASSERT_OK_AND_ASSIGN(const auto file, file_system_->NewWritableFile(kFile));
    ASSERT_OK(file->Append("durability=sync\nmemtable_size=rubbish"));
  }
  Open();
  EXPECT_EQ(Lines().front(), "bigtable options, format 1");
  EXPECT_THAT(Lines(), Contains("durability=buffered"));

  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_OK(file_system_->RemoveFile(kFile));
  Open();
  EXPECT_TRUE(HasFile());
}

TEST_F(OptionsFileTest, IsNotWrittenIfNothingChanges) {
  Open();
  ASSERT_OK(database_->Close());
  database_.reset();
  FaultyFileSystem faulty(file_system_.get());
  faulty.CountCalls({.kinds = {FileCall::kNewWritableFile}, .path_contains = "/OPTIONS"});

  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, OpenOn(&faulty));
  ASSERT_OK(database->SetOptions({{"durability", "buffered"}}));
  EXPECT_EQ(faulty.calls(), 0u);
  ASSERT_OK(database->SetOptions({{"durability", "sync"}}));
  EXPECT_EQ(faulty.calls(), 1u);
}

TEST_F(OptionsFileTest, AReadOnlyOpeningDoesNotWriteIt) {
  Open();
  CreateTable("t", {"f"});
  ASSERT_OK(database_->Close());
  database_.reset();
  const std::vector<std::string> before = Lines();
  DatabaseOptions options = Options();
  options.read_only = true;
  options.durability = Durability::kSync;

  Open(options);
  ASSERT_OK(database_->SetOptions({{"compaction_rate", "5"}}));
  EXPECT_EQ(Lines(), before);
  ASSERT_OK(database_->Close());
  database_.reset();
  ASSERT_OK(file_system_->RemoveFile(kFile));
  Open(options);
  EXPECT_FALSE(HasFile());
}

TEST_F(OptionsFileTest, AFailedOpeningLeavesItAsItWas) {
  Open();
  const std::vector<std::string> before = Lines();
  DatabaseOptions options = Options();
  options.durability = Durability::kSync;

  EXPECT_STATUS(kFailedPrecondition, "", Database::Open(kPath, options).status());  // is open
  options.target_file_size = 1;
  EXPECT_STATUS(kInvalidArgument, "", Database::Open(kPath, options).status());
  EXPECT_EQ(Lines(), before);
}

// Every call by which the file is written fails once; after each, another change succeeds.
TEST_F(OptionsFileTest, AFailureToWriteItPreventsNothing) {
  for (const FileCall call : {FileCall::kReadFile, FileCall::kNewWritableFile, FileCall::kAppend,
                              FileCall::kSync, FileCall::kClose, FileCall::kRenameFile}) {
    SCOPED_TRACE(static_cast<int>(call));
    file_system_ = std::make_unique<InMemoryFileSystem>();
    FaultyFileSystem faulty(file_system_.get());
    const FileCallFilter calls = {.kinds = {call}, .path_contains = "/OPTIONS"};
    const bool is_fatal = call != FileCall::kReadFile;  // then it is just written

    faulty.FailCalls(calls, absl::ResourceExhaustedError("disk full"));
    ASSERT_OK_AND_ASSIGN(std::unique_ptr<Database> database, OpenOn(&faulty));
    EXPECT_EQ(HasFile(), !is_fatal);
    ASSERT_OK(database->SetOptions({{"durability", "sync"}}));
    EXPECT_EQ(database->ChangeableOptions()["durability"], "sync");
    EXPECT_FALSE(file_system_->FileExists(absl::StrCat(kFile, "~")));
    if (is_fatal) {
      EXPECT_THAT(InfoLog(), HasSubstr("the options are not recorded: /db/OPTIONS~: disk full"));
    }
    faulty.ClearFaults();
    ASSERT_OK(database->SetOptions({{"compaction_rate", "5"}}));
    EXPECT_THAT(Lines(), Contains("durability=sync"));
    EXPECT_THAT(Lines(), Contains("compaction_rate=5"));
  }
}

}  // namespace
}  // namespace bigtable
