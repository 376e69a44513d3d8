// Blocks that a call reads past the mappings of their files, many at a time: it begins the reads of
// all rows that it will come to soon, and takes each block when it reads the row. So it waits for
// the disk about once, and not once for each row.
//
// Invariants:
// * No byte of a block is used before its read is done, and it is not verified here: that is for
//   who takes it (BlockFile::Verify).
// * Take returns nothing of a read that has failed: the caller reads the block again, in a way that
//   says what is wrong.
// * When the object is destroyed, no read is under way.
//
// Its memory is charged to MemoryBudget::Use::kReads. One thread at a time.
#ifndef BIGTABLE_BLOCKS_OVERLAPPED_READS_H_
#define BIGTABLE_BLOCKS_OVERLAPPED_READS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "blocks/block_file.h"
#include "cache/budget_charge.h"

namespace bigtable {

class OverlappedReads {
 public:
  // `file_system` outlives this object. A file whose blocks are read need not.
  OverlappedReads(FileSystem* file_system, std::shared_ptr<MemoryBudget> budget);
  ~OverlappedReads();
  OverlappedReads(const OverlappedReads&) = delete;
  OverlappedReads& operator=(const OverlappedReads&) = delete;

  // A read of a block, by which its caller asks whether it is done. Valid as long as this object.
  class Ticket;
  using Tickets = absl::InlinedVector<Ticket, 2>;
  // From now on, tickets are added here for blocks of which Has or Begin returns true. Null: no
  // more.
  void CollectInto(Tickets* tickets) { tickets_ = tickets; }
  // Whether Take of these blocks waits for nothing, as far as WaitForAny and Take have seen.
  static bool AreDone(const Tickets& tickets);
  // Waits until one more is done than was seen. Returns at once if there is none.
  void WaitForAny();

  // Whether a read of this block was begun, and is still here.
  bool Has(const BlockFile& file, const BlockHandle& block);
  // Whether Begin can begin it, as far as is known.
  bool MayBegin(const BlockHandle& block);
  // Begins to read a block that it does not have. False: it must be read in another way. The
  // disk is asked by Submit, or before.
  bool Begin(const BlockFile& file, const BlockHandle& block);
  // Asks the disk for what was begun since the last call.
  void Submit();

  // The stored bytes of the block, until the next Begin; waits for them. Null: it was not begun, or
  // its read has failed.
  const char* Take(const BlockFile& file, const BlockHandle& block);

 private:
  struct Entry {
    uint64_t file = 0;    // BlockFile::id; 0: it is free
    uint64_t offset = 0;  // of the block
    uint64_t number = 0;  // of the attempt to begin it
    bool is_taken = false;
    std::unique_ptr<char[]> memory;
    uint64_t memory_size = 0;
    ReadQueue::Read read;
  };

  void Collect(const Entry* entry);
  Entry* Find(const BlockFile& file, const BlockHandle& block);
  // An entry that is not needed and has so much memory, or is given it; null: there is no room.
  Entry* FindFree(uint64_t memory_size);
  bool IsFree(const Entry& entry) const;
  bool GiveMemory(Entry* entry, uint64_t size);
  bool HasRoom(uint64_t bytes) const;

  FileSystem* const file_system_;
  const std::shared_ptr<MemoryBudget> budget_;
  uint64_t no_queue_until_ = 0;  // attempts; before, there is none
  BudgetCharge charge_;
  uint64_t charged_ = 0;
  uint64_t attempts_ = 0;
  uint64_t begun_ = 0;
  size_t last_found_ = 0;
  size_t next_free_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::unique_ptr<ReadQueue> queue_;  // made for the first read
  Tickets* tickets_ = nullptr;
};

class OverlappedReads::Ticket {
 public:
  Ticket(const Entry* entry, uint64_t number) : entry_(entry), number_(number) {}
  bool is_done() const { return entry_->number != number_ || entry_->read.is_done; }

 private:
  const Entry* entry_;  // has been given to another read if the number differs
  uint64_t number_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BLOCKS_OVERLAPPED_READS_H_
