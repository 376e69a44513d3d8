// Filters: the cells that each of them passes, and the filters that are refused.
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/read_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class FilterTest : public ReadFixture {};

TEST_F(FilterTest, EachFilterPassesItsCells) {
  WritePage();
  const std::string anchors = "anchor:cnnsi.com@9=CNN anchor:my.look.ca@8=CNN.com";
  const std::string pages = "contents:@6=c6 contents:@5=c5 contents:@3=c3";
  const std::string all = anchors + " " + pages + " meta:lang@2=EN";

  for (const char* where : {"memtable", "SSTable"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(Read(Filter()), all);
    EXPECT_EQ(Read(Filter::PassAll()), all);
    EXPECT_EQ(Read(Filter::BlockAll()), "");
    EXPECT_EQ(Read(Filter::Latest(1)), anchors + " contents:@6=c6 meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Latest(2)), anchors + " contents:@6=c6 contents:@5=c5 meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Family("anchor")), anchors);
    EXPECT_EQ(Read(Filter::FamilyRegex("con.*|meta")), pages + " meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::Column("anchor", "cnnsi.com")), "anchor:cnnsi.com@9=CNN");
    EXPECT_EQ(Read(Filter::Column("contents", "")), pages);
    EXPECT_EQ(Read(Filter::ColumnPrefix("anchor", "my.")), "anchor:my.look.ca@8=CNN.com");
    EXPECT_EQ(Read(Filter::ColumnPrefix("anchor", "")), anchors);
    EXPECT_EQ(Read(Filter::ColumnRange("anchor", "a", "my.look.ca")), "anchor:cnnsi.com@9=CNN");
    EXPECT_EQ(Read(Filter::ColumnRange("anchor", "d", "")), "anchor:my.look.ca@8=CNN.com");
    EXPECT_EQ(Read(Filter::ColumnRegex(".*\\.com|lang")), "anchor:cnnsi.com@9=CNN meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::TimestampRange(Timestamp(3), Timestamp(6))),
              "contents:@5=c5 contents:@3=c3");
    EXPECT_EQ(Read(Filter::RowKeysRegex("com\\..*")), all);
    EXPECT_EQ(Read(Filter::RowKeysRegex("com")), "");
    EXPECT_EQ(Read(Filter::ValueRegex("c[36]")), "contents:@6=c6 contents:@3=c3");
    EXPECT_EQ(Read(Filter::CellsRowLimit(2)), anchors);
    EXPECT_EQ(Read(Filter::CellsRowOffset(5)), "meta:lang@2=EN");
    EXPECT_EQ(Read(Filter::CellsRowOffset(6)), "");
    EXPECT_EQ(Read(Filter::StripValueTransformer()),
              "anchor:cnnsi.com@9= anchor:my.look.ca@8= contents:@6= contents:@5= contents:@3= "
              "meta:lang@2=");
    ASSERT_OK(database_->Flush("t"));
  }
}

TEST_F(FilterTest, InAChainEachFilterGetsTheOutputOfTheOneBefore) {
  WritePage();
  const Filter until_six = Filter::TimestampRange(Timestamp(0), Timestamp(6));

  EXPECT_EQ(Read(Filter::Chain(Filter::Family("contents"), until_six, Filter::Latest(1))),
            "contents:@5=c5");
  EXPECT_EQ(Read(Filter::Chain(Filter::Latest(1), until_six)), "meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::Chain(Filter::CellsRowOffset(1), Filter::CellsRowLimit(1))),
            "anchor:my.look.ca@8=CNN.com");
  EXPECT_EQ(Read(Filter::Chain(Filter::StripValueTransformer(), Filter::ValueRegex("EN"))), "");
  EXPECT_EQ(Read(Filter::Chain(Filter::Family("meta"), Filter::Family("anchor"))), "");
}

TEST_F(FilterTest, AnInterleavePassesTheCellsOfEachPart) {
  WritePage();
  const Filter language = Filter::Column("meta", "lang");
  const Filter newest = Filter::Chain(Filter::Family("contents"), Filter::Latest(1));

  EXPECT_EQ(Read(Filter::Interleave(language, newest)), "contents:@6=c6 meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::Interleave(language, Filter::Family("meta"))),
            "meta:lang@2=EN meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::Interleave({})), "");
  EXPECT_EQ(Read(Filter::Chain(Filter::Interleave(language, newest), Filter::CellsRowLimit(1))),
            "contents:@6=c6");
  EXPECT_EQ(Read(Filter::Interleave(newest, Filter::StripValueTransformer())),
            "anchor:cnnsi.com@9= anchor:my.look.ca@8= contents:@6=c6 contents:@6= contents:@5= "
            "contents:@3= meta:lang@2=");
}

TEST_F(FilterTest, InterleavesInAChainMultiplyTheCellsUpToALimit) {
  WritePage();
  const Filter twice = Filter::Interleave(Filter::PassAll(), Filter::PassAll());
  std::vector<Filter> chain(9, twice);
  const auto row =
      table_->ReadRow("com.cnn.www", Filter::Chain(Filter::Family("meta"), Filter::Chain(chain)));
  ASSERT_OK(row.status());
  EXPECT_EQ(row->cells().size(), 512u);

  chain.push_back(twice);
  EXPECT_STATUS(kInvalidArgument, "at most 1000 times", Filter::Chain(chain).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 times",
                Filter::Condition(Filter::Chain(chain), Filter::PassAll()).status());
}

TEST_F(FilterTest, AConditionChoosesByItsPredicate) {
  WritePage();
  const Filter english = Filter::Chain(Filter::Column("meta", "lang"), Filter::ValueRegex("EN"));
  const Filter german = Filter::Chain(Filter::Column("meta", "lang"), Filter::ValueRegex("DE"));
  const Filter newest = Filter::Chain(Filter::Family("contents"), Filter::Latest(1));

  EXPECT_EQ(Read(Filter::Condition(english, newest, Filter::Family("meta"))), "contents:@6=c6");
  EXPECT_EQ(Read(Filter::Condition(german, newest, Filter::Family("meta"))), "meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::Condition(german, newest)), "");
}

TEST_F(FilterTest, LabelsNameThePartThatPassedACell) {
  WritePage();
  const Filter filter =
      Filter::Interleave(Filter::Chain(Filter::Family("meta"), Filter::ApplyLabel("language")),
                         Filter::Chain(Filter::Latest(1), Filter::Family("contents")));
  const auto row = table_->ReadRow("com.cnn.www", filter);
  ASSERT_OK(row.status());
  ASSERT_EQ(row->cells().size(), 2u);
  EXPECT_TRUE(row->cells()[0].labels.empty());
  ASSERT_EQ(row->cells()[1].labels.size(), 1u);
  EXPECT_EQ(*row->cells()[1].labels.begin(), "language");
}

TEST_F(FilterTest, ASinkIsPassedWhateverFollows) {
  WritePage();
  const Filter filter = Filter::Chain(
      Filter::Family("anchor"),
      Filter::Interleave(Filter::PassAll(),
                         Filter::Chain(Filter::StripValueTransformer(), Filter::Sink())),
      Filter::ColumnRegex("my.*"));

  EXPECT_EQ(Read(filter), "anchor:cnnsi.com@9= anchor:my.look.ca@8=CNN.com anchor:my.look.ca@8=");
}

TEST_F(FilterTest, AValueRangeIsOfBytes) {
  WritePage();

  EXPECT_EQ(Read(Filter::ValueRange("CNN.", "EO")), "anchor:my.look.ca@8=CNN.com meta:lang@2=EN");
  EXPECT_EQ(Read(Filter::ValueRange("c5", "")), "contents:@6=c6 contents:@5=c5");
}

TEST_F(FilterTest, ALargerSampleOfRowsHasTheSmallerOne) {
  std::vector<std::string> rows;
  for (int i = 0; i < 400; ++i) rows.push_back(absl::StrCat("row", i));
  WriteRows(rows);
  const auto sample = [&](double probability) {
    std::set<std::string> keys;
    RowReader reader = table_->ReadRows(RowRange::All(), Filter::RowSample(probability));
    while (reader.Next()) keys.insert(std::string(reader.row().key()));
    EXPECT_OK(reader.status());
    return keys;
  };
  const std::set<std::string> tenth = sample(0.1), half = sample(0.5);
  EXPECT_NEAR(static_cast<double>(tenth.size()), 40, 25);
  EXPECT_NEAR(static_cast<double>(half.size()), 200, 50);
  EXPECT_TRUE(std::includes(half.begin(), half.end(), tenth.begin(), tenth.end()));
  EXPECT_EQ(sample(0.5), half);
}

TEST_F(FilterTest, RegularExpressionsMatchAnyByte) {
  Set(table_, "r\n\xff", "meta:\xff\n", 1, "\n\x80");

  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::RowKeysRegex("r.."))),
            "meta:\\xff\\n@1=\\n\\x80");
  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::ColumnRegex(".."))),
            "meta:\\xff\\n@1=\\n\\x80");
  EXPECT_EQ(Show(table_->ReadRow("r\n\xff", Filter::ValueRegex(".."))), "meta:\\xff\\n@1=\\n\\x80");
}

