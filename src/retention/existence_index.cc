#include "retention/existence_index.h"

#include <algorithm>
#include <bit>

#include "absl/base/macros.h"

namespace bigtable {

// --- Sums: node i has the sum of the (i & -i) numbers up to i. ---

void ExistenceIndex::Sums::Reset(EventNumber last) { tree_.assign(size_t{last} + 1, 0); }

void ExistenceIndex::Sums::Add(EventNumber event, int32_t number) {
  for (size_t i = event; i < tree_.size(); i += i & -i) tree_[i] += number;
}

int64_t ExistenceIndex::Sums::Sum(EventNumber last) const {
  int64_t sum = 0;
  for (size_t i = last; i > 0; i &= i - 1) sum += tree_[i];
  return sum;
}

ExistenceIndex::EventNumber ExistenceIndex::Sums::Find(int64_t sum) const {
  size_t before = 0;
  for (size_t step = std::bit_floor(tree_.size() - 1); step > 0; step /= 2) {
    const size_t next = before + step;
    if (next >= tree_.size() || tree_[next] >= sum) continue;
    before = next;
    sum -= tree_[next];
  }
  return static_cast<EventNumber>(before + 1);
}

// --- The index ---

void ExistenceIndex::Reset(EventNumber last) {
  last_ = last;
  there_.Reset(last);
  first_.Reset(last);
  has_again_ = false;
  before_ended_.assign(size_t{last} + 1, kNobody);
  // About as many events to a block as there are blocks.
  block_bits_ = std::max(6, static_cast<int>(std::bit_width(last)) / 2);
  const size_t blocks = (size_t{last} >> block_bits_) + 1;
  in_block_.assign(blocks, 0);
  first_in_block_.assign(blocks, 0);
}

void ExistenceIndex::Add(const Existence& existence) {
  ABSL_ASSERT(1 <= existence.begin && existence.begin <= existence.end &&
              existence.begin <= last_ && existence.before_ended <= existence.begin &&
              "cells of a timestamp follow each other");
  there_.Add(existence.begin, 1);
  if (existence.end <= last_) there_.Add(existence.end, -1);
  if (existence.before_ended == existence.begin) return;  // it continues: not counted again
  before_ended_[existence.begin] = existence.before_ended;
  if (existence.before_ended == 0) {
    first_.Add(existence.begin, 1);
    ++first_in_block_[existence.begin >> block_bits_];
  } else {
    AddAgain(existence);
  }
}

void ExistenceIndex::AddAgain(const Existence& existence) {
  if (!has_again_) sorted_.resize(in_block_.size() << block_bits_);
  has_again_ = true;
  const size_t block = existence.begin >> block_bits_;
  const auto begin = sorted_.begin() + static_cast<ptrdiff_t>(block << block_bits_);
  const auto end = begin + in_block_[block]++;
  const auto position = std::upper_bound(begin, end, existence.before_ended);
  std::copy_backward(position, end, end + 1);
  *position = existence.before_ended;
}

ExistenceIndex::EventNumber ExistenceIndex::FindNew(EventNumber after, int64_t count,
                                                    EventNumber last) const {
  ABSL_ASSERT(count > 0 && "the first new cell is number one");
  last = std::min(last, last_);
  if (after >= last) return 0;
  if (has_again_) return FindAmongBlocks(after, count, last);
  const EventNumber found = first_.Find(first_.Sum(after) + count);
  return found <= last ? found : 0;
}

ExistenceIndex::EventNumber ExistenceIndex::FindAmongBlocks(EventNumber after, int64_t count,
                                                            EventNumber last) const {
  const EventNumber block_size = EventNumber{1} << block_bits_;
  EventNumber event = after + 1;
  while (event <= last) {
    const size_t block = event >> block_bits_;
    if ((event & (block_size - 1)) == 0) {
      const auto begin = sorted_.begin() + static_cast<ptrdiff_t>(block << block_bits_);
      const int64_t counted = first_in_block_[block] +
                              (std::upper_bound(begin, begin + in_block_[block], after) - begin);
      if (counted < count) {
        count -= counted;
        event += block_size;
        continue;
      }
    }
    const EventNumber end =
        std::min(last, static_cast<EventNumber>(((block + 1) << block_bits_) - 1));
    for (; event <= end; ++event) {
      if (before_ended_[event] <= after && --count == 0) return event;
    }
  }
  return 0;
}

}  // namespace bigtable
