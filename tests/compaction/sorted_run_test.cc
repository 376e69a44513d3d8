// The file of a run to which a key belongs, compared to a linear search; rows in several files.
#include "compaction/sorted_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "base/strings.h"
#include "memtable/memtable_cursor.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

// The first and the last cell of a file, as ROW or ROW:QUALIFIER, escaped.
using Bounds = std::pair<std::string, std::string>;

std::string KeyOf(const std::string& cell) {
  const size_t colon = cell.find(':');
  const std::string qualifier = colon == cell.npos ? "q" : cell.substr(colon + 1);
  return ParseEntry(absl::StrCat(cell.substr(0, colon), "/f:", qualifier, "@1#1 cell v"))->key;
}

class SortedRunTest : public testing::Test {
 protected:
  Ref<SSTable> FileOf(const Bounds& bounds) {
    const Ref<Memtable> memtable = NewTestMemtable();
    for (const std::string& key : std::set{KeyOf(bounds.first), KeyOf(bounds.second)}) {
      memtable->Add(key, "v");
    }
    MemtableCursor cursor(memtable.get());
    return tables_.Open(tables_.Write(&cursor, ++last_number_));
  }
  SortedRun RunOf(const std::vector<Bounds>& bounds) {
    SortedRun run;
    for (const Bounds& b : bounds) run.files.push_back(FileOf(b));
    return run;
  }
  bool SplitsRows(const std::vector<Bounds>& bounds) {
    SortedRun run = RunOf(bounds);
    run.FindSplitRows();
    return run.SplitsRows();
  }

  TestSSTables tables_;
  uint64_t last_number_ = 0;
};

size_t FindByLooking(const SortedRun& run, std::string_view key) {
  size_t i = 0;
  while (i < run.files.size() && run.files[i]->info().largest_key < key) ++i;
  return i;
}

// All prefixes of the files' first and last keys, and keys right before and after them.
std::set<std::string> KeysAround(const SortedRun& run) {
  std::set<std::string> keys;
  for (const Ref<SSTable>& file : run.files) {
    for (const std::string& bound : {file->info().smallest_key, file->info().largest_key}) {
      for (size_t size = 0; size <= bound.size(); ++size) {
        const std::string key = bound.substr(0, size);
        keys.insert(key);
        keys.insert(key + '\0');
        keys.insert(key + '\xff');
        keys.insert(key + std::string(9, '\0'));
        keys.insert(key + std::string(9, '\xff'));
        if (size == 0) continue;
        std::string neighbour = key;
        ++neighbour.back();
        keys.insert(neighbour);
        neighbour.back() = static_cast<char>(key.back() - 1);
        keys.insert(neighbour);
      }
    }
  }
  return keys;
}

void CheckFinds(const SortedRun& run) {
  for (const std::string& key : KeysAround(run)) {
    ASSERT_EQ(run.FindFile(key), FindByLooking(run, key)) << Quoted(key);
  }
}

TEST_F(SortedRunTest, FindsTheFirstFileThatEndsAtOrAfterTheKey) {
  const SortedRun run = RunOf({{"b", "d"}, {"f", "f"}, {"h", "k"}});
  const auto find = [&](const std::string& row) { return run.FindFile(KeyOf(row)); };
  EXPECT_EQ(find("a"), 0u);
  EXPECT_EQ(find("b"), 0u);
  EXPECT_EQ(find("c"), 0u);
  EXPECT_EQ(find("d"), 0u);
  EXPECT_EQ(find("e"), 1u);
  EXPECT_EQ(find("f"), 1u);
  EXPECT_EQ(find("g"), 2u);
  EXPECT_EQ(find("k"), 2u);
  EXPECT_EQ(find("l"), 3u);
  EXPECT_EQ(run.FindFile(""), 0u);
}

TEST_F(SortedRunTest, FindsInOneFile) {
  CheckFinds(RunOf({{"b", "d"}}));
  CheckFinds(RunOf({{"b", "b"}}));  // all of it is the prefix
}

TEST_F(SortedRunTest, FindsInFewFilesAndInMany) {
  for (const int files : {2, 3, 15, 16, 17, 18, 40}) {
    std::vector<Bounds> bounds;
    for (int i = 0; i < files; ++i) {
      bounds.emplace_back(absl::StrCat("row", 100 + i, "b"), absl::StrCat("row", 100 + i, "m"));
    }
    ASSERT_NO_FATAL_FAILURE(CheckFinds(RunOf(bounds))) << files;
  }
}

