// A mapped file under a kernel with a small memory, for tests of reads when pages are dropped.
#ifndef BIGTABLE_TESTS_SSTABLE_PAGE_RESIDENCY_FIXTURE_H_
#define BIGTABLE_TESTS_SSTABLE_PAGE_RESIDENCY_FIXTURE_H_

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/entry_key.h"
#include "base/status.h"
#include "blocks/block_cursor.h"
#include "blocks/block_index.h"
#include "blocks/block_reader.h"
#include "blocks/block_source.h"
#include "blocks/compression.h"
#include "blocks/page_residency.h"
#include "blocks/read_settings.h"
#include "blocks/stored_block.h"
#include "sstable/footer.h"
#include "sstable/index_root.h"
#include "sstable/sstable.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {

inline constexpr uint64_t kPage = 4096;

inline thread_local int64_t major_faults = 0;
inline int64_t MajorFaults() { return major_faults; }

// A kernel with a small memory: it keeps the pages that were used last. A page that Touch() does
// not find is a page fault. Requests to the disk are counted.
class Kernel {
 public:
  explicit Kernel(size_t most_pages) : most_(most_pages) {}

  bool Has(uint64_t offset, size_t n) const {
    for (uint64_t page = offset / kPage; page * kPage < offset + n; ++page) {
      if (!pages_.contains(page)) return false;
    }
    return true;
  }
  // One request, of the missing pages.
  void Read(uint64_t offset, size_t n) {
    uint64_t fresh = 0;
    for (uint64_t page = offset / kPage; page * kPage < offset + n; ++page) {
      if (!pages_.contains(page)) ++fresh;
      Use(page);
    }
    requests += fresh > 0 ? 1 : 0;
    pages_read += fresh;
  }
  void Touch(uint64_t offset, size_t n) {
    for (uint64_t page = offset / kPage; page * kPage < offset + n; ++page) {
      if (!pages_.contains(page)) {
        ++faults;
        ++major_faults;
      }
      Use(page);
    }
  }
  void DropAll() {
    order_.clear();
    pages_.clear();
  }

  uint64_t requests = 0;
  uint64_t pages_read = 0;
  uint64_t faults = 0;
  uint64_t queries = 0;
  uint64_t populations = 0;
  uint64_t positional_reads = 0;
  uint64_t unannounced_reads = 0;  // by position, of missing pages
  uint64_t uncached_reads = 0;     // which change no page
  uint64_t uncached_bytes = 0;
  bool reads_by_position = true;
  bool reads_uncached = true;
  uint64_t readahead = 0;  // bytes that it reads ahead of them
  absl::Status failure;    // of Populate, Read and ReadUncached
  absl::Status uncached_failure;

 private:
  void Use(uint64_t page) {
    if (const auto found = pages_.find(page); found != pages_.end()) order_.erase(found->second);
    order_.push_back(page);
    pages_[page] = std::prev(order_.end());
    if (order_.size() <= most_) return;
    pages_.erase(order_.front());
    order_.pop_front();
  }

  const size_t most_;
  std::list<uint64_t> order_;
  std::unordered_map<uint64_t, std::list<uint64_t>::iterator> pages_;
};

class MappedByKernel final : public RandomAccessFile {
 public:
  MappedByKernel(const std::string* bytes, Kernel* kernel) : bytes_(bytes), kernel_(kernel) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    if (!kernel_->failure.ok()) return kernel_->failure;
    ++kernel_->positional_reads;
    if (!kernel_->Has(offset, n)) {
      ++kernel_->unannounced_reads;
      kernel_->Read(offset, std::min(n + kernel_->readahead, bytes_->size() - offset));
    }
    kernel_->Touch(offset, n);
    bytes_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  bool ReadsByPosition() const override { return kernel_->reads_by_position; }
  absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
    if (!kernel_->failure.ok()) return kernel_->failure;
    if (!kernel_->uncached_failure.ok()) return kernel_->uncached_failure;
    ++kernel_->uncached_reads;
    kernel_->uncached_bytes += n;
    bytes_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  bool ReadsUncached() const override { return kernel_->reads_uncached; }
  uint64_t size() const override { return bytes_->size(); }
  const char* mapping() const override { return bytes_->data(); }
  absl::Status Populate(uint64_t offset, size_t n) const override {
    if (!kernel_->failure.ok()) return kernel_->failure;
    ++kernel_->populations;
    kernel_->Touch(offset, n);
    return absl::OkStatus();
  }
  void WillNeed(uint64_t offset, size_t n) const override { kernel_->Read(offset, n); }
  bool IsResident(uint64_t offset, size_t n) const override {
    ++kernel_->queries;
    return kernel_->Has(offset, n);
  }

