// Scanner and its streams.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

class ScannerTest : public DatabaseFixture {
 protected:
  // Three rows; "b" has only contents.
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["anchor"] = {};
    schema.families["contents"] = {.locality_group = "other"};
    table_ = CreateTable("t", schema);
    Set(table_, "a", "anchor:x", 1, "ax1");
    Set(table_, "a", "anchor:x", 2, "ax2");
    Set(table_, "a", "anchor:x", 3, "ax3");
    Set(table_, "a", "anchor:y", 1, "ay1");
    Set(table_, "a", "contents:", 5, "page a");
    Set(table_, "b", "contents:", 6, "page b");
    ASSERT_OK(database_->Flush("t"));
    Set(table_, "c", "anchor:x", 4, "cx4");
    Set(table_, "c", "anchor:xy", 4, "cxy4");
  }

  Table* table_ = nullptr;
};

TEST_F(ScannerTest, AStreamReturnsTheNewestVersionOfEachColumn) {
  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");

  EXPECT_EQ(ShowStream(stream),
            "a/anchor:x@3=ax3 a/anchor:y@1=ay1 c/anchor:x@4=cx4 c/anchor:xy@4=cxy4");
  EXPECT_OK(scanner.status());
}

// Figure 3 of the paper.
TEST_F(ScannerTest, AStreamReturnsAllAnchorsOfARow) {
  Scanner scanner(table_);
  ScanStream* stream;
  stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  scanner.Lookup("a");
  std::string printed;
  for (; !stream->Done(); stream->Next()) {
    absl::StrAppend(&printed, std::string(scanner.RowName()), " ",
                    std::string(stream->ColumnName()), " ", stream->MicroTimestamp(), " ",
                    std::string(stream->Value()), "\n");
  }

  EXPECT_EQ(printed, "a anchor:x 3 ax3\na anchor:x 2 ax2\na anchor:x 1 ax1\na anchor:y 1 ay1\n");
}

TEST_F(ScannerTest, MaxVersionsReturnsTheNewestVersions) {
  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");
  stream->SetMaxVersions(2);
  scanner.Lookup("a");

  EXPECT_EQ(ShowStream(stream), "a/anchor:x@3=ax3 a/anchor:x@2=ax2 a/anchor:y@1=ay1");
}

TEST_F(ScannerTest, EachRestrictionOfColumnsPassesItsColumns) {
  const auto scan = [this](auto configure) {
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("anchor");
    configure(stream);
    return ShowStream(stream);
  };

  EXPECT_EQ(scan([](ScanStream* stream) { stream->SetColumnRegex("x|y"); }),
            "a/anchor:x@3=ax3 a/anchor:y@1=ay1 c/anchor:x@4=cx4");
  EXPECT_EQ(scan([](ScanStream* stream) { stream->SetColumnPrefix("xy"); }), "c/anchor:xy@4=cxy4");
  EXPECT_EQ(scan([](ScanStream* stream) { stream->SetColumnRange("xx", ""); }),
            "a/anchor:y@1=ay1 c/anchor:xy@4=cxy4");
  EXPECT_EQ(scan([](ScanStream* stream) { stream->SetColumnRange("", "xx"); }),
            "a/anchor:x@3=ax3 c/anchor:x@4=cx4");
  EXPECT_EQ(scan([](ScanStream* stream) { stream->SetFilter(Filter::ValueRegex(".*3|c.*")); }),
            "a/anchor:x@3=ax3 c/anchor:x@4=cx4 c/anchor:xy@4=cxy4");
}

TEST_F(ScannerTest, TimestampRangeComesBeforeTheChoiceOfVersions) {
  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");
  stream->SetTimestampRange(Timestamp(1), Timestamp(3));
  scanner.Lookup("a");

  EXPECT_EQ(ShowStream(stream), "a/anchor:x@2=ax2 a/anchor:y@1=ay1");
}

TEST_F(ScannerTest, NextRowSkipsTheRestOfTheRow) {
  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  ASSERT_FALSE(stream->Done());

  stream->NextRow();
  ASSERT_FALSE(stream->Done());
  EXPECT_EQ(stream->RowName(), "c");
  EXPECT_EQ(stream->Qualifier(), "x");
  stream->NextRow();

  EXPECT_TRUE(stream->Done());
}

