// The RowMutations of a call, in memory that the calls of a thread use one after the other: with
// values of a kilobyte, malloc would cost more than copying them.
//
// Not thread-safe.
#ifndef BIGTABLE_SERVER_DATA_SPARE_MUTATIONS_H_
#define BIGTABLE_SERVER_DATA_SPARE_MUTATIONS_H_

#include <cstddef>
#include <vector>

#include "bigtable/row_mutation.h"

namespace bigtable::server {

class SpareMutations {
 public:
  // A thread keeps at most so many, of at most so many bytes each: with the memory that strings
  // have to grow, 2 MiB.
  static constexpr size_t kMostKept = 128;
  static constexpr size_t kLargestKept = 4 << 10;

  // Takes what the thread has kept.
  SpareMutations();
  // The thread keeps them, unless they are more or larger than that.
  ~SpareMutations();
  SpareMutations(const SpareMutations&) = delete;
  SpareMutations& operator=(const SpareMutations&) = delete;

  // The mutation at a place. The places are asked for in order, each any number of times. It may be
  // any mutation: to be Reset.
  RowMutation* At(size_t place);
  // To be called whenever the mutation at the place was filled, or filled in part.
  void CheckSize(size_t place) { is_kept_ &= mutations_[place].byte_size() <= kLargestKept; }

  const RowMutation* data() const { return mutations_.data(); }

 private:
  static std::vector<RowMutation>& OfThread();

  std::vector<RowMutation> mutations_;
  bool is_kept_ = true;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_SPARE_MUTATIONS_H_
