// An SSTable: index and filter are in memory, data blocks are read on demand. Immutable and
// thread-safe. It lives while references to it exist, and so do the bytes that its cursors return
// without an owner. To read it, see sstable_cursor.h.
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
    // Outlives the table.
    PageResidency* residency = PageResidency::OfProcess();
    // Called when the last reference is dropped, unless it is null.
    std::function<void(const SSTable*)> on_close = nullptr;
  };

  // Opens the file and reads everything but its data blocks. `expected` is its description in
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

  bool is_open() const { return is_open_.load(std::memory_order_acquire); }
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
    return properties_;
  }

  // The memory of its blocks, if they were loaded (Options::in_memory).
  uint64_t loaded_bytes() const { return is_open() ? blocks_->loaded_bytes() : 0; }
  // Up to `n` keys, evenly spread over the blocks. Empty if it cannot be opened.
  std::vector<std::string> SampleKeys(size_t n) const;
  // About how many bytes of the file are before the key: exact to a block. Requires is_open().
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
    if (!OpensForFilters(limits)) [[unlikely]]
      return RowIndex::Answer::kUnknown;
    if (!row_index_.empty()) return row_index_.Find(row_hash, location);
    return filter_.MayContain(row_hash) ? RowIndex::Answer::kUnknown : RowIndex::Answer::kAbsent;
  }
  // Whether there may be an entry that affects this column: an entry of the column itself, whose
  // column prefix has the Checksum `column_hash`, or a deletion of its family or row. A false
  // result is certain. The limits: as above.
  bool MayContainColumn(uint64_t row_hash, uint64_t column_hash,
                        const CallLimits* limits = nullptr) const {
    if (!OpensForFilters(limits)) [[unlikely]]
      return true;
    return filter_has_columns_ ? filter_.MayContain(column_hash) : MayContainRow(row_hash, limits);
  }

  // Begins to read from the disk the block in which the row begins, and with `overlapped` some
  // blocks in which it continues, if it is open, and does not wait. `location`: that of LookUpRow,
  // or null. `overlapped`: BlockReader::Request.
  void RequestRow(std::string_view row_prefix, const RowIndex::Location* location,
                  OverlappedReads* overlapped) const {
    if (!is_open()) return;
    const size_t block = location != nullptr ? location->block : index_.Find(row_prefix);
    if (block >= index_.size()) return;
    blocks_->Prefetch(block);
    blocks_->Request(block, 0, row_prefix, overlapped);
    if (overlapped == nullptr) return;
    for (size_t i = block; i < block + kMostRequested && RowContinues(i, row_prefix);) {
      blocks_->Request(++i, 0, {}, overlapped);
    }
  }
  // Whether the blocks of the row are in memory; then reading it waits for nothing. A wrong answer
  // is possible.
  bool IsRowInMemory(std::string_view row_prefix, const RowIndex::Location* location) const {
    if (!is_open()) return false;
    const size_t block = location != nullptr ? location->block : index_.Find(row_prefix);
    if (block >= index_.size()) return true;
    if (!blocks_->IsRowInMemory(block, row_prefix)) return false;
    for (size_t i = block; RowContinues(i, row_prefix);) {
      if (!blocks_->IsRowInMemory(++i, {})) return false;
    }
    return true;
  }
  // Prefetch what LookUpRow or MayContainColumn reads, if it is open.
  BIGTABLE_ONLY_PREFETCHES void PrefetchRow(uint64_t row_hash) const {
    if (!is_open()) [[unlikely]]
      return;
    filter_.Prefetch(row_hash);
    row_index_.Prefetch(row_hash);
  }
  BIGTABLE_ONLY_PREFETCHES void PrefetchColumn(uint64_t row_hash, uint64_t column_hash) const {
    if (!is_open()) [[unlikely]]
      return;
    filter_.Prefetch(filter_has_columns_ ? column_hash : row_hash);
    row_index_.Prefetch(row_hash);
  }

 private:
  // Blocks of a row behind its first.
  static constexpr size_t kMostRequested = 8;

  bool RowContinues(size_t block, std::string_view row_prefix) const {
    return index_.RowContinues(block) && index_.LastKeyBeginsWith(block, row_prefix);
  }

  friend class SSTableCursor;

  // Everything that is read when the file is opened.
  struct Contents {
    SSTableProperties properties;
    BlockIndex index;
    BloomFilter filter;
    RowIndex row_index;
    BlockSource source;
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
  // Whether its filters can be used. If not, the cursor reports the error. Opening is a function of
  // its own, out of the code that runs for each row.
  bool OpensForFilters(const CallLimits* limits) const { return is_open() || TryOpen(limits); }
  [[gnu::cold, gnu::noinline]] bool TryOpen(const CallLimits* limits) const {
    return OpenNow(limits).ok();
  }
  void Become(Contents contents) const;

  const SSTableInfo info_;
  const std::string path_;
  const Options options_;
  mutable RowReads row_reads_;
  mutable BudgetCharge charge_;
  mutable LimitedMutex open_mutex_;               // held while it is opened
  mutable std::unique_ptr<FilePool::Hold> hold_;  // under open_mutex_, until it is open

  // Constant once is_open_. The fields that are read for each row are adjacent.
  alignas(64) mutable std::atomic<bool> is_open_{false};
  const int64_t sequence_shift_;
  // The filter has columns, and the file has no deletion of a family or row, which would affect
  // columns that are not in the filter.
  mutable bool filter_has_columns_ = false;
  mutable BloomFilter filter_;  // empty if there is a row index
  mutable RowIndex row_index_;
  mutable BlockIndex index_;
  mutable SSTableProperties properties_;
  mutable std::optional<BlockReader> blocks_;  // thread-safe; remembers which blocks were verified
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_H_
