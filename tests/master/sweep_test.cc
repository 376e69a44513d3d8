// Files that no table names, and none will name, are removed while the database is open.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "metadata/metadata_format.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "tablet/file_numbers.h"

namespace bigtable {
namespace {

using testing::Contains;
using testing::Not;

TEST(FileNumbersTest, SettledNumbersPrecedeAllRunningWork) {
  FileNumbers numbers;
  numbers.AdvanceTo(7);
  EXPECT_EQ(numbers.Take(), 8);
  EXPECT_EQ(numbers.settled(), 8);
  {
    const FileNumbers::Work first(&numbers);
    EXPECT_EQ(numbers.Take(), 9);
    {
      const FileNumbers::Work second(&numbers);
      EXPECT_EQ(numbers.Take(), 10);
      EXPECT_EQ(numbers.settled(), 8);
    }
    EXPECT_EQ(numbers.settled(), 8);
  }
  EXPECT_EQ(numbers.settled(), 10);
}

class SweepTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    DatabaseOptions options = Options();
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    table_ = CreateTable("t", {"f"});
    for (const std::string row : {"a", "b"}) Set(table_, row, "f:q", 1, "v");
    ASSERT_OK(database_->Flush("t"));
  }
  void TearDown() override { database_.reset(); }
  std::vector<std::string> Files() {
    absl::StatusOr<std::vector<std::string>> names = file_system_->ListDirectory("/db/sst");
    EXPECT_OK(names);
    return *std::move(names);
  }
  absl::Status Sweep() { return DatabasePeer(database_.get()).SweepFiles(); }
  void ExpectWhole() {
    EXPECT_EQ(Show(table_->ReadRow("a")), "f:q@1=v");
    EXPECT_EQ(Show(table_->ReadRow("b")), "f:q@1=v");
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  Table* table_ = nullptr;
};

TEST_F(SweepTest, FilesThatATableNamesAreKept) {
  ASSERT_OK(database_->SplitTablet("t", "b"));  // both halves name the file
  const std::vector<std::string> before = Files();
  ASSERT_OK(Sweep());
  EXPECT_EQ(Files(), before);
  ExpectWhole();
}

TEST_F(SweepTest, FilesThatCouldNotBeRemovedAreRemovedLater) {
  Set(table_, "a", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  faulty_->FailCalls({{FileCall::kRemoveFile}, "/sst/"}, absl::UnavailableError("not now"));
  ASSERT_OK(database_->Compact("t"));
  faulty_->ClearFaults();
  const size_t before = Files().size();
  ASSERT_OK(Sweep());
  EXPECT_EQ(Files().size(), before - 2);
  ExpectWhole();
}

// The files of a flush exist before METADATA names them.
TEST_F(SweepTest, FilesOfARunningFlushAreKept) {
  Set(table_, "c", "f:q", 1, "v");
  const size_t before = Files().size();
  faulty_->StallCalls({{FileCall::kLogSync}, "/log/metadata-"});
  std::thread flush([&] { EXPECT_OK(database_->Flush("t")); });
  ASSERT_TRUE(faulty_->WaitUntilStalled(1));
  EXPECT_EQ(Files().size(), before + 1);
  ASSERT_OK(Sweep());
  EXPECT_EQ(Files().size(), before + 1);
  faulty_->ReleaseCalls();
  flush.join();
  ASSERT_OK(Sweep());
  EXPECT_EQ(Files().size(), before + 1);
  EXPECT_EQ(Show(table_->ReadRow("c")), "f:q@1=v");
}

// METADATA may name the file after a crash, although it refused the mutation.
TEST_F(SweepTest, FilesOfAFailedMutationAreKeptUntilItsOutcomeIsKnown) {
  Set(table_, "c", "f:q", 1, "v");
  const std::vector<std::string> before = Files();
  faulty_->FailCalls({{FileCall::kLogSync}, "/log/metadata-"}, absl::UnavailableError("no sync"));
  EXPECT_FALSE(database_->Flush("t").ok());
  ASSERT_EQ(Files().size(), before.size() + 1);
  EXPECT_STATUS(kUnavailable, "no sync", Sweep());
  const std::vector<std::string> left = Files();
  ASSERT_EQ(left.size(), before.size() + 1);
  // Resume flushes METADATA and the table again, and sweeps.
  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(Sweep());
  for (const std::string& file : left) {
    if (std::find(before.begin(), before.end(), file) != before.end()) continue;
    EXPECT_THAT(Files(), Not(Contains(file)));
  }
  EXPECT_EQ(Show(table_->ReadRow("c")), "f:q@1=v");
  ExpectWhole();
}

}  // namespace
}  // namespace bigtable
