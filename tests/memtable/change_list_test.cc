// The list of changes of a memtable, by one thread and with readers beside its writer.
#include "memtable/change_list.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "base/arena.h"

namespace bigtable {
namespace {

LoggedChange Numbered(SequenceNumber sequence) {
  return {.sequence = sequence, .micros = static_cast<int64_t>(sequence) * 10, .row = "row"};
}

TEST(ChangeListTest, HasWhatWasAddedAndNothingMoves) {
  Arena arena;
  ChangeList list;
  EXPECT_EQ(list.size(), 0u);
  std::vector<const LoggedChange*> places;
  for (SequenceNumber i = 1; i <= 1000; ++i) {
    list.Add(Numbered(2 * i), &arena);
    ASSERT_EQ(list.size(), i);
    places.push_back(&list.at(i - 1));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(&list.at(i), places[i]);
    EXPECT_EQ(list.at(i).sequence, 2 * (i + 1));
    EXPECT_EQ(list.at(i).micros, static_cast<int64_t>(20 * (i + 1)));
  }
}

TEST(ChangeListTest, CountsThoseUpToANumber) {
  Arena arena;
  ChangeList list;
  for (const SequenceNumber sequence : {3, 5, 9}) list.Add(Numbered(sequence), &arena);
  EXPECT_TRUE(list.ascends());
  const std::vector<size_t> counts = {0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3};
  for (SequenceNumber i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(list.CountThrough(i, 3), counts[i]) << i;
    EXPECT_EQ(list.CountThrough(i, 1), counts[i] > 0 ? 1u : 0u) << i;
  }
  EXPECT_EQ(list.CountThrough(9, 0), 0u);
}

TEST(ChangeListTest, KnowsThatNumbersDoNotAscend) {
  for (const std::vector<SequenceNumber>& sequences :
       {std::vector<SequenceNumber>{1, 3, 2}, std::vector<SequenceNumber>{1, 1}}) {
    Arena arena;
    ChangeList list;
    for (const SequenceNumber sequence : sequences) {
      EXPECT_TRUE(list.ascends());
      list.Add(Numbered(sequence), &arena);
    }
    EXPECT_FALSE(list.ascends());
    // It stays so.
    list.Add(Numbered(100), &arena);
    EXPECT_FALSE(list.ascends());
    EXPECT_EQ(list.size(), sequences.size() + 1);
  }
}

TEST(ChangeListTest, IsReadConcurrentlyToItsWriter) {
  constexpr SequenceNumber kCount = 20'000;
  Arena arena;
  ChangeList list;
  std::atomic<bool> is_right = true;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      for (size_t size = 0; size < kCount;) {
        const size_t next = list.size();
        // All that is new, and the order of all.
        for (; size < next; ++size) {
          const LoggedChange& change = list.at(size);
          if (change.sequence != size + 1 || change.row != "row") is_right = false;
        }
        if (list.ascends() && list.CountThrough(next / 2, next) != next / 2) is_right = false;
        std::this_thread::yield();
      }
    });
  }
  for (SequenceNumber i = 1; i <= kCount; ++i) list.Add(Numbered(i), &arena);
  for (std::thread& reader : readers) reader.join();
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace bigtable
