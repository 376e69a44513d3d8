// The scan cache (section 6 of the paper): rows as they came out of the merge of memtables and
// SSTables, for reads of the same rows again. It shares the memory and the replacement of the block
// cache.
//
// A row is cached with the read sequence at which it was read. It is valid for every later read
// sequence as long as the row is not written. To detect writes, the server notes the last write of
// each of some thousands of groups of rows, by the row's hash (LastWrites), rather than of each
// row. So a write costs one store, and needs no search or removal. At worst, a write to another row
// of the group makes a cached row look stale until it is read again.
//
// Why no read sees a stale row. A server gives its writes ascending sequence numbers, and notes
// each write before it makes it visible. Readers see a row at a sequence number only when no
// smaller number is still to come. A reader takes its read sequence first, and reads the note
// afterwards. It does not use a cached row whose read sequence is smaller than the noted number. A
// reader that inserts a row cannot hide a write either: the write has a larger number than the row,
// and is noted before any reader could miss it.
//
// None of this holds between servers: a smaller number of one server may become visible after a
// larger one of another. So each server has its own notes, and a cached row belongs to one server:
// a tablet gets a new id wherever it is opened.
//
// The notes serve a second purpose: a write may require that its row has not been written since a
// read sequence (WriteRequest::unchanged_since). A server without a scan cache notes its writes
// only once it has had such a write (TabletServer::TrackWrites). The notes do not know what was
// written before they began, to a tablet on its previous server, or by a change of a schema. All of
// that is below their floor, which a server raises whenever something of the kind happens.
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

#include "absl/base/macros.h"

#include "bigtable/memory_budget.h"

#include "base/checksum.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/stripe.h"
#include "base/thread_roles.h"
#include "cache/block.h"
#include "cache/block_memory.h"

namespace bigtable {

// The head of a cached row. These bytes exist only in the memory of one process, so they have no
// version, byte order or checksum.
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
    ABSL_ASSERT(sizeof head.as_of + sizeof row_size + row_size <= bytes.size() &&
                "the bytes were written by this process");
    head.row = bytes.substr(sizeof head.as_of + sizeof row_size, row_size);
    return head;
  }
  size_t size() const { return sizeof as_of + sizeof(size_t) + row.size(); }
  // Returns the position after it.
  char* Write(char* to) const {
    const size_t row_size = row.size();
    std::memcpy(to, &as_of, sizeof as_of);
    std::memcpy(to + sizeof as_of, &row_size, sizeof row_size);
    row.copy(to + sizeof as_of + sizeof row_size, row_size);
    return to + size();
  }
};

// The last writes to rows of one server. Only the server's writer notes writes, one thread at a
// time; any thread may read.
class LastWrites {
 public:
  // There is one entry for each of `groups` groups of rows; the more groups, the fewer rows look
  // stale without being so.
  LastWrites(std::shared_ptr<MemoryBudget> budget, size_t groups);
  ~LastWrites();
  LastWrites(const LastWrites&) = delete;
  LastWrites& operator=(const LastWrites&) = delete;

  // Called before the mutation becomes visible. Each number is larger than the one before.
  void Record(std::string_view row, SequenceNumber sequence)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    std::atomic<SequenceNumber>& last = groups_[GroupOf(Checksum(row))];
    ABSL_ASSERT(last.load(std::memory_order_relaxed) <= sequence && "numbers of writes ascend");
    last.store(sequence, std::memory_order_release);
  }
  // From here on a row may have been written at any sequence number below `floor`, by whatever this
  // server did not note. In a turn among the writes; the floor does not decrease.
  void RaiseFloor(SequenceNumber floor) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    ABSL_ASSERT(floor >= floor_ && "the floor does not decrease");
    floor_ = floor;
  }
  // Whether the row may have been written after the read sequence. False is certain if all writes
  // before are noted. Only in a turn among the writes.
  bool MayBeWrittenAfter(SequenceNumber sequence, std::string_view row) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return IsOutdated(sequence) || Of(Checksum(row)) > sequence;
  }
  // Whether any row may have been, by what was not noted. Only in a turn among the writes.
  bool IsOutdated(SequenceNumber sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return sequence < floor_;
  }
  // At least the number of the last visible write of the server to the row.
  SequenceNumber Of(uint64_t row_hash) const {
    return groups_[GroupOf(row_hash)].load(std::memory_order_acquire);
  }

 private:
  size_t GroupOf(uint64_t row_hash) const { return (row_hash >> 32) * groups_.size() >> 32; }
  int64_t bytes() const { return static_cast<int64_t>(groups_.size() * sizeof(groups_[0])); }

  const std::shared_ptr<MemoryBudget> budget_;
  std::vector<std::atomic<SequenceNumber>> groups_;
  SequenceNumber floor_ = 0;  // only the server's writer uses it
};

// The cached rows of all servers of a database.
class ScanCache {
 public:
  // The point at which a read sees the data.
  struct ReadPoint {
    SequenceNumber sequence = 0;
    bool is_snapshot = false;  // it sees nothing that was written later
  };

  explicit ScanCache(std::shared_ptr<MemoryBudget> budget) : budget_(std::move(budget)) {}
  ScanCache(const ScanCache&) = delete;
  ScanCache& operator=(const ScanCache&) = delete;

  // A new id for a tablet on one server with one schema. With another schema its rows would look
  // different, and another server does not have the notes of this one's writes.
  uint64_t NewId();

  // Null if the row is not cached, or not valid at the point. `writes` are those of the server that
  // provided the point.
  Ref<Block> Lookup(uint64_t id, std::string_view row, ReadPoint point, const LastWrites& writes);
  // For what is inserted.
  BlockMemory* memory() const;
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
