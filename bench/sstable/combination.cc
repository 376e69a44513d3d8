#include "combination.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/status/status.h"

#include "common/flags.h"
#include "common/strings.h"

namespace bench {
namespace {

using bigtable::Compression;
using bigtable::FilterKind;

// By the numbers of their enumerations.
constexpr std::string_view kCompressions[] = {"none", "zstd", "zstd_long_window"};
constexpr std::string_view kFilters[] = {"none", "row", "row_and_column", "row_index"};
constexpr std::string_view kReadModes[] = {"mapped", "positional"};

template <typename Enum>
std::string NameIn(absl::Span<const std::string_view> names, Enum value) {
  return std::string(names[static_cast<size_t>(value)]);
}

constexpr Parameter kParameters[] = {
    {"rows", "rows", &Combination::rows, nullptr},
    {"value", "bytes of a value", &Combination::value, nullptr},
    {"block", "KiB of a block", &Combination::block, nullptr},
    {"compression", "", nullptr,
     [](const Combination& c) { return NameIn(kCompressions, c.compression); }},
    {"level", "level of zstd", &Combination::level, nullptr},
    {"filter", "", nullptr, [](const Combination& c) { return NameIn(kFilters, c.filter); }},
    {"bits", "bits of the filter for a row", &Combination::bits, nullptr},
    {"read_mode", "", nullptr,
     [](const Combination& c) { return NameIn(kReadModes, c.read_mode); }},
    {"memory", "MiB of memory", &Combination::memory, nullptr},
};

// Replaces each combination by one for each value.
template <typename Value, typename Member>
absl::Status Cross(const absl::StatusOr<std::vector<Value>>& values, Member Combination::*member,
                   std::vector<Combination>* combinations) {
  if (!values.ok()) return values.status();
  std::vector<Combination> crossed;
  for (const Combination& combination : *combinations) {
    for (const Value& value : *values) {
      crossed.push_back(combination);
      crossed.back().*member = static_cast<Member>(value);
    }
  }
  *combinations = std::move(crossed);
  return absl::OkStatus();
}

// The numbers of the names in `list`.
absl::StatusOr<std::vector<size_t>> Positions(std::string_view flag, const std::string& list,
                                              absl::Span<const std::string_view> known,
                                              std::string_view rule) {
  const absl::StatusOr<std::vector<std::string>> names =
      Names(flag, list, {known.begin(), known.end()}, rule);
  if (!names.ok()) return names.status();
  std::vector<size_t> positions;
  for (const std::string& name : *names) {
    positions.push_back(
        static_cast<size_t>(std::find(known.begin(), known.end(), name) - known.begin()));
  }
  return positions;
}

// Without the values that have no effect.
Combination Effective(Combination combination) {
  if (combination.compression == Compression::kNone) combination.level = 0;
  if (combination.filter == FilterKind::kNone || combination.filter == FilterKind::kRowIndex) {
    combination.bits = 0;
  }
  return combination;
}

}  // namespace

std::string Parameter::Text(const Combination& combination) const {
  if (number == nullptr) return name_of(combination);
  return combination.*number == 0 ? "" : Concat(combination.*number);
}

absl::Span<const Parameter> Parameters() { return kParameters; }

std::set<std::string> Parameter::Texts(const std::vector<Combination>& combinations) const {
  std::set<std::string> texts;
  for (const Combination& combination : combinations) texts.insert(Text(combination));
  texts.erase("");
  return texts;
}

std::vector<Parameter> SweptParameters(const std::vector<Combination>& combinations) {
  std::vector<Parameter> swept;
  std::copy_if(std::begin(kParameters), std::end(kParameters), std::back_inserter(swept),
               [&](const Parameter& p) { return p.Texts(combinations).size() > 1; });
  return swept;
}

absl::StatusOr<std::vector<Combination>> Combinations(const Sweep& sweep) {
  std::vector<Combination> all(1);
  for (const absl::Status& s : {
           Cross(Numbers("rows", sweep.rows, 1'000, 100'000'000), &Combination::rows, &all),
           Cross(Numbers("value", sweep.value, 1, 100'000), &Combination::value, &all),
           Cross(Numbers("block", sweep.block, 1, 16 << 10), &Combination::block, &all),
           Cross(Positions("compression", sweep.compression, kCompressions, "a compression"),
                 &Combination::compression, &all),
           Cross(Numbers("level", sweep.level, 1, 19), &Combination::level, &all),
           Cross(Positions("filter", sweep.filter, kFilters, "a filter"), &Combination::filter,
                 &all),
           Cross(Numbers("bits", sweep.bits, 1, 32), &Combination::bits, &all),
           Cross(Positions("read_mode", sweep.read_mode, kReadModes, "a read mode"),
                 &Combination::read_mode, &all),
           Cross(Numbers("memory", sweep.memory, 8, 1 << 20), &Combination::memory, &all),
       }) {
    if (!s.ok()) return s;
  }
  std::vector<Combination> combinations;
  for (const Combination& combination : all) {
    const Combination effective = Effective(combination);
    if (std::find(combinations.begin(), combinations.end(), effective) == combinations.end()) {
      combinations.push_back(effective);
    }
  }
  return combinations;
}

}  // namespace bench
