// A file of a few data blocks with no SSTable around them, for tests of each way of reading blocks
// alone.
#ifndef BIGTABLE_TESTS_BLOCKS_BLOCK_FILE_FIXTURE_H_
#define BIGTABLE_TESTS_BLOCKS_BLOCK_FILE_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "blocks/block_builder.h"
#include "blocks/block_file.h"
#include "blocks/block_index.h"
#include "blocks/block_source.h"
#include "blocks/compression.h"
#include "blocks/page_residency.h"
#include "blocks/stored_block.h"
#include "support/expect_status.h"
#include "support/late_reads.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {

// What happens to the file; the test may change it at any time.
struct FileEvents {
  uint64_t reads = 0;
  uint64_t uncached_reads = 0;
  uint64_t begun_reads = 0;
  uint64_t populations = 0;
  uint64_t queries = 0;
  uint64_t requests = 0;
  uint64_t opened_by = UINT64_MAX;  // the reads before ReadsByPosition was asked first
  uint64_t last_length = 0;         // of a population, request or uncached read
  bool is_resident = true;
  bool reads_by_position = true;
  bool reads_uncached = true;
  bool refuses_begun_reads = false;
  absl::Status failure;             // of reads and populations
  std::function<void()> on_access;  // called by reads and populations; may replace itself

  void NotifyAccess() const {
    const std::function<void()> now = on_access;
    if (now) now();
  }
};

class EventfulFile final : public RandomAccessFile {
 public:
  EventfulFile(const std::string* bytes, FileEvents* events, bool is_mapped)
      : bytes_(bytes), events_(events), is_mapped_(is_mapped) {}

  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    ++events_->reads;
    events_->NotifyAccess();
    if (!events_->failure.ok()) return events_->failure;
    bytes_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const override {
    ++events_->uncached_reads;
    events_->last_length = n;
    events_->NotifyAccess();
    if (!events_->failure.ok()) return events_->failure;
    bytes_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  bool ReadsUncached() const override { return events_->reads_uncached; }
  bool BeginRead(ReadQueue* queue, ReadQueue::Read* read) const override {
    if (events_->refuses_begun_reads) return false;
    ++events_->begun_reads;
    return static_cast<LateReads*>(queue)->Begin(*this, read);
  }
  uint64_t size() const override { return bytes_->size(); }
  const char* mapping() const override { return is_mapped_ ? bytes_->data() : nullptr; }
  absl::Status Populate(uint64_t, size_t n) const override {
    ++events_->populations;
    events_->last_length = n;
    events_->NotifyAccess();
    return events_->failure;
  }
  void WillNeed(uint64_t, size_t n) const override {
    ++events_->requests;
    events_->last_length = n;
  }
  bool IsResident(uint64_t, size_t) const override {
    ++events_->queries;
    return events_->is_resident;
  }
  bool ReadsByPosition() const override {
    events_->opened_by = std::min(events_->opened_by, events_->reads);
    return events_->reads_by_position;
  }

 private:
  const std::string* const bytes_;
  FileEvents* const events_;
  const bool is_mapped_;
};

// Residency of pages for a test: no page fault of this thread counts.
class NoFaults : public PageResidency {
 public:
  NoFaults() : PageResidency([] { return int64_t{0}; }) {}
  // Ends the epoch, as if blocks that were in memory had been dropped. Memory is not plentiful
  // afterwards.
  void EndEpoch() {
    for (const uint32_t before = epoch(); epoch() == before;) CountSampleMissing();
  }
};

class BlockFileFixture : public testing::Test {
 protected:
  static constexpr uint64_t kIdentity = 77;
  const ScopedShortcutsOn shortcuts_;

