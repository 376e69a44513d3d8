// Where a database keeps its files: the part that GFS plays in the paper (section 4).
//
// POSIX is the default. A program may bring its own, for storage of another kind; the engine asks
// of it only what is promised here.
#ifndef BIGTABLE_FILE_SYSTEM_H_
#define BIGTABLE_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable {

// A file that is written once, from its start to its end. One thread at a time. Once Append or Sync
// has failed they fail for good: what the file holds is not known, and it is to be removed.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes; unsynced bytes may be lost with the machine

  // Adds `data` at the end. After OK it survives the death of the process, not of the machine.
  virtual absl::Status Append(std::string_view data) = 0;
  // Everything appended survives the death of the machine. The file's name does only after
  // FileSystem::SyncDirectory.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

// A file that is read at any position. Thread-safe.
class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Reads exactly `n` bytes at `offset` into `buffer`. Fewer bytes in the file: DataLoss that names
  // the file and the offset.
  virtual absl::Status Read(uint64_t offset, size_t n, char* buffer) const = 0;
  virtual uint64_t size() const = 0;
  // Another number for each file that is there at the same time, whatever its name: by it a file
  // that was opened again is known to be the same. 0 where it cannot be known.
  virtual uint64_t identity() const { return 0; }

  // The whole file as memory, for as long as this object lives, or null where the file system does
  // not map files. A byte of it is touched only after Populate() of its range said OK.
  virtual const char* mapping() const { return nullptr; }
  // Brings [offset, offset + n) of the mapping into memory, so that an I/O error is an error here
  // and not a signal later. Reads nothing else. What is not there may be read a page at a time:
  // after WillNeed it is read by one request.
  virtual absl::Status Populate(uint64_t /*offset*/, size_t /*n*/) const {
    return absl::UnimplementedError("this file system does not map files");
  }
  // Begins to bring [offset, offset + n) of the mapping from the disk, and does not wait for it.
  virtual void WillNeed(uint64_t /*offset*/, size_t /*n*/) const {}
  // Whether Read() of this mapped file goes past the mapping: then what is not in memory, and would
  // be dropped again soon, is read by it rather than populated. Advice: the answer may change, and
  // Read() works either way. May open the file again for this, which costs a few system calls.
  virtual bool ReadsByPosition() const { return false; }
  // Whether [offset, offset + n) of the mapping, once populated, is still in memory: a system drops
  // pages when memory is short. Advice; true where it cannot be known.
  virtual bool IsResident(uint64_t /*offset*/, size_t /*n*/) const { return true; }
};

// A file of a fixed size that is written in place: a segment of the commit log. Writes come from
// one thread at a time; Sync may run beside them.
class LogFile {
 public:
  virtual ~LogFile() = default;

  virtual uint64_t size() const = 0;
  // The file as writable memory whose space is really reserved, so that a store cannot meet a full
  // disk, or null: then Write() is the only way. A store survives the death of the process.
  virtual char* mapping() = 0;
  // Writes `data` at `offset`; requires that it fits into size(). Survives the process's death.
  virtual absl::Status Write(uint64_t offset, std::string_view data) = 0;
  // Everything stored or written before the call survives the death of the machine. After an error
  // nothing is known about what was written since the last success, and every later Sync fails: a
  // system that has failed once may say OK the next time and have lost the bytes.
  virtual absl::Status Sync() = 0;
};

// Held while it lives; see FileSystem::LockFile.
class FileLock {
 public:
  virtual ~FileLock() = default;

  // FailedPrecondition once the path names another file than the one that is locked, or none: then
  // somebody else may lock it, too. A cheap look at the name, at most one system call. Thread-safe.
  virtual absl::Status Check() const { return absl::OkStatus(); }
};

// Thread-safe. Paths use '/'. Errors: NotFound, AlreadyExists, PermissionDenied,
// ResourceExhausted (no space left, too many open files), FailedPrecondition (a directory where a
// file is meant or the reverse, or one that is not empty), Unavailable (an I/O error, which may
// pass), each with the path and the system's reason.
class FileSystem {
 public:
  // How NewRandomAccessFile reads.
  enum class ReadMode { kMapped, kPositional };
  enum class LockMode { kExclusive, kShared };

  virtual ~FileSystem() = default;

  // The machine's own file system. Lives for ever.
  static FileSystem* Posix();

  // This file system for who works in the directory `path` for long. In what is returned `path`,
  // and every path that begins with it and '/', leads into the directory that is there now: also
  // when the directory is renamed, when another one takes its place, or when the path is relative
  // and the process changes its working directory. Other paths are as before. This file system
  // outlives it, and it outlives its locks, but not its files.
  //
  // Null where no path changes its meaning in these ways: then this file system itself serves.
  // NotFound; FailedPrecondition if it is no directory.
  virtual absl::StatusOr<std::unique_ptr<FileSystem>> HoldDirectory(std::string_view /*path*/) {
    return nullptr;
  }

  // Creates `path`, or empties it if it exists.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) = 0;
  // kMapped is a wish: without it, or where it cannot be had, mapping() is null.
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      std::string_view path, ReadMode mode) = 0;
  // Creates a log file of `size` bytes, all zero, its space reserved where the system can do that
  // (ResourceExhausted when there is none) and its memory populated.
  virtual absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                              uint64_t size) = 0;

  // The whole file, for small ones.
  virtual absl::StatusOr<std::string> ReadFile(std::string_view path) = 0;
  virtual absl::StatusOr<uint64_t> FileSize(std::string_view path) = 0;
  virtual bool FileExists(std::string_view path) = 0;
  // The names (not paths) in the directory, sorted.
  virtual absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view path) = 0;

  // OK if it is there already. The parent must exist.
  virtual absl::Status CreateDirectory(std::string_view path) = 0;
  // The directory must be empty.
  virtual absl::Status RemoveDirectory(std::string_view path) = 0;
  // Who has the file open or mapped keeps its bytes.
  virtual absl::Status RemoveFile(std::string_view path) = 0;
  // Atomic: whoever looks finds the old `to` or the new one. An open file keeps its bytes.
  virtual absl::Status RenameFile(std::string_view from, std::string_view to) = 0;
  // What is in the file, whoever has written it, survives the death of the machine.
  virtual absl::Status SyncFile(std::string_view path) = 0;
  // Creations, removals and renames in `path` survive the death of the machine.
  virtual absl::Status SyncDirectory(std::string_view path) = 0;

  // Locks `path` against everybody else in this and every other process: kExclusive creates it if
  // need be, kShared keeps out only exclusive holders, writes nothing and says NotFound if there is
  // no such file. FailedPrecondition when somebody holds it, with the process that does where that
  // is known.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path,
                                                             LockMode mode) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_FILE_SYSTEM_H_
