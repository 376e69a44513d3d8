// Files with valid checksums and impossible sizes, as no builder writes them: an error that names
// the file, before memory is allocated for what a size says.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "blocks/block_builder.h"
#include "sstable/footer.h"
#include "sstable/properties.h"
#include "sstable/sstable.h"
#include "sstable/sstable_cursor.h"
#include "sstable_test_util.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 62;

// The parts of a file, to be changed and put together again with valid checksums.
struct Parts {
  std::string data;
  std::string index;
  SSTableProperties properties;
  // Changes the footer last.
  std::function<void(Footer*)> change_footer = [](Footer*) {};
};

class ForgedSizesTest : public testing::Test {
 protected:
  void SetUp() override {
    LocalityGroup group;
    group.compression = Compression::kNone;
    group.filter = FilterKind::kNone;
    const Entries entries = {{CellKey("row", "f", "q", 5, 1), std::string(100, 'v')}};
    ASSERT_OK(WriteTable(&files_, kTablePath, group, entries));
    const std::string bytes = files_.Contents(kTablePath);
    ASSERT_OK_AND_ASSIGN(
        const Footer footer,
        Footer::Decode(std::string_view(bytes).substr(bytes.size() - Footer::kSize), kTablePath,
                       bytes.size()));
    identity_ = footer.identity;
    ASSERT_OK_AND_ASSIGN(parts_.properties, SSTableProperties::Decode(bytes.substr(
                                                footer.properties.offset, footer.properties.size)));
    parts_.data = bytes.substr(0, parts_.properties.data_size);
    parts_.index = bytes.substr(footer.index.offset, footer.index.size);
  }

  // An index of one block of `size` bytes.
  std::string IndexOfBlock(uint64_t size) const {
    BlockBuilder index;
    std::string value;
    AppendVarint64(&value, size * 4);
    size_t shared;
    EXPECT_TRUE(index.Add(parts_.properties.info.largest_key, value, &shared));
    std::string bytes;
    index.FinishTo(&bytes);
    return bytes;
  }

  BlockHandle Append(std::string* file, std::string_view section,
                     BlockEncoding encoding = BlockEncoding::kRaw) const {
    const BlockHandle handle{file->size(), section.size()};
    file->append(section);
    AppendBlockTrailer(file, handle.offset, encoding, identity_, handle.offset);
    return handle;
  }

  std::string Joined(const Parts& parts) const {
    std::string file = parts.data;
    Footer footer;
    footer.identity = identity_;
    footer.index = Append(&file, parts.index, index_encoding_);
    std::string properties;
    parts.properties.EncodeTo(&properties);
    footer.properties = Append(&file, properties);
    parts.change_footer(&footer);
    footer.EncodeTo(&file);
    return file;
  }

  // Writes the parts and reads all entries.
  absl::Status ReadAll(FileSystem::ReadMode mode = FileSystem::ReadMode::kPositional,
                       bool in_memory = false) {
    files_.SetContents(kTablePath, Joined(parts_));
    const auto budget = std::make_shared<MemoryBudget>(64 << 20);
    BT_ASSIGN_OR_RETURN(
        const Ref<SSTable> table,
        SSTable::OpenUnknown(&files_, std::string(kTablePath),
                             {.read_mode = mode, .budget = budget, .in_memory = in_memory}));
    SSTableCursor cursor(table.get());
    for (cursor.SeekToFirst(); cursor.valid();) cursor.Next();
    return cursor.status();
  }

  InMemoryFileSystem files_;
  uint64_t identity_ = 0;
  Parts parts_;
  BlockEncoding index_encoding_ = BlockEncoding::kRaw;
};

// A zstd frame that states `size` and is cut off after it.
std::string FrameStating(uint64_t size) {
  std::string frame("\x28\xb5\x2f\xfd\xe0", 5);
  AppendFixed64(&frame, size);
  return frame + std::string(20, '\0');
}

TEST_F(ForgedSizesTest, PartsThatArePutTogetherAgainAreReadable) { EXPECT_OK(ReadAll()); }

TEST_F(ForgedSizesTest, ASectionBeyondTheFileIsRefused) {
  for (BlockHandle Footer::*const section :
       {&Footer::index, &Footer::filter, &Footer::dictionary, &Footer::properties}) {
    for (const BlockHandle handle :
         {BlockHandle{0, kHuge}, BlockHandle{kHuge, 1}, BlockHandle{UINT64_MAX, 2},
          BlockHandle{8, uint64_t{1} << 40}, BlockHandle{1, UINT64_MAX}}) {
      parts_.change_footer = [&](Footer* footer) { footer->*section = handle; };
      EXPECT_STATUS(kDataLoss, kTablePath, ReadAll());
    }
  }
}

TEST_F(ForgedSizesTest, DataBeyondTheSectionsIsRefused) {
  for (const uint64_t size : {uint64_t{1000}, uint64_t{1} << 40, kHuge}) {
    parts_.properties.data_size = size;
    parts_.index = IndexOfBlock(size - kBlockTrailerSize);
    for (const auto mode : {FileSystem::ReadMode::kPositional, FileSystem::ReadMode::kMapped}) {
      EXPECT_STATUS(kDataLoss, Cat("it states ", size, " bytes of data"), ReadAll(mode));
    }
  }
}