TEST_F(ScannerTest, StreamsAdvanceSeparatelyAndRowNameIsOfTheLastToAdvance) {
  Scanner scanner(table_);
  EXPECT_EQ(scanner.RowName(), "");
  ScanStream* const anchors = scanner.FetchColumnFamily("anchor");
  ScanStream* const pages = scanner.FetchColumnFamily("contents");

  ASSERT_FALSE(anchors->Done());
  EXPECT_EQ(scanner.RowName(), "a");
  ASSERT_FALSE(pages->Done());
  pages->Next();
  ASSERT_FALSE(pages->Done());
  EXPECT_EQ(scanner.RowName(), "b");
  EXPECT_EQ(anchors->RowName(), "a");
  anchors->Next();
  ASSERT_FALSE(anchors->Done());
  EXPECT_EQ(scanner.RowName(), "a");
  anchors->NextRow();
  ASSERT_FALSE(anchors->Done());
  EXPECT_EQ(scanner.RowName(), "c");
  EXPECT_EQ(pages->RowName(), "b");
  EXPECT_EQ(ShowStream(pages), "b/contents:@6=page b");
  EXPECT_EQ(ShowStream(anchors), "c/anchor:x@4=cx4 c/anchor:xy@4=cxy4");
}

TEST_F(ScannerTest, AFamilyMayBeFetchedTwice) {
  Scanner scanner(table_);
  ScanStream* const newest = scanner.FetchColumnFamily("anchor");
  ScanStream* const all = scanner.FetchColumnFamily("anchor");
  all->SetReturnAllVersions();
  scanner.Lookup("a");

  EXPECT_EQ(ShowStream(newest), "a/anchor:x@3=ax3 a/anchor:y@1=ay1");
  EXPECT_EQ(ShowStream(all), "a/anchor:x@3=ax3 a/anchor:x@2=ax2 a/anchor:x@1=ax1 a/anchor:y@1=ay1");
}

TEST_F(ScannerTest, SettingTheRangeAgainRestartsAllStreams) {
  Scanner scanner(table_);
  ScanStream* const anchors = scanner.FetchColumnFamily("anchor");
  ScanStream* const pages = scanner.FetchColumnFamily("contents");
  scanner.SetRange(RowRange::StartingAt("b"));
  EXPECT_EQ(ShowStream(anchors), "c/anchor:x@4=cx4 c/anchor:xy@4=cxy4");
  EXPECT_EQ(ShowStream(pages), "b/contents:@6=page b");

  scanner.SetRange(RowRange::EndingAt("a"));

  EXPECT_EQ(ShowStream(anchors), "a/anchor:x@3=ax3 a/anchor:y@1=ay1");
  EXPECT_EQ(ShowStream(pages), "a/contents:@5=page a");
}

TEST_F(ScannerTest, AReverseScanGoesFromTheLastRowToTheFirst) {
  Scanner scanner(table_, {.reverse = true});
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");

  EXPECT_EQ(ShowStream(stream),
            "c/anchor:x@4=cx4 c/anchor:xy@4=cxy4 a/anchor:x@3=ax3 a/anchor:y@1=ay1");
}

TEST_F(ScannerTest, AllStreamsSeeTheSnapshotOfTheFirstRead) {
  Scanner scanner(table_);
  ScanStream* const anchors = scanner.FetchColumnFamily("anchor");
  ScanStream* const pages = scanner.FetchColumnFamily("contents");
  Set(table_, "a", "contents:", 7, "before the first look");
  ASSERT_FALSE(anchors->Done());

  Set(table_, "a", "contents:", 8, "after it");
  Set(table_, "d", "anchor:x", 1, "after it");
  ASSERT_OK(table_->Apply(RowMutation("c").DeleteRow()));
  ASSERT_OK(database_->Compact("t"));

  EXPECT_EQ(ShowStream(pages), "a/contents:@7=before the first look b/contents:@6=page b");
  EXPECT_EQ(ShowStream(anchors),
            "a/anchor:x@3=ax3 a/anchor:y@1=ay1 c/anchor:x@4=cx4 c/anchor:xy@4=cxy4");
}

TEST_F(ScannerTest, AScanReadsAtTheGivenSnapshot) {
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());
  ASSERT_OK(table_->Apply(RowMutation("a").DeleteRow()));
  Scanner scanner(table_, {.snapshot = snapshot});
  ScanStream* const stream = scanner.FetchColumnFamily("contents");

  EXPECT_EQ(ShowStream(stream), "a/contents:@5=page a b/contents:@6=page b");
}

