// Events of write stalls.
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "cache/budget_access.h"
#include "monitoring/capturing_listener.h"
#include "monitoring/listener_queue.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using DatabaseStallEventTest = ListeningDatabaseFixture;

TEST_F(DatabaseStallEventTest, TheEndOfAStallIsReportedWithoutAnotherWrite) {
  DatabaseOptions options = ListeningOptions();
  options.shared_memory_budget = std::make_shared<MemoryBudget>(32 << 20);
  MemoryBudget* const budget = options.shared_memory_budget.get();
  Open(options);
  Table* const table = CreateTable("t", {"f"});
  const int64_t much = (32 << 20) / 16 * 9;
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, much);
  Set(table, "r", "f:q", 1, "v");
  int stalled_servers = 0;
  for (const auto& [name, server] : database_->Statistics().servers) {
    if (server.stall_reason != StallReason::kMemory) continue;
    ++stalled_servers;
    EXPECT_FALSE(server.tablets.empty());
    EXPECT_GT(server.write_delay, absl::ZeroDuration());
  }
  EXPECT_EQ(stalled_servers, 1);
  BudgetAccess::Charge(*budget, MemoryBudget::Use::kMemtables, -much);
  EXPECT_TRUE(listener_.WaitFor("stall 0 to 1 delayed"));
  EXPECT_TRUE(listener_.WaitFor("stall 1 to 0"));
}

class ServerStallEventTest : public ServerFixture {
 protected:
  void SetMemory(uint64_t bytes) {
    BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables,
                         static_cast<int64_t>(bytes) -
                             static_cast<int64_t>(budget_->used(MemoryBudget::Use::kMemtables)));
  }

  CapturingListener listener_;
};

TEST_F(ServerStallEventTest, AStallIsReportedWhenItBeginsAndWhenItEnds) {
  {
    ListenerQueue events(&listener_);
    WriteController controller(budget_.get(), server_.get(), &background_, &events);
    // A server without a log has no writes to stall.
    SetMemory(kLimit / 16 * 9);
    controller.NoteReason();
    SetMemory(0);
    ASSERT_OK(server_->Start("server-1", "/log"));
    controller.NoteReason();
    WriteController::Admission admission;
    EXPECT_OK(controller.Admit(1, {}, &admission));
    SetMemory(kLimit / 16 * 9);
    EXPECT_OK(controller.Admit(1, {}, &admission));
    EXPECT_OK(controller.Admit(1, {}, &admission));
    SetMemory(0);
    controller.NoteReason();
    controller.NoteReason();
  }
  EXPECT_EQ(listener_.Take(), (Events{"stall 0 to 1 delayed", "stall 1 to 0"}));
}

}  // namespace
}  // namespace bigtable