TEST_F(FilterTest, AFilterWithAnUnknownFamilyIsNotFound) {
  const std::vector<std::pair<Filter, std::string>> filters = {
      {Filter::Family("nothing"), "\"nothing\""},
      {Filter::Family("meta:lang"), "\"meta:lang\""},
      {Filter::Column("nothing", "q"), "\"nothing\""},
      {Filter::ColumnPrefix("nothing", "q"), "\"nothing\""},
      {Filter::ColumnRange("nothing", "q", ""), "\"nothing\""},
      {Filter::Chain(Filter::Family("meta"), Filter::Family("nothing")), "\"nothing\""},
  };
  for (const auto& [filter, named] : filters) {
    EXPECT_STATUS(kNotFound, named, table_->ReadRow("r", filter));
    EXPECT_STATUS(kNotFound, "anchor", table_->ReadRow("r", filter));  // an existing family
    RowReader reader = table_->ReadRows(RowRange::All(), filter);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kNotFound, named, reader.status());
    RowReader none = table_->ReadRows(RowSet(), filter);
    EXPECT_STATUS(kNotFound, named, none.status());
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("meta");
    stream->SetFilter(filter);
    EXPECT_TRUE(stream->Done());
    EXPECT_STATUS(kNotFound, named, scanner.status());
  }
  EXPECT_EQ(Read(Filter::FamilyRegex("nothing")), "");  // an expression names no family
}

