// WritableFile and RandomAccessFile over a file descriptor. A WritableFile belongs to one thread at
// a time; a RandomAccessFile is immutable and any thread may read it.
//
// What always holds: an appended byte is in the operating system's hands when Append returns OK
// (there is no buffer here: SSTable writers append whole blocks); a file whose Append or Sync
// failed is never reported as good again; no more than MappingLimit::most files are mapped at a
// time, and a mapped file holds no descriptor (before Linux 5.14 it does, and no more are mapped
// than a quarter of those that the process may have).
#ifndef BIGTABLE_FILESYSTEM_POSIX_FILES_H_
#define BIGTABLE_FILESYSTEM_POSIX_FILES_H_

#include <atomic>
#include <memory>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "filesystem/posix_io.h"

namespace bigtable {

// How many files are mapped, and how many may be: Linux allows a process 65530 mappings by default,
// and the allocator needs some of them. Outlives the files.
struct MappingLimit {
  explicit MappingLimit(int most_mappings) : most(most_mappings) {}
  const int most;
  std::atomic<int> now{0};
};

absl::StatusOr<std::unique_ptr<WritableFile>> NewPosixWritableFile(const PosixPath& path);

// `limit` is null for a file that shall not be mapped.
absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewPosixRandomAccessFile(const PosixPath& path,
                                                                           MappingLimit* limit);

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_POSIX_FILES_H_
