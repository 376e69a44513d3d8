#include "background/pick_output.h"

#include <cstdint>

#include "base/strings.h"
#include "schema/schema_checks.h"

namespace bigtable {

LocalityGroup WithOutput(LocalityGroup group, const CompactionOutput& output) {
  group.compression = output.compression.value_or(group.compression);
  group.compression_level = output.compression_level.value_or(group.compression_level);
  group.block_size = output.block_size.value_or(group.block_size);
  group.filter = output.filter.value_or(group.filter);
  group.filter_bits = output.filter_bits.value_or(group.filter_bits);
  return group;
}

absl::Status CheckOutput(const CompactionOutput& output) {
  constexpr uint64_t kLeastFile = 64 << 10;
  constexpr uint64_t kMostFile = uint64_t{1} << 40;
  if (const absl::Status checked = CheckFileOptions(" of the output", WithOutput({}, output));
      !checked.ok()) {
    return absl::FailedPreconditionError(checked.message());
  }
  const uint64_t size = output.file_size.value_or(kLeastFile);
  if (size >= kLeastFile && size <= kMostFile) return absl::OkStatus();
  return absl::FailedPreconditionError(
      Cat("file_size of the output must be ", kLeastFile, " to ", kMostFile, ", and is ", size));
}

}  // namespace bigtable
