// The messages of a server's stream of rows, as a client reads them, and as the server writes them.
//
//   form     1 byte   bit 0: the read is reversed; bits 1 and 2: the rows that it asked for;
//                     bit 3: messages are pieces (fuzz/input.h), otherwise they are made of what
//                     follows (fuzz/server/message_builder.h)
//   size     1 byte   at which the server's messages are full, in units of 16 bytes, less one
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/stubs/logging.h"

#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "convert/chunk_merger.h"
#include "convert/row_chunks.h"
#include "fuzz/input.h"
#include "fuzz/server/message_builder.h"
#include "fuzz/target.h"

namespace bigtable::server {
namespace {

using google::bigtable::v2::ReadRowsResponse;

constexpr int kMostMessages = 16;

std::vector<RowRange> AskedFor(uint8_t which) {
  switch (which) {
    case 0:
      return {RowRange::All()};
    case 1:
      return {RowRange::Single("a"), RowRange::StartingAt("b")};
    case 2:
      return {RowRange::RightOpen("a", "ab"), RowRange::RightOpen("b", "v")};
    default:
      return {};
  }
}

// A client.
class RowsOfFuzz {
 public:
  RowsOfFuzz(const std::vector<RowRange>* ranges, bool reverse) : merger_(ranges, reverse) {}

  // False: the stream breaks the protocol, and nothing may be added any more.
  bool Add(ReadRowsResponse* response) {
    for (auto& chunk : *response->mutable_chunks()) {
      Row row;
      const absl::StatusOr<bool> is_whole = merger_.Add(&chunk, &row);
      if (!is_whole.ok()) return false;
      if (*is_whole) rows_.push_back(std::move(row));
    }
    const std::string& scanned = response->last_scanned_row_key();
    return scanned.empty() || merger_.AddLastScanned(scanned).ok();
  }
  bool AtEnd() const { return merger_.End().ok(); }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  convert::ChunkMerger merger_;
  std::vector<Row> rows_;
};

bool IsSameRow(const Row& a, const Row& b) {
  if (a.key() != b.key() || a.cells().size() != b.cells().size()) return false;
  for (size_t i = 0; i < a.cells().size(); ++i) {
    const Cell& one = a.cells()[i];
    const Cell& other = b.cells()[i];
    const std::vector<std::string_view> labels(one.labels.begin(), one.labels.end());
    if (one.family != other.family || one.qualifier != other.qualifier ||
        one.timestamp != other.timestamp || one.value != other.value ||
        labels != std::vector<std::string_view>(other.labels.begin(), other.labels.end())) {
      return false;
    }
  }
  return true;
}

// The server's messages of the same rows bring the same rows.
void SendAgain(const std::vector<Row>& rows, size_t full_size, RowsOfFuzz* again) {
  convert::RowChunks chunks(full_size);
  const auto send = [&] {
    ReadRowsResponse response;
    Require(response.ParseFromString(chunks.Take()), "the server's message is one");
    Require(again->Add(&response), "the server's stream keeps to the protocol");
  };
  for (const Row& row : rows) {
    while (!chunks.Write(row)) send();
  }
  if (!chunks.empty()) send();
  Require(again->AtEnd() && again->rows().size() == rows.size(), "as many rows");
  for (size_t i = 0; i < rows.size(); ++i) {
    Require(IsSameRow(again->rows()[i], rows[i]), "the same rows");
  }
}

void CheckRows(const std::vector<Row>& rows, const std::vector<RowRange>& ranges, bool reverse) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Require(!rows[i].cells().empty(), "a row has cells");
    bool was_asked = false;
    for (const RowRange& range : ranges) was_asked |= range.Contains(rows[i].key());
    Require(was_asked, "only rows that were asked for");
    Require(
        i == 0 || (reverse ? rows[i].key() < rows[i - 1].key() : rows[i].key() > rows[i - 1].key()),
        "each row once, in order");
  }
}

void FuzzServerRowChunks(std::string_view bytes) {
  static const auto old_handler = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(old_handler);
  FuzzInput input(bytes);
  const uint8_t form = input.Byte();
  const size_t full_size = size_t{16} * (size_t{1} + input.Byte());
  const bool reverse = (form & 1) != 0;
  const std::vector<RowRange> ranges = AskedFor((form >> 1) & 3);
  RowsOfFuzz client(&ranges, reverse);
  for (int messages = 0; messages < kMostMessages && !input.at_end(); ++messages) {
    ReadRowsResponse response;
    if ((form & 8) == 0) {
      BuildMessage(&input, "", &response);
    } else if (!response.ParseFromString(std::string(input.Piece()))) {
      break;
    }
    if (!client.Add(&response)) break;
  }
  CheckRows(client.rows(), ranges, reverse);
  RowsOfFuzz again(&ranges, reverse);
  SendAgain(client.rows(), full_size, &again);
}

const FuzzTargetRegistration server_row_chunks_target("server_row_chunks", FuzzServerRowChunks);

}  // namespace
}  // namespace bigtable::server