TEST_F(FilterTest, AnInvalidFilterIsInvalidArgument) {
  const std::vector<std::pair<Filter, std::string>> filters = {
      {Filter::ValueRegex("(oops"), "(oops"},
      {Filter::FamilyRegex("*"), "*"},
      {Filter::ColumnRegex("[z-a]"), "[z-a]"},
      {Filter::RowKeysRegex("\\"), ""},
      {Filter::Latest(0), "0"},
      {Filter::CellsRowLimit(0), "0"},
      {Filter::CellsRowOffset(-1), "-1"},
      {Filter::TimestampRange(Timestamp(5), Timestamp(5)), "5"},
      {Filter::ColumnRange("anchor", "b", "a"), "\"b\""},
      {Filter::Chain(Filter::Latest(1), Filter::ValueRegex("(oops")), "(oops"},
  };
  for (const auto& [filter, named] : filters) {
    SCOPED_TRACE(named);
    EXPECT_STATUS(kInvalidArgument, named, filter.status());
    EXPECT_STATUS(kInvalidArgument, named, table_->ReadRow("r", filter));
    RowReader reader = table_->ReadRows(RowRange::All(), filter);
    EXPECT_FALSE(reader.Next());
    EXPECT_STATUS(kInvalidArgument, named, reader.status());
  }
  EXPECT_OK(Filter().status());
}

}  // namespace
}  // namespace bigtable
