// A filter passes the same cells whatever they come from, and keeps within the limits and the
// memory of its read in each: a merged row, a cached row, and the collected row.
#include "read/filter_evaluator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/memory_budget.h"

#include "base/entry_key.h"
#include "cache/budget_access.h"
#include "cache/read_memory.h"
#include "read/cached_row.h"
#include "read/cell_cursor.h"
#include "support/copied_row.h"
#include "support/entry_text.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

// How a call can be over.
enum class Ended { kNot, kCancelled, kLate };

class FilterEvaluatorTest : public testing::Test {
 protected:
  void SetUp() override {
    layout_.groups.push_back({layout_.next_group_id++, "default", {}});
    layout_.families.push_back({"f", 0, {}});
    memtable_ = NewTestMemtable();
    version_ = std::make_unique<TabletVersion>(std::make_shared<const TableLayout>(layout_),
                                               std::vector<GroupVersion>{{memtable_, {}, {}}},
                                               MakeRef<ReadLimit>());
    spec_.limits = {.deadline = Deadline::In(absl::Hours(1)), .cancellation = &cancellation_};
  }
  void Write(std::string_view row, std::string_view qualifier, int64_t timestamp,
             std::string_view value) {
    std::string key;
    AppendRowPrefix(&key, row);
    AppendColumn(&key, "f", qualifier);
    AppendTrailer(&key, timestamp, {++sequence_, 0}, EntryKind::kCell);
    memtable_->Add(key, value);
  }
  void SetFilter(const Filter& filter) {
    ASSERT_OK(filter.status());
    filter_ = filter;
    spec_.filter = FilterNode::Of(filter_);
  }
  void End(Ended how, Cancellation* cancellation) {
    if (how == Ended::kCancelled) cancellation->Cancel();
    if (how == Ended::kLate) spec_.limits.deadline = Deadline::In(-absl::Seconds(1));
  }
  static absl::StatusCode CodeOf(Ended how) {
    return how == Ended::kNot         ? absl::StatusCode::kOk
           : how == Ended::kCancelled ? absl::StatusCode::kCancelled
                                      : absl::StatusCode::kDeadlineExceeded;
  }
  // The row "row" with these cells of the family, as the scan cache would have it.
  Ref<Block> Cached(const std::vector<Cell>& cells) {
    Ref<Block> block = MakeCachedRow(&BudgetAccess::Memory(budget_), layout_, 9, "row", cells);
    EXPECT_TRUE(block);
    return block;
  }
  absl::Status ReadCached(const Ref<Block>& block, FilterEvaluator* evaluator, CopiedRow* row,
                          size_t most = SIZE_MAX) {
    CachedRow source(block.get(), &layout_);
    return evaluator->ReadRow(&source, most, row);
  }
  // The same of a row that nothing but the call's end can fail.
  absl::StatusCode CodeOfCached(const Ref<Block>& block) {
    FilterEvaluator evaluator(spec_);
    EXPECT_OK(evaluator.Begin(nullptr));
    CopiedRow row("row");
    return ReadCached(block, &evaluator, &row).code();
  }
  static std::string Show(const CopiedRow& row) {
    std::string text;
    for (const Cell& cell : row.cells()) {
      absl::StrAppend(&text, text.empty() ? "" : " ", std::string(cell.qualifier), "@",
                      cell.timestamp.micros(), "=", std::string(cell.value));
      for (const std::string_view label : cell.labels)
        absl::StrAppend(&text, "/", std::string(label));
    }
    return text;
  }

  MemoryBudget budget_{8 << 20};
  TableLayout layout_;
  Ref<Memtable> memtable_;
  std::unique_ptr<TabletVersion> version_;
  SequenceNumber sequence_ = 0;
  Cancellation cancellation_;
  ReadSpec spec_;
  Filter filter_;
};

TEST_F(FilterEvaluatorTest, PassesTheSameCellsOfACachedRow) {
  std::vector<Cell> cells;
  for (const std::string_view qualifier : {"a", "b", "c"}) {
    for (int64_t timestamp = 3; timestamp > 0; --timestamp) {
      const std::string_view value = timestamp % 2 == 0 ? "even" : "odd";
      Write("row", qualifier, timestamp, value);
      cells.push_back({"f", qualifier, Timestamp(timestamp), value});
    }
  }
  const Ref<Block> block = Cached(cells);
  const Filter even = Filter::ValueRegex("even");
  for (const auto& [filter, most, expected] : std::vector<std::tuple<Filter, size_t, std::string>>{
           {Filter(), 2, "a@3=odd a@2=even"},
           {Filter::Latest(1), SIZE_MAX, "a@3=odd b@3=odd c@3=odd"},
           {Filter::Latest(1), 2, "a@3=odd b@3=odd"},
           {Filter::ColumnRegex("b"), SIZE_MAX, "b@3=odd b@2=even b@1=odd"},
           {Filter::CellsRowLimit(4), SIZE_MAX, "a@3=odd a@2=even a@1=odd b@3=odd"},
           {Filter::RowKeysRegex("other"), SIZE_MAX, ""},
           {even, SIZE_MAX, "a@2=even b@2=even c@2=even"},
           {Filter::Chain(even, Filter::StripValueTransformer()), 2, "a@2= b@2="},
           {Filter::Chain(even, Filter::ApplyLabel("l")), 2, "a@2=even/l b@2=even/l"},
           {Filter::Interleave(even, Filter::Latest(1)), 3, "a@3=odd a@2=even b@3=odd"},
           {Filter::Condition(even, Filter::Column("f", "c")), 1, "c@3=odd"},
       }) {
    SCOPED_TRACE(expected);
    SetFilter(filter);
    FilterEvaluator evaluator(spec_);
    ASSERT_OK(evaluator.Begin(nullptr));
    CellCursor cursor(version_.get(), spec_);
    cursor.ReadRange(RowRange::All());
    MergedRow merged(&cursor);
    CopiedRow of_merged("row"), of_cached("row");
    EXPECT_OK(evaluator.ReadRow(&merged, most, &of_merged));
    EXPECT_EQ(Show(of_merged), expected);
    EXPECT_OK(ReadCached(block, &evaluator, &of_cached, most));
    EXPECT_EQ(Show(of_cached), expected);
  }
}

