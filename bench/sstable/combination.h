// What is varied: the options of a file and of its reads, each with one or several values.
#ifndef BIGTABLE_BENCH_SSTABLE_COMBINATION_H_
#define BIGTABLE_BENCH_SSTABLE_COMBINATION_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/file_system.h"
#include "bigtable/schema.h"

namespace bench {

// One file and the way to read it. Plain value.
struct Combination {
  uint64_t rows = 0;
  uint64_t value = 0;  // bytes
  uint64_t block = 0;  // KiB
  bigtable::Compression compression = bigtable::Compression::kNone;
  uint64_t level = 0;  // of the compression; 0: it has no level
  bigtable::FilterKind filter = bigtable::FilterKind::kNone;
  uint64_t bits = 0;  // of the Bloom filter for each row; 0: there is none
  bigtable::FileSystem::ReadMode read_mode = bigtable::FileSystem::ReadMode::kMapped;
  uint64_t memory = 0;  // MiB

  friend bool operator==(const Combination&, const Combination&) = default;
};

// A member of Combination, as a flag, a column, and an axis of a chart.
struct Parameter {
  std::string_view name;
  std::string_view unit;
  uint64_t Combination::*number;  // null if its values are names
  std::string (*name_of)(const Combination&);

  // Empty if it has no effect in this combination.
  std::string Text(const Combination& combination) const;
  // All that have an effect in one of these.
  std::set<std::string> Texts(const std::vector<Combination>& combinations) const;
};
absl::Span<const Parameter> Parameters();
// Those that have several values.
std::vector<Parameter> SweptParameters(const std::vector<Combination>& combinations);

// The values of each flag as text: names, or numbers and ranges, between commas.
struct Sweep {
  std::string rows;
  std::string value;
  std::string block;
  std::string compression;
  std::string level;
  std::string filter;
  std::string bits;
  std::string read_mode;
  std::string memory;
};

// Each value of one with each of the others. Combinations that differ only in an argument without
// effect, as in the level of no compression, are one. InvalidArgument names the flag.
absl::StatusOr<std::vector<Combination>> Combinations(const Sweep& sweep);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SSTABLE_COMBINATION_H_
