// WritableFile and RandomAccessFile over a file descriptor. A WritableFile belongs to one thread at
// a time; a RandomAccessFile is immutable and any thread may read it.
//
// What always holds: an appended byte is in the operating system's hands when Append returns OK
// (there is no buffer here: SSTable writers append whole blocks); a file whose Append or Sync
// failed is never reported as good again; no more than MappedFiles::most files are mapped at a
// time; a mapped file holds no descriptor. The exception are files that were lately read by
// position: as many as an eighth of the descriptors that the process may have, and at most 128.
// (Before Linux 5.14 each mapped file holds one, and no more are mapped than a quarter of those
// that the process may have.)
#ifndef BIGTABLE_FILESYSTEM_POSIX_FILES_H_
#define BIGTABLE_FILESYSTEM_POSIX_FILES_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"
#include "filesystem/reopened_files.h"

namespace bigtable {

// What mapped files share. Outlives them.
struct MappedFiles {
  explicit MappedFiles(int most_mappings) : most(most_mappings) {}
  // How many there may be, and are: Linux allows a process 65530 mappings by default, and the
  // allocator needs some of them.
  const int most;
  std::atomic<int> now{0};
  ReopenedFiles reopened;
};

absl::StatusOr<std::unique_ptr<WritableFile>> NewPosixWritableFile(const PosixPath& path);

// `mapped` is null for a file that shall not be mapped.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewPosixRandomAccessFile(const PosixPath& path,
                                                                           MappedFiles* mapped);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_FILES_H_
