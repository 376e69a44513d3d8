#include "rows/change_position.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "read/row_ranges.h"

namespace bigtable {
namespace {

constexpr char kPositionVersion = 1;
constexpr char kVersionWithCollections = 2;
constexpr size_t kPositionChecksumSize = 8;

bool ArePartsInOrder(const std::vector<ChangePosition::Part>& parts) {
  const RowRange* before = nullptr;
  for (const ChangePosition::Part& part : parts) {
    if (part.rows.empty() || part.after > kMaxSequence || part.collections_after > kMaxSequence) {
      return false;
    }
    if (before != nullptr && !(before->end().has_value() && *before->end() <= part.rows.begin())) {
      return false;
    }
    before = &part.rows;
  }
  return !parts.empty();
}

void AddPart(ChangePosition::Part part, std::vector<ChangePosition::Part>* parts) {
  if (part.rows.empty()) return;
  if (!parts->empty() && parts->back().after == part.after &&
      parts->back().collections_after == part.collections_after &&
      parts->back().rows.end() == part.rows.begin()) {
    parts->back().rows = RowsBetween(parts->back().rows.begin(), part.rows.end());
  } else {
    parts->push_back(std::move(part));
  }
}

}  // namespace

SequenceNumber ChangePosition::Smallest() const {
  SequenceNumber smallest = kMaxSequence;
  for (const Part& part : parts) smallest = std::min(smallest, part.after);
  return smallest;
}

SequenceNumber ChangePosition::AfterOf(std::string_view row) const {
  for (const Part& part : parts) {
    if (part.rows.Contains(row)) return part.after;
  }
  return kMaxSequence;
}

SequenceNumber ChangePosition::CollectionsAfterOf(std::string_view row) const {
  for (const Part& part : parts) {
    if (part.rows.Contains(row)) return part.collections_after;
  }
  return kMaxSequence;
}

void ChangePosition::AdvanceTo(SequenceNumber sequence) {
  std::vector<Part> advanced;
  for (const Part& part : parts) {
    AddPart({part.rows, std::max(part.after, sequence), std::max(part.collections_after, sequence)},
            &advanced);
  }
  parts = std::move(advanced);
  families_after = std::max(families_after, sequence);
}

void ChangePosition::AdvanceRows(const RowRange& rows, SequenceNumber sequence) {
  for (Part& part : parts) {
    if (!Intersection(part.rows, rows).empty()) part.after = std::max(part.after, sequence);
  }
}

void ChangePosition::AdvanceCollections(const RowRange& rows, SequenceNumber sequence) {
  for (Part& part : parts) {
    if (Intersection(part.rows, rows).empty()) continue;
    part.collections_after = std::max(part.collections_after, sequence);
  }
}

ChangePosition ChangePosition::Within(const RowRange& rows) const {
  ChangePosition within{.table_id = table_id, .families_after = families_after, .parts = {}};
  for (const Part& part : parts) {
    AddPart({Intersection(part.rows, rows), part.after, part.collections_after}, &within.parts);
  }
  return within;
}

std::string ChangePosition::Encode() const {
  const bool has_collections = std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.collections_after != part.after;
  });
  std::string out(1, has_collections ? kVersionWithCollections : kPositionVersion);
  AppendVarint64(&out, table_id);
  AppendVarint64(&out, families_after);
  AppendVarint64(&out, parts.size());
  for (const Part& part : parts) {
    AppendLengthPrefixed(&out, part.rows.begin());
    out.push_back(part.rows.end().has_value() ? 1 : 0);
    if (part.rows.end().has_value()) AppendLengthPrefixed(&out, *part.rows.end());
    AppendVarint64(&out, part.after);
    if (has_collections) AppendVarint64(&out, part.collections_after);
  }
  AppendFixed64(&out, Checksum(out));
  return out;
}

absl::StatusOr<ChangePosition> ChangePosition::Decode(std::string_view bytes) {
  const auto error = [] {
    return absl::InvalidArgumentError("the text is not a position of ChangeStream::Position");
  };
  if (bytes.size() < kPositionChecksumSize) return error();
  const std::string_view content = bytes.substr(0, bytes.size() - kPositionChecksumSize);
  if (LoadFixed64(bytes.data() + content.size()) != Checksum(content)) return error();
  Decoder in(content);
  const uint8_t version = in.Byte();
  if (version != kPositionVersion && version != kVersionWithCollections) return error();
  ChangePosition position;
  position.table_id = in.Varint();
  position.families_after = in.Varint();
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    const std::string_view begin = in.LengthPrefixed();
    std::optional<std::string> end;
    if (in.Byte() != 0) end = in.LengthPrefixed();
    const SequenceNumber after = in.Varint();
    const SequenceNumber collections = version == kPositionVersion ? after : in.Varint();
    position.parts.push_back({RowsBetween(begin, end), after, collections});
  }
  if (!in.ok() || !in.at_end() || !ArePartsInOrder(position.parts)) return error();
  return position;
}

absl::StatusOr<ChangePosition> ChangePosition::Joined(
    const std::vector<ChangePosition>& positions) {
  ChangePosition joined;
  if (positions.empty()) return joined;
  joined.table_id = positions.front().table_id;
  std::set<std::string> borders;
  bool has_last = false;  // whether a part has no end
  std::vector<Part> parts;
  for (const ChangePosition& position : positions) {
    if (position.table_id != joined.table_id) {
      return absl::InvalidArgumentError("the positions are of several tables");
    }
    joined.families_after = std::max(joined.families_after, position.families_after);
    for (const Part& part : position.parts) {
      borders.insert(part.rows.begin());
      if (part.rows.end().has_value()) borders.insert(*part.rows.end());
      has_last = has_last || !part.rows.end().has_value();
      parts.push_back(part);
    }
  }
  // Between two borders that follow one another, each part has all rows or none.
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    const auto next = std::next(border);
    if (next == borders.end() && !has_last) break;
    std::optional<Part> after;
    for (const Part& part : parts) {
      if (!part.rows.Contains(*border)) continue;
      if (!after.has_value()) after = part;
      after->after = std::max(after->after, part.after);
      after->collections_after = std::max(after->collections_after, part.collections_after);
    }
    if (!after.has_value()) continue;
    std::optional<std::string> end;
    if (next != borders.end()) end = *next;
    after->rows = RowsBetween(*border, end);
    AddPart(*std::move(after), &joined.parts);
  }
  return joined;
}

}  // namespace bigtable