// --- Limits ---

// The bytes of a cell are too few for a look at the limits, and so are those that one of the two
// expressions looks at.
constexpr size_t kUnseen = 60 << 10;
Filter TwoExpressions() {
  return Filter::Chain(Filter::ValueRegex("v*"), Filter::ValueRegex("v+|w"));
}

TEST_F(FilterEvaluatorTest, AMergedRowEndsWithTheCallWhileItsFilterIsEvaluated) {
  Write("row", "a", 1, "v");
  Write("row", "b", 1, std::string(kUnseen, 'v'));
  for (const Filter& filter :
       {TwoExpressions(), Filter::Chain(TwoExpressions(), Filter::ApplyLabel("l"))}) {
    SetFilter(filter);
    for (const Ended how : {Ended::kNot, Ended::kCancelled, Ended::kLate}) {
      Cancellation cancellation;
      spec_.limits = {.deadline = Deadline::In(absl::Hours(1)), .cancellation = &cancellation};
      FilterEvaluator evaluator(spec_);
      ASSERT_OK(evaluator.Begin(nullptr));
      CellCursor cursor(version_.get(), spec_);
      cursor.ReadRange(RowRange::All());
      ASSERT_TRUE(cursor.Next());  // a row looks at the limits when it begins
      End(how, &cancellation);
      MergedRow source(&cursor, MergedRow::From::kThisCell);
      CopiedRow row("row");
      const absl::Status status = evaluator.ReadRow(&source, SIZE_MAX, &row);
      EXPECT_EQ(status.code(), CodeOf(how)) << status;
      EXPECT_EQ(row.cells().size(), how == Ended::kNot ? 2u : 1u);
    }
  }
}

