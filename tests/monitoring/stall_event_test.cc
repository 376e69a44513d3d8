// Events and messages of write stalls.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "base/info_log.h"
#include "cache/budget_access.h"
#include "monitoring/capturing_listener.h"
#include "monitoring/listener_queue.h"
#include "support/capturing_sink.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// Pretends that flushes are under way, so that writers wait for memory.
class EndlessFlushes final : public MemtableHolder {
 public:
  explicit EndlessFlushes(MemoryBudget* budget) : budget_(budget) {
    BudgetAccess::AddHolder(*budget_, this);
  }
  ~EndlessFlushes() { BudgetAccess::RemoveHolder(*budget_, this); }
  bool IsWritingOut() const override { return true; }
  uint64_t LargestMemtable() const override { return 0; }
  bool WriteOutLargest() override { return true; }
  void OnProgress() override {}

 private:
  MemoryBudget* const budget_;
};

constexpr int64_t kBudget = int64_t{256} << 20;
constexpr int64_t kMuch = kBudget / 128 * 75;  // below the hard limit, five eighths

using DatabaseStallEventTest = ListeningDatabaseFixture;

TEST_F(DatabaseStallEventTest, TheEndOfAStallIsReportedWithoutAnotherWrite) {
  const auto budget = std::make_shared<MemoryBudget>(kBudget);
  const EndlessFlushes flushes(budget.get());
  const auto log = std::make_shared<CapturingSink>();
  DatabaseOptions options = ListeningOptions();
  options.shared_memory_budget = budget;
  options.log_sink = log;
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, kMuch);
  const std::string value(60'000, 'v');
  for (int i = 0; i < 100 && !listener_.Has("stall 0 to 1 delayed"); ++i) {
    Set(table, "r", "f:q", i, value);
  }
  int stalled_servers = 0;
  for (const auto& [name, server] : database_->Statistics().servers) {
    if (server.stall_reason != StallReason::kMemory) continue;
    ++stalled_servers;
    EXPECT_FALSE(server.tablets.empty());
    EXPECT_GT(server.write_delay, absl::ZeroDuration());
  }
  EXPECT_EQ(stalled_servers, 1);
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, -kMuch);
  EXPECT_TRUE(listener_.WaitFor("stall 0 to 1 delayed"));
  EXPECT_TRUE(listener_.WaitFor("stall 1 to 0"));
  std::vector<std::string> stalls;
  for (const auto& message : log->messages()) {
    if (absl::StrContains(message.text, "stall")) stalls.push_back(message.text);
  }
  ASSERT_EQ(stalls.size(), 2u);
  EXPECT_TRUE(absl::StrContains(stalls[0], "writes stall because of memory")) << stalls[0];
  EXPECT_TRUE(absl::StrContains(stalls[1], "writes go on, after a stall of ")) << stalls[1];
  database_.reset();
}

class ServerStallEventTest : public ServerFixture {
 protected:
  void SetMemory(int64_t bytes) {
    BudgetAccess::Charge(large_, MemoryBudget::Use::kMemtables, bytes - memory_);
    memory_ = bytes;
  }

  CapturingListener listener_;
  MemoryBudget large_{kBudget};
  int64_t memory_ = 0;
};

TEST_F(ServerStallEventTest, AStallIsReportedWhenItBeginsAndWhenItEnds) {
  const EndlessFlushes flushes(&large_);
  const auto log = std::make_shared<CapturingSink>();
  {
    ListenerQueue events(&listener_);
    InfoLog info_log(log);
    WriteController controller(&large_, server_.get(), &background_, &events, &info_log);
    ASSERT_OK(server_->Start("server-1", "/log"));
    const auto admit = [&](uint64_t bytes) {
      WriteController::Admission admission;
      EXPECT_OK(controller.Admit(bytes, {}, &admission));
    };
    // Delays of microseconds, though the memory comes and goes.
    for (int i = 0; i < 50; ++i) {
      SetMemory(kMuch);
      admit(100);
      SetMemory(0);
      controller.RecordStall();
    }
    EXPECT_TRUE(log->messages().empty());

    SetMemory(kMuch);
    while (controller.total_delay() < absl::Milliseconds(60)) admit(60'000);
    SetMemory(0);
    controller.RecordStall();
    absl::SleepFor(StallNotices::kEnd + absl::Milliseconds(1));
    controller.RecordStall();
    controller.RecordStall();
  }
  EXPECT_EQ(listener_.Take(), (Events{"stall 0 to 1 delayed", "stall 1 to 0"}));
  EXPECT_EQ(log->messages().size(), 2u);
}

}  // namespace
}  // namespace bigtable
