// What readers see of a batch on several servers while it becomes visible.
#include "commit/visible_sequence.h"

#include <atomic>
#include <thread>

#include "gtest/gtest.h"

namespace bigtable {
namespace {

TEST(VisibleSequenceTest, PreparedNumbersBecomeVisibleTogether) {
  VisibleSequence a, b;
  VisibleSequence::PublishedTurn published{0};
  a.Set(5);
  b.Set(7);
  a.Prepare(10, &published, 1);
  EXPECT_EQ(a.get(), 5u);
  b.Prepare(12, &published, 1);
  EXPECT_EQ(a.get(), 5u);
  EXPECT_EQ(b.get(), 7u);
  published = 1;
  EXPECT_EQ(a.get(), 10u);
  EXPECT_EQ(b.get(), 12u);
  a.Complete();
  EXPECT_EQ(a.get(), 10u);
  EXPECT_EQ(b.get(), 12u);
  b.Complete();
  a.Set(13);
  a.Advance(11);
  EXPECT_EQ(a.get(), 13u);
  EXPECT_EQ(b.get(), 12u);
}

// Readers in two threads read the servers in opposite orders: what is read later is not older.
TEST(VisibleSequenceTest, ConcurrentReadersSeeABatchOnBothServers) {
  VisibleSequence a, b;
  VisibleSequence::PublishedTurn published{0};
  std::atomic<bool> done{false};
  std::atomic<int> left{2};
  const auto read = [&](const VisibleSequence& first, const VisibleSequence& then) {
    for (int i = 0; !done; ++i) {
      if (i == 100000) --left;
      const SequenceNumber before = first.get();
      const SequenceNumber after = then.get();
      ASSERT_GE(after, before);
    }
  };
  std::thread forwards([&] { read(a, b); });
  std::thread backwards([&] { read(b, a); });
  SequenceNumber turn = 0;
  while (left > 0 || turn < 100000) {
    ++turn;
    a.Prepare(turn, &published, turn);
    b.Prepare(turn, &published, turn);
    published.store(turn, std::memory_order_release);
    a.Complete();
    b.Complete();
  }
  done = true;
  forwards.join();
  backwards.join();
  EXPECT_EQ(a.get(), turn);
}

}  // namespace
}  // namespace bigtable
