// How often an SSTable reads its file, and when it verifies what it reads.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/coding.h"
#include "base/entry_key.h"
#include "blocks/block_builder.h"
#include "blocks/block_index.h"
#include "blocks/block_reader.h"
#include "blocks/block_source.h"
#include "blocks/index_writer.h"
#include "cache/block_cache.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable_test_util.h"
#include "support/cached_bytes.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

class BlockReadsTest : public testing::TestWithParam<TableSetup> {
 protected:
  // The test measures what shortcuts save.
  const ScopedShortcutsOn shortcuts_;

  void Write(size_t n = 3000) {
    Random random(1);
    entries_ = RandomEntries(&random, n);
    auto info = WriteTable(&files_, kTablePath, GetParam().group, entries_);
    ASSERT_OK(info);
    info_ = *info;
    for (const auto& [key, value] : entries_) keys_.push_back(key);
  }
  void Open() {
    auto table = OpenTable(&counting_, info_, GetParam(), budget_);
    ASSERT_OK(table);
    table_ = *table;
    counting_.CountCalls({.kinds = {FileCall::kRead, FileCall::kPopulate}, .path_contains = ""});
  }
  void TouchDictionary() {
    SSTableCursor cursor(table_.get());
    cursor.SeekToFirst();
    cursor.SeekToLast();
    counting_.CountCalls({.kinds = {FileCall::kRead, FileCall::kPopulate}, .path_contains = ""});
  }

  InMemoryFileSystem files_;
  FaultyFileSystem counting_{&files_};
  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 << 20);
  Entries entries_;
  std::vector<std::string> keys_;
  SSTableInfo info_;
  Ref<SSTable> table_;
};

INSTANTIATE_TEST_SUITE_P(All, BlockReadsTest, testing::ValuesIn(AllSetups(1024)),
                         [](const auto& instance) { return instance.param.name; });

// And a second one where the key that the index has for the first is behind the target, and its
// last key before it.
TEST_P(BlockReadsTest, ASeekReadsAtMostOneBlock) {
  Write();
  Open();
  TouchDictionary();
  Random random(2);
  uint64_t calls = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string target = random.Pick(keys_);
    if (random.OneIn(2)) target.resize(random.Below(target.size() + 1));
    if (random.OneIn(3)) target += '\xff';
    SSTableCursor cursor(table_.get(), {.fill_cache = false});
    cursor.Seek(target);
    ASSERT_OK(cursor.status());
    const auto after = entries_.lower_bound(target);
    const bool may_end_before =
        after != entries_.begin() && (std::prev(after)->first.size() > kWholeKey ||
                                      target <= BehindRow(std::prev(after)->first));
    // The next block may have its key in another part of the index.
    const uint64_t blocks = may_end_before ? 2 : 1;
    ASSERT_LE(counting_.calls() - calls, GetParam().in_parts ? 2 * blocks : blocks);
    calls = counting_.calls();
  }
}

TEST_P(BlockReadsTest, ABlockThatWasReadIsNotReadAgain) {
  Write();
  Open();
  SSTableCursor cursor(table_.get());
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
  }
  ASSERT_OK(cursor.status());
  EXPECT_GT(counting_.calls(), 0u);
  counting_.CountCalls({.kinds = {FileCall::kRead, FileCall::kPopulate}, .path_contains = ""});
  for (const std::string& key : keys_) {
    SSTableCursor again(table_.get());
    again.Seek(key);
    ASSERT_TRUE(again.valid());
  }
  EXPECT_EQ(counting_.calls(), 0u);
}

TEST_P(BlockReadsTest, WithoutFillCacheTheCacheStaysEmpty) {
  Write();
  Open();
  SSTableCursor cursor(table_.get(), {.fill_cache = false});
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
  }
  ASSERT_OK(cursor.status());
  EXPECT_EQ(CachedBytes(*budget_), 0u);
}

TEST_P(BlockReadsTest, AReadThatFailedMaySucceedLater) {
  Write();
  Open();
  SSTableCursor cursor(table_.get());
  counting_.FailCalls({.kinds = {FileCall::kRead, FileCall::kPopulate}, .path_contains = ""},
                      absl::UnavailableError("no"));
  cursor.Seek(keys_[100]);
  EXPECT_FALSE(cursor.valid());
  EXPECT_STATUS(kUnavailable, "no", cursor.status());
  counting_.ClearFaults();
  cursor.Seek(keys_[100]);
  ASSERT_OK(cursor.status());
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.key(), keys_[100]);
}

