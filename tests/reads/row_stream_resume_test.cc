// Streams of rows that are limited by cells, and streams that are resumed from a token.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "rows/resume_token.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

// With the parameter, tablets are read by messages.
class RowStreamResumeTest : public DatabaseFixture, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    DatabaseOptions options = Options();
    options.tablet_servers = 2;
    OpenHere(options);
  }
  void OpenHere(const DatabaseOptions& options) {
    Open(options);
    peer_.emplace(database_.get());
    if (!GetParam()) return;
    network_ = std::make_unique<FaultyNetwork>(1, FaultyNetwork::Faults{});
    peer_->UseServices([this](ServerHost* host) { return network_->To(host); });
  }
  void TearDown() override { database_.reset(); }

  // Rows "a" to "f" with cells in f:q at 3, 2, 1, in two tablets.
  Table* NewTable() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    EXPECT_OK(database_->CreateTable("t", schema, {.split_rows = {"d"}}));
    Table* const table = OpenTable("t");
    for (const std::string_view row : {"a", "b", "c", "d", "e", "f"}) {
      for (int time = 1; time <= 3; ++time) Set(table, row, "f:q", time, "v");
    }
    return table;
  }
  // "a3 b1": the number of cells in each row, and the error if there is one.
  static std::string Counts(RowReader reader) {
    std::string text;
    for (const Row& row : reader) {
      absl::StrAppend(&text, text.empty() ? "" : " ", Cat(row.key(), row.cells().size()));
    }
    if (!reader.status().ok()) absl::StrAppend(&text, " ", reader.status().ToString());
    return text;
  }

  std::unique_ptr<FaultyNetwork> network_;
  std::optional<DatabasePeer> peer_;
};

TEST_P(RowStreamResumeTest, TheLimitOfCellsCountsOverRowsAndTablets) {
  Table* const table = NewTable();
  const auto counts = [&](ReadOptions options, const Filter& filter = {}) {
    return Counts(table->ReadRows(RowRange::All(), filter, options));
  };
  EXPECT_EQ(counts({.cell_limit = 1}), "a1");
  EXPECT_EQ(counts({.cell_limit = 3}), "a3");
  EXPECT_EQ(counts({.cell_limit = 4}), "a3 b1");
  EXPECT_EQ(counts({.cell_limit = 11}), "a3 b3 c3 d2");
  EXPECT_EQ(counts({.cell_limit = 18}), "a3 b3 c3 d3 e3 f3");
  EXPECT_EQ(counts({.cell_limit = 1000}), "a3 b3 c3 d3 e3 f3");
  EXPECT_EQ(counts({.reverse = true, .cell_limit = 5}), "f3 e2");
  EXPECT_EQ(counts({.row_limit = 1, .cell_limit = 5}), "a3");
  EXPECT_EQ(counts({.row_limit = 2, .cell_limit = 5}), "a3 b2");
  EXPECT_EQ(counts({.cell_limit = 5}, Filter::Latest(1)), "a1 b1 c1 d1 e1");
  // A filter of whole rows.
  EXPECT_EQ(counts({.cell_limit = 8}, Filter::Interleave({Filter::PassAll(), Filter::Latest(1)})),
            "a4 b4");
  EXPECT_EQ(counts({.cell_limit = 6}, Filter::Interleave({Filter::PassAll(), Filter::Latest(1)})),
            "a4 b2");
  // The newest cells come first in a row.
  RowReader last = table->ReadRows(RowRange::All(), {.reverse = true, .cell_limit = 1});
  ASSERT_TRUE(last.Next());
  EXPECT_EQ(last.row().cells().front().timestamp.micros(), 3);
  EXPECT_FALSE(last.Next());
  EXPECT_OK(last.status());

  RowReader negative = table->ReadRows(RowRange::All(), {.cell_limit = -1});
  EXPECT_FALSE(negative.Next());
  EXPECT_STATUS(kInvalidArgument, "cell_limit must not be negative, and is -1", negative.status());
}

TEST_P(RowStreamResumeTest, TheLimitOfCellsCountsEachStreamOfAScannerByItself) {
  Table* const table = NewTable();
  Scanner scanner(table, {.cell_limit = 4});
  ScanStream* const all = scanner.FetchColumnFamily("f");
  all->SetReturnAllVersions();
  ScanStream* const newest = scanner.FetchColumnFamily("f");
  EXPECT_EQ(ShowStream(all), "a/f:q@3=v a/f:q@2=v a/f:q@1=v b/f:q@3=v");
  EXPECT_EQ(ShowStream(newest), "a/f:q@3=v b/f:q@3=v c/f:q@3=v d/f:q@3=v");
  scanner.SetRange(RowRange::StartingAt("e"));
  EXPECT_EQ(ShowStream(all), "e/f:q@3=v e/f:q@2=v e/f:q@1=v f/f:q@3=v");
  EXPECT_OK(scanner.status());
}

