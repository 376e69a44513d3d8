#include "changes/change_state.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "base/coding.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr char kVersion = 2;
constexpr char kVersionWithoutCollections = 1;

void AppendRows(std::string* out, const RowRange& rows) {
  AppendLengthPrefixed(out, rows.begin());
  out->push_back(rows.end().has_value() ? 1 : 0);
  if (rows.end().has_value()) AppendLengthPrefixed(out, *rows.end());
}

RowRange ReadRows(Decoder* in) {
  const std::string begin(in->LengthPrefixed());
  const bool has_end = in->Byte() != 0;
  return has_end ? RowRange::RightOpen(begin, in->LengthPrefixed()) : RowRange::StartingAt(begin);
}

RowRange RowsOf(const std::string& begin, const std::optional<std::string>& end) {
  return end.has_value() ? RowRange::RightOpen(begin, *end) : RowRange::StartingAt(begin);
}

// What is left in two tablets of a collection when they were one.
void Join(const ChangeState::Collection& right, ChangeState::Collection* left) {
  left->rows = RowsOf(left->rows.begin(), right.rows.end());
  std::vector<std::string> families;
  std::set_union(left->families.begin(), left->families.end(), right.families.begin(),
                 right.families.end(), std::back_inserter(families));
  left->families = std::move(families);
}

void DecodeCollections(Decoder* in, ChangeState* state) {
  state->collections_whole_after = in->Varint();
  const uint64_t count = in->Varint();
  for (uint64_t i = 0; in->ok() && i < count; ++i) {
    ChangeState::Collection collection;
    collection.sequence = in->Varint();
    collection.micros = UnZigZag(in->Varint());
    collection.collected_at = UnZigZag(in->Varint());
    collection.rows = ReadRows(in);
    const uint64_t families = in->Varint();
    for (uint64_t n = 0; in->ok() && n < families; ++n) {
      collection.families.emplace_back(in->LengthPrefixed());
    }
    state->collections.push_back(std::move(collection));
  }
}

}  // namespace

void ChangeState::AddCollection(Collection added) {
  for (Collection& earlier : collections) {
    const auto is_said_again = [&](const std::string& family) {
      return std::binary_search(added.families.begin(), added.families.end(), family);
    };
    if (std::erase_if(earlier.families, is_said_again) == 0) continue;
    // A snapshot may have held back the later one.
    added.collected_at = std::max(added.collected_at, earlier.collected_at);
  }
  std::erase_if(collections, [](const Collection& earlier) { return earlier.families.empty(); });
  collections.push_back(std::move(added));
}

void ChangeState::KeepFamilies(absl::FunctionRef<bool(const std::string&)> keeps) {
  for (Collection& collection : collections) {
    std::erase_if(collection.families, [&](const std::string& name) { return !keeps(name); });
  }
  std::erase_if(collections, [](const Collection& one) { return one.families.empty(); });
}

void ChangeState::ClipCollections(const RowRange& tablet) {
  for (Collection& collection : collections) {
    const std::optional<std::string>& end = collection.rows.end();
    const bool ends_before = end.has_value() && (!tablet.end().has_value() || *end < *tablet.end());
    collection.rows =
        RowsOf(std::max(collection.rows.begin(), tablet.begin()), ends_before ? end : tablet.end());
  }
  std::erase_if(collections, [](const Collection& collection) { return collection.rows.empty(); });
}

std::string ChangeState::Encode() const {
  std::string out(1, kVersion);
  AppendVarint64(&out, whole_after);
  AppendVarint64(&out, ZigZag(whole_since));
  AppendVarint64(&out, drops.size());
  for (const Drop& drop : drops) {
    AppendVarint64(&out, drop.sequence);
    AppendVarint64(&out, ZigZag(drop.micros));
    AppendRows(&out, drop.rows);
  }
  AppendVarint64(&out, collections_whole_after);
  AppendVarint64(&out, collections.size());
  for (const Collection& collection : collections) {
    AppendVarint64(&out, collection.sequence);
    AppendVarint64(&out, ZigZag(collection.micros));
    AppendVarint64(&out, ZigZag(collection.collected_at));
    AppendRows(&out, collection.rows);
    AppendVarint64(&out, collection.families.size());
    for (const std::string& family : collection.families) AppendLengthPrefixed(&out, family);
  }
  return out;
}

absl::StatusOr<ChangeState> ChangeState::Decode(std::string_view bytes) {
  ChangeState state;
  if (bytes.empty()) return state;
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (version != kVersion && version != kVersionWithoutCollections) {
    return absl::FailedPreconditionError(Cat("the state of changes has format version ",
                                             int{version}, "; this program knows ", int{kVersion}));
  }
  state.whole_after = in.Varint();
  state.whole_since = UnZigZag(in.Varint());
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; in.ok() && i < count; ++i) {
    Drop drop;
    drop.sequence = in.Varint();
    drop.micros = UnZigZag(in.Varint());
    drop.rows = ReadRows(&in);
    state.drops.push_back(std::move(drop));
  }
  if (in.ok() && version != kVersionWithoutCollections) DecodeCollections(&in, &state);
  if (!in.ok() || !in.at_end()) return absl::DataLossError("the state of changes is cut");
  return state;
}

ChangeState ChangeState::Merged(const ChangeState& left, const ChangeState& right) {
  ChangeState merged{.whole_after = std::max(left.whole_after, right.whole_after),
                     .whole_since = std::max(left.whole_since, right.whole_since),
                     .drops = left.drops,
                     .collections_whole_after =
                         std::max(left.collections_whole_after, right.collections_whole_after),
                     .collections = left.collections};
  for (const Drop& drop : right.drops) {
    if (std::find(merged.drops.begin(), merged.drops.end(), drop) == merged.drops.end()) {
      merged.drops.push_back(drop);
    }
  }
  std::sort(merged.drops.begin(), merged.drops.end(),
            [](const Drop& a, const Drop& b) { return a.sequence < b.sequence; });
  for (const Collection& collection : right.collections) {
    const auto same = std::find_if(
        merged.collections.begin(), merged.collections.end(),
        [&](const Collection& other) { return other.sequence == collection.sequence; });
    if (same == merged.collections.end()) {
      merged.collections.push_back(collection);
    } else {
      Join(collection, &*same);
    }
  }
  std::sort(merged.collections.begin(), merged.collections.end(),
            [](const Collection& a, const Collection& b) { return a.sequence < b.sequence; });
  return merged;
}

}  // namespace bigtable
