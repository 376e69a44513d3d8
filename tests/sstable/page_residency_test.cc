// What a mapped file asks the disk for when the kernel drops its pages.
#include "sstable/page_residency.h"

#include <algorithm>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "base/strings.h"
#include "sstable/block_index.h"
#include "sstable/block_reader.h"
#include "sstable/footer.h"
#include "sstable/sstable.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

constexpr uint64_t kPage = 4096;

thread_local int64_t major_faults = 0;
int64_t MajorFaults() { return major_faults; }

// A kernel with a small memory: it keeps the pages that were used last. What Touch() does not find
// is a page fault; the requests to the disk are counted.
class Kernel {
 public:
  explicit Kernel(size_t most_pages) : most_(most_pages) {}

  bool Has(uint64_t offset, size_t n) const {
    for (uint64_t page = offset / kPage; page * kPage < offset + n; ++page) {
      if (!pages_.contains(page)) return false;
    }
    return true;
  }
  // One request, of what is not there.
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
  uint64_t questions = 0;
  uint64_t populations = 0;
  uint64_t positional_reads = 0;
  uint64_t unannounced_reads = 0;  // by position, of what is not there
  bool reads_by_position = true;
  uint64_t readahead = 0;  // bytes that it reads ahead of those
  absl::Status failure;    // of Populate and Read

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
    ++kernel_->questions;
    return kernel_->Has(offset, n);
  }

 private:
  const std::string* const bytes_;
  Kernel* const kernel_;
};

class PageResidencyTest : public testing::Test {
 protected:
  const ScopedShortcutsOn shortcuts_;

  void SetUp() override { Write(Compression::kNone); }