TEST_F(FilterEvaluatorTest, ACachedRowEndsWithTheCall) {
  const std::string few(kUnseen, 'v'), many(100'000, 'v');
  const Ref<Block> small = Cached({{"f", "a", Timestamp(1), few}});
  const Ref<Block> large = Cached({{"f", "a", Timestamp(1), many}});
  EXPECT_EQ(CodeOfCached(large), absl::StatusCode::kOk);
  SetFilter(TwoExpressions());
  EXPECT_EQ(CodeOfCached(small), absl::StatusCode::kOk);
  for (const Ended how : {Ended::kLate, Ended::kCancelled}) {
    End(how, &cancellation_);
    SetFilter(Filter());
    EXPECT_EQ(CodeOfCached(small), absl::StatusCode::kOk) << "there is no look at the limits";
    EXPECT_EQ(CodeOfCached(large), CodeOf(how));
    SetFilter(Filter::ValueRange("w", ""));  // its cell does not pass
    EXPECT_EQ(CodeOfCached(large), CodeOf(how));
    SetFilter(TwoExpressions());
    EXPECT_EQ(CodeOfCached(small), CodeOf(how));
  }
}

TEST_F(FilterEvaluatorTest, ACollectedRowEndsWithTheCall) {
  const std::string value(kUnseen / 2, 'v');
  const Ref<Block> block = Cached({{"f", "a", Timestamp(1), value}});
  const std::vector<Filter> filters = {
      Filter::Interleave({TwoExpressions(), TwoExpressions()}),
      Filter::Interleave(std::vector<Filter>(900)),
      Filter::Condition(Filter::Interleave({TwoExpressions(), TwoExpressions()}), Filter()),
  };
  for (const Filter& filter : filters) {
    SetFilter(filter);
    EXPECT_EQ(CodeOfCached(block), absl::StatusCode::kOk);
  }
  for (const Ended how : {Ended::kLate, Ended::kCancelled}) {
    End(how, &cancellation_);
    for (const Filter& filter : filters) {
      SetFilter(filter);
      EXPECT_EQ(CodeOfCached(block), CodeOf(how));
    }
    SetFilter(Filter::ApplyLabel("l"));
    EXPECT_EQ(CodeOfCached(block), absl::StatusCode::kOk) << "there is no look at the limits";
  }
}

// --- Memory ---

class FilterEvaluatorMemoryTest : public FilterEvaluatorTest {
 protected:
  uint64_t Used() const { return budget_->used(MemoryBudget::Use::kReads); }

  // All reads together may have 32 MiB, and one alone 4 MiB whatever the others have.
  const std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(64 * kMegabyte);
};

TEST_F(FilterEvaluatorMemoryTest, AMergedRowIsCollectedWithinTheBudget) {
  for (const std::string_view row : {"large", "row1", "row2"}) {
    for (int i = 0; i < (row == "large" ? 6 : 3); ++i) {
      Write(row, absl::StrCat(i, std::string(kMegabyte, 'q')), 1, "v");
    }
  }
  SetFilter(Filter::ApplyLabel("l"));
  CellCursor cursor(version_.get(), spec_);
  const auto read = [&](FilterEvaluator* evaluator) {
    EXPECT_TRUE(cursor.Next());
    MergedRow source(&cursor, MergedRow::From::kThisCell);
    CopiedRow row{std::string(cursor.row())};
    return evaluator->ReadRow(&source, SIZE_MAX, &row);
  };
  {
    ReadMemory others(budget_);
    ASSERT_OK(others.Take(31 * kMegabyte));
    FilterEvaluator evaluator(spec_);
    ASSERT_OK(evaluator.Begin(budget_));
    cursor.ReadRange(RowRange::All());
    const absl::Status refused = read(&evaluator);
    EXPECT_STATUS(kResourceExhausted, "row \"large\"", refused);
    EXPECT_STATUS(kResourceExhausted, "it can be tried again", refused);
    EXPECT_EQ(Used(), 31 * kMegabyte) << "the memory of the row is returned";
    cursor.SkipRow();
    // Each alone is small enough.
    EXPECT_OK(read(&evaluator));
    EXPECT_OK(read(&evaluator));
    EXPECT_EQ(Used(), 31 * kMegabyte) << "what is left of the row is less than a step";
  }
  FilterEvaluator evaluator(spec_);
  ASSERT_OK(evaluator.Begin(budget_));
  cursor.ReadRange(RowRange::All());
  EXPECT_OK(read(&evaluator));
}

// A cached row is small. But the expressions of its filter may have what a read always may.
TEST_F(FilterEvaluatorMemoryTest, ACachedRowIsCollectedWithinTheBudget) {
  std::vector<Filter> expressions(900, Filter::ValueRegex(".*v"));
  SetFilter(Filter::Interleave(expressions));
  const uint64_t of_expressions = spec_.filter->expression_bytes;
  ASSERT_GT(of_expressions, ReadMemory::kAlways);
  const std::string value(200'000, 'w');
  const Ref<Block> block = Cached({{"f", "a", Timestamp(1), value}, {"f", "b", Timestamp(1), "w"}});
  const auto read = [&] {
    FilterEvaluator evaluator(spec_);
    absl::Status status = evaluator.Begin(budget_);
    CopiedRow row("row");
    return status.ok() ? ReadCached(block, &evaluator, &row) : status;
  };
  {
    ReadMemory others(budget_);
    ASSERT_OK(others.Take(32 * kMegabyte - of_expressions));
    const uint64_t before = Used();
    EXPECT_STATUS(kResourceExhausted, "row \"row\"", read());
    EXPECT_EQ(Used(), before);
    ASSERT_OK(others.Take(kMegabyte));
    const absl::Status status = read();
    EXPECT_STATUS(kResourceExhausted, "it can be tried again", status);
    EXPECT_EQ(status.ToString().find("row \"row\""), std::string::npos)
        << "refused before the row: " << status;
  }
  EXPECT_OK(read());
  EXPECT_EQ(Used(), 0u);
}

TEST_F(FilterEvaluatorMemoryTest, CopiesOfACollectedRowKeepWithinTheBudget) {
  std::vector<std::string> qualifiers;
  for (int i = 0; i < 2'000; ++i) qualifiers.push_back(absl::StrCat(10'000 + i));
  std::vector<Cell> cells;
  for (const std::string& qualifier : qualifiers) {
    cells.push_back({"f", qualifier, Timestamp(1), "v"});
  }
  const Ref<Block> block = Cached(cells);
  const auto read = [&](size_t most) {
    FilterEvaluator evaluator(spec_);
    EXPECT_OK(evaluator.Begin(budget_));
    CopiedRow row("row");
    const absl::Status status = ReadCached(block, &evaluator, &row, most);
    EXPECT_TRUE(!status.ok() || row.cells().size() == most);
    return status;
  };
  SetFilter(Filter::Interleave(std::vector<Filter>(900)));
  EXPECT_STATUS(kResourceExhausted, "row \"row\"", read(SIZE_MAX));
  EXPECT_STATUS(kResourceExhausted, "33554432", read(SIZE_MAX));
  EXPECT_EQ(Used(), 0u);
  EXPECT_OK(read(1'000));
}

}  // namespace
}  // namespace bigtable
