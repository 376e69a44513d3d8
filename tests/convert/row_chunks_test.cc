// The chunks of ReadRows responses, read back with the generated classes.
#include "convert/row_chunks.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "gtest/gtest.h"

#include "convert/parse_text.h"
#include "support/database_fixture.h"
#include "support/random.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ReadRowsResponse;
using CellChunk = ReadRowsResponse::CellChunk;

struct ReadCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  std::string value;
  std::vector<std::string> labels;

  friend bool operator==(const ReadCell&, const ReadCell&) = default;
};
struct ReadRow {
  std::string key;
  std::vector<ReadCell> cells;

  friend bool operator==(const ReadRow&, const ReadRow&) = default;
};

// What a client makes of chunks: it refuses everything that the comments of CellChunk do not allow.
class Client {
 public:
  void Receive(const std::string& message) {
    ReadRowsResponse response;
    ASSERT_TRUE(response.ParseFromString(message));
    // No field that the message does not have, and each as the generated classes write it.
    EXPECT_TRUE(response.SerializeAsString() == message);
    for (const CellChunk& chunk : response.chunks()) {
      Receive(chunk);
      if (testing::Test::HasFatalFailure()) return;
    }
  }

  // All rows were committed.
  bool is_between_rows() const { return !in_row_ && !in_cell_; }
  const std::vector<ReadRow>& rows() const { return rows_; }

 private:
  void Receive(const CellChunk& chunk) {
    if (in_cell_) {
      ASSERT_TRUE(chunk.row_key().empty() && !chunk.has_family_name() && !chunk.has_qualifier() &&
                  chunk.timestamp_micros() == 0 && chunk.labels().empty());
    } else {
      BeginCell(chunk);
    }
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_LE(chunk.value().size(), 1 << 20);
    cell_.value += chunk.value();
    if (chunk.value_size() != 0) {
      ASSERT_TRUE(!in_cell_ || size_ == chunk.value_size());
      size_ = chunk.value_size();
      in_cell_ = true;
      ASSERT_LT(cell_.value.size(), static_cast<size_t>(size_));
      ASSERT_FALSE(chunk.commit_row());
      return;
    }
    ASSERT_TRUE(!in_cell_ || cell_.value.size() == static_cast<size_t>(size_));
    in_cell_ = false;
    rows_.back().cells.push_back(cell_);
    in_row_ = !chunk.commit_row();
  }

  void BeginCell(const CellChunk& chunk) {
    // The first chunk of a row has all three; no other one has the key.
    ASSERT_EQ(chunk.row_key().empty(), in_row_);
    if (!in_row_) {
      ASSERT_TRUE(chunk.has_family_name());
      rows_.push_back({.key = chunk.row_key(), .cells = {}});
      in_row_ = true;
    } else {
      // What stays the same is not sent again.
      ASSERT_FALSE(chunk.has_family_name() && chunk.family_name().value() == cell_.family);
      ASSERT_FALSE(chunk.has_qualifier() && !chunk.has_family_name() &&
                   chunk.qualifier().value() == cell_.qualifier);
    }
    if (chunk.has_family_name()) {
      ASSERT_TRUE(chunk.has_qualifier());
      cell_.family = chunk.family_name().value();
    }
    if (chunk.has_qualifier()) cell_.qualifier = chunk.qualifier().value();
    cell_.timestamp = chunk.timestamp_micros();
    cell_.labels.assign(chunk.labels().begin(), chunk.labels().end());
    cell_.value.clear();
  }

  std::vector<ReadRow> rows_;
  bool in_row_ = false;
  bool in_cell_ = false;  // between the chunks of a value
  int64_t size_ = 0;      // of that value
  ReadCell cell_;
};

ReadRow CopyOf(const Row& row) {
  ReadRow copy = {.key = std::string(row.key()), .cells = {}};
  for (const Cell& cell : row.cells()) {
    copy.cells.push_back({.family = std::string(cell.family),
                          .qualifier = std::string(cell.qualifier),
                          .timestamp = cell.timestamp.micros(),
                          .value = std::string(cell.value),
                          .labels = {cell.labels.begin(), cell.labels.end()}});
  }
  return copy;
}

class RowChunksTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    table_ = CreateTable("t", {"a", "b"});
  }

  Table* table_ = nullptr;
};

