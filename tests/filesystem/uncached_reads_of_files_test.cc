// Reads of files of the operating system past its memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_file_system.h"
#include "support/random.h"
#include "temporary_directory.h"

namespace bigtable {
namespace {

using ::testing::HasSubstr;
using ReadMode = FileSystem::ReadMode;

class UncachedFilesTest : public ::testing::Test {
 protected:
  // Larger than the buffer of such reads, and no multiple of a sector.
  static constexpr size_t kSize = (300 << 10) + 123;

  void SetUp() override { Put(bytes_); }

  std::string Path() const { return directory_.path() + "/f"; }
  void Put(std::string_view bytes) {
    auto file = fs_.NewWritableFile(Path());
    ASSERT_TRUE(file.ok() && (*file)->Append(bytes).ok() && (*file)->Sync().ok());
  }
  // A file that is mapped, whose descriptor for such reads is open, if this file system has them.
  std::unique_ptr<RandomAccessFile> OpenMapped() {
    auto file = *fs_.NewRandomAccessFile(Path(), ReadMode::kMapped);
    EXPECT_NE(file->mapping(), nullptr);
    (void)file->ReadsUncached();
    return file;
  }
  void ExpectRead(const RandomAccessFile& file, uint64_t offset, size_t n) const {
    std::string buffer(n + 2, '#');
    ASSERT_TRUE(file.ReadUncached(offset, n, buffer.data() + 1).ok()) << n << " at " << offset;
    ASSERT_EQ(buffer.front(), '#');
    ASSERT_EQ(buffer.back(), '#');
    ASSERT_TRUE(std::string_view(buffer).substr(1, n) == std::string_view(bytes_).substr(offset, n))
        << n << " at " << offset;
  }
  void ExpectReads(const RandomAccessFile& file, uint64_t seed) const {
    constexpr size_t kSizes[] = {0,    1,    511,   512,   513,   4095,
                                 4096, 4097, 65535, 65536, 65537, 200'000};
    constexpr size_t kOffsets[] = {0,    1,    511,  512,         513,       4095,
                                   4096, 4097, 8192, kSize - 513, kSize - 1, kSize};
    for (const size_t n : kSizes) {
      for (const size_t offset : kOffsets) {
        if (offset + n <= kSize) ExpectRead(file, offset, n);
        if (n <= kSize) ExpectRead(file, kSize - n, n);
      }
    }
    ExpectRead(file, 0, kSize);
    Random random(seed);
    for (int k = 0; k < 300; ++k) {
      const size_t offset = random.Below(kSize + 1);
      const size_t most = random.OneIn(10) ? kSize : 10'000;
      ExpectRead(file, offset, random.Below(std::min(kSize - offset, most) + 1));
    }
  }
  static void ExpectTooShort(const RandomAccessFile& file) {
    std::string buffer(10'000, '#');
    for (const uint64_t offset : {uint64_t{kSize - 9}, uint64_t{kSize}, uint64_t{kSize + 5000},
                                  uint64_t{1} << 40, UINT64_MAX - 3, UINT64_MAX}) {
      for (const size_t n : {10, 5000}) {
        EXPECT_EQ(file.ReadUncached(offset, n, buffer.data()).code(), absl::StatusCode::kDataLoss)
            << n << " at " << offset;
      }
    }
  }

  const std::string bytes_ = Random(1).Bytes(kSize);
  TemporaryDirectory directory_;
  PosixFileSystem fs_;
};

TEST_F(UncachedFilesTest, ReadTheSameBytesAnywhere) {
  const auto mapped = OpenMapped();
  ExpectReads(*mapped, 1);
  ExpectTooShort(*mapped);
}

TEST_F(UncachedFilesTest, WithoutADescriptorTheyAreReadToo) {
  const auto mapped = *fs_.NewRandomAccessFile(Path(), ReadMode::kMapped);
  ExpectReads(*mapped, 2);
  ExpectTooShort(*mapped);
}

TEST_F(UncachedFilesTest, AFileThatIsNotMappedIsReadInItsOnlyWay) {
  const auto file = *fs_.NewRandomAccessFile(Path(), ReadMode::kPositional);
  EXPECT_FALSE(file->ReadsUncached());
  ExpectReads(*file, 3);
  std::string buffer(10, '#');
  EXPECT_EQ(file->ReadUncached(kSize - 9, 10, buffer.data()).code(), absl::StatusCode::kDataLoss);
}

TEST_F(UncachedFilesTest, AFileThatWasRemovedIsReadOn) {
  const auto before = OpenMapped();
  const auto after = *fs_.NewRandomAccessFile(Path(), ReadMode::kMapped);
  const bool can = before->ReadsUncached();
  ASSERT_TRUE(fs_.RemoveFile(Path()).ok());
  EXPECT_EQ(before->ReadsUncached(), can) << "the descriptor still belongs to the file";
  EXPECT_FALSE(after->ReadsUncached());
  ExpectReads(*before, 4);
  ExpectReads(*after, 5);
}

// The file that has its name now has other bytes.
TEST_F(UncachedFilesTest, AnotherFileOfTheNameIsNotRead) {
  const auto file = *fs_.NewRandomAccessFile(Path(), ReadMode::kMapped);
  ASSERT_TRUE(fs_.RenameFile(Path(), Path() + "-old").ok());
  Put(std::string(kSize, 'x'));
  EXPECT_FALSE(file->ReadsUncached());
  ExpectReads(*file, 6);
}

TEST_F(UncachedFilesTest, ATruncatedFileIsAnError) {
  const auto file = OpenMapped();
  ASSERT_EQ(::truncate(Path().c_str(), 10'000), 0);
  ExpectRead(*file, 9000, 1000);
  std::string buffer(2000, '#');
  for (const uint64_t offset : {9000, 9999, 100'000}) {
    const absl::Status status = file->ReadUncached(offset, buffer.size(), buffer.data());
    if (offset < 12'288) continue;  // the page's rest is zero in a mapping
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(Path()));
  }
}

TEST_F(UncachedFilesTest, TheMemoryOfTheSystemIsLeftAlone) {
  const int fd = ::open(Path().c_str(), O_RDONLY);
  ASSERT_EQ(::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
  ::close(fd);
  const auto file = OpenMapped();
  if (!file->ReadsUncached()) GTEST_SKIP() << "this file system cannot do it";
  const auto resident = [&] {
    uint64_t pages = 0;
    for (uint64_t page = 0; page * 4096 < kSize; ++page) {
      pages += file->IsResident(page * 4096, 1) ? 1 : 0;
    }
    return pages;
  };
  if (resident() > 0) GTEST_SKIP() << "this file system keeps everything in memory";
  Random random(7);
  for (int k = 0; k < 100; ++k)
    ExpectRead(*file, random.Below(kSize - 8000), 1 + random.Below(8000));
  EXPECT_EQ(resident(), 0);
}

TEST_F(UncachedFilesTest, ManyThreadsReadOneFile) {
  const auto file = OpenMapped();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { ExpectReads(*file, 10 + t); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace bigtable