  // The content of block `i` that AddBlocks adds: compressible in part.
  static std::string Content(size_t i) {
    return Random(i + 1).Bytes(300) + std::string(700, static_cast<char>('a' + i % 26));
  }
  // The key of a cell of the row.
  static std::string KeyOf(std::string_view row, std::string_view qualifier, uint64_t sequence) {
    std::string key = RowPrefix(row);
    AppendColumn(&key, "f", qualifier);
    AppendTrailer(&key, /*timestamp=*/1, {sequence, 0}, EntryKind::kCell);
    return key;
  }
  static std::string BlockOf(const std::map<std::string, std::string>& entries) {
    BlockBuilder builder;
    size_t shared;
    for (const auto& [key, value] : entries) EXPECT_TRUE(builder.Add(key, value, &shared));
    std::string block;
    builder.FinishTo(&block);
    return block;
  }
  // Adds a stored block, sound but as the test wants it.
  void AddStored(std::string_view stored, BlockEncoding encoding) {
    std::string size;
    AppendVarint64(&size, 4 * stored.size());
    size_t shared;
    std::string key(8, '\0');
    for (size_t k = 0; k < 8; ++k) key[k] = static_cast<char>(blocks_ >> (8 * (7 - k)));
    ASSERT_TRUE(builder_.Add(key, size, &shared));
    const size_t begin = bytes_.size();
    bytes_ += stored;
    AppendBlockTrailer(&bytes_, begin, encoding, kIdentity, begin);
    ++blocks_;
  }
  void AddBlock(std::string_view block, Compression compression) {
    std::string stored;
    BlockEncoding encoding = BlockEncoding::kRaw;
    if (compression == Compression::kNone) {
      stored = block;
    } else {
      BlockCompressor compressor(3);
      if (compression == Compression::kZstdLongWindow) compressor.UseDictionary(dictionary_);
      encoding = compressor.AppendTo(&stored, block);
    }
    AddStored(stored, encoding);
    largest_block_ = std::max<uint64_t>(largest_block_, block.size());
    is_compressed_ = is_compressed_ || compression != Compression::kNone;
  }
  void AddBlocks(size_t n, Compression compression) {
    for (size_t i = 0; i < n; ++i) AddBlock(Content(i), compression);
  }
  // After the blocks were added: appends the dictionary, if there is one, and opens the file.
  void Open(bool is_mapped = false) {
    std::string index;
    builder_.FinishTo(&index);
    const uint64_t data_size = bytes_.size();
    if (!dictionary_.empty()) {
      bytes_ += dictionary_;
      AppendBlockTrailer(&bytes_, data_size, BlockEncoding::kRaw, kIdentity, data_size);
    }
    ASSERT_OK_AND_ASSIGN(index_, BlockIndex::Load(index, data_size));
    file_ = std::make_unique<BlockFile>(
        BlockSource{.file = std::make_unique<EventfulFile>(&bytes_, &events_, is_mapped),
                    .path = "t",
                    .number = 5,
                    .identity = kIdentity,
                    .compressed = is_compressed_,
                    .largest_block = largest_block_,
                    .dictionary = {data_size, dictionary_.size()},
                    .dictionary_size = dictionary_.size()},
        budget_.get());
  }
  // Back to before the first block was added.
  void Clear() {
    file_.reset();
    bytes_.clear();
    builder_ = {};
    blocks_ = 0;
    largest_block_ = 0;
    is_compressed_ = false;
  }
  BlockHandle At(size_t i) const { return index_.handle(i); }
  // The stored bytes of a block.
  char* Stored(size_t i) { return bytes_.data() + index_.handle(i).offset; }
  uint64_t used(MemoryBudget::Use use) const { return budget_->used(use); }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  std::string dictionary_;
  std::string bytes_;
  FileEvents events_;
  BlockIndex index_;
  std::unique_ptr<BlockFile> file_;

 private:
  BlockBuilder builder_;
  size_t blocks_ = 0;
  uint64_t largest_block_ = 0;
  bool is_compressed_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_BLOCKS_BLOCK_FILE_FIXTURE_H_
