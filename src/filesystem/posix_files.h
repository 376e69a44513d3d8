// WritableFile and RandomAccessFile over a file descriptor. A WritableFile is used by one thread at
// a time. A RandomAccessFile is immutable, and any thread may read it.
//
// Invariants: when Append returns OK, the operating system has the bytes (there is no buffer here:
// SSTable writers append whole blocks). A file whose Append or Sync failed never returns OK again.
// At most MappedFiles::most files are mapped at a time. A mapped file holds no descriptor, except
// files that were lately read past the mapping, one for each of the two ways: at most an eighth of
// the descriptors that the process may have, and at most 1,024. (Before Linux 5.14 each mapped file
// holds a descriptor, and at most a quarter of the descriptors that the process may have are used
// for that.)
#ifndef BIGTABLE_FILESYSTEM_POSIX_FILES_H_
#define BIGTABLE_FILESYSTEM_POSIX_FILES_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"
#include "filesystem/reopened_files.h"

namespace bigtable {

// State that mapped files share; must outlive them.
struct MappedFiles {
  explicit MappedFiles(int most_mappings) : most(most_mappings) {}
  // The limit of mappings, and their number: Linux allows a process 65530 mappings by default, and
  // the allocator needs some of them.
  const int most;
  std::atomic<int> now{0};
  ReopenedFiles reopened;
};

absl::StatusOr<std::unique_ptr<WritableFile>> NewPosixWritableFile(const PosixPath& path);

// `mapped` is null for a file that must not be mapped.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewPosixRandomAccessFile(const PosixPath& path,
                                                                           MappedFiles* mapped);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_FILES_H_
