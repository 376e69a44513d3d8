// Damaged, cut, swapped and newer files: an error that names the file, or the right answer.
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "sstable/footer.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_verification.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

// The error of reading everything; OK if everything was right. Wrong results fail the test.
absl::Status ReadAll(FileSystem* files, const SSTableInfo& info, const TableSetup& setup,
                     const Entries& entries) {
  auto table = OpenTable(files, info, setup);
  if (!table.ok()) return table.status();
  for (const auto& [key, value] : entries) {
    const uint64_t row = Checksum(std::string_view(key).substr(0, RowPrefixSize(key)));
    EXPECT_TRUE((*table)->MayContainRow(row));
    EXPECT_TRUE((*table)->MayContainColumn(row, Checksum(ColumnPrefix(key))));
  }
  SSTableCursor cursor(table->get());
  cursor.SeekToFirst();
  for (const auto& [key, value] : entries) {
    if (!cursor.valid()) {
      EXPECT_FALSE(cursor.status().ok()) << "entries are missing, silently";
      return cursor.status();
    }
    EXPECT_EQ(cursor.key(), key);
    EXPECT_EQ(cursor.value(), value);
    cursor.Next();
  }
  EXPECT_FALSE(cursor.valid());
  return cursor.status();
}

class CorruptionTest : public testing::TestWithParam<TableSetup> {
 protected:
  void Write(size_t n) {
    Random random(1);
    for (size_t i = 0; i < n; ++i) {
      const std::string row = Cat("row", 1000 + i);
      entries_[CellKey(row, "f", "q", 5, i + 1)] =
          std::string(30, 'x') + random.Bytes(random.Below(30));
    }
    auto info = WriteTable(&files_, kTablePath, GetParam().group, entries_);
    ASSERT_OK(info);
    info_ = *info;
    bytes_ = files_.Contents(kTablePath);
    ASSERT_OK(ReadAll(&files_, info_, GetParam(), entries_));
  }
  absl::Status ReadChanged(std::string_view bytes) {
    files_.SetContents(kTablePath, bytes);
    return ReadAll(&files_, info_, GetParam(), entries_);
  }

  InMemoryFileSystem files_;
  Entries entries_;
  SSTableInfo info_;
  std::string bytes_;
};

INSTANTIATE_TEST_SUITE_P(All, CorruptionTest, testing::ValuesIn(AllSetups(1024)),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(CorruptionTest, EveryFlippedByteIsDetected) {
  Write(60);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = bytes_;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      absl::Status status = ReadChanged(damaged);
      // Reads do without a page of a filter that they cannot read.
      if (status.ok()) status = VerifySSTable(&files_, std::string(kTablePath), info_);
      EXPECT_STATUS(kDataLoss, kTablePath, status) << "byte " << i << " of " << bytes_.size();
      if (HasFailure()) return;
      if (kSlow) break;
    }
  }
}

TEST_P(CorruptionTest, EveryTruncationIsDetected) {
  Write(20);
  for (size_t n = 0; n < bytes_.size(); ++n) {
    EXPECT_STATUS(kDataLoss, kTablePath, ReadChanged(bytes_.substr(0, n)));
  }
  EXPECT_STATUS(kDataLoss, kTablePath, ReadChanged(bytes_ + "x"));
}

TEST_P(CorruptionTest, AFileThatReplacesAnotherIsDetected) {
  Write(20);
  ASSERT_OK(WriteTable(&files_, "other", GetParam().group, entries_, info_.file_number, 999));
  EXPECT_EQ(files_.Contents("other").size(), bytes_.size());
  EXPECT_STATUS(kDataLoss, "another SSTable", ReadChanged(files_.Contents("other")));
  ASSERT_OK(WriteTable(&files_, "other", GetParam().group, entries_, 8, info_.identity));
  EXPECT_STATUS(kDataLoss, "another SSTable", ReadChanged(files_.Contents("other")));
}

TEST_P(CorruptionTest, ASoundBlockAtTheWrongOffsetIsDetected) {
  // Two blocks of the same size are swapped.
  const std::string value(2000, 'v');
  for (const char* row : {"a", "b"}) entries_[CellKey(row, "f", "", 1, 1)] = value + row;
  TableSetup setup = GetParam();
  setup.group.compression = Compression::kNone;
  ASSERT_OK_AND_ASSIGN(info_, WriteTable(&files_, kTablePath, setup.group, entries_));
  const std::string bytes = files_.Contents(kTablePath);
  ASSERT_OK_AND_ASSIGN(const Ref<SSTable> table, OpenTable(&files_, info_, setup));
  ASSERT_EQ(table->properties().blocks, 2u);
  const size_t half = table->properties().data_size / 2;
  files_.SetContents(kTablePath,
                     bytes.substr(half, half) + bytes.substr(0, half) + bytes.substr(2 * half));
  EXPECT_STATUS(kDataLoss, "offset 0", ReadAll(&files_, info_, setup, entries_));
}

TEST_P(CorruptionTest, ANewerFormatIsRefused) {
  Write(5);
  std::string newer = bytes_;
  char* const footer = newer.data() + newer.size() - Footer::kSize;
  StoreFixed32(footer + 72, Footer::kFormatVersion + 1);
  StoreFixed64(footer + 80, Checksum({footer, 80}));
  const absl::Status status = ReadChanged(newer);
  EXPECT_STATUS(kFailedPrecondition, "version 3", status);
  EXPECT_STATUS(kFailedPrecondition, kTablePath, status);
}

TEST_P(CorruptionTest, AMissingFileIsNotFound) {
  Write(5);
  ASSERT_OK(files_.RemoveFile(kTablePath));
  EXPECT_STATUS(kNotFound, kTablePath, OpenTable(&files_, info_, GetParam()));
}

}  // namespace
}  // namespace bigtable
