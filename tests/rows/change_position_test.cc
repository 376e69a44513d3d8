// Positions of change streams: as bytes, and how they are cut, moved on and put together.
#include "rows/change_position.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/checksum.h"
#include "base/coding.h"
#include "base/strings.h"
#include "support/expect_status.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

using Part = ChangePosition::Part;

ChangePosition Of(std::vector<Part> parts) { return {.table_id = 7, .parts = std::move(parts)}; }

TEST(ChangePositionTest, ComesBack) {
  for (const ChangePosition& position :
       {Of({{RowRange::All(), 0}}), Of({{RowRange::All(), kMaxSequence}}),
        Of({{RowRange::RightOpen("a", "b"), 3}, {RowRange::StartingAt("b"), 9}}),
        Of({{RowRange::RightOpen("a", "b"), 3, 2}, {RowRange::StartingAt("b"), 9, 300}}),
        Of({{RowRange::RightOpen(std::string("\0", 1), "\xff"), 1}})}) {
    const auto again = ChangePosition::Decode(position.Encode());
    ASSERT_OK(again);
    EXPECT_EQ(*again, position);
  }
}

// What programs have kept from before there were garbage collections in streams.
TEST(ChangePositionTest, VersionOneIsReadAndWritten) {
  const std::string earlier("\1\7\0\1\1a\0\x9", 8);
  std::string bytes = earlier;
  AppendFixed64(&bytes, Checksum(earlier));
  const auto position = ChangePosition::Decode(bytes);
  ASSERT_OK(position);
  EXPECT_EQ(*position, Of({{RowRange::StartingAt("a"), 9, 9}}));
  EXPECT_EQ(position->Encode(), bytes);
}

TEST(ChangePositionTest, GarbageCollectionsMoveOnAlone) {
  ChangePosition position =
      Of({{RowRange::RightOpen("a", "b"), 5}, {RowRange::StartingAt("b"), 5, 3}});
  position.AdvanceCollections(RowRange::StartingAt("b"), 4);
  EXPECT_EQ(position, Of({{RowRange::RightOpen("a", "b"), 5}, {RowRange::StartingAt("b"), 5, 4}}));
  position.AdvanceRows(RowRange::All(), 6);
  EXPECT_EQ(position,
            Of({{RowRange::RightOpen("a", "b"), 6, 5}, {RowRange::StartingAt("b"), 6, 4}}));
  EXPECT_EQ(position.CollectionsAfterOf("c"), 4u);
  EXPECT_EQ(position.CollectionsAfterOf("A"), kMaxSequence);
  const auto joined =
      ChangePosition::Joined({position, Of({{RowRange::RightOpen("b", "c"), 7, 2}})});
  ASSERT_OK(joined);
  EXPECT_EQ(*joined, Of({{RowRange::RightOpen("a", "b"), 6, 5},
                         {RowRange::RightOpen("b", "c"), 7, 4},
                         {RowRange::StartingAt("c"), 6, 4}}));
  position.AdvanceTo(8);
  ChangePosition after_all = Of({{RowRange::StartingAt("a"), 8}});
  after_all.families_after = 8;
  EXPECT_EQ(position, after_all);
}

// Bytes with a checksum that fits.
std::string Checked(std::string content) {
  AppendFixed64(&content, Checksum(content));
  return content;
}

TEST(ChangePositionTest, DamagedBytesAreNoPosition) {
  const std::string bytes = Of({{RowRange::RightOpen("a", "bc"), 300}}).Encode();
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_STATUS(kInvalidArgument, "not a position", ChangePosition::Decode(bytes.substr(0, i)));
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      EXPECT_STATUS(kInvalidArgument, "not a position", ChangePosition::Decode(damaged));
    }
  }
  EXPECT_STATUS(kInvalidArgument, "not a position", ChangePosition::Decode(bytes + "x"));
}

TEST(ChangePositionTest, BytesThatNoStreamWouldMakeAreNoPosition) {
  const std::string content = Of({{RowRange::RightOpen("a", "bc"), 300}}).Encode();
  const std::string right = content.substr(0, content.size() - 8);
  ASSERT_OK(ChangePosition::Decode(Checked(right)));
  std::string version = right;
  version[0] = 2;
  for (const std::string& wrong : {
           version, right + "x", right.substr(0, right.size() - 1),
           std::string("\1\7\0", 3),          // no parts
           std::string("\1\7\xff\xff\3", 5),  // more parts than bytes
       }) {
    EXPECT_STATUS(kInvalidArgument, "not a position", ChangePosition::Decode(Checked(wrong)));
  }
  for (const ChangePosition& wrong :
       {Of({}), Of({{RowRange::RightOpen("b", "a"), 1}}),
        Of({{RowRange::StartingAt("b"), 1}, {RowRange::StartingAt("c"), 1}}),
        Of({{RowRange::RightOpen("b", "c"), 1}, {RowRange::RightOpen("a", "b"), 1}}),
        Of({{RowRange::All(), kMaxSequence + 1}}), Of({{RowRange::All(), 1, kMaxSequence + 1}})}) {
    EXPECT_STATUS(kInvalidArgument, "not a position", ChangePosition::Decode(wrong.Encode()));
  }
}