// A system call for each block would take longer than the work it does. If a range of blocks fails,
// blocks are requested one by one.
TEST_P(BlockReadsTest, ManyBlocksArePopulatedAtATime) {
  if (GetParam().in_memory || GetParam().in_parts ||
      GetParam().mode != FileSystem::ReadMode::kMapped) {
    GTEST_SKIP() << "for mapped tables";
  }
  Write(20'000);
  const auto calls_of_a_pass = [&](ReadSettings settings, uint64_t failing_call) {
    Open();
    TouchDictionary();  // and the first and the last block
    if (failing_call > 0) counting_.FailCall(failing_call, absl::UnavailableError("no"));
    SSTableCursor cursor(table_.get(), settings);
    size_t count = 0;
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      EXPECT_EQ(cursor.key(), keys_[count++]);
    }
    EXPECT_OK(cursor.status());
    EXPECT_EQ(count, keys_.size());
    return counting_.calls();
  };
  for (const bool read_ahead : {false, true}) {
    const ReadSettings settings{.read_ahead = read_ahead};
    const uint64_t calls = calls_of_a_pass(settings, 0);
    EXPECT_LE(calls, info_.size / (128 << 10) + 5);
    EXPECT_GT(calls, 0u);
    const uint64_t calls_with_one_error = calls_of_a_pass(settings, 1);
    EXPECT_GT(calls_with_one_error, calls);
    EXPECT_LE(calls_with_one_error, calls + 4);
  }
}

TEST_P(BlockReadsTest, AnInMemoryTableReadsItsFileOnce) {
  if (!GetParam().in_memory) GTEST_SKIP() << "for tables in memory";
  Write();
  Open();
  SSTableCursor cursor(table_.get(), {.verify_checksums = true});
  cursor.Seek(keys_[0]);
  ASSERT_OK(cursor.status());
  counting_.FailCalls({}, absl::UnavailableError("no"));
  ASSERT_OK(files_.RemoveFile(kTablePath));
  size_t count = 0;
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    EXPECT_EQ(cursor.key(), keys_[count++]);
    EXPECT_EQ(cursor.value_owner(), nullptr);
  }
  ASSERT_OK(cursor.status());
  EXPECT_EQ(count, keys_.size());
  EXPECT_EQ(CachedBytes(*budget_), 0u);
}

// The mapping of a file that a test can change after the table was opened.
class ChangeableFile final : public RandomAccessFile {
 public:
  explicit ChangeableFile(std::string* bytes) : bytes_(bytes) {}
  absl::Status Read(uint64_t offset, size_t n, char* buffer) const override {
    bytes_->copy(buffer, n, offset);
    return absl::OkStatus();
  }
  uint64_t size() const override { return bytes_->size(); }
  const char* mapping() const override { return bytes_->data(); }
  absl::Status Populate(uint64_t, size_t) const override { return absl::OkStatus(); }

 private:
  std::string* const bytes_;
};

TEST(BlockReaderTest, VerifiesMappedBlocksOnceOrEachTimeIfRequested) {
  for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
    InMemoryFileSystem files;
    LocalityGroup group;
    group.compression = compression;
    Random random(1);
    Entries entries;
    entries[CellKey("a", "f", "", 1, 1)] = random.Bytes(1000);  // zstd cannot compress it
    ASSERT_OK_AND_ASSIGN(const SSTableInfo info, WriteTable(&files, kTablePath, group, entries));
    std::string bytes = files.Contents(kTablePath);
    auto budget = std::make_shared<MemoryBudget>(64 << 20);

    // The table's blocks, over a mapping of this test.
    ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table,
                         SSTable::Open(&files, std::string(kTablePath), info,
                                       {.read_mode = TestReadMode(), .budget = budget}));
    std::string index_block;
    BlockBuilder builder;
    std::string size;
    AppendVarint64(&size, (table->properties().data_size - kBlockTrailerSize) * 4);
    size_t shared;
    ASSERT_TRUE(builder.Add(info.largest_key, size, &shared));
    builder.FinishTo(&index_block);
    ASSERT_OK_AND_ASSIGN(const BlockIndex index,
                         BlockIndex::Load(index_block, table->properties().data_size));
    BlockSource source;
    source.file = std::make_unique<ChangeableFile>(&bytes);
    source.path = "t";
    source.identity = info.identity;
    source.compressed = compression != Compression::kNone;
    source.largest_block = table->properties().largest_block;
    BlockReader reader(std::move(source), &index, budget.get(), {});

    std::string_view block;
    Ref<Block> owner;
    const ReadSettings each_time{.verify_checksums = true};
    bytes[500] ^= 1;
    EXPECT_STATUS(kDataLoss, "t: the block at offset 0",
                  reader.Read(0, {}, nullptr, &block, &owner));
    EXPECT_STATUS(kDataLoss, "checksum", reader.Read(0, {}, nullptr, &block, &owner))
        << "still not sound";
    bytes[500] ^= 1;
    EXPECT_OK(reader.Read(0, {}, nullptr, &block, &owner));
    EXPECT_EQ(block.data(), bytes.data()) << "in place";
    EXPECT_OK(reader.Read(0, each_time, nullptr, &block, &owner));
    bytes[500] ^= 1;
    EXPECT_OK(reader.Read(0, {}, nullptr, &block, &owner)) << "verified before";
    EXPECT_STATUS(kDataLoss, "checksum", reader.Read(0, each_time, nullptr, &block, &owner));
  }
}

}  // namespace
}  // namespace bigtable
