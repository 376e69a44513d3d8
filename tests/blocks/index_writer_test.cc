// What separates blocks in the index of a file.
#include "blocks/index_writer.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "blocks/block_index.h"
#include "blocks/stored_block.h"
#include "support/expect_status.h"
#include "support/scoped_index_sizes.h"

namespace bigtable {
namespace {

constexpr uint64_t kStored = 100;

std::string KeyOf(std::string_view row, std::string_view qualifier) {
  std::string key = RowPrefix(row);
  AppendColumn(&key, "f", qualifier);
  AppendTrailer(&key, 1, {7, 0}, EntryKind::kCell);
  return key;
}

// The index of what was added, whose blocks have kStored bytes each.
absl::StatusOr<BlockIndex> Finished(IndexWriter* writer, uint64_t blocks) {
  std::string index;
  const absl::Status status = writer->Finish(
      [](std::string_view) -> absl::StatusOr<BlockHandle> {
        return absl::InternalError("it is of one part");
      },
      [&](std::string_view root, bool) {
        index = root;
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return BlockIndex::Load(index, blocks * (kStored + kBlockTrailerSize));
}

TEST(IndexWriterTest, ARowThatEndsIsAllThatIsKept) {
  IndexWriter writer;
  ASSERT_OK(writer.Add(KeyOf("a", "x"), kStored, {}, false));
  ASSERT_OK(writer.Add(KeyOf("b", "x"), kStored, {}, true));
  ASSERT_OK(writer.Add(KeyOf("b", "y"), kStored, {}, false));
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, Finished(&writer, 3));
  EXPECT_EQ(index.KeyOf(0), RowPrefix("a") + "\xff");
  EXPECT_EQ(index.KeyOf(1), KeyOf("b", "x")) << "its row continues";
  EXPECT_EQ(index.KeyOf(2), RowPrefix("b") + "\xff");
  EXPECT_TRUE(index.IsShortened(0));
  EXPECT_FALSE(index.IsShortened(1));
  EXPECT_TRUE(index.KeyBeginsWith(0, RowPrefix("a")));

  EXPECT_EQ(index.Find(RowPrefix("a")), 0u);
  EXPECT_EQ(index.Find(KeyOf("a", "x")), 0u);
  EXPECT_EQ(index.Find(KeyOf("a", "z")), 0u) << "that the block ends before it is found there";
  EXPECT_EQ(index.Find(KeyOf("aa", "x")), 1u);
  EXPECT_EQ(index.Find(RowPrefix("b")), 1u);
  EXPECT_EQ(index.Find(KeyOf("b", "xx")), 2u);
  EXPECT_EQ(index.Find(KeyOf("c", "x")), 3u);
}

TEST(IndexWriterTest, ALongKeyIsShortenedByTheNext) {
  const std::string last = KeyOf(std::string(kWholeKey, 'a'), "x");
  IndexWriter writer;
  ASSERT_TRUE(writer.IsShortened(last.size()));
  ASSERT_OK(writer.Add(last, kStored, KeyOf("ab", "x"), false));
  ASSERT_OK(writer.Add(KeyOf("ab", "x"), kStored, {}, false));
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, Finished(&writer, 2));
  EXPECT_EQ(index.KeyOf(0), "ab");
  EXPECT_EQ(index.KeyOf(1), RowPrefix("ab") + "\xff");
}

TEST(IndexWriterTest, EarlierVersionsHadLastKeys) {
  const ScopedIndexSizes sizes(kWholeKey, kIndexPartSize, /*has_last_keys=*/true);
  IndexWriter writer;
  ASSERT_OK(writer.Add(KeyOf("a", "x"), kStored, {}, false));
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, Finished(&writer, 1));
  EXPECT_EQ(index.KeyOf(0), KeyOf("a", "x"));
  EXPECT_EQ(index.Find(KeyOf("a", "z")), 1u);
}

// What is behind the row of a family that no schema has, since it begins with FF, is not behind it.
TEST(IndexWriterTest, AKeyThatIsBehindItsRowStaysWhole) {
  std::string last = RowPrefix("a");
  AppendColumn(&last, "\xff\xff", "q");
  AppendTrailer(&last, 1, {7, 0}, EntryKind::kCell);
  IndexWriter writer;
  ASSERT_OK(writer.Add(last, kStored, {}, false));
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, Finished(&writer, 1));
  EXPECT_EQ(index.KeyOf(0), last);
}

// A file of another program, whose keys are no keys of entries, is not written by this; but a test
// of blocks may have such keys.
TEST(IndexWriterTest, AKeyWithoutARowStaysWhole) {
  IndexWriter writer;
  ASSERT_OK(writer.Add("no row ends here", kStored, {}, false));
  ASSERT_OK_AND_ASSIGN(const BlockIndex index, Finished(&writer, 1));
  EXPECT_EQ(index.KeyOf(0), "no row ends here");
  EXPECT_FALSE(index.IsShortened(0));
}

}  // namespace
}  // namespace bigtable
