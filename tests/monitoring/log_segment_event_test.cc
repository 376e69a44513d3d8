// Events of log segments.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "monitoring/capturing_listener.h"

namespace bigtable {
namespace {

using LogSegmentEventTest = ListeningDatabaseFixture;

TEST_F(LogSegmentEventTest, SegmentsAreCreatedAndEndedInTheirOrder) {
  DatabaseOptions options = ListeningOptions();
  options.log_segment_size = 64 << 10;
  options.tablet_servers = 2;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  for (int i = 0; i < 200; ++i) {
    Set(table, absl::StrCat("row", i), "f:q", 1, std::string(1000, 'v'));
  }
  Set(table, "large", "f:q", 1, std::string(200'000, 'v'));
  ASSERT_OK(database_->Close());
  // The other server has no tablet and therefore no log.
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  const std::vector<std::string>& events = segments.begin()->second;
  ASSERT_GE(events.size(), 8u);
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i], absl::StrCat(i % 2 == 0 ? "created " : "ended ", i / 2 + 1));
  }
  EXPECT_TRUE(events.back().starts_with("ended"));
}

TEST_F(LogSegmentEventTest, ASegmentThatIsAbandonedAfterAnErrorGetsNoEndedEvent) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = ListeningOptions();
  options.file_system = &faulty;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  faulty.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("cut"));
  EXPECT_FALSE(
      table->Apply(RowMutation("r").Set("f:q", "v"), {.durability = Durability::kSync}).ok());
  faulty.ClearFaults();
  ASSERT_OK(database_->Resume());
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->Close());
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.begin()->second,
            (std::vector<std::string>{"created 1", "created 2", "ended 2"}));
  database_.reset();  // before its file system
}

TEST_F(LogSegmentEventTest, ASegmentThatIsAbandonedForAStallGetsNoEndedEvent) {
  FaultyFileSystem faulty(file_system_.get());
  DatabaseOptions options = ListeningOptions();
  options.file_system = &faulty;
  absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
  ASSERT_OK(opened);
  database_ = *std::move(opened);
  Table* const table = CreateTable("t", {"f"});
  Set(table, "r", "f:q", 1, "v");
  ASSERT_OK(database_->WaitUntilQuiet());
  faulty.StallOneFile({.kinds = {FileCall::kLogSync}, .path_contains = "/log/server-"});
  std::thread writer([&] {
    EXPECT_OK(table->Apply(RowMutation("r").Set("f:q", "v"), {.durability = Durability::kSync}));
  });
  ASSERT_TRUE(faulty.WaitUntilStalled(1));
  Set(table, "r", "f:q", 1, "v");
  faulty.ReleaseCalls();
  writer.join();
  const DatabaseStatistics statistics = database_->Statistics();
  EXPECT_EQ(statistics.log_switches, 1u);
  EXPECT_GE(statistics.log_stalls, 1u);
  for (const auto& [name, server] : statistics.servers) {
    if (!name.starts_with("user-")) continue;
    EXPECT_EQ(server.log_switches, 1u);
    EXPECT_EQ(server.log_stalls, statistics.log_stalls);
  }
  ASSERT_OK(database_->Close());
  const auto segments = listener_.TakeSegments();
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.begin()->second,
            (std::vector<std::string>{"created 1", "created 2", "ended 2"}));
  database_.reset();  // before its file system
}

}  // namespace
}  // namespace bigtable
