// Database::Checkpoint: a copy of a database in another directory, of one moment, while it is
// written to.
//
//   lease on the files -> image (database_image.h) -> links to the SSTables, or copies of them ->
//   SSTables of what was in memtables (image_copy.h) -> METADATA and the root (new_database.h)
//
// Nothing of the database changes: no memtable is rotated, and no flush or compaction waits.
#ifndef BIGTABLE_TRANSFER_CHECKPOINT_H_
#define BIGTABLE_TRANSFER_CHECKPOINT_H_

#include <string_view>

#include "absl/status/status.h"

#include "base/call_limits.h"
#include "transfer/image_copy.h"

namespace bigtable {

// Errors of NewDatabase::Begin and CopyImage, of files, and of the limits: then nothing is left in
// `directory`.
absl::Status WriteCheckpoint(const CopyParts& parts, std::string_view directory,
                             const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_CHECKPOINT_H_