TEST_P(RowStreamResumeTest, ATokenContinuesBehindTheLastRow) {
  Table* const table = NewTable();
  RowSet rows;
  rows.Append(RowRange::Closed("a", "b"));
  rows.Append("d");
  rows.Append(RowRange::StartingAt("e"));
  for (const bool takes : {false, true}) {
    RowReader reader = table->ReadRows(rows);
    std::vector<std::string> left = {ShowKeys(table->ResumeRows(reader.ResumeToken()))};
    while (reader.Next()) {
      if (takes) (void)reader.TakeRow();
      left.push_back(ShowKeys(table->ResumeRows(reader.ResumeToken())));
    }
    left.push_back(ShowKeys(table->ResumeRows(reader.ResumeToken())));
    EXPECT_EQ(left, (std::vector<std::string>{"a b d e f", "b d e f", "d e f", "e f", "f", "", ""}))
        << takes;
  }
  RowReader reversed = table->ReadRows(rows, {.reverse = true, .row_limit = 2});
  while (reversed.Next()) continue;
  const std::string token = reversed.ResumeToken();
  EXPECT_EQ(ShowKeys(table->ResumeRows(token, {}, {.reverse = true, .row_limit = 2})), "d b");
  // What is written meanwhile is seen, unless a snapshot is read.
  Set(table, "aa", "f:q", 1, "v");
  EXPECT_EQ(ShowKeys(table->ResumeRows(token, {}, {.reverse = true})), "d b aa a");
}

TEST_P(RowStreamResumeTest, ALimitOfCellsEndsWithARowThatCountsAsRead) {
  Table* const table = NewTable();
  RowReader reader = table->ReadRows(RowRange::All(), {.cell_limit = 4});
  while (reader.Next()) continue;
  EXPECT_EQ(Counts(table->ResumeRows(reader.ResumeToken(), {}, {.cell_limit = 4})), "c3 d1");
}

TEST_P(RowStreamResumeTest, ATokenIsValidInALaterOpening) {
  std::string token;
  {
    RowReader reader = NewTable()->ReadRows(RowRange::All());
    ASSERT_TRUE(reader.Next());
    token = reader.ResumeToken();
  }
  ASSERT_OK(database_->Close());
  OpenHere(Options());
  EXPECT_EQ(ShowKeys(OpenTable("t")->ResumeRows(token)), "b c d e f");
}

TEST_P(RowStreamResumeTest, WrongTokensAreRefused) {
  Table* const table = NewTable();
  RowReader reader = table->ReadRows(RowRange::All());
  const std::string token = reader.ResumeToken();
  const auto expect = [&](std::string_view part, Table* of, std::string_view bytes,
                          const ReadOptions& options = {}) {
    RowReader resumed = of->ResumeRows(bytes, {}, options);
    EXPECT_FALSE(resumed.Next());
    EXPECT_STATUS(kInvalidArgument, part, resumed.status());
    EXPECT_EQ(ShowKeys(of->ResumeRows(resumed.ResumeToken(), {}, options)), "");
  };
  for (size_t i = 0; i < token.size(); ++i) {
    expect("not a token", table, std::string_view(token).substr(0, i));
    std::string flipped = token;
    flipped[i] ^= 1;
    expect("not a token", table, flipped);
  }
  expect("not a token", table, token + "x");
  expect("ReadOptions::reverse must be false", table, token, {.reverse = true});
  expect("not of table u, but of another one", CreateTable("u", {"f"}), token);
  ASSERT_OK(database_->DeleteTable("t"));
  expect("not of table t", CreateTable("t", {"f"}), token);
}

TEST_P(RowStreamResumeTest, AStreamThatCouldNotBeginKeepsItsRows) {
  Table* const table = NewTable();
  Cancellation cancelled;
  cancelled.Cancel();
  RowReader reader = table->ReadRows(RowRange::Closed("b", "c"), {.cancellation = &cancelled});
  EXPECT_FALSE(reader.Next());
  EXPECT_STATUS(kCancelled, "", reader.status());
  EXPECT_EQ(ShowKeys(table->ResumeRows(reader.ResumeToken())), "b c");
}

using RandomRowStreamResumeTest = RowStreamResumeTest;

