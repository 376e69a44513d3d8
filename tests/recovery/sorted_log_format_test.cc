#include "recovery/sorted_log_format.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/checksum.h"
#include "commitlog/log_test_util.h"
#include "recovery/log_piece.h"

namespace bigtable {
namespace {

using testing::HasSubstr;

std::string Fixed64(uint64_t v) {
  std::string out;
  AppendFixed64(&out, v);
  return out;
}

template <size_t n>
std::string Bytes(const char (&literal)[n]) {
  return std::string(literal, n - 1);
}

TEST(SortedLogFormatTest, OnlyNamesOfPiecesAreParsed) {
  EXPECT_EQ(SortedPieceName(1), "sorted-00000001");
  EXPECT_EQ(SortedPieceName(123456789), "sorted-123456789");
  EXPECT_EQ(ParseSortedPieceName("sorted-00000001"), 1u);
  EXPECT_EQ(ParseSortedPieceName("sorted-123456789"), 123456789u);
  for (const char* name : {"sorted-", "sorted-1", "sorted-00000001~", "sorted-0000000x", "SORTED",
                           "sorted-000000001", "sorted-99999999999999999999999"}) {
    EXPECT_FALSE(ParseSortedPieceName(name).has_value()) << name;
  }
}

TEST(SortedLogFormatTest, APieceHasTheSpecifiedBytes) {
  InMemoryFileSystem fs;
  const std::string payload = Bytes("\x05\x07\x01r\x81\x01\x66\x01\x71\x01\x76");
  LogPiece piece;
  piece.Clear(1000);
  piece.Add({.type = RecordType::kMutation,
             .sequence = 9,
             .table_id = 5,
             .row = std::string_view(payload).substr(3, 1),
             .payload = payload,
             .batch = 11});
  auto summary = piece.Write(&fs, "piece");
  ASSERT_OK(summary.status());

  const std::string block = Bytes("\x01\x09\x03\x05\x03\x01\x0b") + payload;
  const std::string index = Bytes("\x05\x01r\x12") + Fixed64(Checksum(block));
  const std::string footer = Fixed64(index.size()) + Fixed64(Checksum(index)) + Fixed64(1) +
                             Fixed64(9) + Fixed64(9) + Bytes("\2\0\0\0\x40\0\0\0");
  EXPECT_EQ(index.size(), 12u);
  EXPECT_EQ(fs.Contents("piece"), block + index + footer + Fixed64(Checksum(footer)) + "BTsorted");
  EXPECT_EQ(summary->size, fs.Contents("piece").size());
  EXPECT_EQ(summary->footer_checksum, Checksum(footer));
  EXPECT_EQ(summary->records, 1u);
  EXPECT_EQ(summary->smallest, 9u);
  EXPECT_EQ(summary->largest, 9u);
}

TEST(SortedLogFormatTest, TheManifestHasTheSpecifiedBytes) {
  const std::string body(32, '\0');
  EXPECT_EQ(EncodeSortedManifest({}),
            "BTsortlg" + Bytes("\2\0\0\0\0\0\0\0") + Fixed64(Checksum(body, 2)) + body);
}

TEST(SortedLogFormatTest, TheManifestRoundTrips) {
  const SortedManifest manifest{.last_sequence = 90,
                                .log_records = 8,
                                .log_segments = 2,
                                .clean = true,
                                .pieces = {{100, 0x1234, 3, 1, 5}, {200, 0x5678, 4, 6, 90}}};
  auto decoded = DecodeSortedManifest(EncodeSortedManifest(manifest), "m");
  ASSERT_OK(decoded.status());
  EXPECT_EQ(decoded->last_sequence, 90u);
  EXPECT_EQ(decoded->log_records, 8u);
  EXPECT_EQ(decoded->log_segments, 2u);
  EXPECT_TRUE(decoded->clean);
  ASSERT_EQ(decoded->pieces.size(), 2u);
  EXPECT_EQ(decoded->pieces[1].size, 200u);
  EXPECT_EQ(decoded->pieces[1].footer_checksum, 0x5678u);
  EXPECT_EQ(decoded->pieces[1].records, 4u);
  EXPECT_EQ(decoded->pieces[1].smallest, 6u);
  EXPECT_EQ(decoded->pieces[1].largest, 90u);
}

// A manifest with a valid checksum whose pieces are impossible.
TEST(SortedLogFormatTest, ImpossiblePiecesAreDataLoss) {
  const SortedPieceSummary sound{100, 1, 3, 6, 9};
  for (const auto& pieces :
       std::vector<std::vector<SortedPieceSummary>>{{{63, 1, 3, 6, 9}},
                                                    {{100, 1, 0, 6, 9}},
                                                    {{100, 1, 3, 9, 6}},
                                                    {{100, 1, 3, 0, 6}},
                                                    {sound, {100, 1, 3, 9, 12}},
                                                    {sound, {100, 1, 3, 1, 2}}}) {
    const std::string bytes = EncodeSortedManifest({.pieces = pieces});
    const absl::Status status = DecodeSortedManifest(bytes, "dir/SORTED").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
    EXPECT_THAT(status.ToString(), HasSubstr("dir/SORTED at offset 56"));
  }
}

TEST(SortedLogFormatTest, TheErrorForANewerManifestNamesTheFile) {
  std::string bytes = EncodeSortedManifest({}) + "what a later version has";
  bytes[8] = 3;
  StoreFixed64(bytes.data() + 16, Checksum(std::string_view(bytes).substr(24), 3));
  const absl::Status status = DecodeSortedManifest(bytes, "dir/SORTED").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("dir/SORTED"));
  EXPECT_THAT(status.ToString(), HasSubstr("version 3"));
}

TEST(SortedLogFormatTest, TheErrorForANewerPieceNamesTheFile) {
  std::string bytes;
  AppendSortedPieceFooter(&bytes, {});
  bytes[40] = 3;
  const uint64_t checksum = Checksum(std::string_view(bytes).substr(0, 48));
  StoreFixed64(bytes.data() + 48, checksum);
  const absl::Status status = DecodeSortedPieceFooter(bytes, "dir/p", 1000, checksum).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr("dir/p"));
}

