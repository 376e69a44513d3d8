// The directory of a commit log: how it comes and how it goes. Any thread, one at a time for each
// directory.
#ifndef BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_
#define BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_

#include <string_view>

#include "absl/status/status.h"

#include "bigtable/file_system.h"

namespace bigtable {

// Creates `directory`, whose parent exists, durably. AlreadyExists if there is a log in it.
absl::Status CreateLogDirectory(FileSystem* file_system, std::string_view directory);

// Makes the log in `directory`, which nobody writes any more, survive the death of the machine as
// it is. OK if there is no such directory.
absl::Status SyncLog(FileSystem* file_system, std::string_view directory);

// Removes the log in `directory` and the directory itself: everything in it was written out. If
// this is cut short, ReplayLog with must_exist = false still says that nothing is needed, and
// another call goes on. OK if there is no such directory. What is in it that is no log's stays, and
// so does the directory then: what somebody else has put there, or what the system has put in the
// place of a file that was removed while it was open (NFS and FUSE do).
absl::Status RemoveLog(FileSystem* file_system, std::string_view directory);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_LOG_DIRECTORY_H_
