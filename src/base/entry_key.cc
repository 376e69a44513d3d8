#include "base/entry_key.h"

#include <cstring>

#include "absl/base/macros.h"

#include "base/strings.h"

namespace bigtable {
namespace {

constexpr char kEnd = kEscapeEnd;
constexpr char kEscapedZero = kEscapeZero;

// Finds the 00 01 that ends an escaped text; npos if there is none or an escape is invalid.
size_t FindEnd(std::string_view text, size_t from) {
  while (true) {
    const size_t zero = text.find('\0', from);
    if (zero == std::string_view::npos || zero + 1 >= text.size()) return std::string_view::npos;
    if (text[zero + 1] == kEnd) return zero;
    if (text[zero + 1] != kEscapedZero) return std::string_view::npos;
    from = zero + 2;
  }
}

}  // namespace

std::string RowPrefix(std::string_view row) {
  std::string out;
  AppendRowPrefix(&out, row);
  return out;
}

void StoreTrailer(char* to, int64_t timestamp, EntryVersion version, EntryKind kind) {
  ABSL_ASSERT(version.ordinal <= kMaxOrdinal && "the ordinal fits into its field");
  const bool has_timestamp = HasTimestamp(kind);
  StoreBigEndian64(to, has_timestamp ? ~static_cast<uint64_t>(timestamp) : 0);
  StoreBigEndian64(to + 8, ~(version.sequence << 8 | version.ordinal >> 16));
  to[16] = static_cast<char>(~(version.ordinal >> 8));
  to[17] = static_cast<char>(~version.ordinal);
  to[18] = static_cast<char>(kind);
}

void AppendTrailer(std::string* out, int64_t timestamp, EntryVersion version, EntryKind kind) {
  char trailer[kTrailerSize];
  StoreTrailer(trailer, timestamp, version, kind);
  out->append(trailer, sizeof trailer);
}

void AppendTimestamp(std::string* out, int64_t timestamp) {
  char field[8];
  StoreBigEndian64(field, ~static_cast<uint64_t>(timestamp));
  out->append(field, sizeof field);
}

void AppendNoFamily(std::string* out, uint32_t group_id) {
  AppendFamily(out, "");
  // The number plus one, seven bits per byte: so there is no zero byte.
  AppendVarint64(out, uint64_t{group_id} + 1);
  out->push_back('\0');
  out->push_back(kEnd);
}

uint32_t GroupOfRowDeletion(std::string_view key, size_t row_prefix_size) {
  uint64_t number = 0;
  ABSL_ASSERT(KindOf(key) == EntryKind::kDeleteRow &&
              "only these have a group instead of a column");
  ParseVarint64(key.data() + row_prefix_size + 1, key.data() + key.size() - kTrailerSize, &number);
  return static_cast<uint32_t>(number - 1);
}

std::string PrefixSuccessor(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.remove_suffix(1);
  std::string out(prefix);
  if (!out.empty()) ++out.back();
  return out;
}

size_t RowPrefixSize(std::string_view key) {
  const size_t end = FindEnd(key, 0);
  ABSL_ASSERT(end != std::string_view::npos && "every key has an end of its row");
  return end + 2;
}

size_t RowPrefixSize(std::string_view key, bool* plain) {
  const size_t zero = key.find('\0');
  *plain = zero + 1 < key.size() && key[zero + 1] == kEnd;
  return *plain ? zero + 2 : RowPrefixSize(key);
}

std::string_view Unescape(std::string_view escaped, std::string* scratch) {
  ABSL_ASSERT(escaped.ends_with(std::string_view("\0\x01", 2)) && "an escaped text has its end");
  escaped.remove_suffix(2);
  if (std::memchr(escaped.data(), 0, escaped.size()) == nullptr) [[likely]]
    return escaped;
  scratch->clear();
  for (size_t i = 0; i < escaped.size(); ++i) {
    scratch->push_back(escaped[i]);
    if (escaped[i] == '\0') ++i;
  }
  return *scratch;
}

bool IsWellFormed(std::string_view key) {
  if (key.size() < kTrailerSize || key.size() > kMaxEntryKeySize) return false;
  const uint8_t kind_byte = static_cast<uint8_t>(key.back());
  if (!IsKnownKind(kind_byte)) return false;
  const auto kind = static_cast<EntryKind>(kind_byte);
  const uint64_t timestamp_field = LoadBigEndian64(Trailer(key).data());
  if (HasTimestamp(kind) ? timestamp_field >> 63 == 0 : timestamp_field != 0) return false;

  const std::string_view prefix = ColumnPrefix(key);
  const size_t row_end = FindEnd(prefix, 0);
  if (row_end == std::string_view::npos) return false;
  const size_t family = row_end + 2;
  const size_t family_end = prefix.find('\0', family);
  if (family_end == std::string_view::npos) return false;
  const std::string_view qualifier = prefix.substr(family_end + 1);
  const bool has_family = family_end > family;
  switch (ScopeOf(kind)) {
    case EntryScope::kRow: {
      uint64_t group = 0;
      const char* const end = qualifier.data() + qualifier.size();
      const char* const behind = ParseVarint64(qualifier.data(), end, &group);
      return !has_family && behind != nullptr && group - 1 <= UINT32_MAX &&
             std::string_view(behind, static_cast<size_t>(end - behind)) ==
                 std::string_view("\0\x01", 2);
    }
    case EntryScope::kFamily:
      return has_family && qualifier == std::string_view("\0\0", 2);
    case EntryScope::kColumn:
    case EntryScope::kTimestamp:
      return has_family && qualifier.size() >= 2 && FindEnd(qualifier, 0) == qualifier.size() - 2;
  }
  return false;
}

std::string DebugString(std::string_view key) {
  if (!IsWellFormed(key)) return Cat("malformed ", Quoted(key));
  const size_t row_size = RowPrefixSize(key);
  const std::string_view family = FamilyOf(key, row_size);
  const EntryTraits& traits = TraitsOf(KindOf(key));
  std::string scratch;
  std::string out = absl::CHexEscape(ToAbsl(RowOf(key, &scratch)));
  if (!family.empty()) absl::StrAppend(&out, "/", ToAbsl(family), ":");
  if (traits.scope <= EntryScope::kColumn) {
    const auto escaped = EscapedQualifierOf(key, row_size, family.size());
    absl::StrAppend(&out, absl::CHexEscape(ToAbsl(Unescape(escaped, &scratch))));
  }
  if (traits.scope == EntryScope::kRow) {
    absl::StrAppend(&out, "(group ", GroupOfRowDeletion(key, row_size), ")");
  }
  if (HasTimestamp(traits.kind)) absl::StrAppend(&out, "@", TimestampOf(key));
  const EntryVersion version = VersionOf(key);
  absl::StrAppend(&out, "#", version.sequence, ".", version.ordinal, " ", ToAbsl(traits.name));
  return out;
}

std::string BehindRow(std::string_view key) {
  const size_t end = FindEnd(key, 0);
  if (end == std::string_view::npos) return {};
  std::string behind(key.substr(0, end + 2));
  behind.push_back('\xff');
  return behind;
}

std::string WithWholeRow(std::string key) {
  size_t end = key.find('\0');
  while (end != std::string::npos && end + 1 < key.size() && key[end + 1] == kEscapeZero) {
    end = key.find('\0', end + 2);
  }
  if (end != std::string::npos && end + 1 < key.size() && key[end + 1] == kEscapeEnd) return key;
  key.resize(std::min(end, key.size()));
  key.append({'\0', kEscapeEnd});
  return key;
}

}  // namespace bigtable
