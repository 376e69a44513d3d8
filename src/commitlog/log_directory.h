// Creates, secures and removes the directory of a commit log. Any thread, one at a time for each
// directory.
#ifndef BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_
#define BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "bigtable/file_system.h"

namespace bigtable {

// Creates `directory`, whose parent exists, durably. AlreadyExists if there is a log in it.
absl::Status CreateLogDirectory(FileSystem* file_system, std::string_view directory);

// Makes the log in `directory`, which has no writer any more, survive a crash of the machine as it
// is. OK if there is no such directory.
absl::Status SyncLog(FileSystem* file_system, std::string_view directory);

// The same for a log whose files cannot be synced: replaces the segments from number `first` on by
// copies that are durable. Needs the space of these segments for as long as the files that are
// replaced are open. If this is interrupted, each segment is the old file or its copy.
absl::Status CopyLog(FileSystem* file_system, std::string_view directory, uint64_t first);

// Removes the log in `directory` and the directory itself. Its data must have been flushed. If this
// is interrupted, ReplayLog with must_exist = false still reports that nothing is needed, and
// another call continues the removal. OK if there is no such directory. Files that are not part of
// a log stay, and then the directory stays too: files that another program put there, or that the
// system put in the place of a file that was removed while it was open (NFS and FUSE do).
absl::Status RemoveLog(FileSystem* file_system, std::string_view directory);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_