TEST_F(ScannerTest, ARowLargerThanTheMemoryBudgetIsScanned) {
  DatabaseOptions options = Options();
  options.memory_budget = MemoryBudget::kMinimum;
  options.memtable_size = 256 << 10;
  Reopen(options);
  table_ = OpenTable("t");
  const std::string value(10'000, 'v');
  for (int i = 0; i < 2000; ++i) {
    Set(table_, "large", absl::StrCat("contents:", 10'000 + i), 1, value);
  }
  Scanner scanner(table_);
  scanner.Lookup("large");
  ScanStream* const stream = scanner.FetchColumnFamily("contents");
  int cells = 0;
  for (; !stream->Done(); stream->Next()) {
    EXPECT_EQ(stream->Qualifier(), absl::StrCat(10'000 + cells));
    EXPECT_EQ(stream->Value().size(), value.size());
    ++cells;
  }

  EXPECT_EQ(cells, 2000);
  EXPECT_OK(scanner.status());
}

// --- Refused arguments ---

TEST_F(ScannerTest, AMissingFamilyIsNotFound) {
  Scanner scanner(table_);
  ScanStream* const stream = scanner.FetchColumnFamily("nothing");

  EXPECT_TRUE(stream->Done());
  EXPECT_TRUE(IsStatus(absl::StatusCode::kNotFound, scanner.status(), "nothing", "anchor"));
}

TEST_F(ScannerTest, InvalidRestrictionsAreInvalidArgument) {
  const auto status = [this](auto configure) {
    Scanner scanner(table_);
    ScanStream* const stream = scanner.FetchColumnFamily("anchor");
    configure(stream);
    EXPECT_TRUE(stream->Done());
    return scanner.status();
  };

  EXPECT_STATUS(kInvalidArgument, "(oops",
                status([](ScanStream* stream) { stream->SetColumnRegex("(oops"); }));
  EXPECT_STATUS(kInvalidArgument, "0",
                status([](ScanStream* stream) { stream->SetMaxVersions(0); }));
  EXPECT_STATUS(kInvalidArgument, "\"b\"",
                status([](ScanStream* stream) { stream->SetColumnRange("b", "a"); }));
  EXPECT_STATUS(kInvalidArgument, "7", status([](ScanStream* stream) {
                  stream->SetTimestampRange(Timestamp(7), Timestamp(7));
                }));
  EXPECT_STATUS(kInvalidArgument, "(oops",
                status([](ScanStream* stream) { stream->SetFilter(Filter::ValueRegex("(oops")); }));
}

TEST_F(ScannerTest, ADeadlineInThePastIsDeadlineExceeded) {
  Scanner scanner(table_, {.deadline = absl::InfinitePast()});

  EXPECT_TRUE(scanner.FetchColumnFamily("anchor")->Done());
  EXPECT_STATUS(kDeadlineExceeded, "", scanner.status());
}

TEST_F(ScannerTest, ACancelledScanEndsSoon) {
  for (int i = 0; i < 1000; ++i) Set(table_, absl::StrCat("row", 1000 + i), "anchor:x", 1, "v");
  Cancellation cancellation;
  Scanner scanner(table_, {.cancellation = &cancellation});
  ScanStream* const stream = scanner.FetchColumnFamily("anchor");
  ASSERT_FALSE(stream->Done());

  cancellation.Cancel();
  int cells = 0;
  for (; !stream->Done(); stream->Next()) ++cells;

  EXPECT_LT(cells, 1000);
  EXPECT_STATUS(kCancelled, "", scanner.status());
}

TEST_F(ScannerTest, AScannerReturnsFailedPreconditionAfterClose) {
  Scanner begun(table_);
  ScanStream* const stream = begun.FetchColumnFamily("anchor");
  ASSERT_FALSE(stream->Done());
  Scanner fresh(table_);
  ScanStream* const not_begun = fresh.FetchColumnFamily("contents");

  ASSERT_OK(database_->Close());
  for (; !stream->Done(); stream->Next()) {
  }
  EXPECT_STATUS(kFailedPrecondition, "close", begun.status());
  EXPECT_TRUE(not_begun->Done());
  EXPECT_STATUS(kFailedPrecondition, "close", fresh.status());

  database_.reset();
  EXPECT_TRUE(stream->Done());
  EXPECT_STATUS(kFailedPrecondition, "close", begun.status());
  begun.Lookup("a");
  EXPECT_TRUE(begun.FetchColumnFamily("anchor")->Done());
  EXPECT_STATUS(kFailedPrecondition, "close", begun.status());
}

}  // namespace
}  // namespace bigtable