  // About 1,500 blocks of 4 KiB, or of half that.
  void Write(Compression compression) {
    LocalityGroup group;
    group.compression = compression;
    group.block_size = 4096;
    Random random(1);
    Entries entries;
    for (int i = 0; i < 6000; ++i) {
      entries[CellKey("row" + std::to_string(100000 + i), "f", "", 1, 1)] =
          random.Bytes(500) + std::string(500, 'x');
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

  // With memory for so many parts in a hundred of the file.
  void Open(int percent, bool reads_by_position = true) {
    reader_.reset();  // it looks at what is below when it ends
    kernel_ = std::make_unique<Kernel>(bytes_.size() / kPage * static_cast<size_t>(percent) / 100);
    kernel_->reads_by_position = reads_by_position;
    residency_ = std::make_unique<PageResidency>(&MajorFaults);
    ASSERT_OK_AND_ASSIGN(
        const Footer footer,
        Footer::Decode(std::string_view(bytes_).substr(bytes_.size() - Footer::kSize), "t",
                       bytes_.size()));
    std::string index(bytes_, footer.index.offset, footer.index.size);
    if (EncodingOf(bytes_.data() + footer.index.offset, footer.index.size) != BlockEncoding::kRaw) {
      std::string decoded(properties_.index_size, '\0');
      ASSERT_TRUE(Decompress(index, nullptr, decoded.data(), decoded.size()));
      index = std::move(decoded);
    }
    auto loaded = BlockIndex::Load(index, properties_.data_size);
    ASSERT_OK(loaded);
    index_ = std::make_unique<BlockIndex>(*std::move(loaded));
    BlockReader::Source source;
    source.file = std::make_unique<MappedByKernel>(&bytes_, kernel_.get());
    source.path = "t";
    source.identity = info_.identity;
    source.compressed = is_compressed_;
    source.largest_block = properties_.largest_block;
    reader_ = std::make_unique<BlockReader>(std::move(source), index_.get(), budget_.get(),
                                            residency_.get());
  }

  size_t blocks() const { return index_->size(); }
  absl::Status Read(size_t i, BlockReader::ReadAhead* ahead = nullptr) {
    std::string_view block;
    Ref<Block> owner;
    BT_RETURN_IF_ERROR(reader_->Read(i, {.read_ahead = ahead != nullptr}, ahead, &block, &owner));
    const BlockHandle handle = index_->handle(i);
    if (owner) {
      EXPECT_TRUE(block == std::string_view(bytes_).substr(handle.offset, handle.size));
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
  void Forget() {
    kernel_->requests = 0;
    kernel_->pages_read = 0;
    kernel_->faults = 0;
    kernel_->questions = 0;
    kernel_->populations = 0;
    kernel_->positional_reads = 0;
    kernel_->unannounced_reads = 0;
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

TEST_F(PageResidencyTest, WhereEverythingFitsTheKernelIsNotAskedAgain) {
  Open(200);
  ReadAtRandom(20'000, 1);
  EXPECT_LT(kernel_->requests, bytes_.size() / (100 << 10)) << "warm after few large requests";
  Forget();
  ReadAtRandom(20'000, 2);
  EXPECT_EQ(kernel_->questions, 0);
  EXPECT_EQ(kernel_->faults, 0);
  EXPECT_EQ(residency_->epoch(), 0);
}

// Until that is known each read from the disk brings 128 KiB: 32 blocks of 4 KiB.
TEST_F(PageResidencyTest, ThatLittleFitsIsKnownSoon) {
  Open(12);
  const uint64_t memory = bytes_.size() / kPage * 12 / 100;
  ReadAtRandom(400, 1);
  EXPECT_GT(residency_->epoch(), 0);
  EXPECT_LT(kernel_->pages_read, 3 * memory + 3 * 400);
}

TEST_F(PageResidencyTest, WhereLittleFitsABlockThatWasDroppedIsReadByOneRequestOfItsOwnSize) {
  for (const bool by_position : {false, true}) {
    for (const int percent : {12, 25, 50, 90}) {
      SCOPED_TRACE(Cat(percent, by_position ? " by position" : " mapped"));
      Open(percent, by_position);
      ReadAtRandom(40'000, 1);
      Forget();
      ReadAtRandom(20'000, 2);
      EXPECT_GT(kernel_->requests, 100) << "the disk was needed";
      EXPECT_LT(kernel_->pages_read, 3 * kernel_->requests) << "a block and no more";
      EXPECT_LT(kernel_->faults, kernel_->requests / 10) << "few are read without being asked for";
      EXPECT_EQ(kernel_->unannounced_reads, 0) << "the kernel would read more";
      if (!by_position) {
        EXPECT_EQ(kernel_->positional_reads, 0);
      } else if (percent <= 50) {
        EXPECT_GT(kernel_->positional_reads, kernel_->requests * 9 / 10);
        EXPECT_EQ(budget_->used(MemoryBudget::Use::kBlockCache), 0) << "the kernel has it";
      } else {
        EXPECT_LT(kernel_->positional_reads, kernel_->requests / 10)
            << "what is likely to stay is worth its place in the page table";
      }
    }
  }
}

// It is not put into the page table before it is wanted a second time.
TEST_F(PageResidencyTest, WhatWasReadByPositionIsShownInPlaceTheNextTime) {
  Open(12);
  ReadAtRandom(40'000, 1);
  kernel_->DropAll();
  Forget();
  size_t dropped = 0;
  while (kernel_->positional_reads == 0) ASSERT_OK(Read(dropped++));
  const size_t block = dropped - 1;
  EXPECT_EQ(kernel_->populations, 0);
  ASSERT_OK(Read(block));
  ASSERT_OK(Read(block));
  EXPECT_EQ(kernel_->positional_reads, 1);
  EXPECT_LE(kernel_->populations, 1);
}

// What was read by position has been in memory, too: that it is missing again tells something.
TEST_F(PageResidencyTest, WhatWasReadByPositionCountsAsMissingWhenItIsDropped) {
  Open(200);
  for (int k = 0; k < 4; ++k) residency_->NoteSampleMissing();
  residency_->NoteKnown(100'000);  // other files' blocks, so that memory is not plentiful
  const uint32_t epoch = residency_->epoch();
  for (size_t i = 0; i < 200; ++i) ASSERT_OK(Read(i));
  EXPECT_EQ(kernel_->positional_reads, 200);
  EXPECT_EQ(residency_->epoch(), epoch) << "none was there before";
  kernel_->DropAll();
  for (size_t i = 0; i < 200; ++i) ASSERT_OK(Read(i));
  EXPECT_GT(residency_->epoch(), epoch);
}

TEST_F(PageResidencyTest, ALongScanOfWhatWasDroppedReadsByPosition) {
  Open(25);
  kernel_->readahead = 512 << 10;
  for (int pass = 0; pass < 3; ++pass) {
    SCOPED_TRACE(pass);
    kernel_->DropAll();
    Forget();
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(0));
    for (size_t i = 1; i < blocks(); ++i) {
      ASSERT_OK(Read(i, &ahead));
      if (i == 100) {
        EXPECT_EQ(kernel_->unannounced_reads, 0) << "a short one asks for more itself";
      }
    }
    EXPECT_GT(kernel_->positional_reads, blocks() - 700);
    EXPECT_LT(kernel_->populations, 20);
  }
}

TEST_F(PageResidencyTest, ALongScanReadsByPositionOnlyAsFarAsBlocksAreMissing) {
  Open(200);
  const size_t middle = blocks() / 2;
  const uint64_t offset = index_->handle(middle).offset;
  kernel_->Read(offset, index_->handle(blocks() - 1).offset - offset + 4200);
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) {
    ASSERT_OK(Read(i, &ahead));
    if (i == middle - 70) {
      EXPECT_GT(kernel_->positional_reads, middle - 500);
    }
  }
  EXPECT_LE(kernel_->positional_reads, middle + 64) << "a step of the look ahead";
  EXPECT_EQ(kernel_->faults, 0);
}

TEST_F(PageResidencyTest, CompressedBlocksAreReadByPositionTooAndAreCachedAsAsked) {
  Write(Compression::kZstd);
  Open(12);
  ASSERT_LT(bytes_.size(), 6000u * 800) << "it is compressed";
  const auto read = [&](size_t i, bool fill_cache, BlockReader::ReadAhead* ahead) {
    std::string_view block;
    Ref<Block> owner;
    EXPECT_OK(reader_->Read(i, {.fill_cache = fill_cache}, ahead, &block, &owner));
    return std::string(block);
  };
  std::vector<std::string> blocks_before;
  for (size_t i = 0; i < blocks(); ++i) blocks_before.push_back(read(i, false, nullptr));
  EXPECT_GT(blocks_before[0].size(), index_->handle(0).size);
  Forget();
  Random random(1);
  for (int k = 0; k < 5000; ++k) {
    const size_t i = random.Below(blocks());
    EXPECT_TRUE(read(i, false, nullptr) == blocks_before[i]);
  }
  EXPECT_GT(kernel_->positional_reads, 1000);
  Forget();
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) EXPECT_TRUE(read(i, false, &ahead) == blocks_before[i]);
  EXPECT_GT(kernel_->positional_reads, blocks() / 3);
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kBlockCache), 0);
  for (size_t i = 0; i < blocks(); ++i) read(i, true, nullptr);
  Forget();
  for (size_t i = 0; i < blocks(); ++i) EXPECT_TRUE(read(i, true, nullptr) == blocks_before[i]);
  EXPECT_EQ(kernel_->questions + kernel_->requests, 0);
}

TEST_F(PageResidencyTest, AWrongChecksumOfWhatIsReadByPositionIsFound) {
  Open(12);
  ReadAtRandom(40'000, 1);
  bytes_[index_->handle(700).offset + 100] ^= 1;
  kernel_->DropAll();
  std::string_view block;
  Ref<Block> owner;
  size_t found = 0;
  for (size_t i = 0; i < blocks(); ++i) {
    const absl::Status status = reader_->Read(i, {}, nullptr, &block, &owner);
    found += absl::IsDataLoss(status) ? 1 : 0;
    EXPECT_EQ(status.ok(), i != 700);
  }
  EXPECT_EQ(found, 1);
}

TEST_F(PageResidencyTest, OfAFileThatWasInMemorySoFarTheKernelIsNotAsked) {
  const auto read_all = [this](bool in_order) {
    Open(200);
    kernel_->Read(0, bytes_.size());
    Forget();
    if (in_order) {
      for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
    } else {
      ReadAtRandom(20'000, 1);
    }
    EXPECT_EQ(kernel_->faults + kernel_->requests, 0);
    EXPECT_GT(kernel_->populations, 40);
  };
  for (const bool in_order : {true, false}) {
    read_all(in_order);
    EXPECT_EQ(kernel_->questions, 4);
    const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kResidencyTrust));
    read_all(in_order);
    EXPECT_EQ(kernel_->questions, kernel_->populations);
  }
}

// Stretches of 128 KiB have 32 pages.
TEST_F(PageResidencyTest, AFileThatWasTrustedWronglyIsAskedAboutAgain) {
  Open(200);
  kernel_->Read(0, bytes_.size() / 2);
  for (size_t i = 0; i < blocks(); ++i) ASSERT_OK(Read(i));
  EXPECT_GT(kernel_->faults, 0);
  EXPECT_LE(kernel_->faults, 33);
  EXPECT_GT(kernel_->requests, bytes_.size() / 2 / (128 << 10) - 2);
}

TEST_F(PageResidencyTest, AFileThatIsInMemoryInPlacesIsTrustedLessAndLess) {
  for (const bool in_order : {true, false}) {
    for (const uint64_t piece : {300 << 10, 700 << 10, 1 << 20}) {
      SCOPED_TRACE(Cat(piece, in_order ? " in order" : " at random"));
      Open(200);
      for (uint64_t at = 0; at + piece < bytes_.size(); at += 2 * piece) kernel_->Read(at, piece);
      Forget();
      for (size_t i = 0; in_order && i < blocks(); ++i) ASSERT_OK(Read(i));
      if (!in_order) ReadAtRandom(20'000, 1);
      EXPECT_LE(kernel_->faults, 2 * 33);
      EXPECT_GE(kernel_->requests, bytes_.size() / 2 / (128 << 10) - 3);
    }
  }
}

TEST_F(PageResidencyTest, AScanTrustsAFileTooAndNoFurther) {
  Open(200);
  kernel_->Read(0, bytes_.size() / 2);
  Forget();
  BlockReader::ReadAhead ahead;
  for (size_t i = 0; i < blocks() / 3; ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_LE(kernel_->questions, 5);
  for (size_t i = blocks() / 3; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_LE(kernel_->faults, 65) << "a window of 256 KiB";
}

TEST_F(PageResidencyTest, WithoutTheShortcutNothingIsReadPastTheMapping) {
  const ScopedShortcuts off(ScopedShortcuts::Bit(Shortcut::kPastMapping));
  Open(12);
  ReadAtRandom(40'000, 1);
  BlockReader::ReadAhead ahead;
  for (size_t i = 1; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
  EXPECT_EQ(kernel_->positional_reads, 0);
}

TEST_F(PageResidencyTest, AScanOfWhatWasDroppedReadsInLargeRequests) {
  Open(50, false);
  for (int pass = 0; pass < 3; ++pass) {
    Forget();
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(0));
    for (size_t i = 1; i < blocks(); ++i) ASSERT_OK(Read(i, &ahead));
    EXPECT_LT(kernel_->requests, bytes_.size() / (200 << 10) + 20);
    EXPECT_LT(kernel_->faults, 2 * 256) << "until they were noticed";
    EXPECT_LT(kernel_->pages_read, 3 * bytes_.size() / kPage / 2);
  }
}

TEST_F(PageResidencyTest, AShortScanDoesNotReadMuchMoreThanItShows) {
  Open(12);
  ReadAtRandom(40'000, 1);
  Forget();
  Random random(2);
  constexpr size_t kScans = 200;
  for (size_t k = 0; k < kScans; ++k) {
    const size_t first = random.Below(blocks() - 25);
    BlockReader::ReadAhead ahead;
    ASSERT_OK(Read(first));
    for (size_t i = first + 1; i < first + 25; ++i) ASSERT_OK(Read(i, &ahead));
  }
  EXPECT_LT(kernel_->pages_read, kScans * 48);
  EXPECT_LT(kernel_->populations, kScans) << "what is soon dropped is not put into the page table";
  EXPECT_LT(kernel_->requests + kernel_->faults, kScans * 6);
}

TEST_F(PageResidencyTest, WhatOthersHaveDrivenOutIsFoundByPageFaults) {
  Open(200);
  ReadAtRandom(20'000, 1);
  kernel_->DropAll();
  Forget();
  ReadAtRandom(600, 2);
  EXPECT_GT(residency_->epoch(), 0);
  EXPECT_LT(kernel_->faults, 3 * 256u * 2);
  Forget();
  ReadAtRandom(5000, 3);
  EXPECT_LT(kernel_->faults, 10);
}

TEST_F(PageResidencyTest, FaultsOfTheReaderItselfAreNotTakenForOthers) {
  Open(200);
  ReadAtRandom(1000, 1);
  for (int k = 0; k < 100; ++k) {
    const PageResidency::Reading reading(residency_.get());
    major_faults += 100;
  }
  ReadAtRandom(10'000, 2);
  EXPECT_EQ(residency_->epoch(), 0);
}

TEST_F(PageResidencyTest, AnErrorWhileADroppedBlockIsReadAgainIsAnError) {
  for (const bool by_position : {false, true}) {
    Open(12, by_position);
    ReadAtRandom(40'000, 1);
    kernel_->failure = absl::UnavailableError("t: Input/output error");
    int errors = 0;
    for (size_t i = 0; i < blocks(); ++i) errors += Read(i).ok() ? 0 : 1;
    EXPECT_GT(errors, static_cast<int>(blocks()) / 2);
    kernel_->failure = absl::OkStatus();
    for (size_t i = 0; i < blocks(); ++i) EXPECT_OK(Read(i));
  }
}

TEST_F(PageResidencyTest, WhatTheReaderRemembersIsCharged) {
  const uint64_t before = budget_->used(MemoryBudget::Use::kIndexes);
  Open(12);
  EXPECT_GE(budget_->used(MemoryBudget::Use::kIndexes), before + 5 * blocks() / 8);
  reader_.reset();
  EXPECT_EQ(budget_->used(MemoryBudget::Use::kIndexes), before);
}

}  // namespace
}  // namespace bigtable
