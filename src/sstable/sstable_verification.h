// Reads a whole SSTable to see whether it is sound. Any thread.
#ifndef BIGTABLE_SSTABLE_SSTABLE_VERIFICATION_H_
#define BIGTABLE_SSTABLE_SSTABLE_VERIFICATION_H_

#include <string>

#include "absl/status/status.h"

#include "bigtable/file_system.h"

#include "sstable/sstable_info.h"

namespace bigtable {

// Reads the file by position, past every cache, and verifies every checksum, and the order, the
// form and the number of the entries. `expected` is its description in METADATA, or what opening it
// has shown. DataLoss describes the first damage; errors of the file system otherwise.
absl::Status VerifySSTable(FileSystem* file_system, const std::string& path,
                           const SSTableInfo& expected);

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_VERIFICATION_H_
