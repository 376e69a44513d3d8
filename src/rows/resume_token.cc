#include "rows/resume_token.h"

#include <optional>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/row_ranges.h"

namespace bigtable {
namespace {

constexpr char kFormatVersion = 1;
constexpr size_t kChecksumSize = 8;

// What a read requires of its ranges. A checksum does not show who has made the token.
bool AreInOrder(const std::vector<RowRange>& ranges) {
  const RowRange* before = nullptr;
  for (const RowRange& range : ranges) {
    if (range.empty()) return false;
    if (before != nullptr && !(before->end().has_value() && *before->end() <= range.begin())) {
      return false;
    }
    before = &range;
  }
  return true;
}

}  // namespace

std::string ResumeToken::Encode() const {
  std::string out(1, kFormatVersion);
  out.push_back(reverse ? 1 : 0);
  AppendVarint64(&out, table_id);
  AppendVarint64(&out, ranges.size());
  for (const RowRange& range : ranges) {
    AppendLengthPrefixed(&out, range.begin());
    out.push_back(range.end().has_value() ? 1 : 0);
    if (range.end().has_value()) AppendLengthPrefixed(&out, *range.end());
  }
  AppendFixed64(&out, Checksum(out));
  return out;
}

absl::StatusOr<ResumeToken> ResumeToken::Decode(std::string_view bytes) {
  const auto error = [] {
    return absl::InvalidArgumentError("the text is not a token of RowReader::ResumeToken");
  };
  if (bytes.size() < kChecksumSize) return error();
  const std::string_view content = bytes.substr(0, bytes.size() - kChecksumSize);
  if (LoadFixed64(bytes.data() + content.size()) != Checksum(content)) return error();
  Decoder in(content);
  if (in.Byte() != kFormatVersion) return error();
  ResumeToken token;
  token.reverse = in.Byte() != 0;
  token.table_id = in.Varint();
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const std::string_view begin = in.LengthPrefixed();
    std::optional<std::string> end;
    if (in.Byte() != 0) end = in.LengthPrefixed();
    token.ranges.push_back(RowsBetween(begin, end));
  }
  if (!in.ok() || !in.at_end() || !AreInOrder(token.ranges)) return error();
  return token;
}

absl::StatusOr<std::vector<RowRange>> RangesOfToken(std::string_view token, uint64_t table_id,
                                                    std::string_view table_name, bool reverse) {
  BT_ASSIGN_OR_RETURN(ResumeToken decoded, ResumeToken::Decode(token));
  if (decoded.table_id != table_id) {
    return absl::InvalidArgumentError(
        Cat("the token is not of table ", table_name, ", but of another one"));
  }
  if (decoded.reverse != reverse) {
    return absl::InvalidArgumentError(Cat("ReadOptions::reverse must be ",
                                          decoded.reverse ? "true" : "false",
                                          ", as for the stream that the token is of"));
  }
  return std::move(decoded.ranges);
}

std::vector<RowRange> RangesLeft(const std::vector<RowRange>& ranges, std::string_view row,
                                 bool done, bool reverse) {
  const std::string after = std::string(row).append(1, '\0');
  const RowRange left = reverse ? RowRange::RightOpen("", done ? row : std::string_view(after))
                                : RowRange::StartingAt(done ? std::string_view(after) : row);
  std::vector<RowRange> result;
  for (const RowRange& range : ranges) {
    RowRange both = Intersection(range, left);
    if (!both.empty()) result.push_back(std::move(both));
  }
  return result;
}

}  // namespace bigtable
