// The key of an entry: a cell or a deletion, in a memtable and in an SSTable. This is the only
// place that knows how it is encoded; keys compare with memcmp in the order of the data model.
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
// * The qualifier is escaped and ended by 00 01 as a row is. A deletion of the whole family has 00
//   00 instead, which sorts before every qualifier.
// * A deletion of the row has an empty family, and in place of the qualifier the number of the
//   locality group that it is for: every group has an entry of its own, and one group may have
//   settled what it deleted while another has not.
// * The timestamp is inverted (all bits), so that newer ones come first. A deletion of a column has
//   the field all zero, which no cell has, since timestamps are not negative: it comes first.
// * The version is the sequence number (7 bytes) and the ordinal (3 bytes), inverted.
// * The kind is an EntryKind (entry_kind.h). Two entries never differ in it alone.
//
// Worked example: row "r", column "f:q", timestamp 1, sequence 2, ordinal 0, a cell:
//   72 00 01 | 66 00 | 71 00 01 | FF FF FF FF FF FF FF FE | FF FF FF FF FF FF FD FF FF FF | 01
#ifndef BIGTABLE_BASE_ENTRY_KEY_H_
#define BIGTABLE_BASE_ENTRY_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/coding.h"
#include "base/entry_kind.h"
#include "base/sequence.h"

namespace bigtable {

inline constexpr size_t kTrailerSize = 8 + 10 + 1;
// A row of 64 KiB and a qualifier of 16 KiB, every byte of them escaped, fit with room to spare.
inline constexpr size_t kMaxEntryKeySize = size_t{1} << 20;

// --- Building ---

// What follows a zero byte: it is one of the text, or the end mark.
inline constexpr char kEscapeZero = '\xff';
inline constexpr char kEscapeEnd = '\x01';

// To a std::string or KeyBuffer; with the end mark.
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
// The row prefix: what all keys of a row begin with, and no key of another row does.
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
// Where a deletion of a whole family stands.
inline void AppendNoColumn(std::string* out, std::string_view family) {
  AppendFamily(out, family);
  out->append(2, '\0');
}
// Where the deletion of the row stands, for one locality group.
void AppendNoFamily(std::string* out, uint32_t group_id);
// The trailer, into kTrailerSize bytes. `timestamp` is ignored for deletions of more than a cell.
void StoreTrailer(char* to, int64_t timestamp, EntryVersion version, EntryKind kind);
void AppendTrailer(std::string* out, int64_t timestamp, EntryVersion version, EntryKind kind);
// A seek target that, behind a column prefix, comes before every cell that is older than or as old
// as `timestamp`, and after the newer ones.
void AppendTimestamp(std::string* out, int64_t timestamp);

// The smallest key that is larger than every key that begins with `prefix`; empty if there is none.
std::string PrefixSuccessor(std::string_view prefix);

// --- Taking apart. `key` must be well formed: see IsWellFormed. ---

inline std::string_view Trailer(std::string_view key) {
  return key.substr(key.size() - kTrailerSize);
}
// Everything before the trailer: equal for the entries of one column.
inline std::string_view ColumnPrefix(std::string_view key) {
  return key.substr(0, key.size() - kTrailerSize);
}
inline EntryKind KindOf(std::string_view key) { return static_cast<EntryKind>(key.back()); }
inline int64_t TimestampOf(std::string_view key) {
  return static_cast<int64_t>(~LoadBigEndian64(key.data() + key.size() - kTrailerSize));
}
inline EntryVersion VersionOf(std::string_view key) {
  const char* p = key.data() + key.size() - 11;
  const uint64_t high = ~LoadBigEndian64(p);  // sequence, then the ordinal's first byte
  const uint32_t low = static_cast<uint32_t>(static_cast<unsigned char>(~p[8])) << 8 |
                       static_cast<uint32_t>(static_cast<unsigned char>(~p[9]));
  return {high >> 8, static_cast<uint32_t>(high & 0xff) << 16 | low};
}
// How long the row prefix of `key` is. Costs a scan of the row for its end mark. `*plain` says
// whether nothing in it is escaped.
size_t RowPrefixSize(std::string_view key);
size_t RowPrefixSize(std::string_view key, bool* plain);
// The family's name, given the size of the row prefix; empty for a deletion of the row.
inline std::string_view FamilyOf(std::string_view key, size_t row_prefix_size) {
  const char* begin = key.data() + row_prefix_size;
  return {begin, __builtin_strlen(begin)};  // ends at its zero byte, which a well-formed key has
}
// The escaped qualifier with its end mark: the rest of the column prefix behind the family.
inline std::string_view EscapedQualifierOf(std::string_view key, size_t row_prefix_size,
                                           size_t family_size) {
  const size_t begin = row_prefix_size + family_size + 1;
  return key.substr(begin, key.size() - kTrailerSize - begin);
}
// The locality group of a deletion of the row.
uint32_t GroupOfRowDeletion(std::string_view key, size_t row_prefix_size);
// Undoes AppendEscaped. Without a zero byte inside this is `escaped` less its end mark, and nothing
// is copied; otherwise the bytes are built in `scratch`.
std::string_view Unescape(std::string_view escaped, std::string* scratch);
inline std::string_view RowOf(std::string_view key, std::string* scratch) {
  return Unescape(key.substr(0, RowPrefixSize(key)), scratch);
}

// Whether `key` could have been built by the functions above: every key that comes from a file is
// asked once before the functions above take it apart.
bool IsWellFormed(std::string_view key);

// A key for people: row/family:qualifier@timestamp#sequence.ordinal kind.
std::string DebugString(std::string_view key);

}  // namespace bigtable

#endif  // BIGTABLE_BASE_ENTRY_KEY_H_