TEST_F(SortedRunTest, FindsAmongFilesThatDifferLate) {
  for (const int equal : {1, 2, 10, 30}) {
    std::vector<Bounds> bounds = {{"aa", "ab"}};
    for (int i = 0; i < equal; ++i) {
      bounds.emplace_back(absl::StrCat("long-common-part", 100 + i, "b"),
                          absl::StrCat("long-common-part", 100 + i, "m"));
    }
    bounds.emplace_back("x", "z");
    ASSERT_NO_FATAL_FAILURE(CheckFinds(RunOf(bounds))) << equal;
  }
}

// Files of few rows, some of which begin others, and some of them cut within a row: a run is joined
// exactly if it shares no row with those before.
TEST_F(SortedRunTest, RunsAreJoinedIfTheyShareNoRowRandom) {
  const std::vector<std::string> rows = {"a", "aa", R"(a\000)", "ab", "b", "ba", "c", "ca", "d"};
  const auto row_of = [](const std::string& cell) { return cell.substr(0, cell.find(':')); };
  int joined_runs = 0, refused = 0;
  ForEachSeed(300, [&](uint64_t seed) {
    Random random(seed);
    JoinedRuns joined;
    std::vector<Bounds> there;
    for (int i = 0; i < 6; ++i) {
      // Two files at most, which may share a row.
      std::set<std::string> cells;
      const size_t count = 2 * random.Between(1, 2);
      while (cells.size() < count) {
        cells.insert(Cat(random.Pick(rows), ":", random.Between(1, 2)));
      }
      std::vector<std::string> sorted(cells.begin(), cells.end());
      std::sort(sorted.begin(), sorted.end(),
                [](const std::string& a, const std::string& b) { return KeyOf(a) < KeyOf(b); });
      std::vector<Bounds> run;
      for (size_t k = 0; k < count; k += 2) run.emplace_back(sorted[k], sorted[k + 1]);
      const auto rows_before = [&](const Bounds& a, const Bounds& b) {
        return KeyOf(row_of(a.second)) < KeyOf(row_of(b.first));
      };
      bool is_disjoint = true;
      for (const Bounds& a : run) {
        for (const Bounds& b : there) is_disjoint &= rows_before(a, b) || rows_before(b, a);
      }
      ASSERT_EQ(joined.Add(RunOf(run)), is_disjoint);
      if (is_disjoint) there.insert(there.end(), run.begin(), run.end());
      ++(is_disjoint ? joined_runs : refused);
    }
    const SortedRun all = joined.Take();
    ASSERT_EQ(all.files.size(), there.size());
    for (size_t i = 0; i + 1 < all.files.size(); ++i) {
      ASSERT_LT(all.files[i]->info().largest_key, all.files[i + 1]->info().smallest_key);
    }
    ASSERT_TRUE(joined.empty());
  });
  EXPECT_GT(joined_runs, 150);
  EXPECT_GT(refused, 100);
}

TEST_F(SortedRunTest, FindsInsideOneRow) {
  std::vector<Bounds> bounds;
  for (int i = 0; i < 20; ++i) {
    bounds.emplace_back(absl::StrCat("row:", 100 + i, "b"), absl::StrCat("row:", 100 + i, "m"));
  }
  CheckFinds(RunOf(bounds));
}

TEST_F(SortedRunTest, FindsAmongKeysOfZerosAndOfLargeBytes) {
  CheckFinds(RunOf({{R"(\000)", R"(\000\000)"},
                    {R"(\000\000\000)", R"(\000\001)"},
                    {"a", R"(a\000)"},
                    {R"(\177)", R"(\177\377)"},
                    {R"(\200)", R"(\200\000)"},
                    {R"(\377)", R"(\377\377\377\377\377\377\377\377\377)"}}));
}

TEST_F(SortedRunTest, FindsInRandomRuns) {
  ForEachSeed(50, [&](uint64_t seed) {
    Random random(seed);
    // Keys of few letters, so that long prefixes are equal; sorted as keys.
    std::set<std::pair<std::string, std::string>> cells;
    for (uint64_t i = random.Between(2, 60); i > 0; --i) {
      std::string row;
      for (uint64_t n = random.Between(1, 14); n > 0; --n) row += random.OneIn(3) ? 'b' : 'a';
      cells.emplace(KeyOf(row), row);
    }
    std::vector<Bounds> bounds;
    for (auto cell = cells.begin(); cell != cells.end(); ++cell) {
      const std::string first = cell->second;
      if (random.OneIn(2) && std::next(cell) != cells.end()) ++cell;
      bounds.emplace_back(first, cell->second);
    }
    ASSERT_NO_FATAL_FAILURE(CheckFinds(RunOf(bounds)));
    Tally("cases");
  });
}

