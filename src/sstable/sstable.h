// An SSTable: index and filter are in memory, or parts of them are read on demand (file_parts.h),
// as data blocks are. Immutable and thread-safe. It lives while references to it exist, and so do
// the bytes that its cursors return without an owner. To read it, see sstable_cursor.h.
//
// A deferred SSTable is opened at its first use. Before that, only its info() from METADATA is
// known. An error of opening is an error of that use, and the next use tries again. It may be
// opened even after its file was removed, and is opened once if several threads use it at the same
// time: the others wait within their limits. LookUpRow, MayContainColumn and each seek of a cursor
// check whether it is open.
#ifndef BIGTABLE_SSTABLE_SSTABLE_H_
#define BIGTABLE_SSTABLE_SSTABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/ref_counted.h"
#include "blocks/block_index.h"
#include "blocks/block_reader.h"
#include "blocks/block_source.h"
#include "blocks/page_residency.h"
#include "cache/budget_charge.h"
#include "filesystem/file_pool.h"
#include "sstable/bloom_filter.h"
#include "sstable/file_parts.h"
#include "sstable/index_root.h"
#include "sstable/properties.h"
#include "sstable/row_index.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// How often reads of a single row have searched a file, estimated by a sample. Thread-safe.
class RowReads {
 public:
  uint64_t all() const { return all_.load(std::memory_order_relaxed); }
  uint64_t useless() const { return useless_.load(std::memory_order_relaxed); }
  // A read of the sample, which stands for `weight` reads. `found`: the file has the row.
  void Count(uint64_t weight, bool found) {
    all_.fetch_add(weight, std::memory_order_relaxed);
    if (!found) useless_.fetch_add(weight, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> all_{0};
  std::atomic<uint64_t> useless_{0};
};

class SSTable final : public RefCounted {
 public:
  struct Options {
    FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
    // Opens the file. Null: the file system opens it, and a file that is read by position stays
    // open.
    std::shared_ptr<FilePool> files = nullptr;
    // Charged with the memory of the table; provides the block cache. Not null.
    std::shared_ptr<MemoryBudget> budget = nullptr;
    // All blocks are loaded into memory at the first read, and the file is not read afterwards.
    bool in_memory = false;
    // Index and filter are in memory, even if the budget has no room for them.
    bool whole = false;
    // Outlives the table.
    PageResidency* residency = PageResidency::OfProcess();
    // Called when the last reference is dropped, unless it is null.
    std::function<void(const SSTable*)> on_close = nullptr;
  };

  // Opens the file and reads everything but its data blocks, and but index and filter if the budget
  // has no room for them. `expected` is its description in
  // METADATA. DataLoss if the file is damaged, or is not the expected one (size, number, identity);
  // FailedPrecondition if its format is newer than this program.
  static absl::StatusOr<Ref<SSTable>> Open(FileSystem* file_system, std::string path,
                                           const SSTableInfo& expected, Options options);
  // The same for a file that is not in METADATA: any SSTable is right.
  static absl::StatusOr<Ref<SSTable>> OpenUnknown(FileSystem* file_system, std::string path,
                                                  Options options);

  // An SSTable that is opened at its first use. `expected` is not checked before, and
  // `options.files` is not null.
  static Ref<SSTable> Defer(std::string path, const SSTableInfo& expected, Options options);

  bool is_open() const { return state_.load(std::memory_order_acquire) != State::kClosed; }
  // Whether it is open, with its index and filter in memory.
  bool is_whole() const { return state_.load(std::memory_order_acquire) == State::kWhole; }
  // OK if it is already open. Errors of Open; DataLoss if there is no file. The limits, which may
  // be null, end a wait for another thread that opens it.
  absl::Status EnsureOpen(const CallLimits* limits = nullptr) const {
    return is_open() ? absl::OkStatus() : OpenNow(limits);
  }

  const SSTableInfo& info() const { return info_; }
  // What cursors add to the sequence numbers of its entries: 0 unless it was ingested.
  int64_t sequence_shift() const { return sequence_shift_; }
  RowReads& row_reads() const { return row_reads_; }
  const std::string& path() const { return path_; }
  // Requires is_open(). Its `info` is empty, because info() has it.
  const SSTableProperties& properties() const {
    ABSL_ASSERT(is_open() && "they are read from the file");
    return opened_->properties;
  }

  // The memory of its blocks, if they were loaded (Options::in_memory).
  uint64_t loaded_bytes() const { return is_open() ? opened_->blocks.loaded_bytes() : 0; }
  // Up to `n` keys, evenly spread over the blocks, for RowPrefixSize. They need not be keys of
  // entries. Empty if it cannot be opened.
  std::vector<std::string> SampleKeys(size_t n) const;
  // For each block, a key that is not before the block's last key, and before the next block's
  // first. Requires is_whole().
  std::vector<std::string> BlockEnds() const;
  // About how many bytes of the file are before the key: exact to a block, or a part of the index.
  // Requires is_open().
  uint64_t BytesBefore(std::string_view key) const;

  // Whether there may be an entry of the row whose prefix (base/entry_key.h) has this Checksum. A
  // false result is certain.
  bool MayContainRow(uint64_t row_hash, const CallLimits* limits = nullptr) const {
    RowIndex::Location location;
    return LookUpRow(row_hash, &location, limits) != RowIndex::Answer::kAbsent;
  }
  // The same, and the block of the row, for SSTableCursor::PlanRow. If the table cannot be opened,
  // or the limits end while another thread opens it, the answer is kUnknown, and the cursor reports
  // the error.
  [[gnu::always_inline]] RowIndex::Answer LookUpRow(uint64_t row_hash, RowIndex::Location* location,
                                                    const CallLimits* limits = nullptr) const {
    if (!is_whole()) [[unlikely]]
      return LookUpRowSlowly(row_hash, location, limits);
    if (!row_index_.empty()) return row_index_.Find(row_hash, location);
    return filter_.MayContain(row_hash) ? RowIndex::Answer::kUnknown : RowIndex::Answer::kAbsent;
  }
  // Whether there may be an entry that affects this column: an entry of the column itself, whose
  // column prefix has the Checksum `column_hash`, or a deletion of its family or row. A false
  // result is certain. The limits: as above.
  bool MayContainColumn(uint64_t row_hash, uint64_t column_hash,
                        const CallLimits* limits = nullptr) const {
    if (!is_whole()) [[unlikely]]
      return MayContainColumnSlowly(row_hash, column_hash, limits);
    return filter_has_columns_ ? filter_.MayContain(column_hash) : MayContainRow(row_hash, limits);
  }

  // Begins to read from the disk the block in which the row begins, and with `overlapped` some
  // blocks in which it continues, if it is open, and does not wait. `location`: that of LookUpRow,
  // or null. `overlapped`: BlockReader::Request.
  void RequestRow(std::string_view row_prefix, const RowIndex::Location* location,
                  OverlappedReads* overlapped) const {
    if (!is_whole()) return;
    const size_t block = location != nullptr ? location->block : opened_->index.Find(row_prefix);
    if (block >= opened_->index.size()) return;
    opened_->blocks.Prefetch(block);
    opened_->blocks.Request(block, 0, row_prefix, overlapped);
    if (overlapped == nullptr) return;
    for (size_t i = block; i < block + kMostRequested && RowContinues(i, row_prefix);) {
      opened_->blocks.Request(++i, 0, {}, overlapped);
    }
  }
  // Whether the blocks of the row are in memory; then reading it waits for nothing. A wrong answer
  // is possible.
  bool IsRowInMemory(std::string_view row_prefix, const RowIndex::Location* location) const {
    if (!is_whole()) return IsRowInCache(row_prefix, location);
    const size_t block = location != nullptr ? location->block : opened_->index.Find(row_prefix);
    if (block >= opened_->index.size()) return true;
    if (!opened_->blocks.IsRowInMemory(block, row_prefix)) return false;
    for (size_t i = block; RowContinues(i, row_prefix);) {
      if (!opened_->blocks.IsRowInMemory(++i, {})) return false;
    }
    return true;
  }
  // Whether LookUpRow, or MayContainColumn, needs no read from the disk. A wrong answer is
  // possible.
  bool IsRowFilterInMemory(uint64_t row_hash) const {
    const State state = state_.load(std::memory_order_acquire);
    return state == State::kWhole || (state == State::kInParts && parts_->HasPage(row_hash));
  }
  bool IsColumnFilterInMemory(uint64_t row_hash, uint64_t column_hash) const {
    return is_open() && IsRowFilterInMemory(filter_has_columns_ ? column_hash : row_hash);
  }
  // Prefetch what LookUpRow or MayContainColumn reads, if it is in memory.
  BIGTABLE_ONLY_PREFETCHES void PrefetchRow(uint64_t row_hash) const {
    if (!is_whole()) [[unlikely]]
      return;
    filter_.Prefetch(row_hash);
    row_index_.Prefetch(row_hash);
  }
  BIGTABLE_ONLY_PREFETCHES void PrefetchColumn(uint64_t row_hash, uint64_t column_hash) const {
    if (!is_whole()) [[unlikely]]
      return;
    filter_.Prefetch(filter_has_columns_ ? column_hash : row_hash);
    row_index_.Prefetch(row_hash);
  }

 private:
  // Blocks of a row behind its first.
  static constexpr size_t kMostRequested = 8;

  bool RowContinues(size_t block, std::string_view row_prefix) const {
    return opened_->index.RowContinues(block) && opened_->index.KeyBeginsWith(block, row_prefix);
  }

  friend class SSTableCursor;

  enum class State : uint8_t { kClosed, kInParts, kWhole };

  // Everything that is read when the file is opened.
  struct Contents {
    SSTableProperties properties;
    bool whole = true;
    // If it is whole.
    BlockIndex index;
    BloomFilter filter;
    RowIndex row_index;
    // If not.
    IndexRoot root;
    FileParts::Filter filter_in_parts;
    BlockSource source;
  };
  // What an SSTable that is not open does without.
  struct Opened {
    Opened(Contents* contents, const Options& options);

    const SSTableProperties properties;
    const BlockIndex index;  // empty if it is in parts
    BlockReader blocks;      // thread-safe; remembers which blocks were verified
  };
  // `expected` may be null. Sets `charge` to the memory that this takes, until the SSTable charges
  // its own.
  static absl::StatusOr<Contents> Read(FileSystem* file_system, const std::string& path,
                                       const SSTableInfo* expected, const Options& options,
                                       BudgetCharge* charge);
  static absl::StatusOr<Ref<SSTable>> OpenExpecting(FileSystem* file_system, std::string path,
                                                    const SSTableInfo* expected, Options options);

  SSTable(std::string path, const SSTableInfo& info, Options options);
  ~SSTable() override;

  // Opens it unless another thread has opened it meanwhile.
  absl::Status OpenNow(const CallLimits* limits) const;
  // For a table that is not open yet, or is in parts: out of the code that runs for each row.
  [[gnu::cold, gnu::noinline]] RowIndex::Answer LookUpRowSlowly(uint64_t row_hash,
                                                                RowIndex::Location* location,
                                                                const CallLimits* limits) const;
  [[gnu::cold, gnu::noinline]] bool MayContainColumnSlowly(uint64_t row_hash, uint64_t column_hash,
                                                           const CallLimits* limits) const;
  // IsRowInMemory, for a table in parts.
  bool IsRowInCache(std::string_view row_prefix, const RowIndex::Location* location) const;
  size_t blocks() const {
    return parts_ == nullptr ? opened_->index.size() : opened_->properties.blocks;
  }
  void Become(Contents contents) const;

  const SSTableInfo info_;
  const std::string path_;
  const Options options_;
  mutable RowReads row_reads_;
  mutable BudgetCharge charge_;
  mutable LimitedMutex open_mutex_;               // held while it is opened
  mutable std::unique_ptr<FilePool::Hold> hold_;  // under open_mutex_, until it is open

  // Constant once it is open. The fields that are read for each row are adjacent.
  alignas(64) mutable std::atomic<State> state_{State::kClosed};
  const int64_t sequence_shift_;
  // The filter has columns, and the file has no deletion of a family or row, which would affect
  // columns that are not in the filter.
  mutable bool filter_has_columns_ = false;
  mutable BloomFilter filter_;  // empty if there is a row index
  mutable RowIndex row_index_;
  mutable std::unique_ptr<Opened> opened_;
  mutable std::unique_ptr<FileParts> parts_;  // null if it is whole
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_H_