std::string ShowResponse(const std::string& message) {
  ReadRowsResponse response;
  EXPECT_TRUE(response.ParseFromString(message));
  return ShowMessage(response);
}

TEST_F(RowChunksTest, WhatStaysTheSameIsNotRepeated) {
  Set(table_, "r", "a:p", 2000, "v1");
  Set(table_, "r", "a:p", 1000, "v2");
  Set(table_, "r", "a:q", 1000, "v3");
  Set(table_, "r", "b:q", 1000, "v4");
  RowChunks chunks(1 << 16);
  EXPECT_TRUE(chunks.empty());
  ASSERT_TRUE(chunks.Write(table_->ReadRow("r").value()));
  EXPECT_FALSE(chunks.empty());
  EXPECT_EQ(ShowResponse(chunks.Take()),
            "chunks { row_key: \"r\" family_name { value: \"a\" } qualifier { value: \"p\" } "
            "timestamp_micros: 2000 value: \"v1\" } "
            "chunks { timestamp_micros: 1000 value: \"v2\" } "
            "chunks { qualifier { value: \"q\" } timestamp_micros: 1000 value: \"v3\" } "
            "chunks { family_name { value: \"b\" } qualifier { value: \"q\" } "
            "timestamp_micros: 1000 value: \"v4\" commit_row: true }");
  EXPECT_TRUE(chunks.empty());
}

TEST_F(RowChunksTest, EmptyQualifiersAreThereAndEmptyValuesAreNot) {
  Set(table_, "r", "a:", 0, "");
  Set(table_, "s", "a:", 0, "x");
  RowChunks chunks(1 << 16);
  ASSERT_TRUE(chunks.Write(table_->ReadRow("r").value()));
  ASSERT_TRUE(chunks.Write(table_->ReadRow("s").value()));
  EXPECT_EQ(ShowResponse(chunks.Take()),
            "chunks { row_key: \"r\" family_name { value: \"a\" } qualifier { } commit_row: true } "
            "chunks { row_key: \"s\" family_name { value: \"a\" } qualifier { } value: \"x\" "
            "commit_row: true }");
}

TEST_F(RowChunksTest, LabelsAreInTheFirstChunkOfTheirCell) {
  Set(table_, "r", "a:q", 1000, std::string((1 << 20) + 1, 'v'));
  RowChunks chunks(4 << 20);
  ASSERT_TRUE(chunks.Write(table_->ReadRow("r", Filter::ApplyLabel("found")).value()));
  ReadRowsResponse response;
  ASSERT_TRUE(response.ParseFromString(chunks.Take()));
  ASSERT_EQ(response.chunks_size(), 2);
  EXPECT_EQ(response.chunks(0).value().size(), 1 << 20);
  EXPECT_EQ(response.chunks(1).value(), "v");
  response.mutable_chunks(0)->clear_value();
  EXPECT_EQ(ShowMessage(response),
            "chunks { row_key: \"r\" family_name { value: \"a\" } qualifier { value: \"q\" } "
            "timestamp_micros: 1000 labels: \"found\" value_size: 1048577 } "
            "chunks { value: \"v\" commit_row: true }");
}

TEST_F(RowChunksTest, AValueOfOneMebibyteIsNotSplit) {
  Set(table_, "r", "a:q", 1000, std::string(1 << 20, 'v'));
  RowChunks chunks(4 << 20);
  ASSERT_TRUE(chunks.Write(table_->ReadRow("r").value()));
  ReadRowsResponse response;
  ASSERT_TRUE(response.ParseFromString(chunks.Take()));
  ASSERT_EQ(response.chunks_size(), 1);
  EXPECT_EQ(response.chunks(0).value_size(), 0);
  EXPECT_TRUE(response.chunks(0).commit_row());
}

TEST_F(RowChunksTest, ARowWithoutCellsHasNoChunks) {
  RowChunks chunks(1 << 16);
  ASSERT_TRUE(chunks.Write(table_->ReadRow("missing").value()));
  EXPECT_TRUE(chunks.empty());
}

