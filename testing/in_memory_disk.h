// The state that an in-memory file system and its open files share: the names, the limit, and the
// lock that guards all of it. Only stores into a log file's mapping, and reads of a
// RandomAccessFile's mapping, need no lock.
#ifndef BIGTABLE_TESTING_IN_MEMORY_DISK_H_
#define BIGTABLE_TESTING_IN_MEMORY_DISK_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"
#include "testing/in_memory_names.h"

namespace bigtable {

struct InMemoryDisk {
  Mutex mutex;
  InMemoryNames names ABSL_GUARDED_BY(mutex);
  uint64_t max_total_bytes ABSL_GUARDED_BY(mutex) = UINT64_MAX;

  // The sum of the bytes of all files that have a name.
  uint64_t TotalBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // How many more bytes fit.
  uint64_t FreeBytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
};

// Open files. They keep the disk and their bytes alive, even if the file system or the name is
// gone. The first two write `bytes`, which are already the file's content.
std::unique_ptr<WritableFile> NewInMemoryWritableFile(std::shared_ptr<InMemoryDisk> disk,
                                                      std::shared_ptr<InMemoryFile> file,
                                                      std::shared_ptr<AppendedBytes> bytes,
                                                      std::string path);
std::unique_ptr<LogFile> NewInMemoryLogFile(std::shared_ptr<InMemoryDisk> disk,
                                            std::shared_ptr<InMemoryFile> file,
                                            std::shared_ptr<LogBytes> bytes, std::string path);
// `mapping` may be null. size() is the file's current size.
std::unique_ptr<RandomAccessFile> NewInMemoryRandomAccessFile(std::shared_ptr<InMemoryDisk> disk,
                                                              std::shared_ptr<InMemoryFile> file,
                                                              uint64_t size,
                                                              std::shared_ptr<const char> mapping,
                                                              std::string path);

}  // namespace bigtable

#endif  // BIGTABLE_TESTING_IN_MEMORY_DISK_H_
