// How a group of writes goes to the log and to the memtables.
#include "commit/group_writer.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using GroupWriterTest = StartedServerFixture;

TEST_F(GroupWriterTest, AWriteIsAcknowledgedOnlyIfItWasAppliedWhateverErrorsComeAndGo) {
  std::atomic<bool> done{false};
  std::thread errors([&] {
    while (!done) {
      server_->write_error().Set(absl::UnavailableError("a short error"));
      EXPECT_OK(server_->BeginResume({}));
      EXPECT_OK(background_.FlushNow(server_.get()));
      EXPECT_OK(server_->FinishResume({}));
    }
  });
  uint64_t acknowledged = 0;
  const SteadyTime begin = SteadyTime::Now();
  const auto is_time = [&](absl::Duration most) { return SteadyTime::Now() - begin > most; };
  // On a busy machine the times without an error are short.
  while (!is_time(absl::Milliseconds(300)) || (acknowledged == 0 && !is_time(absl::Seconds(30)))) {
    for (int i = 0; i < 1000; ++i) acknowledged += Write("row").ok() ? 1 : 0;
  }
  done = true;
  errors.join();
  EXPECT_GT(acknowledged, 0u);
  EXPECT_EQ(server_->writer().rows_written(), acknowledged);
}

TEST_F(GroupWriterTest, ABatchThatTheLogHasNoRoomForFailsAlone) {
  ASSERT_OK(Write("before"));
  ASSERT_OK(server_->log().Maintain());
  file_system_.set_max_total_bytes(file_system_.total_bytes() + 1000);
  std::string large, small;
  AppendOperation(&large, {.family = "f", .qualifier = "q", .value = std::string(100 << 10, 'v')});
  AppendOperation(&small, {.family = "f", .qualifier = "q", .value = "v"});
  EXPECT_STATUS(kResourceExhausted, "no room in the log of server server-1",
                Apply(kTableId, {{"a", small}, {"b", large}}));
  EXPECT_OK(Apply(kTableId, {{"c", small}, {"d", small}}));
  EXPECT_OK(server_->write_error().status());
  EXPECT_EQ(server_->writer().rows_written(), 3u);
  file_system_.set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_OK(Apply(kTableId, {{"a", small}, {"b", large}}));
  EXPECT_EQ(server_->writer().rows_written(), 5u);
}

TEST_F(GroupWriterTest, ABatchIsAppliedWholeOrNotAtAll) {
  std::string good, bad;
  AppendOperation(&good, {.family = "f", .qualifier = "q", .value = "v"});
  AppendOperation(&bad, {.family = "g", .qualifier = "q", .value = "v"});
  const auto apply = [&](const std::vector<EncodedMutation>& rows) {
    return Apply(kTableId, rows);
  };
  EXPECT_STATUS(kNotFound, "\"g\"", apply({{"a", good}, {"b", bad}}));
  EXPECT_TRUE(tablet_->Version()->groups()[0].active->empty());
  const uint64_t records = server_->log().statistics().records;
  ASSERT_OK(apply({{"a", good}, {"b", good}, {"c", good}}));
  EXPECT_EQ(server_->log().statistics().records, records + 1);
  EXPECT_EQ(tablet_->Version()->groups()[0].active->entries(), 3u);
  EXPECT_EQ(tablet_->Version()->groups()[0].active->first_sequence() + 2, server_->visible());
  Tablet::Halves halves;
  server_->SplitTablet(tablet_, "b", [&](const Tablet::Halves& made) { halves = made; });
  EXPECT_STATUS(kUnavailable, "not in one tablet", apply({{"a", good}, {"b", good}}));
}

// The family may have been removed since the batch was checked.
TEST_F(GroupWriterTest, ABatchIsCheckedAgainAsAWholeAfterAChangeOfTheSchema) {
  std::string good, bad;
  AppendOperation(&good, {.family = "f", .qualifier = "q", .value = "v"});
  AppendOperation(&bad, {.family = "g", .qualifier = "q", .value = "v"});
  const EncodedMutation mutations[] = {{"a", good}, {"b", bad}, {"c", good}};
  const TableLayout checked_against = *tablet_->Layout();
  std::vector<absl::Status> statuses(3);
  EXPECT_TRUE(server_->writer().Apply({.tablet = tablet_.get(),
                                       .mutations = mutations,
                                       .statuses = absl::MakeSpan(statuses),
                                       .is_batch = true,
                                       .layout = &checked_against}));
  for (const absl::Status& status : statuses) EXPECT_STATUS(kNotFound, "\"g\"", status);
  EXPECT_TRUE(tablet_->Version()->groups()[0].active->empty());
}

}  // namespace
}  // namespace bigtable