TEST(ChangePositionTest, PositionsOfSeveralTablesAreNotJoined) {
  EXPECT_STATUS(kInvalidArgument, "several tables",
                ChangePosition::Joined({{.table_id = 1, .parts = {{RowRange::All(), 1}}},
                                        {.table_id = 2, .parts = {{RowRange::All(), 1}}}}));
}

// --- A model: the `after` of each row of a small alphabet, kMaxSequence for those in no part ---

const std::vector<std::string>& Rows() {
  static const auto* const rows = new std::vector<std::string>{"", "a", "aa", "b", "c", "cc", "d"};
  return *rows;
}

RowRange RandomRows(Random& random) {
  if (random.OneIn(4)) return RowRange::StartingAt(random.Pick(Rows()));
  return RowRange::RightOpen(random.Pick(Rows()), random.Pick(Rows()));
}

ChangePosition RandomPosition(Random& random) {
  std::vector<std::string> borders = Rows();
  borders.push_back("");
  ChangePosition position{.table_id = 7, .parts = {}};
  for (size_t i = 0; i < Rows().size();) {
    const size_t end = i + 1 + random.Below(3);
    if (!random.OneIn(4)) {
      position.parts.push_back({end < Rows().size() ? RowRange::RightOpen(Rows()[i], Rows()[end])
                                                    : RowRange::StartingAt(Rows()[i]),
                                random.Below(4)});
    }
    i = end;
  }
  return position;
}

std::vector<SequenceNumber> AfterOfRows(const ChangePosition& position) {
  std::vector<SequenceNumber> after;
  for (const std::string& row : Rows()) after.push_back(position.AfterOf(row));
  return after;
}

// In key order, without overlap, and none where one would do.
void ExpectInOrder(const ChangePosition& position) {
  for (size_t i = 0; i < position.parts.size(); ++i) {
    EXPECT_FALSE(position.parts[i].rows.empty());
    if (i == 0) continue;
    const Part& before = position.parts[i - 1];
    ASSERT_TRUE(before.rows.end().has_value());
    EXPECT_LE(*before.rows.end(), position.parts[i].rows.begin());
    EXPECT_FALSE(*before.rows.end() == position.parts[i].rows.begin() &&
                 before.after == position.parts[i].after);
  }
}

TEST(ChangePositionTest, EachRowIsWhereItShouldBe) {
  ForEachSeed(300, [](uint64_t seed) {
    Random random(seed);
    const ChangePosition position = RandomPosition(random);
    std::vector<SequenceNumber> model = AfterOfRows(position);

    const RowRange rows = RandomRows(random);
    const ChangePosition within = position.Within(rows);
    ExpectInOrder(within);
    for (size_t i = 0; i < Rows().size(); ++i) {
      EXPECT_EQ(within.AfterOf(Rows()[i]), rows.Contains(Rows()[i]) ? model[i] : kMaxSequence);
    }

    const SequenceNumber sequence = random.Below(5);
    ChangePosition advanced = position;
    advanced.AdvanceTo(sequence);
    ExpectInOrder(advanced);
    SequenceNumber smallest = kMaxSequence;
    for (size_t i = 0; i < Rows().size(); ++i) {
      const SequenceNumber after =
          model[i] == kMaxSequence ? kMaxSequence : std::max(model[i], sequence);
      EXPECT_EQ(advanced.AfterOf(Rows()[i]), after);
      smallest = std::min(smallest, after);
    }
    EXPECT_EQ(advanced.Smallest(), smallest);

    const std::vector<ChangePosition> several = {position, RandomPosition(random),
                                                 RandomPosition(random)};
    const auto joined = ChangePosition::Joined(several);
    ASSERT_OK(joined);
    ExpectInOrder(*joined);
    for (const std::string& row : Rows()) {
      // The latest that has it.
      SequenceNumber after = 0;
      bool has_row = false;
      for (const ChangePosition& one : several) {
        if (one.AfterOf(row) == kMaxSequence) continue;
        after = std::max(after, one.AfterOf(row));
        has_row = true;
      }
      EXPECT_EQ(joined->AfterOf(row), has_row ? after : kMaxSequence) << Quoted(row);
    }
    if (joined->parts.empty()) return;
    const auto again = ChangePosition::Decode(joined->Encode());
    ASSERT_OK(again);
    EXPECT_EQ(*again, *joined);
  });
}

}  // namespace
}  // namespace bigtable
