// The scan cache (section 6 of the paper): rows as they came out of the merge of memtables and
// SSTables, for those who read the same rows again. It shares the memory and the replacement of the
// block cache.
//
// A row is kept with the read sequence as of which it was read, and is good for every later one as
// long as nothing was written to it since. To know that, its server notes the last write not for
// each row but for each of some thousands of groups of rows, by the row's hash (LastWrites): so a
// write costs one store, and nothing has to be looked for or removed. What was written to others of
// the group makes a cached row look stale at worst, until it is read again.
//
// Why no read sees a stale row. A server gives its writes ascending sequence numbers, notes each
// before it makes it visible, and shows its readers a row as of a number only when no smaller one
// is still to come. A reader takes its read sequence first, and only then looks at the note; what
// was cached as of a smaller number than the noted one is not used. And a reader that puts a row
// here does not overtake a write either: the write has a larger number than the row, and is noted
// before anybody can miss it.
//
// None of this holds between servers: a smaller number of one may become visible after a larger one
// of another. So each server has notes of its own, and what is cached is of one server, too: a
// tablet gets a new id wherever it is opened.
//
// Thread-safe.
#ifndef BIGTABLE_CACHE_SCAN_CACHE_H_
#define BIGTABLE_CACHE_SCAN_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "bigtable/memory_budget.h"

#include "base/checksum.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/stripe.h"
#include "cache/block.h"

namespace bigtable {

// What the bytes of a cached row begin with. They are in memory only, and one process's: without a
// version, a byte order or a checksum.
//
//   | read sequence | size of the row's key | the row's key | its cells (read/cached_row.h) ...
struct CachedRowHead {
  SequenceNumber as_of = 0;  // the read sequence
  std::string_view row;

  // Requires bytes that begin with a head; the row is a view of them.
  static CachedRowHead Read(std::string_view bytes) {
    CachedRowHead head;
    size_t row_size;
    std::memcpy(&head.as_of, bytes.data(), sizeof head.as_of);
    std::memcpy(&row_size, bytes.data() + sizeof head.as_of, sizeof row_size);
    head.row = bytes.substr(sizeof head.as_of + sizeof row_size, row_size);
    return head;
  }
  size_t size() const { return sizeof as_of + sizeof(size_t) + row.size(); }
  // Returns the place behind it.
  char* Write(char* to) const {
    const size_t row_size = row.size();
    std::memcpy(to, &as_of, sizeof as_of);
    std::memcpy(to + sizeof as_of, &row_size, sizeof row_size);
    row.copy(to + sizeof as_of + sizeof row_size, row_size);
    return to + size();
  }
};

// When rows of one server were written last. One thread at a time notes, the server's writer;
// everybody looks.
class LastWrites {
 public:
  // Of each of `groups` groups of rows: the more, the fewer rows look stale that are not.
  LastWrites(std::shared_ptr<MemoryBudget> budget, size_t groups);
  ~LastWrites();
  LastWrites(const LastWrites&) = delete;
  LastWrites& operator=(const LastWrites&) = delete;

  // Before the mutation becomes visible. Each number is larger than the one before.
  void Note(std::string_view row, SequenceNumber sequence) {
    groups_[GroupOf(Checksum(row))].store(sequence, std::memory_order_release);
  }
  // Not before the last write to the row that the server has made visible.
  SequenceNumber Of(uint64_t row_hash) const {
    return groups_[GroupOf(row_hash)].load(std::memory_order_acquire);
  }

 private:
  size_t GroupOf(uint64_t row_hash) const { return (row_hash >> 32) * groups_.size() >> 32; }
  int64_t bytes() const { return static_cast<int64_t>(groups_.size() * sizeof(groups_[0])); }

  const std::shared_ptr<MemoryBudget> budget_;
  std::vector<std::atomic<SequenceNumber>> groups_;
};

// The rows, of all servers of a database.
class ScanCache {
 public:
  // What a read of a moment may use.
  struct ReadPoint {
    SequenceNumber sequence = 0;
    bool is_snapshot = false;  // nothing that was written later
  };

  explicit ScanCache(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ScanCache(const ScanCache&) = delete;
  ScanCache& operator=(const ScanCache&) = delete;

  // An id for a tablet on one server with one schema: with another schema its rows would look
  // different, and another server does not know of the writes that this one has noted.
  uint64_t NewId();

  // Null: it is not here, or not good for the point. `writes` are those of the server that gave
  // the point.
  Ref<Block> Lookup(uint64_t id, std::string_view row, ReadPoint point, const LastWrites& writes);
  // `cached` begins with a CachedRowHead, or is null.
  void Insert(uint64_t id, std::string_view row, Ref<Block> cached);

  uint64_t hits() const { return Sum(&Counts::hits); }
  uint64_t misses() const { return Sum(&Counts::misses); }

 private:
  struct alignas(kCacheLine) Counts {
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
  };

  uint64_t Sum(std::atomic<uint64_t> Counts::*counter) const;

  const std::shared_ptr<MemoryBudget> budget_;
  std::array<Counts, kStripes> counts_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CACHE_SCAN_CACHE_H_
