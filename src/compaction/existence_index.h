// From which event of a column's history to which other there was a cell, for many timestamps; and
// how many of these timestamps have had a cell since some event. One thread at a time; reusable.
//
// Events have numbers from 1 on. A cell that began with event b and ended with event e was there at
// b, and not at e any more. A timestamp can have cells again and again, but only one at a time;
// with each it is said when the one before has ended, so that within a time each timestamp is
// counted once: by its cell at the beginning, or else by the first that begins later, which is the
// one whose predecessor had ended by the beginning.
//
// The first cells of timestamps are in a Fenwick tree over the events. The others are in blocks of
// about sqrt(N) events, of which each has the ends of the predecessors sorted: a count goes through
// the blocks, and within one by binary search.
#ifndef BIGTABLE_COMPACTION_EXISTENCE_INDEX_H_
#define BIGTABLE_COMPACTION_EXISTENCE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigtable {

class ExistenceIndex {
 public:
  using EventNumber = uint32_t;

  struct Existence {
    EventNumber begin;
    EventNumber end;           // one behind the last event: it has not ended
    EventNumber before_ended;  // the end of the one before at this timestamp; 0: it is the first
  };

  // Empty, for events up to this one.
  void Reset(EventNumber last);
  void Add(const Existence& existence);

  // How many timestamps have a cell at `event`.
  int64_t CountAt(EventNumber event) const { return there_.Sum(event); }
  // The event in (after, last] with which the `count`-th timestamp has a cell for the first time
  // since `after`, of those that have none at `after`. Requires count > 0. 0: there is none.
  EventNumber FindNew(EventNumber after, int64_t count, EventNumber last) const;

 private:
  // Sums of numbers that stand at events.
  class Sums {
   public:
    void Reset(EventNumber last);
    void Add(EventNumber event, int32_t number);
    int64_t Sum(EventNumber last) const;
    // The first event up to which the sum is at least this much; behind the last: there is none.
    // No number is negative.
    EventNumber Find(int64_t sum) const;

   private:
    std::vector<int32_t> tree_;
  };

  static constexpr EventNumber kNobody = ~EventNumber{0};

  EventNumber FindAmongBlocks(EventNumber after, int64_t count, EventNumber last) const;
  void AddAgain(const Existence& existence);

  EventNumber last_ = 0;
  Sums there_;  // 1 where a cell begins, -1 where it ends
  Sums first_;  // 1 where the first cell of a timestamp begins
  bool has_again_ = false;
  // Of later cells. At each event the end of the predecessor of the one that begins there, 0 for a
  // first one; and the same sorted, without first ones, block by block.
  std::vector<EventNumber> before_ended_;
  std::vector<EventNumber> sorted_;
  std::vector<uint32_t> in_block_;  // how many of these
  std::vector<uint32_t> first_in_block_;
  int block_bits_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_EXISTENCE_INDEX_H_
