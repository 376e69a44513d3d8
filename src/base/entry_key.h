// The key of an entry: a cell or a deletion, in a memtable and in an SSTable. Only this file knows
// its encoding; keys compare with memcmp in the order of the data model.
//
//   row ascending, then family, then qualifier ascending, then timestamp descending,
//   then (sequence, ordinal) descending
//
//   +-------------+--------+-----------+--------+-----------+------------+----------------+------+
//   | row escaped | 00 01  | family    | 00     | qualifier | timestamp  | version        | kind |
//   |             |        | (no 00)   |        | as below  | 8, big end | 7 + 3, big end | 1    |
//   +-------------+--------+-----------+--------+-----------+------------+----------------+------+
//   |<- row prefix ------->|
//   |<- column prefix ----------------------------------->|<- trailer of 19 bytes ------------->|
//
// * Escaped: a zero byte becomes 00 FF, so that the end mark 00 01 sorts before every continuation.
// * The qualifier is escaped and ended by 00 01 like a row. A deletion of the whole family has 00
//   00 instead, which sorts before every qualifier.
// * A deletion of the row has an empty family, and the number of a locality group instead of the
//   qualifier. Every group has an entry of its own, because one group may have dropped what the
//   deletion hides while another has not.
// * The timestamp is inverted (all bits), so that newer ones come first. In a deletion of a column
//   the field is zero, which no cell has, since timestamps are not negative: so it comes first.
// * The version is the sequence number (7 bytes) and the ordinal (3 bytes), inverted.
// * The kind is an EntryKind (entry_kind.h). Two entries never differ only in their kind.
//
// Worked example: row "r", column "f:q", timestamp 1, sequence 2, ordinal 0, a cell:
//   72 00 01 | 66 00 | 71 00 01 | FF FF FF FF FF FF FF FE | FF FF FF FF FF FF FD FF FF FF | 01
#ifndef BIGTABLE_BASE_ENTRY_KEY_H_
#define BIGTABLE_BASE_ENTRY_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/coding.h"
#include "base/entry_kind.h"
#include "base/sequence.h"

