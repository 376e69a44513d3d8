#include "sstable/row_index.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

using Answer = RowIndex::Answer;

struct Row {
  uint64_t hash;
  uint64_t block;
};

RowIndex Build(const std::vector<Row>& rows, size_t blocks) {
  RowIndexBuilder builder;
  for (const Row& row : rows) builder.Add(row.hash, row.block);
  EXPECT_TRUE(builder.CanBuild());
  std::string lines;
  builder.AppendTo(&lines);
  EXPECT_EQ(lines.size(), builder.size());
  EXPECT_TRUE(RowIndex::IsWellFormed(static_cast<uint64_t>(builder.block_bits())));
  return RowIndex(HashedLines(lines), RowIndex::Shape(builder.block_bits(), blocks));
}

// How many of `probes` other rows are reported as present, in a file with `n` rows.
int FalseAnswers(size_t n, size_t rows_per_block, int probes) {
  Random random(n);
  std::vector<Row> rows;
  for (size_t i = 0; i < n; ++i) rows.push_back({random.Next(), i / rows_per_block});
  const RowIndex index = Build(rows, rows.back().block + 1);
  int unknown = 0;
  for (const Row& row : rows) {
    RowIndex::Location location;
    const Answer answer = index.Find(row.hash, &location);
    EXPECT_NE(answer, Answer::kAbsent);
    if (answer == Answer::kFound) {
      EXPECT_EQ(location.block, row.block);
    } else {
      ++unknown;
    }
  }
  EXPECT_LE(unknown, static_cast<int>(n / 50) + 1);
  int false_answers = 0;
  for (int i = 0; i < probes; ++i) {
    RowIndex::Location location;
    false_answers += index.Find(random.Next(), &location) == Answer::kAbsent ? 0 : 1;
  }
  return false_answers;
}

TEST(RowIndexTest, FindsEveryRowAndFewOthers) {
  EXPECT_EQ(FalseAnswers(1, 1, 10000), 0);
  EXPECT_EQ(FalseAnswers(17, 4, 10000), 0);
  // The block has 14 bits, so the tag has 16: eleven rows a line, and one false match in 65,536.
  EXPECT_LE(FalseAnswers(65536, 4, 100000), 40);
  // 17 and 13.
  EXPECT_LE(FalseAnswers(100000, 1, 100000), 200);
}

TEST(RowIndexTest, TakesSixBytesARow) {
  RowIndexBuilder builder;
  for (uint64_t i = 0; i < 10000; ++i) builder.Add(i << 32, i);
  EXPECT_LT(builder.size(), 65000u);
}

TEST(RowIndexTest, AFullLineContinuesInTheNextAndTheLastInTheFirst) {
  // All rows hash to the last of two lines.
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 20; ++i) rows.push_back({uint64_t{0xffffffff} << 32 | i, i});
  const RowIndex index = Build(rows, rows.size());
  for (const Row& row : rows) {
    RowIndex::Location location{99};
    ASSERT_EQ(index.Find(row.hash, &location), Answer::kFound);
    EXPECT_EQ(location.block, row.block);
  }
  RowIndex::Location location;
  EXPECT_EQ(index.Find(uint64_t{0xffffffff} << 32 | 20, &location), Answer::kAbsent);
}

TEST(RowIndexTest, DoesNotChooseBetweenRowsWithTheSameTag) {
  const RowIndex index = Build({{7, 0}, {7, 1}, {8, 2}}, 3);
  RowIndex::Location location;
  EXPECT_EQ(index.Find(7, &location), Answer::kUnknown);
  EXPECT_EQ(index.Find(8, &location), Answer::kFound);
}

TEST(RowIndexTest, DoesNotChooseBetweenLinesWithTheSameTag) {
  // Two rows with the same tag: the first fills its line's last slot, and the second spills over.
  std::vector<Row> rows;
  for (uint64_t i = 0; i < 15; ++i) rows.push_back({i, i});
  rows.push_back({99, 15});
  rows.push_back({99, 16});
  const RowIndex index = Build(rows, rows.size());
  RowIndex::Location location;
  EXPECT_EQ(index.Find(99, &location), Answer::kUnknown);
  EXPECT_EQ(index.Find(3, &location), Answer::kFound);
}

TEST(RowIndexTest, ABlockThatDoesNotExistIsUnknown) {
  const RowIndex index = Build({{7, 5}}, 5);
  RowIndex::Location location;
  EXPECT_EQ(index.Find(7, &location), Answer::kUnknown);
}

TEST(RowIndexTest, WithoutLinesEveryRowIsUnknown) {
  RowIndex::Location location;
  EXPECT_EQ(RowIndex().Find(1, &location), Answer::kUnknown);
}

TEST(RowIndexTest, IsNotBuiltForNoRowsOrTooManyBlocks) {
  RowIndexBuilder builder;
  EXPECT_FALSE(builder.CanBuild());
  builder.Add(1, (uint64_t{1} << RowIndex::kMostBlockBits) - 1);
  EXPECT_TRUE(builder.CanBuild());
  builder.Add(2, uint64_t{1} << RowIndex::kMostBlockBits);
  EXPECT_FALSE(builder.CanBuild());
}

TEST(RowIndexTest, HasTheLayoutOfItsWorkedExample) {
  RowIndexBuilder builder;
  builder.Add(5, 3);
  std::string lines;
  builder.AppendTo(&lines);
  ASSERT_EQ(builder.block_bits(), 2);
  std::string expected(64, '\0');
  expected.replace(0, 4, std::string("\x17\x00\x00\x80", 4));
  EXPECT_EQ(lines, expected);
}

TEST(RowIndexTest, RefusesImpossibleNumbersOfBits) {
  EXPECT_FALSE(RowIndex::IsWellFormed(29));
  EXPECT_TRUE(RowIndex::IsWellFormed(28));
}

}  // namespace
}  // namespace bigtable
