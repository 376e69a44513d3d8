// Reads the entries of an SSTable past damage: those of every block that is sound.
//
// With its index, the file is read block by block, and the keys around a damaged block are known
// from the index. If the index, the filter, the properties or the footer cannot be read, the blocks
// are found by their checksums: they are adjacent from offset 0, and the end of each is where its
// checksum holds. That needs the file's identity, from METADATA or the footer, and ends at the
// first block that is damaged itself, or that needs the file's dictionary.
//
// Cost: reads the whole file once; without an index it has the file in memory, and takes some ten
// nanoseconds a byte.
#ifndef BIGTABLE_REPAIR_SSTABLE_SALVAGE_H_
#define BIGTABLE_REPAIR_SSTABLE_SALVAGE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// Where entries may be missing: those with keys after `after` ("" is before all), up to `last` and
// with it (none: to the end of the file).
struct KeyGap {
  std::string after;
  std::optional<std::string> last;
};

struct SalvagedSSTable {
  absl::Status damage;         // OK: the file is sound
  std::vector<KeyGap> gaps;    // ascending; none if the file is sound, or only its filter is not
  uint64_t entries = 0;        // delivered
  bool is_identified = false;  // its properties were read: `info` and `owner` are right
  SSTableInfo info;            // as SSTable::info
  std::optional<SSTableOwner> owner;
};

struct SSTableSalvageParts {
  FileSystem* file_system = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  CallLimits limits;
};

// Delivers the entries in key order, with the sequence numbers that the database has for them.
// `expected`: the file's description in METADATA; null if it has none. An error of the callback
// ends it and is returned, and so do errors that are no damage (read_errors.h) and the limits.
using EntryCallback = absl::FunctionRef<absl::Status(std::string_view key, std::string_view value)>;
absl::StatusOr<SalvagedSSTable> SalvageSSTable(const SSTableSalvageParts& parts,
                                               const std::string& path, const SSTableInfo* expected,
                                               EntryCallback callback);

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_SSTABLE_SALVAGE_H_