TEST_F(RowChunksTest, TheLastScannedRowKeyIsBesideTheChunks) {
  Set(table_, "r", "a:q", 1000, "v");
  RowChunks chunks(1 << 16);
  ASSERT_TRUE(chunks.Write(table_->ReadRow("r").value()));
  chunks.WriteLastScannedRowKey("s");
  EXPECT_EQ(ShowResponse(chunks.Take()),
            "chunks { row_key: \"r\" family_name { value: \"a\" } qualifier { value: \"q\" } "
            "timestamp_micros: 1000 value: \"v\" commit_row: true } last_scanned_row_key: \"s\"");
  chunks.WriteLastScannedRowKey("t");
  EXPECT_FALSE(chunks.empty());
  EXPECT_EQ(ShowResponse(chunks.Take()), "last_scanned_row_key: \"t\"");
}

TEST_F(RowChunksTest, AMessageIsFullAtItsSizeAndTheRowGoesOn) {
  for (int i = 0; i < 10; ++i) Set(table_, "r", absl::StrCat("a:", i), 1000, std::string(100, 'v'));
  const Row row = table_->ReadRow("r").value();
  RowChunks chunks(250);
  Client client;
  int messages = 0;
  while (!chunks.Write(row)) {
    EXPECT_GE(chunks.size(), 250);
    EXPECT_LT(chunks.size(), 250 + 130);
    client.Receive(chunks.Take());
    EXPECT_FALSE(client.is_between_rows());
    ++messages;
  }
  client.Receive(chunks.Take());
  EXPECT_EQ(messages, 3);
  EXPECT_TRUE(client.is_between_rows());
  EXPECT_EQ(client.rows(), std::vector<ReadRow>{CopyOf(row)});
}

std::string RandomValue(Random* random) {
  switch (random->Below(20)) {
    case 0:
      return random->Bytes((1 << 20) + random->Below(3) - 1);
    case 1:
      return random->Bytes((2 << 20) + random->Below(3) - 1);
    case 2:
      return random->Bytes(random->Below(3 << 20));
    case 3:
      return "";
    default:
      return random->Bytes(random->Below(random->OneIn(2) ? 4 : 300));
  }
}

void WriteRandomRow(Table* table, std::string_view key, Random* random) {
  RowMutation mutation(key);
  const int cells = 1 + static_cast<int>(random->Below(12));
  for (int i = 0; i < cells; ++i) {
    const std::string column =
        absl::StrCat(random->OneIn(2) ? "a:" : "b:",
                     random->Bytes(random->OneIn(8) ? random->Below(300) : random->Below(2)));
    const int64_t timestamp = random->OneIn(10)
                                  ? static_cast<int64_t>(random->Next() >> (1 + random->Below(60)))
                                  : random->Between(0, 3) * 1000;
    mutation.Set(column, Timestamp(timestamp), RandomValue(random));
  }
  ASSERT_OK(table->Apply(mutation));
}

TEST_F(RowChunksTest, RandomRowsAreReadBackAsTheyWere) {
  Random random(1);
  const std::vector<Filter> filters = {
      Filter(), Filter::Interleave(Filter(), Filter::ApplyLabel("one"), Filter::ApplyLabel("two")),
      Filter::StripValueTransformer()};
  for (int round = 0; round < 15; ++round) {
    SCOPED_TRACE(absl::StrCat("round ", round));
    ASSERT_OK(table_->DropRowRange(RowRange::All()));
    for (int i = 0; i < 8; ++i) {
      WriteRandomRow(table_, absl::StrCat("row", random.Bytes(random.Below(200)), i), &random);
    }
    const std::vector<size_t> full_sizes = {1, 500, 64 << 10, 4 << 20, 1 << 30};
    RowChunks chunks(random.Pick(full_sizes));
    Client client;
    std::vector<ReadRow> expected;
    RowReader reader = table_->ReadRows(RowRange::All(), random.Pick(filters));
    for (const Row& row : reader) {
      expected.push_back(CopyOf(row));
      while (!chunks.Write(row)) {
        ASSERT_NO_FATAL_FAILURE(client.Receive(chunks.Take()));
      }
    }
    ASSERT_OK(reader.status());
    if (!chunks.empty()) {
      ASSERT_NO_FATAL_FAILURE(client.Receive(chunks.Take()));
    }
    EXPECT_TRUE(client.is_between_rows());
    ASSERT_TRUE(client.rows() == expected);
    EXPECT_EQ(expected.size(), 8);
  }
}

}  // namespace
}  // namespace bigtable::convert
