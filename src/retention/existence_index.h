// For many timestamps, from which event of a column's history to which a cell existed; and how many
// of these timestamps have had a cell since some event. One thread at a time; reusable.
//
// Events are numbered from 1. A cell that began with event b and ended with event e exists at b,
// and not at e. A timestamp can have several cells, but only one at a time. Each cell comes with
// the end of the one before it, so that each timestamp counts once in a range of events: by its
// cell at the beginning, or else by the first that begins later, which is the one whose predecessor
// had ended by the beginning.
//
// The first cells of timestamps are in a Fenwick tree over the events. The others are in blocks of
// about sqrt(N) events. Each block has the ends of the predecessors in order. A count goes through
// the blocks, with a binary search in each.
#ifndef BIGTABLE_RETENTION_EXISTENCE_INDEX_H_
#define BIGTABLE_RETENTION_EXISTENCE_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/macros.h"

namespace bigtable {

class ExistenceIndex {
 public:
  using EventNumber = uint32_t;

  struct Existence {
    EventNumber begin;
    EventNumber end;           // the number after the last event: it has not ended
    EventNumber before_ended;  // the end of the cell before at this timestamp; 0: it is the first
  };

  // Makes it empty, for events up to this one.
  void Reset(EventNumber last);
  void Add(const Existence& existence);

  // The number of timestamps with a cell at `event`.
  int64_t CountAt(EventNumber event) const {
    const int64_t count = there_.Sum(event);
    ABSL_ASSERT(count >= 0 && "no cell ends before it begins");
    return count;
  }
  // Of the timestamps without a cell at `after`, the event in (after, last] with which the
  // `count`-th gets a cell. Requires count > 0. 0 if there is none.
  EventNumber FindNew(EventNumber after, int64_t count, EventNumber last) const;

 private:
  // Sums of numbers at events.
  class Sums {
   public:
    void Reset(EventNumber last);
    void Add(EventNumber event, int32_t number);
    int64_t Sum(EventNumber last) const;
    // The first event up to which the sum is at least this much; after the last event if there is
    // none. Requires that no number is negative.
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
  // For later cells: at each event, the end of the predecessor of the cell that begins there, 0 for
  // a first cell; and the same sorted by block, without first cells.
  std::vector<EventNumber> before_ended_;
  std::vector<EventNumber> sorted_;
  std::vector<uint32_t> in_block_;  // the number of these
  std::vector<uint32_t> first_in_block_;
  int block_bits_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_RETENTION_EXISTENCE_INDEX_H_