namespace bigtable {

inline constexpr size_t kTrailerSize = 8 + 10 + 1;
// A row key of 64 KiB and a qualifier of 16 KiB fit even if every byte is escaped.
inline constexpr size_t kMaxEntryKeySize = size_t{1} << 20;

// --- Building ---

// The byte after a zero byte: the zero is part of the text, or of the end mark.
inline constexpr char kEscapeZero = '\xff';
inline constexpr char kEscapeEnd = '\x01';

// Appends to a std::string or KeyBuffer, with the end mark.
template <typename Out>
void AppendEscaped(Out* out, std::string_view text) {
  size_t from = 0;
  for (size_t zero; (zero = text.find('\0', from)) != std::string_view::npos; from = zero + 1) {
    out->append(text.substr(from, zero + 1 - from));
    out->push_back(kEscapeZero);
  }
  out->append(text.substr(from));
  constexpr char kEndMark[] = {'\0', kEscapeEnd};
  out->append(std::string_view(kEndMark, sizeof kEndMark));
}
// The row prefix: the common prefix of all keys of a row, which no key of another row has.
template <typename Out>
void AppendRowPrefix(Out* out, std::string_view row) {
  AppendEscaped(out, row);
}
std::string RowPrefix(std::string_view row);
// These continue a row prefix.
inline void AppendFamily(std::string* out, std::string_view family) {
  out->append(family);
  out->push_back('\0');
}
inline void AppendColumn(std::string* out, std::string_view family, std::string_view qualifier) {
  AppendFamily(out, family);
  AppendEscaped(out, qualifier);
}
// The family field of a deletion of a whole family, which has no column.
inline void AppendNoColumn(std::string* out, std::string_view family) {
  AppendFamily(out, family);
  out->append(2, '\0');
}
// The family field of a deletion of the row, for one locality group.
void AppendNoFamily(std::string* out, uint32_t group_id);
// Stores the trailer in kTrailerSize bytes. `timestamp` is ignored for deletions of more than a
// cell.
void StoreTrailer(char* to, int64_t timestamp, EntryVersion version, EntryKind kind);
void AppendTrailer(std::string* out, int64_t timestamp, EntryVersion version, EntryKind kind);
// After a column prefix, this makes a seek target before every cell at or before `timestamp`, and
// after the newer ones.
void AppendTimestamp(std::string* out, int64_t timestamp);

// The smallest key that is larger than every key that begins with `prefix`; empty if there is none.
std::string PrefixSuccessor(std::string_view prefix);

// --- Parsing. `key` must be well formed: see IsWellFormed. ---

inline std::string_view Trailer(std::string_view key) {
  ABSL_ASSERT(key.size() >= kTrailerSize && "every key has a trailer");
  return key.substr(key.size() - kTrailerSize);
}
// Everything before the trailer: equal for the entries of one column.
inline std::string_view ColumnPrefix(std::string_view key) {
  ABSL_ASSERT(key.size() >= kTrailerSize && "every key has a trailer");
  return key.substr(0, key.size() - kTrailerSize);
}
inline EntryKind KindOf(std::string_view key) { return static_cast<EntryKind>(key.back()); }
inline int64_t TimestampOf(std::string_view key) {
  ABSL_ASSERT(key.size() >= kTrailerSize && "every key has a trailer");
  return static_cast<int64_t>(~LoadBigEndian64(key.data() + key.size() - kTrailerSize));
}
inline EntryVersion VersionOf(std::string_view key) {
  ABSL_ASSERT(key.size() >= kTrailerSize && "every key has a trailer");
  const char* p = key.data() + key.size() - 11;
  const uint64_t high = ~LoadBigEndian64(p);  // sequence, then the ordinal's first byte
  const uint32_t low = static_cast<uint32_t>(static_cast<unsigned char>(~p[8])) << 8 |
                       static_cast<uint32_t>(static_cast<unsigned char>(~p[9]));
  return {high >> 8, static_cast<uint32_t>(high & 0xff) << 16 | low};
}
// Sets the sequence number of a key in place.
inline void SetSequence(char* key, size_t size, SequenceNumber sequence) {
  ABSL_ASSERT(size >= kTrailerSize && sequence <= kMaxSequence && "it fits into its 7 bytes");
  char* const p = key + size - 11;
  for (int i = 0; i < 7; ++i) p[i] = static_cast<char>(~(sequence >> (8 * (6 - i))));
}
// The length of the row prefix of `key`. Costs a scan of the row for its end mark. `*plain` is set
// to whether nothing in it is escaped.
size_t RowPrefixSize(std::string_view key);
size_t RowPrefixSize(std::string_view key, bool* plain);
// The family's name, given the size of the row prefix; empty for a deletion of the row.
inline std::string_view FamilyOf(std::string_view key, size_t row_prefix_size) {
  ABSL_ASSERT(row_prefix_size < key.size() && "a family field follows the row");
  const char* begin = key.data() + row_prefix_size;
  return {begin, __builtin_strlen(begin)};  // ends at its zero byte, which a well-formed key has
}
// The escaped qualifier with its end mark: the rest of the column prefix after the family.
inline std::string_view EscapedQualifierOf(std::string_view key, size_t row_prefix_size,
                                           size_t family_size) {
  const size_t begin = row_prefix_size + family_size + 1;
  ABSL_ASSERT(begin + kTrailerSize <= key.size() && "the qualifier is between family and trailer");
  return key.substr(begin, key.size() - kTrailerSize - begin);
}
// The locality group of a deletion of the row.
uint32_t GroupOfRowDeletion(std::string_view key, size_t row_prefix_size);
// Reverses AppendEscaped. If no byte is escaped, returns `escaped` without its end mark and copies
// nothing; otherwise builds the bytes in `scratch`.
std::string_view Unescape(std::string_view escaped, std::string* scratch);
inline std::string_view RowOf(std::string_view key, std::string* scratch) {
  return Unescape(key.substr(0, RowPrefixSize(key)), scratch);
}

// Whether the functions above could have built `key`. The keys of a file that the database has not
// written are checked before they are parsed (standalone/). Those of its own blocks are not: what
// wrote a block whose checksum holds has written well-formed keys.
bool IsWellFormed(std::string_view key);

// The key; or, if it ends within its row, as the beginning of a key may, the row prefix of the row
// that ends there. RowPrefixSize takes what it returns.
std::string WithWholeRow(std::string key);

// What is behind all keys of the row of `key`, and before those of the next row: the row prefix,
// and a byte with which no family begins. Empty if no row ends in `key`.
std::string BehindRow(std::string_view key);

// A readable form of a key: row/family:qualifier@timestamp#sequence.ordinal kind.
std::string DebugString(std::string_view key);

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ENTRY_KEY_H_