 private:
  const std::string* const bytes_;
  Kernel* const kernel_;
};

class MappedFileTest : public testing::Test {
 protected:
  const ScopedShortcutsOn shortcuts_;

  void SetUp() override { Write(Compression::kNone); }

  static constexpr size_t kRows = 6000;
  static std::string RowOf(size_t i) { return "row" + std::to_string(100000 + i); }
  static std::string ValueOf(size_t i) { return Random(i + 1).Bytes(500) + std::string(500, 'x'); }
  // About 1,500 blocks of 4 KiB, or of half that size when compressed.
  void Write(Compression compression) {
    LocalityGroup group;
    group.compression = compression;
    group.block_size = 4096;
    Entries entries;
    for (size_t i = 0; i < kRows; ++i) {
      entries[CellKey(RowOf(i), "f", "", 1, 1)] = ValueOf(i);
    }
    is_compressed_ = compression != Compression::kNone;
    InMemoryFileSystem files;
    ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files, kTablePath, group, entries));
    bytes_ = files.Contents(kTablePath);
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table,
                         SSTable::Open(&files, std::string(kTablePath), info_,
                                       {.read_mode = TestReadMode(), .budget = budget_}));
    properties_ = table->properties();
  }

  // With memory for `percent` of the file.
  void Open(int percent) {
    reader_.reset();  // its destructor uses the objects replaced below
    kernel_ = std::make_unique<Kernel>(bytes_.size() / kPage * static_cast<size_t>(percent) / 100);
    residency_ = std::make_unique<PageResidency>(&MajorFaults);
    ASSERT_OK_AND_ASSIGN(
        const Footer footer,
        Footer::Decode(std::string_view(bytes_).substr(bytes_.size() - Footer::kSize), "t",
                       bytes_.size()));
    const auto decoded = [&](const BlockHandle& handle) {
      const std::string stored(bytes_, handle.offset, handle.size);
      if (EncodingOf(bytes_.data() + handle.offset, handle.size) == BlockEncoding::kRaw)
        return stored;
      std::string block(DecompressedSize(stored), '\0');
      EXPECT_TRUE(Decompress(stored, nullptr, block.data(), block.size()));
      return block;
    };
    std::vector<std::string> parts;
    if (properties_.index_parts == 0) {
      parts.push_back(decoded(footer.index));
    } else {
      ASSERT_OK_AND_ASSIGN(const IndexRoot root,
                           IndexRoot::Load(decoded(footer.index), properties_.data_size,
                                           properties_.blocks, footer.index.offset));
      for (size_t i = 0; i < root.size(); ++i) parts.push_back(decoded(root[i].handle));
    }
    auto loaded = BlockIndex::Load(std::vector<std::string_view>(parts.begin(), parts.end()),
                                   properties_.data_size);
    ASSERT_OK(loaded);
    index_ = std::make_unique<BlockIndex>(*std::move(loaded));
    BlockSource source;
    source.file = std::make_unique<MappedByKernel>(&bytes_, kernel_.get());
    source.path = "t";
    source.identity = info_.identity;
    source.compressed = is_compressed_;
    source.largest_block = properties_.largest_block;
    reader_ = std::make_unique<BlockReader>(std::move(source), index_.get(), budget_.get(),
                                            BlockReader::Options{.residency = residency_.get()});
  }

  // With memory for an eighth of the file, which the reader has found out. Nothing is in memory.
  void OpenScarce() {
    Open(12);
    ReadAtRandom(5000, 1);
    while (residency_->is_plentiful()) residency_->CountSampleMissing();
    kernel_->DropAll();
    EndEpoch();
    ResetCounts();
  }
  void EndEpoch() {
    for (const uint32_t before = residency_->epoch(); residency_->epoch() == before;) {
      residency_->CountSampleMissing();
    }
  }

  size_t blocks() const { return index_->size(); }
  // The block in which the row begins, and the first row of a block.
  size_t BlockOfRow(size_t row) const { return index_->Find(RowPrefix(RowOf(row))); }
  size_t FirstRowOf(size_t block) const {
    size_t row = 0;
    for (size_t end = kRows; row < end;) {
      const size_t middle = row + (end - row) / 2;
      if (BlockOfRow(middle) < block) {
        row = middle + 1;
      } else {
        end = middle;
      }
    }
    return row;
  }
  uint64_t StoredSize(size_t block) const { return index_->handle(block).size + kBlockTrailerSize; }
  // The row alone. `*is_slice`, unless it is null: a slice was returned.
  absl::Status ReadRow(size_t row, bool* is_slice = nullptr, const ReadSettings& settings = {}) {
    const std::string prefix = RowPrefix(RowOf(row));
    const size_t i = BlockOfRow(row);
    RowInBlock in_block{prefix};
    std::string_view block;
    Ref<Block> owner;
    BT_RETURN_IF_ERROR(reader_->Read(i, settings, nullptr, &block, &owner, &in_block));
    BlockCursor cursor;
    EXPECT_TRUE(cursor.Open(block));
    cursor.Seek(prefix);
    EXPECT_TRUE(cursor.valid() && cursor.key().starts_with(prefix));
    if (cursor.valid()) {
      EXPECT_TRUE(cursor.value() == ValueOf(row));
    }
    EXPECT_TRUE(cursor.entries() == 1 || !in_block.is_slice);
    if (is_slice != nullptr) *is_slice = in_block.is_slice;
    if (!owner) kernel_->Touch(index_->handle(i).offset, block.size());
    return absl::OkStatus();
  }
  absl::Status Read(size_t i, BlockReader::ReadAhead* ahead = nullptr) {
    std::string_view block;
    Ref<Block> owner;
    const ReadSettings settings{.fill_cache = !is_compressed_, .read_ahead = ahead != nullptr};
    BT_RETURN_IF_ERROR(reader_->Read(i, settings, ahead, &block, &owner));
    const BlockHandle handle = index_->handle(i);
    if (owner) {
      EXPECT_TRUE(is_compressed_ ||
                  block == std::string_view(bytes_).substr(handle.offset, handle.size));
      return absl::OkStatus();
    }
    EXPECT_EQ(block.data(), bytes_.data() + handle.offset) << "in place";
    kernel_->Touch(handle.offset, block.size());
    return absl::OkStatus();
  }
  void ReadAtRandom(size_t n, uint64_t seed) {
    Random random(seed);
    for (size_t k = 0; k < n; ++k) ASSERT_OK(Read(random.Below(blocks())));
  }
  void ResetCounts() {
    kernel_->requests = 0;
    kernel_->pages_read = 0;
    kernel_->faults = 0;
    kernel_->queries = 0;
    kernel_->populations = 0;
    kernel_->positional_reads = 0;
    kernel_->unannounced_reads = 0;
    kernel_->uncached_reads = 0;
    kernel_->uncached_bytes = 0;
  }
  // Of any kind.
  uint64_t calls() const {
    return kernel_->requests + kernel_->queries + kernel_->populations + kernel_->positional_reads +
           kernel_->uncached_reads + kernel_->faults;
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  SSTableInfo info_;
  SSTableProperties properties_;
  bool is_compressed_ = false;
  std::string bytes_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<PageResidency> residency_;
  std::unique_ptr<BlockIndex> index_;
  std::unique_ptr<BlockReader> reader_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SSTABLE_PAGE_RESIDENCY_FIXTURE_H_
