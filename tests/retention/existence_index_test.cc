// Counts of timestamps with cells, compared with those that a walk over all cells gives.
#include "retention/existence_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

using Existence = ExistenceIndex::Existence;
using EventNumber = ExistenceIndex::EventNumber;
using Timestamps = std::vector<std::vector<Existence>>;  // the cells of each, in order

// Each event begins or ends the cell of a timestamp, or does both.
Timestamps RandomTimestamps(Random* random, EventNumber last, size_t count) {
  Timestamps timestamps(count);
  const EventNumber never = last + 1;
  for (EventNumber event = 1; event <= last; ++event) {
    std::vector<Existence>& cells = timestamps[random->Below(count)];
    const bool exists = !cells.empty() && cells.back().end == never;
    if (exists) cells.back().end = event;
    if (!exists || random->OneIn(4)) {
      cells.push_back({event, never, cells.empty() ? 0 : cells.back().end});
    }
  }
  return timestamps;
}

bool IsAt(const Existence& cell, EventNumber event) {
  return cell.begin <= event && event < cell.end;
}

int64_t CountAt(const Timestamps& timestamps, EventNumber event) {
  int64_t count = 0;
  for (const std::vector<Existence>& cells : timestamps) {
    count +=
        std::count_if(cells.begin(), cells.end(), [&](const auto& c) { return IsAt(c, event); });
  }
  return count;
}

// The events after `after` with which timestamps without a cell there get one, in order.
std::vector<EventNumber> NewAfter(const Timestamps& timestamps, EventNumber after) {
  std::vector<EventNumber> begins;
  for (const std::vector<Existence>& cells : timestamps) {
    if (std::any_of(cells.begin(), cells.end(), [&](const auto& c) { return IsAt(c, after); })) {
      continue;
    }
    const auto next =
        std::find_if(cells.begin(), cells.end(), [&](const auto& c) { return c.begin > after; });
    if (next != cells.end()) begins.push_back(next->begin);
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

void ExpectSame(const ExistenceIndex& index, const Timestamps& timestamps, EventNumber last,
                Random* random) {
  for (int i = 0; i < 100; ++i) {
    const auto after = static_cast<EventNumber>(random->Below(last + 1));
    ASSERT_EQ(index.CountAt(after), CountAt(timestamps, after)) << "at " << after;
    const auto until = static_cast<EventNumber>(random->Between(after, last + 2));
    const std::vector<EventNumber> begins = NewAfter(timestamps, after);
    const auto count =
        static_cast<size_t>(random->Between(1, 1 + static_cast<int64_t>(begins.size())));
    const EventNumber found = count <= begins.size() ? begins[count - 1] : 0;
    ASSERT_EQ(index.FindNew(after, static_cast<int64_t>(count), until), found <= until ? found : 0)
        << "the " << count << "th after " << after << " until " << until;
  }
}

TEST(ExistenceIndexTest, CountsAreThoseOfAWalkOverAllCells) {
  Random random(1);
  ExistenceIndex index;  // used again and again, with fewer and more events
  for (const EventNumber last : {1, 2, 63, 64, 65, 1000, 127, 128, 3000}) {
    // From timestamps that are written once to those that are written many times.
    for (const size_t count : {size_t{last}, size_t{last} / 10 + 1, size_t{2}}) {
      SCOPED_TRACE(testing::Message() << last << " events of " << count << " timestamps");
      Timestamps timestamps = RandomTimestamps(&random, last, count);
      index.Reset(last);
      // In any order of the timestamps.
      for (size_t i = timestamps.size(); i > 1; --i) {
        std::swap(timestamps[i - 1], timestamps[random.Below(i)]);
      }
      for (const std::vector<Existence>& cells : timestamps) {
        for (const Existence& cell : cells) index.Add(cell);
      }
      ExpectSame(index, timestamps, last, &random);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace bigtable
