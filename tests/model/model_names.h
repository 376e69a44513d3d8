// Random rows, columns, families and tables for the model test: few names, with special bytes.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_NAMES_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_NAMES_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"

#include "support/model.h"
#include "support/random.h"

namespace bigtable {

inline const std::vector<std::string>& ModelRows() {
  using namespace std::string_literals;
  static const std::vector<std::string> kRows = [] {
    std::vector<std::string> rows = {"a"s,
                                     "a\0"s,
                                     "a\0\0"s,
                                     "a\0b"s,
                                     "a\xff"s,
                                     "a\xff\xff"s,
                                     "ab"s,
                                     "abc"s,
                                     "b"s,
                                     "\0"s,
                                     "\0\0"s,
                                     "\0\x01"s,
                                     "\x01"s,
                                     "\xff"s,
                                     "\xff\0"s,
                                     "q"s,
                                     "f0"s,
                                     ":"s,
                                     "\n"s,
                                     "row 1"s,
                                     "row 10"s,
                                     "\xff\xff"s,
                                     "\xff\x01"s,
                                     "a\x01"s,
                                     std::string(300, 'k'),
                                     std::string(299, 'k') + "\xff"};
    for (int i = 0; i < 14; ++i) rows.push_back(absl::StrCat("user", i));
    return rows;
  }();
  return kRows;
}
inline std::string RandomRow(Random& random) {
  if (random.OneIn(150)) return std::string(RowMutation::kMaxRowSize, random.OneIn(2) ? 'r' : '\0');
  // A third of the draws are from three rows, so that some columns have long histories.
  if (random.OneIn(3)) return ModelRows()[random.Below(3)];
  return random.Pick(ModelRows());
}

inline std::string RandomQualifier(Random& random) {
  using namespace std::string_literals;
  static const std::vector<std::string> kQualifiers = {
      ""s, "\0"s, "\0\0"s, "\xff"s, "\xff\xff"s, "q"s, "q\0"s, "q1"s, ":"s, "a:b"s, "\n"s};
  if (random.OneIn(400)) return std::string(RowMutation::kMaxQualifierSize, 'l');
  return random.OneIn(3) ? kQualifiers[random.Below(2)] : random.Pick(kQualifiers);
}

inline std::string RandomFamilyName(Random& random) {
  static const std::vector<std::string> kNames = {"a", "ab", "b!", "c", "~z", "B"};
  return random.Pick(kNames);
}
inline std::string RandomTableName(Random& random) {
  static const std::vector<std::string> kNames = {"t0", "t0", "t0", "t1", "t2"};
  return random.Pick(kNames);
}
// A random family of the table, which must have one.
inline std::string ExistingFamily(Random& random, const ModelTable& table) {
  std::vector<std::string> names;
  for (const auto& [name, family] : table.schema().families) names.push_back(name);
  return random.Pick(names);
}

// One that holds bytes, of which the table must have one.
inline std::string BytesFamily(Random& random, const ModelTable& table) {
  std::vector<std::string> names;
  for (const auto& [name, family] : table.schema().families) {
    if (!HoldsAggregates(family)) names.push_back(name);
  }
  return random.Pick(names);
}

// From `least` to `most`. Each order of magnitude is equally likely.
inline uint64_t LogUniform(Random& random, uint64_t least, uint64_t most) {
  const uint64_t base = least << random.Below(static_cast<uint64_t>(std::bit_width(most / least)));
  return std::min(most, base + random.Below(base));
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_NAMES_H_