// Streams that are cancelled at any row: pieces of one stream give what the whole gives.
TEST_P(RandomRowStreamResumeTest, PiecesAreTheWhole) {
  Table* const table = NewTable();
  ForEachSeed(300, [&](uint64_t seed) {
    Random random(seed);
    RowSet rows;
    for (int n = random.Between(1, 4); n > 0; --n) {
      const std::string a(1, static_cast<char>('a' + random.Between(0, 6)));
      const std::string b(1, static_cast<char>('a' + random.Between(0, 6)));
      rows.Append(random.OneIn(2) ? RowRange::Closed(a, b) : RowRange::Open(a, b));
    }
    const Filter filter = random.OneIn(3) ? Filter::RowKeysRegex("[b-e]")
                          : random.OneIn(3)
                              ? Filter::Condition(Filter::RowKeysRegex("[ace]"), Filter::PassAll(),
                                                  Filter::BlockAll())
                              : Filter::Latest(random.Between(1, 3));
    ReadOptions options{.reverse = random.OneIn(2)};
    const std::string whole = ShowKeys(table->ReadRows(rows, filter, options));
    std::string pieces;
    std::string token = table->ReadRows(rows, filter, options).ResumeToken();
    for (int tries = 0; tries < 20; ++tries) {
      Cancellation cancellation;
      options.cancellation = &cancellation;
      options.row_limit = random.OneIn(3) ? random.Between(1, 3) : 0;
      RowReader reader = table->ResumeRows(token, filter, options);
      for (int left = random.Between(0, 3); reader.Next();) {
        absl::StrAppend(&pieces, pieces.empty() ? "" : " ", std::string(reader.row().key()));
        if (random.OneIn(3)) (void)reader.TakeRow();
        if (left-- == 0) cancellation.Cancel();
      }
      (void)reader.status();
      token = reader.ResumeToken();
    }
    EXPECT_EQ(pieces, whole);
  });
}

INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, RowStreamResumeTest, testing::Bool());
INSTANTIATE_TEST_SUITE_P(InPlaceAndByMessages, RandomRowStreamResumeTest, testing::Bool());

TEST(ResumeTokenTest, RangesLeft) {
  const std::vector<RowRange> ranges = {RowRange::RightOpen("b", "d"), RowRange::Single("f"),
                                        RowRange::StartingAt("h")};
  using Ranges = std::vector<RowRange>;
  const std::string b0("b\0", 2), h0("h\0", 2);
  EXPECT_EQ(RangesLeft(ranges, "b", true, false),
            (Ranges{RowRange::RightOpen(b0, "d"), ranges[1], ranges[2]}));
  EXPECT_EQ(RangesLeft(ranges, "b", false, false), ranges);
  EXPECT_EQ(RangesLeft(ranges, "f", true, false), (Ranges{ranges[2]}));
  EXPECT_EQ(RangesLeft(ranges, "f", false, false), (Ranges{ranges[1], ranges[2]}));
  EXPECT_EQ(RangesLeft(ranges, "h", true, false), (Ranges{RowRange::StartingAt(h0)}));
  EXPECT_EQ(RangesLeft(ranges, "h", true, true), (Ranges{ranges[0], ranges[1]}));
  EXPECT_EQ(RangesLeft(ranges, "h", false, true),
            (Ranges{ranges[0], ranges[1], RowRange::Single("h")}));
  EXPECT_EQ(RangesLeft(ranges, "c", true, true), (Ranges{RowRange::RightOpen("b", "c")}));
  EXPECT_EQ(RangesLeft(ranges, "b", true, true), Ranges());
  EXPECT_EQ(RangesLeft(ranges, "b", false, true), (Ranges{RowRange::Single("b")}));
}

TEST(ResumeTokenTest, BytesOfAToken) {
  const ResumeToken token{5, true, {RowRange::RightOpen("a", "b"), RowRange::StartingAt("c")}};
  const std::string bytes = token.Encode();
  EXPECT_EQ(bytes.substr(0, bytes.size() - 8), std::string("\x01\x01\x05\x02\x01"
                                                           "a\x01\x01"
                                                           "b\x01"
                                                           "c\x00",
                                                           12));
  const absl::StatusOr<ResumeToken> decoded = ResumeToken::Decode(bytes);
  ASSERT_OK(decoded);
  EXPECT_EQ(decoded->table_id, 5);
  EXPECT_TRUE(decoded->reverse);
  EXPECT_EQ(decoded->ranges, token.ranges);
}

}  // namespace
}  // namespace bigtable