TEST_F(ForgedSizesTest, ABlockThatStatesMoreThanItCanHoldIsRefused) {
  parts_.data.clear();
  Append(&parts_.data, FrameStating(UINT32_MAX), BlockEncoding::kZstd);
  parts_.properties.data_size = parts_.data.size();
  parts_.properties.compression = Compression::kZstd;
  parts_.properties.largest_block = UINT32_MAX;
  parts_.index = IndexOfBlock(parts_.data.size() - kBlockTrailerSize);
  EXPECT_STATUS(kDataLoss, "a decoded size that it cannot have", ReadAll());
  EXPECT_STATUS(kDataLoss, "a decoded size that it cannot have",
                ReadAll(FileSystem::ReadMode::kMapped));
  EXPECT_STATUS(kDataLoss, "a decoded size that it cannot have",
                ReadAll(FileSystem::ReadMode::kPositional, true));
}

TEST_F(ForgedSizesTest, AnIndexThatStatesMoreThanItCanHoldIsRefused) {
  parts_.properties.index_size = UINT32_MAX;
  parts_.index = FrameStating(UINT32_MAX);
  index_encoding_ = BlockEncoding::kZstd;
  EXPECT_STATUS(kDataLoss, "4294967295 bytes of index", ReadAll());
}

TEST_F(ForgedSizesTest, ADictionaryThatStatesMoreThanItCanHoldIsRefused) {
  parts_.properties.dictionary_size = UINT32_MAX;
  EXPECT_STATUS(kDataLoss, "4294967295 bytes of dictionary", ReadAll());
}

TEST_F(ForgedSizesTest, AnotherNumberOfBlocksThanInTheIndexIsRefused) {
  parts_.properties.blocks = 2;
  EXPECT_STATUS(kDataLoss, "it has 1 blocks, and the file 2", ReadAll());
  parts_.properties.blocks = uint64_t{1} << 60;
  EXPECT_STATUS(kDataLoss, Cat("it states ", uint64_t{1} << 60, " blocks"), ReadAll());
}

TEST_F(ForgedSizesTest, AnIndexWithoutBytesIsRefused) {
  parts_.index.clear();
  for (const bool whole : {true, false}) {
    const ScopedShortcuts shortcuts(whole ? 0 : ScopedShortcuts::Bit(Shortcut::kWholeIndex));
    EXPECT_STATUS(kDataLoss, "the index has 0 bytes", ReadAll());
  }
}

// A file of 2^62 bytes and more, of which only the end was written, as in a sparse file.
class SparseFile final : public RandomAccessFile {
 public:
  explicit SparseFile(std::string end) : end_(std::move(end)) {}
  uint64_t size() const override { return kHuge + end_.size(); }
  absl::Status Read(uint64_t offset, size_t n, char* to) const override {
    if (offset < kHuge) return absl::InternalError("nobody has memory for this");
    end_.copy(to, n, offset - kHuge);
    return absl::OkStatus();
  }

 private:
  const std::string end_;
};

// Has that file under every name, and nothing else.
class SparseFiles final : public FileSystem {
 public:
  explicit SparseFiles(std::string end) : end_(std::move(end)) {}
  absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(std::string_view,
                                                                        ReadMode) override {
    return std::make_unique<SparseFile>(end_);
  }
  absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view) override {
    return Missing();
  }
  absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view, uint64_t) override {
    return Missing();
  }
  absl::StatusOr<std::string> ReadFile(std::string_view) override { return Missing(); }
  absl::StatusOr<uint64_t> FileSize(std::string_view) override { return Missing(); }
  bool FileExists(std::string_view) override { return true; }
  absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view) override {
    return Missing();
  }
  absl::Status CreateDirectory(std::string_view) override { return Missing(); }
  absl::Status RemoveDirectory(std::string_view) override { return Missing(); }
  absl::Status RemoveFile(std::string_view) override { return Missing(); }
  absl::Status RenameFile(std::string_view, std::string_view) override { return Missing(); }
  absl::Status SyncFile(std::string_view) override { return Missing(); }
  absl::Status SyncDirectory(std::string_view) override { return Missing(); }
  absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view, LockMode) override {
    return Missing();
  }

 private:
  static absl::Status Missing() { return absl::UnimplementedError("not in this file system"); }

  const std::string end_;
};

TEST_F(ForgedSizesTest, ASectionForWhichThereIsNoMemoryIsAnError) {
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer ends the program when new finds no memory";
  Footer footer;
  footer.identity = identity_;
  footer.properties = {0, kHuge};
  std::string end(kBlockTrailerSize, '\0');
  footer.EncodeTo(&end);
  SparseFiles files(end);
  const auto table = SSTable::OpenUnknown(&files, std::string(kTablePath),
                                          {.budget = std::make_shared<MemoryBudget>(64 << 20)});
  EXPECT_STATUS(kResourceExhausted, "no memory", table);
  EXPECT_STATUS(kResourceExhausted, kTablePath, table);
}

}  // namespace
}  // namespace bigtable
