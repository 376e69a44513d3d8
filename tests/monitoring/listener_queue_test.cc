// ListenerQueue delivers the events of concurrent threads one at a time.
#include "monitoring/listener_queue.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace bigtable {
namespace {

class CountingListener final : public EventListener {
 public:
  void OnTableCreated(const TableEvent& event) override {
    EXPECT_FALSE(busy_.exchange(true)) << "two at once";
    const auto dash = event.table.find('-');
    const int thread = std::stoi(event.table.substr(0, dash));
    const int number = std::stoi(event.table.substr(dash + 1));
    EXPECT_EQ(next_[static_cast<size_t>(thread)]++, number);
    busy_.store(false);
  }
  const std::vector<int>& next() const { return next_; }

 private:
  std::atomic<bool> busy_{false};
  std::vector<int> next_ = std::vector<int>(8);
};

TEST(ListenerQueueTest, ConcurrentPushesAreAllDeliveredInTheOrderOfEachThread) {
  constexpr int kEach = 1000;
  CountingListener listener;
  {
    ListenerQueue events(&listener);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i) {
          events.Push(&EventListener::OnTableCreated, {absl::Now(), absl::StrCat(t, "-", i)});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(listener.next(), std::vector<int>(8, kEach));
}

}  // namespace
}  // namespace bigtable