// Bytes with a valid checksum may still be anything: nothing outside of them is read.
TEST(SortedLogFormatTest, InvalidRecordsAndIndexesAreRefused) {
  const std::string_view payload = "1 row 2";
  std::string block;
  AppendSortedRecord(
      &block, {.sequence = 7, .table_id = 3, .row = payload.substr(2, 3), .payload = payload});
  SortedRecord record;
  for (size_t n = 0; n < block.size(); ++n) {
    Decoder decoder(std::string_view(block).substr(0, n));
    EXPECT_FALSE(ParseSortedRecord(&decoder, &record)) << n;
  }
  block[5] = static_cast<char>(payload.size() - 1);  // a row that ends after the payload
  Decoder decoder(block);
  EXPECT_FALSE(ParseSortedRecord(&decoder, &record));

  std::string index;
  AppendSortedIndexEntry(&index, {.table_id = 3, .row = "row", .size = 100, .checksum = 1});
  EXPECT_TRUE(ParseSortedIndex(index, 100).has_value());
  EXPECT_FALSE(ParseSortedIndex(index, 99).has_value());
  EXPECT_FALSE(ParseSortedIndex(index, 101).has_value());
  EXPECT_FALSE(ParseSortedIndex("", 0).has_value());
  for (size_t n = 1; n < index.size(); ++n) {
    EXPECT_FALSE(ParseSortedIndex(std::string_view(index).substr(0, n), 100).has_value()) << n;
  }
}

// Of a piece with records of these encoded sizes.
size_t BlocksOfPiece(const std::vector<size_t>& sizes) {
  InMemoryFileSystem fs;
  LogPiece piece;
  piece.Clear(1 << 20);
  SequenceNumber sequence = 0;
  for (const size_t size : sizes) {
    SortedRecord record{.type = RecordType::kMutation, .sequence = ++sequence, .table_id = 5};
    std::string payload = "row", encoded;
    while (encoded.size() < size) {
      payload.append(std::max<size_t>(1, (size - encoded.size()) / 2), 'v');
      record.payload = payload;
      record.row = record.payload.substr(0, 3);
      encoded.clear();
      AppendSortedRecord(&encoded, record);
    }
    EXPECT_EQ(encoded.size(), size);
    piece.Add(record);
  }
  EXPECT_OK(piece.Write(&fs, "piece").status());
  const std::string bytes = fs.Contents("piece");
  const size_t footer_at = bytes.size() - SortedPieceFooter::kSize;
  const uint64_t index_size = LoadFixed64(bytes.data() + footer_at);
  const auto blocks = ParseSortedIndex(
      std::string_view(bytes).substr(footer_at - index_size, index_size), footer_at - index_size);
  return blocks.has_value() ? blocks->size() : 0;
}

TEST(SortedLogFormatTest, ABlockEndsWhenItHasItsSize) {
  EXPECT_EQ(BlocksOfPiece({100, 100, 100}), 1u);
  EXPECT_EQ(BlocksOfPiece({kSortedBlockSize, 100}), 2u);
  EXPECT_EQ(BlocksOfPiece({kSortedBlockSize - 1, 100}), 1u);
  EXPECT_EQ(BlocksOfPiece({kSortedBlockSize - 100, 100, 100}), 2u);
  EXPECT_EQ(BlocksOfPiece({100, kSortedBlockSize}), 1u);
}

}  // namespace
}  // namespace bigtable
