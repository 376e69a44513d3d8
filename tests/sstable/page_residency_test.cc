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

#include "base/status.h"
#include "filesystem/in_memory_file_system.h"
#include "sstable/block_index.h"
#include "sstable/block_reader.h"
#include "sstable/footer.h"
#include "sstable/sstable.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"

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
  absl::Status failure;  // of Populate

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

  absl::Status Read(uint64_t, size_t, char*) const override {
    return absl::UnimplementedError("only mapped");
  }
  uint64_t size() const override { return bytes_->size(); }
  const char* mapping() const override { return bytes_->data(); }
  absl::Status Populate(uint64_t offset, size_t n) const override {
    if (!kernel_->failure.ok()) return kernel_->failure;
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
  // About 1,500 blocks of 4 KiB.
  void SetUp() override {
    LocalityGroup group;
    group.compression = Compression::kNone;
    group.block_size = 4096;
    Random random(1);
    Entries entries;
    for (int i = 0; i < 6000; ++i) {
      entries[CellKey("row" + std::to_string(100000 + i), "f", "", 1, 1)] = random.Bytes(1000);
    }
    InMemoryFileSystem files;
    ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files, kTablePath, group, entries));
    bytes_ = files.Contents(kTablePath);
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, SSTable::Open(&files, std::string(kTablePath),
                                                                 info_, {.budget = budget_}));
    properties_ = table->properties();
  }

  // With memory for so many parts in a hundred of the file.
  void Open(int percent) {
    reader_.reset();  // it looks at what is below when it ends
    kernel_ = std::make_unique<Kernel>(bytes_.size() / kPage * static_cast<size_t>(percent) / 100);
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
    source.largest_block = properties_.largest_block;
    reader_ = std::make_unique<BlockReader>(std::move(source), index_.get(), budget_.get(),
                                            residency_.get());
  }

  size_t blocks() const { return index_->size(); }
  absl::Status Read(size_t i, BlockReader::ReadAhead* ahead = nullptr) {
    std::string_view block;
    Ref<Block> owner;
    BT_RETURN_IF_ERROR(reader_->Read(i, {.read_ahead = ahead != nullptr}, ahead, &block, &owner));
    EXPECT_EQ(block.data(), bytes_.data() + index_->handle(i).offset) << "in place";
    kernel_->Touch(index_->handle(i).offset, block.size());
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
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  SSTableInfo info_;
  SSTableProperties properties_;
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

TEST_F(PageResidencyTest, WhereLittleFitsABlockThatWasDroppedIsReadByOneRequestOfItsOwnSize) {
  for (const int percent : {12, 25, 50, 90}) {
    SCOPED_TRACE(percent);
    Open(percent);
    ReadAtRandom(40'000, 1);
    Forget();
    ReadAtRandom(20'000, 2);
    EXPECT_GT(kernel_->requests, 100) << "the disk was needed";
    EXPECT_LT(kernel_->pages_read, 3 * kernel_->requests) << "a block and no more";
    EXPECT_LT(kernel_->faults, kernel_->requests / 10) << "few are read without being asked for";
  }
}

TEST_F(PageResidencyTest, AScanOfWhatWasDroppedReadsInLargeRequests) {
  Open(50);
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
  EXPECT_LT(kernel_->pages_read, kScans * 100);
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
  Open(12);
  ReadAtRandom(40'000, 1);
  kernel_->failure = absl::UnavailableError("t: Input/output error");
  int errors = 0;
  for (size_t i = 0; i < blocks(); ++i) errors += Read(i).ok() ? 0 : 1;
  EXPECT_GT(errors, static_cast<int>(blocks()) / 2);
  kernel_->failure = absl::OkStatus();
  for (size_t i = 0; i < blocks(); ++i) EXPECT_OK(Read(i));
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
