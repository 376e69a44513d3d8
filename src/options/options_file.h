// The file OPTIONS in a database's directory: the options with which the database runs, or ran
// last, for people and their tools to read. A text: the first line is the format, and the others
// are the options that are plain values, by their names in DatabaseOptions and sorted, with the
// values in effect: a number that was chosen instead of a 0 for "the number of processors", the
// budget that several databases share, the changes of Database::SetOptions.
//
//   bigtable options, format 1
//   balance_interval=10s
//   compaction_rate=0
//   ...
//
// It is written as OPTIONS~, synced and renamed, at the end of an opening and after each change,
// if its contents differ. A read-only opening writes nothing.
//
// The engine never reads it for its options: those that a program passes to Open are the only ones,
// so that a program has the options that its source says, on every machine and after a restart. So
// the file has no checksum, and one that cannot be written prevents neither an opening nor a
// change.
#ifndef BIGTABLE_OPTIONS_OPTIONS_FILE_H_
#define BIGTABLE_OPTIONS_OPTIONS_FILE_H_

#include <string>

#include "absl/status/status.h"

#include "bigtable/file_system.h"
#include "bigtable/options.h"

#include "cluster/directory.h"

namespace bigtable {

// Writes the file, durably. One thread at a time. After an error the file is the old one, or the
// new one, perhaps not durably.
absl::Status WriteOptionsFile(FileSystem* file_system, const DatabaseDirectory& directory,
                              const DatabaseOptions& options);

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_OPTIONS_FILE_H_
