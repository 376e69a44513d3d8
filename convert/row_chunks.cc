#include "convert/row_chunks.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "google/protobuf/io/coded_stream.h"

#include "convert/limits.h"

namespace bigtable::convert {
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

// Each writes a field at `out`, and returns its end.
uint8_t* PutNumber(uint8_t tag, uint64_t number, uint8_t* out) {
  *out++ = tag;
  return CodedOutputStream::WriteVarint64ToArray(number, out);
}

uint8_t* PutBytes(uint8_t tag, std::string_view bytes, uint8_t* out) {
  return std::copy(bytes.begin(), bytes.end(), PutNumber(tag, bytes.size(), out));
}

// A StringValue or BytesValue: it is there even if it is empty.
uint8_t* PutWrapped(uint8_t tag, std::string_view bytes, uint8_t* out) {
  out = PutNumber(tag, OptionalSize(bytes.size()), out);
  return bytes.empty() ? out : PutBytes(kWrapped, bytes, out);
}

// Makes `text` longer, and returns the beginning of what is new.
uint8_t* Extend(size_t bytes, std::string* text) {
  const size_t size = text->size();
  text->resize(size + bytes);
  return reinterpret_cast<uint8_t*>(text->data()) + size;
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

  // Of what is before the value's bytes, and after them.
  size_t head_size() const {
    size_t total = OptionalSize(row_key.size()) + NumberSize(timestamp);
    if (has_family) total += FieldSize(OptionalSize(family.size()));
    if (has_qualifier) total += FieldSize(OptionalSize(qualifier.size()));
    for (const std::string_view label : labels) total += FieldSize(label.size());
    return total + (value.empty() ? 0 : FieldSize(value.size()) - value.size());
  }
  size_t tail_size() const { return NumberSize(value_size) + (commits_row ? 2 : 0); }

  // The value goes right into the message, the rest through one extension of it before and one
  // behind.
  void AppendTo(std::string* message) const {
    const size_t head = head_size();
    const size_t tail = tail_size();
    const size_t size = head + value.size() + tail;
    uint8_t* out = Extend(1 + VarintSize(size) + head, message);
    out = PutNumber(kChunks, size, out);
    if (!row_key.empty()) out = PutBytes(kRowKey, row_key, out);
    if (has_family) out = PutWrapped(kFamilyName, family, out);
    if (has_qualifier) out = PutWrapped(kQualifier, qualifier, out);
    if (timestamp != 0) out = PutNumber(kTimestampMicros, timestamp, out);
    for (const std::string_view label : labels) out = PutBytes(kLabels, label, out);
    if (!value.empty()) PutNumber(kValue, value.size(), out);
    message->append(value);
    if (tail == 0) return;
    out = Extend(tail, message);
    if (value_size != 0) out = PutNumber(kValueSize, value_size, out);
    if (commits_row) PutNumber(kCommitRow, 1, out);
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
  PutBytes(kLastScannedRowKey, row_key, Extend(FieldSize(row_key.size()), &message_));
}

std::string RowChunks::Take() {
  last_size_ = message_.size();
  return std::exchange(message_, std::string());
}

}  // namespace bigtable::convert
