// An SSTable: index and filter in memory, data blocks read as they are asked for. Immutable and
// thread-safe; it lives as long as somebody refers to it, and so do the bytes that its cursors show
// without an owner. To read it, see sstable_cursor.h.
//
// One that is deferred is not open before it is used for the first time: until then, what METADATA
// says of it (info()) is all that there is. Opening it is an error of that use, and is tried again
// by the next one. It may be opened also after its file was removed, and is opened once, however
// many threads come at the same time. Whether it is open is looked at where a read begins: by
// LookUpRow, MayContainColumn, and each seek of a cursor.
#ifndef BIGTABLE_SSTABLE_SSTABLE_H_
#define BIGTABLE_SSTABLE_SSTABLE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/mutex.h"
#include "base/ref_counted.h"
#include "cache/budget_charge.h"
#include "filesystem/file_pool.h"
#include "sstable/block_index.h"
#include "sstable/block_reader.h"
#include "sstable/bloom_filter.h"
#include "sstable/page_residency.h"
#include "sstable/properties.h"
#include "sstable/row_index.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class SSTable final : public RefCounted {
 public:
  struct Options {
    FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
    // Opens the file; null: the file system does, and a file that is read by position stays open.
    std::shared_ptr<FilePool> files = nullptr;
    // Charged with what the table keeps in memory; its block cache is used. Not null.
    std::shared_ptr<MemoryBudget> budget = nullptr;
    // All blocks are loaded into memory when the first is read; from then on the file is not read.
    bool in_memory = false;
    // Outlives the table.
    PageResidency* residency = PageResidency::OfProcess();
    // Called when nobody refers to the table any more, unless it is null.
    std::function<void(const SSTable*)> on_close = nullptr;
  };

  // Opens the file and reads everything but its data blocks. `expected` is what METADATA says of
  // it. DataLoss when the file is damaged, or is another one than expected (size, number,
  // identity); FailedPrecondition when its format is newer than this program.
  static absl::StatusOr<Ref<SSTable>> Open(FileSystem* file_system, std::string path,
                                           const SSTableInfo& expected, Options options);

  // To be opened by the same at its first use. `expected` is taken at its word until then, and
  // `options.files` is not null.
  static Ref<SSTable> Defer(std::string path, const SSTableInfo& expected, Options options);

  bool is_open() const { return is_open_.load(std::memory_order_acquire); }
  // OK if it is open already. Errors of Open; DataLoss if there is no file.
  absl::Status EnsureOpen() const { return is_open() ? absl::OkStatus() : OpenNow(); }

  const SSTableInfo& info() const { return info_; }
  const std::string& path() const { return path_; }
  // Of one that is open; its `info` is not there twice.
  const SSTableProperties& properties() const { return properties_; }

  // Up to `n` of its keys, evenly spread over its blocks. None if it cannot be opened.
  std::vector<std::string> SampleKeys(size_t n) const;

  // Whether there may be an entry of the row whose prefix (base/entry_key.h) has this Checksum.
  // False is certain.
  bool MayContainRow(uint64_t row_hash) const {
    RowIndex::Location location;
    return LookUpRow(row_hash, &location) != RowIndex::Answer::kAbsent;
  }
  // The same, and where the row is, for SSTableCursor::PlanRow.
  [[gnu::always_inline]] RowIndex::Answer LookUpRow(uint64_t row_hash,
                                                    RowIndex::Location* location) const {
    if (!OpensForFilters()) [[unlikely]]
      return RowIndex::Answer::kUnknown;
    if (!row_index_.empty()) return row_index_.Find(row_hash, location);
    return filter_.MayContain(row_hash) ? RowIndex::Answer::kUnknown : RowIndex::Answer::kAbsent;
  }
  // Whether there may be an entry that concerns this column: of the column itself, whose column
  // prefix has the Checksum `column_hash`, or a deletion of its family or row. False is certain.
  bool MayContainColumn(uint64_t row_hash, uint64_t column_hash) const {
    if (!OpensForFilters()) [[unlikely]]
      return true;
    return filter_has_columns_ ? filter_.MayContain(column_hash) : MayContainRow(row_hash);
  }

  // Begin to bring what LookUpRow, or MayContainColumn, will look at from memory, if it is there.
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
  friend class SSTableCursor;

  // All that is read when it is opened.
  struct Contents {
    SSTableProperties properties;
    BlockIndex index;
    BloomFilter filter;
    RowIndex row_index;
    BlockReader::Source source;
  };
  static absl::StatusOr<Contents> Read(FileSystem* file_system, const std::string& path,
                                       const SSTableInfo& expected, const Options& options);

  SSTable(std::string path, const SSTableInfo& info, Options options);
  ~SSTable() override;

  // Unless another thread has opened it by now.
  absl::Status OpenNow() const;
  // Whether its filters can be asked. If not, the cursor says what is wrong. What happens once is
  // out of the way of what happens for each row.
  bool OpensForFilters() const { return is_open() || TryOpen(); }
  [[gnu::cold, gnu::noinline]] bool TryOpen() const { return OpenNow().ok(); }
  void Become(Contents contents) const;

  const SSTableInfo info_;
  const std::string path_;
  const Options options_;
  mutable BudgetCharge charge_;
  mutable Mutex open_mutex_;                      // held while it is opened
  mutable std::unique_ptr<FilePool::Hold> hold_;  // under open_mutex_, until it is open

  // Once is_open_, these do not change any more. What is looked at for each row lies together.
  alignas(64) mutable std::atomic<bool> is_open_{false};
  // Columns are in the filter, and no deletion of a family or row, which would concern columns that
  // are not.
  mutable bool filter_has_columns_ = false;
  mutable BloomFilter filter_;  // empty if there is a row index
  mutable RowIndex row_index_;
  mutable BlockIndex index_;
  mutable SSTableProperties properties_;
  mutable std::optional<BlockReader> blocks_;  // has memory of what was verified; thread-safe
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_H_
