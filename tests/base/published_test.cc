// A published object lives as long as it is current or pinned, and no longer.
#include "base/published.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "support/seeds.h"

namespace bigtable {
namespace {

class Number final : public Publishable {
 public:
  Number(int n, std::atomic<int>* destroyed) : value(n), destroyed_(destroyed) {}
  ~Number() override {
    value = -1;
    destroyed_->fetch_add(1);
  }

  int value;

 private:
  std::atomic<int>* const destroyed_;
};

TEST(PublishedTest, GetReturnsTheLastPublishedObject) {
  std::atomic<int> destroyed{0};
  Published<Number> current(new Number(1, &destroyed));
  EXPECT_EQ(current.Get()->value, 1);
  current.Publish(new Number(2, &destroyed));
  EXPECT_EQ(current.Get()->value, 2);
  EXPECT_EQ(destroyed, 1);
}

TEST(PublishedTest, APinKeepsAnOldObjectUntilItIsDropped) {
  std::atomic<int> destroyed{0};
  Published<Number> current(new Number(1, &destroyed));
  Pin<Number> pin = current.Get();
  current.Publish(new Number(2, &destroyed));
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(pin->value, 1);
  pin = {};
  EXPECT_EQ(destroyed, 1);
}

TEST(PublishedTest, EveryPinCounts) {
  std::atomic<int> destroyed{0};
  Published<Number> current(new Number(1, &destroyed));
  Pin<Number> first = current.Get();
  Pin<Number> clone = first.Clone();
  Pin<Number> moved = std::move(first);
  EXPECT_FALSE(first);
  current.Publish(new Number(2, &destroyed));
  clone = {};
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(moved->value, 1);
  moved = current.Get();
  EXPECT_EQ(destroyed, 1);
  EXPECT_EQ(moved->value, 2);
  EXPECT_FALSE(Pin<Number>().Clone());
}

TEST(PublishedTest, APinOutlivesThePublisher) {
  std::atomic<int> destroyed{0};
  Pin<Number> pin;
  {
    Published<Number> current(new Number(1, &destroyed));
    pin = current.Get();
  }
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(pin->value, 1);
  pin = {};
  EXPECT_EQ(destroyed, 1);
}

// More threads than stripes, so that each stripe pins.
TEST(PublishedTest, PinsOfAllThreadsKeepTheObjectAndAnyThreadMayDropThem) {
  std::atomic<int> destroyed{0};
  Published<Number> current(new Number(1, &destroyed));
  std::vector<Pin<Number>> pins(kStripes * 2);
  for (Pin<Number>& pin : pins) {
    std::thread([&] { pin = current.Get(); }).join();
  }
  current.Publish(new Number(2, &destroyed));
  while (!pins.empty()) {
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(pins.back()->value, 1);
    pins.pop_back();
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(ConcurrentPublishedTest, ReadersSeeWholeObjectsInOrderWithoutLeaks) {
  const int kObjects = kSlow ? 3000 : 20000;
  std::atomic<int> destroyed{0};
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  {
    Published<Number> current(new Number(0, &destroyed));
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) {
      readers.emplace_back([&] {
        int last = 0;
        std::vector<Pin<Number>> held;
        while (!done) {
          held.push_back(current.Get());
          const int value = held.back()->value;
          if (value < last) wrong.fetch_add(1);  // also -1, if it was destroyed
          last = value;
          if (held.size() < 16) continue;
          for (size_t k = 0; k + 1 < held.size(); ++k) {
            if (held[k]->value < 0 || held[k]->value > held[k + 1]->value) wrong.fetch_add(1);
          }
          held.clear();
        }
      });
    }
    for (int i = 1; i < kObjects; ++i) current.Publish(new Number(i, &destroyed));
    done = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(destroyed, kObjects - 1);
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(destroyed, kObjects);
}

}  // namespace
}  // namespace bigtable