TEST_F(SortedRunTest, FindsFilesThatAreAddedLater) {
  SortedRun run = RunOf({{"b", "d"}, {"f", "h"}});
  run.FindSplitRows();
  run.files.push_back(FileOf({"k", "m"}));
  EXPECT_EQ(run.FindFile(KeyOf("g")), 1u);
  EXPECT_EQ(run.FindFile(KeyOf("l")), 2u);
  EXPECT_EQ(run.FindFile(KeyOf("n")), 3u);
  CheckFinds(run);
}

TEST_F(SortedRunTest, SplitsARowThatOneFileEndsWithAndTheNextBeginsWith) {
  EXPECT_TRUE(SplitsRows({{"a", "b:1"}, {"b:2", "c"}}));
  EXPECT_TRUE(SplitsRows({{"a", "b"}, {"c", "d:1"}, {"d:2", "e"}, {"f", "g"}}));
  EXPECT_TRUE(SplitsRows({{"a", "b"}, {"c", "d:1"}, {"d:2", "d:3"}}));
  EXPECT_TRUE(SplitsRows({{"a:1", "a:2"}, {"a:3", "a:4"}}));
  EXPECT_TRUE(SplitsRows({{R"(a\000)", R"(a\000:1)"}, {R"(a\000:2)", "b"}}));
}

TEST_F(SortedRunTest, SplitsNoRowWhereEachFileBeginsWithAnother) {
  EXPECT_FALSE(SplitsRows({{"a:1", "a:9"}}));
  EXPECT_FALSE(SplitsRows({{"a", "b:1"}, {"c:2", "c:3"}, {"d", "e"}}));
  // A row that begins like the row before is a different row.
  EXPECT_FALSE(SplitsRows({{"a", "b"}, {"bb", "c"}}));
  EXPECT_FALSE(SplitsRows({{"a", "b"}, {R"(b\000)", "c"}}));
  EXPECT_FALSE(SplitsRows({{"a", R"(b\000)"}, {R"(b\000\000)", "c"}}));
}

TEST_F(SortedRunTest, MaySplitRowsUntilTheyAreLookedFor) {
  SortedRun run = RunOf({{"a", "b"}, {"c", "d"}});
  EXPECT_TRUE(run.SplitsRows());
  run.FindSplitRows();
  EXPECT_FALSE(run.SplitsRows());
  run.files.push_back(FileOf({"d:x", "e"}));
  run.FindSplitRows();
  EXPECT_TRUE(run.SplitsRows());
  run.files.erase(run.files.begin() + 1);
  run.FindSplitRows();
  EXPECT_FALSE(run.SplitsRows());
}

// The next seek may go to the end, or to a file that can be read.
TEST_F(SortedRunTest, ASeekClearsTheErrorOfACursor) {
  SortedRun run = RunOf({{"a", "b"}, {"c", "d"}});
  const std::string path = TestSSTables::PathOf(last_number_);
  std::string bytes = tables_.file_system()->Contents(path);
  bytes[0] ^= 1;
  tables_.file_system()->SetContents(path, bytes);
  run.files[1] = tables_.Open(run.files[1]->info());
  RunCursor cursor(&run, {});
  const auto fail = [&] {
    cursor.Seek(KeyOf("b"));
    ASSERT_TRUE(cursor.valid());
    cursor.Next();
    EXPECT_STATUS(kDataLoss, path, cursor.status());
    EXPECT_TRUE(cursor.FailedBehind(KeyOf("b")));
  };
  fail();
  cursor.SeekBefore(KeyOf("a"));
  EXPECT_FALSE(cursor.valid());
  EXPECT_OK(cursor.status());
  fail();
  cursor.Seek(KeyOf("e"));
  EXPECT_FALSE(cursor.valid());
  EXPECT_OK(cursor.status());
  fail();
  cursor.SeekToFirst();
  EXPECT_TRUE(cursor.valid());
  EXPECT_OK(cursor.status());
}

}  // namespace
}  // namespace bigtable
