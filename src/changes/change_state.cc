#include "changes/change_state.h"

#include <algorithm>

#include "absl/status/status.h"

#include "base/coding.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr char kVersion = 1;

}  // namespace

std::string ChangeState::Encode() const {
  std::string out(1, kVersion);
  AppendVarint64(&out, whole_after);
  AppendVarint64(&out, ZigZag(whole_since));
  AppendVarint64(&out, drops.size());
  for (const Drop& drop : drops) {
    AppendVarint64(&out, drop.sequence);
    AppendVarint64(&out, ZigZag(drop.micros));
    AppendLengthPrefixed(&out, drop.rows.begin());
    out.push_back(drop.rows.end().has_value() ? 1 : 0);
    if (drop.rows.end().has_value()) AppendLengthPrefixed(&out, *drop.rows.end());
  }
  return out;
}

absl::StatusOr<ChangeState> ChangeState::Decode(std::string_view bytes) {
  ChangeState state;
  if (bytes.empty()) return state;
  Decoder in(bytes);
  if (const uint8_t version = in.Byte(); version != kVersion) {
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
    const std::string begin(in.LengthPrefixed());
    const bool has_end = in.Byte() != 0;
    drop.rows =
        has_end ? RowRange::RightOpen(begin, in.LengthPrefixed()) : RowRange::StartingAt(begin);
    state.drops.push_back(std::move(drop));
  }
  if (!in.ok() || !in.at_end()) return absl::DataLossError("the state of changes is cut");
  return state;
}

ChangeState ChangeState::Merged(const ChangeState& left, const ChangeState& right) {
  ChangeState merged{.whole_after = std::max(left.whole_after, right.whole_after),
                     .whole_since = std::max(left.whole_since, right.whole_since),
                     .drops = left.drops};
  for (const Drop& drop : right.drops) {
    if (std::find(merged.drops.begin(), merged.drops.end(), drop) == merged.drops.end()) {
      merged.drops.push_back(drop);
    }
  }
  std::sort(merged.drops.begin(), merged.drops.end(),
            [](const Drop& a, const Drop& b) { return a.sequence < b.sequence; });
  return merged;
}

}  // namespace bigtable
