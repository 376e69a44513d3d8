#include "tools/text.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"

#include "bigtable/string_view.h"

namespace bigtable::tools {
namespace {

struct Character {
  uint32_t code = 0;
  size_t size = 0;  // 0: the bytes are not UTF-8
};

Character DecodeCharacter(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  size_t size = 0;
  uint32_t smallest = 0;
  if (byte(0) >> 5 == 0x6) size = 2, smallest = 0x80;
  if (byte(0) >> 4 == 0xe) size = 3, smallest = 0x800;
  if (byte(0) >> 3 == 0x1e) size = 4, smallest = 0x10000;
  if (size == 0 || bytes.size() < size) return {};
  uint32_t code = byte(0) & (0xff >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 0x2) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < smallest || code > 0x10ffff || is_surrogate) return {};
  return {code, size};
}

// Characters above ASCII that show nothing, or change how others are shown.
bool IsInvisible(uint32_t code) {
  struct Range {
    uint32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x80, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},     {0x180e, 0x180e}, {0x2000, 0x200f},
      {0x2028, 0x202f}, {0x205f, 0x206f}, {0x3000, 0x3000},   {0xe000, 0xf8ff}, {0xfeff, 0xfeff},
      {0xfff0, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0x10ffff}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const Range& r) { return code >= r.first && code <= r.last; });
}

std::string Hexadecimal(const char* format, uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

std::string EscapedAscii(char c) {
  constexpr std::string_view kNamed = "\a\b\f\n\r\t\v\\";
  constexpr std::string_view kNames = "abfnrtv\\";
  if (const size_t i = kNamed.find(c); i != std::string_view::npos) {
    return std::string("\\") + kNames[i];
  }
  if (c >= 0x20 && c < 0x7f) return std::string(1, c);
  return Hexadecimal("\\x%02x", static_cast<uint8_t>(c));
}

std::string EncodeCharacter(uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

// Takes an escape from the front of the text, which begins with a backslash, and appends what it
// stands for. False: there is no such escape.
bool TakeEscape(std::string_view* text, std::string* bytes) {
  if (text->size() < 2) return false;
  const char kind = (*text)[1];
  constexpr std::string_view kNames = "abfnrtv\\\"";
  if (const size_t i = kNames.find(kind); i != std::string_view::npos) {
    *bytes += "\a\b\f\n\r\t\v\\\""[i];
    text->remove_prefix(2);
    return true;
  }
  const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  const std::string_view number = text->substr(2, digits);
  uint32_t code = 0;
  if (digits == 0 || number.size() < digits ||
      number.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos ||
      !absl::SimpleHexAtoi(ToAbsl(number), &code) || code > 0x10ffff) {
    return false;
  }
  *bytes += kind == 'x' ? std::string(1, static_cast<char>(code)) : EncodeCharacter(code);
  text->remove_prefix(2 + digits);
  return true;
}

std::string EscapedBytes(std::string_view bytes, bool quoted) {
  std::string text;
  while (!bytes.empty()) {
    const Character c = DecodeCharacter(bytes);
    const size_t size = std::max<size_t>(c.size, 1);
    if (c.size == 0) {
      text += Hexadecimal("\\x%02x", static_cast<uint8_t>(bytes[0]));
    } else if (c.size == 1) {
      text += quoted && bytes[0] == '"' ? "\\\"" : EscapedAscii(bytes[0]);
    } else if (IsInvisible(c.code)) {
      text += Hexadecimal(c.code > 0xffff ? "\\U%08x" : "\\u%04x", c.code);
    } else {
      text += bytes.substr(0, size);
    }
    bytes.remove_prefix(size);
  }
  return text;
}

// How many letters have to be changed, added or removed.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string Escaped(std::string_view bytes) { return EscapedBytes(bytes, /*quoted=*/false); }

std::string Quoted(std::string_view bytes) {
  return Cat('"', EscapedBytes(bytes, /*quoted=*/true), '"');
}

absl::StatusOr<std::string> Unescaped(std::string_view text) {
  std::string bytes;
  for (std::string_view rest = text; !rest.empty();) {
    if (rest[0] != '\\') {
      bytes += rest[0];
      rest.remove_prefix(1);
    } else if (!TakeEscape(&rest, &bytes)) {
      return absl::InvalidArgumentError(
          Cat("there is no escape ", rest.substr(0, 2),
              "; these are: \\a \\b \\f \\n \\r \\t \\v \\\\ \\\" \\xHH \\uHHHH \\UHHHHHHHH"));
    }
  }
  return bytes;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t size = DecodeCharacter(bytes).size;
    if (size == 0) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

std::string Nearest(std::string_view name, const std::vector<std::string>& candidates) {
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(name, candidate);
    // A name with nothing in common is not near.
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : Cat("; did you mean ", Quoted(nearest), "?");
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.emplace_back();
  }
  return parts;
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 10;
  if (names.size() <= kMost) return Join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + kMost);
  return Join(first, ", ") + " and " + std::to_string(names.size() - kMost) + " more";
}

std::string Aligned(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const std::vector<std::string>& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      text += line[i];
      if (i + 1 < line.size()) text.append(widths[i] - line[i].size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

std::string WithCommas(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

}  // namespace bigtable::tools
