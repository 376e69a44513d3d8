#include "server/convert/row_chunks.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "google/protobuf/io/coded_stream.h"

#include "server/convert/limits.h"

namespace bigtable::server {
namespace {

using google::protobuf::io::CodedOutputStream;

// Tags: the number of the field and how it is encoded, a varint or a length with bytes.
constexpr uint8_t VarintTag(int field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t BytesTag(int field) { return static_cast<uint8_t>(field << 3 | 2); }

// ReadRowsResponse.
constexpr uint8_t kChunks = BytesTag(1);
constexpr uint8_t kLastScannedRowKey = BytesTag(2);
// CellChunk.
constexpr uint8_t kRowKey = BytesTag(1);
constexpr uint8_t kFamilyName = BytesTag(2);
constexpr uint8_t kQualifier = BytesTag(3);
constexpr uint8_t kTimestampMicros = VarintTag(4);
constexpr uint8_t kLabels = BytesTag(5);
constexpr uint8_t kValue = BytesTag(6);
constexpr uint8_t kValueSize = VarintTag(7);
constexpr uint8_t kCommitRow = VarintTag(9);
// google.protobuf.StringValue and BytesValue.
constexpr uint8_t kWrapped = BytesTag(1);

// About what a chunk has beside its texts.
constexpr size_t kChunkOverhead = 32;

size_t VarintSize(uint64_t number) { return CodedOutputStream::VarintSize64(number); }
// Of a field with these bytes. A field that has the default value is not written.
size_t FieldSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }
size_t OptionalSize(size_t bytes) { return bytes == 0 ? 0 : FieldSize(bytes); }
size_t NumberSize(uint64_t number) { return number == 0 ? 0 : 1 + VarintSize(number); }

void AppendNumber(uint8_t tag, uint64_t number, std::string* out) {
  uint8_t bytes[11];
  bytes[0] = tag;
  const uint8_t* end = CodedOutputStream::WriteVarint64ToArray(number, bytes + 1);
  out->append(reinterpret_cast<const char*>(bytes), end - bytes);
}

void AppendBytes(uint8_t tag, std::string_view bytes, std::string* out) {
  AppendNumber(tag, bytes.size(), out);
  out->append(bytes);
}

// A StringValue or BytesValue: it is there even if it is empty.
void AppendWrapped(uint8_t tag, std::string_view bytes, std::string* out) {
  AppendNumber(tag, OptionalSize(bytes.size()), out);
  if (!bytes.empty()) AppendBytes(kWrapped, bytes, out);
}

// What a chunk has. A field that is not set is empty, or 0.
struct Chunk {
  std::string_view row_key;
  bool has_family = false;
  std::string_view family;
  bool has_qualifier = false;
  std::string_view qualifier;
  uint64_t timestamp = 0;
  CellLabels labels;
  std::string_view value;
  uint64_t value_size = 0;
  bool commits_row = false;

  size_t size() const {
    size_t total = OptionalSize(row_key.size()) + NumberSize(timestamp) +
                   OptionalSize(value.size()) + NumberSize(value_size) + (commits_row ? 2 : 0);
    if (has_family) total += FieldSize(OptionalSize(family.size()));
    if (has_qualifier) total += FieldSize(OptionalSize(qualifier.size()));
    for (const std::string_view label : labels) total += FieldSize(label.size());
    return total;
  }

  void AppendTo(std::string* out) const {
    AppendNumber(kChunks, size(), out);
    if (!row_key.empty()) AppendBytes(kRowKey, row_key, out);
    if (has_family) AppendWrapped(kFamilyName, family, out);
    if (has_qualifier) AppendWrapped(kQualifier, qualifier, out);
    if (timestamp != 0) AppendNumber(kTimestampMicros, timestamp, out);
    for (const std::string_view label : labels) AppendBytes(kLabels, label, out);
    if (!value.empty()) AppendBytes(kValue, value, out);
    if (value_size != 0) AppendNumber(kValueSize, value_size, out);
    if (commits_row) AppendNumber(kCommitRow, 1, out);
  }
};

}  // namespace

bool RowChunks::Write(const Row& row) {
  Reserve(row);
  while (cell_ < row.cells().size()) {
    if (is_full()) return false;
    WriteChunk(row);
  }
  cell_ = 0;
  return true;
}

void RowChunks::WriteChunk(const Row& row) {
  const Cell& cell = row.cells()[cell_];
  Chunk chunk;
  if (offset_ == 0) {
    const Cell* const previous = cell_ == 0 ? nullptr : &row.cells()[cell_ - 1];
    if (previous == nullptr) chunk.row_key = row.key();
    chunk.has_family = previous == nullptr || previous->family != cell.family;
    chunk.family = cell.family;
    chunk.has_qualifier = chunk.has_family || previous->qualifier != cell.qualifier;
    chunk.qualifier = cell.qualifier;
    chunk.timestamp = static_cast<uint64_t>(cell.timestamp.micros());
    chunk.labels = cell.labels;
  }
  chunk.value = cell.value.substr(offset_, kMaxChunkValueSize);
  offset_ += chunk.value.size();
  if (offset_ < cell.value.size()) {
    chunk.value_size = cell.value.size();
  } else {
    offset_ = 0;
    ++cell_;
  }
  chunk.commits_row = cell_ == row.cells().size();
  chunk.AppendTo(&message_);
}

void RowChunks::Reserve(const Row& row) {
  const size_t most = full_size_ + kMaxChunkValueSize;  // that a message has of one value
  size_t more = row.key().size();
  for (size_t i = cell_; i < row.cells().size() && message_.size() + more < full_size_; ++i) {
    const Cell& cell = row.cells()[i];
    const size_t written = i == cell_ ? offset_ : 0;
    more += kChunkOverhead + cell.family.size() + cell.qualifier.size() +
            std::min(cell.value.size() - written, most);
  }
  const size_t needed = message_.size() + more;
  if (needed <= message_.capacity()) return;
  // Many small rows may follow: as many as in the message before, or else twice as many.
  message_.reserve(std::max(last_size_ + more, std::max(needed, std::min(2 * needed, full_size_))));
}

void RowChunks::WriteLastScannedRowKey(std::string_view row_key) {
  AppendBytes(kLastScannedRowKey, row_key, &message_);
}

std::string RowChunks::Take() {
  last_size_ = message_.size();
  return std::exchange(message_, std::string());
}

}  // namespace bigtable::server
