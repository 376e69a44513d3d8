// The file system that stores a database: the part that GFS plays in the paper (section 4).
//
// The default is POSIX. A program may provide its own for another kind of storage. The engine
// relies only on what this file promises. An implementation may rely on how the engine uses files:
//
// * A WritableFile is only appended to, and no file is opened twice for writing. SSTables get
// pieces
//   of a multiple of 256 KiB, then a shorter one, one Sync and Close, and are read after that.
//   Small files (the lock service's, OPTIONS) get one Append, Sync and Close under a name that ends
//   with
//   '~', and are then renamed to the name that they replace. The info log gets a line at a time and
//   no Sync. What is read again later was closed, and was synced unless a crash of the machine may
//   lose it.
// * Only LogFiles are written in place. There are two kinds:
//     STATE, of 8192 bytes: 64 bytes at offset 0, Sync, the same 64 bytes at 4096, Sync; again and
//     again.
//     Segments, of a multiple of 4096 bytes: from offset 0 on, each Write begins where the last one
//     ended, at a multiple of 8 and with a multiple of 8 bytes. Two exceptions, in a segment that
//     replaces one whose calls stall: bytes from offset 40 on are written first and those before it
//     after them. And a segment that is no longer needed is renamed to the next number while it is
//     open, and written again from offset 0; what the Writes have not reached keeps its old bytes.
//   A LogFile that was closed is never opened for writing again. Another opening of the database
//   reads it with NewRandomAccessFile or ReadFile, syncs it with SyncFile, and may replace it by a
//   copy that it writes as a WritableFile. It may also be read while it is open.
// * A file is linked only after it was closed.
#ifndef BIGTABLE_FILE_SYSTEM_H_
#define BIGTABLE_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"

namespace bigtable {

// A file that is written once, from start to end. One thread at a time. After Append or Sync has
// failed, every later Append and Sync fails: the contents are unknown, and the file should be
// removed.
class BIGTABLE_EXPORT WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes; a crash of the machine may lose unsynced bytes

  // Adds `data` at the end. After OK it survives a crash of the process, but not of the machine.
  virtual absl::Status Append(std::string_view data) = 0;
  // After OK everything appended survives a crash of the machine. The file's name survives only
  // after FileSystem::SyncDirectory.
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

// Reads of several ranges of several files that are under way together. A read is begun with
// RandomAccessFile::BeginRead. One thread at a time.
class BIGTABLE_EXPORT ReadQueue {
 public:
  // A read of [offset, offset + size) of a file, past the memory of the system like
  // RandomAccessFile::ReadUncached. Until it is done, it stays where it is, and so do its memory
  // and the file.
  struct Read {
    // Has room for whole sectors, at the boundary of one.
    static constexpr uint64_t MemoryFor(uint64_t n) { return n + 3 * 4096; }

    uint64_t offset = 0;
    uint64_t size = 0;
    char* memory = nullptr;  // MemoryFor(size) bytes
    // Set when it is done.
    bool is_done = false;
    absl::Status status;
    const char* bytes = nullptr;  // where in `memory` they are
    // The implementation's.
    std::shared_ptr<const void> keeps;
    uint64_t expected = 0;
  };
  // Requires that every read is done.
  virtual ~ReadQueue() = default;

  // How many reads may be under way at a time.
  virtual size_t most() const = 0;
  // Makes the disk begin those that were begun since the last call.
  virtual void Submit() = 0;
  // Waits until the read, which was begun, is done. Others may be done before it.
  virtual void Wait(Read* read) = 0;
  // Waits until one is done that was not when the last call returned. Returns at once if none is
  // under way. May return earlier.
  virtual void WaitForAny() = 0;
};

// A file that is read at any position. Thread-safe.
class BIGTABLE_EXPORT RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;

  // Reads exactly `n` bytes at `offset` into `buffer`. If the file has fewer bytes: DataLoss that
  // names the file and the offset.
  virtual absl::Status Read(uint64_t offset, size_t n, char* buffer) const = 0;
  virtual uint64_t size() const = 0;
  // A number that differs between files that exist at the same time, whatever their names. A file
  // that is opened again is recognized by it. 0 if it cannot be known.
  virtual uint64_t identity() const { return 0; }

  // The whole file as memory, valid as long as this object, or null if the file system does not map
  // files. A byte of it may be touched only after Populate() of its range returned OK.
  virtual const char* mapping() const { return nullptr; }
  // Brings [offset, offset + n) of the mapping into memory, so that an I/O error is an error here
  // and not a signal later. Reads nothing else. It may read absent parts a page at a time; after
  // WillNeed it reads them with one request.
  virtual absl::Status Populate(uint64_t /*offset*/, size_t /*n*/) const {
    return absl::UnimplementedError("this file system does not map files");
  }
  // Begins to bring [offset, offset + n) from the disk into the memory of the system, whether the
  // file is mapped or not, and does not wait for it; several such requests overlap. A Read or
  // Populate that follows waits for what is missing, and reports errors. Advice, which may be
  // ignored.
  virtual void WillNeed(uint64_t /*offset*/, size_t /*n*/) const {}
  // Whether Read() of this mapped file bypasses the mapping. If so, the engine uses Read() instead
  // of Populate() for data that is not in memory and would soon be dropped again. Advice: the
  // answer may change, and Read() works either way. May open the file again, which costs a few
  // system calls.
  virtual bool ReadsByPosition() const { return false; }
  // Reads like Read(), for data that is rarely needed: past the mapping, and past the memory of the
  // system, in which it would displace other data. May read some more from the disk, up to the size
  // of its sectors at each end. Offset, size and address at multiples of 4096 save a copy.
  virtual absl::Status ReadUncached(uint64_t offset, size_t n, char* buffer) const {
    return Read(offset, n, buffer);
  }
  // Whether ReadUncached() does what it says. If not, the engine does not use it. Advice, as with
  // ReadsByPosition().
  virtual bool ReadsUncached() const { return false; }
  // Adds a read to the queue, which is of this file system, and does not wait for it. False: it was
  // not added, and the file must be read with another call. That may hold for this read or for all.
  virtual bool BeginRead(ReadQueue* /*queue*/, ReadQueue::Read* /*read*/) const { return false; }
  // Whether [offset, offset + n) of the mapping, after Populate(), is still in memory: a system
  // drops pages when memory is short. Advice; true if it cannot be known.
  virtual bool IsResident(uint64_t /*offset*/, size_t /*n*/) const { return true; }
};

// A file of a fixed size that is written in place: a segment of the commit log. Writes come from
// one thread at a time; Sync may run concurrently with them.
class BIGTABLE_EXPORT LogFile {
 public:
  virtual ~LogFile() = default;

  virtual uint64_t size() const = 0;
  // The file as writable memory whose space is reserved, so that a store cannot fail because the
  // disk is full. Null if Write() is the only way. A store survives a crash of the process.
  virtual char* mapping() = 0;
  // Writes `data` at `offset`; it must fit into size(). Survives a crash of the process.
  virtual absl::Status Write(uint64_t offset, std::string_view data) = 0;
  // Everything stored or written before the call survives a crash of the machine. After an error,
  // nothing is known about the bytes written since the last success, and every later Sync fails: a
  // system that failed once may return OK the next time although it lost the bytes.
  virtual absl::Status Sync() = 0;
};

// A lock, held as long as this object lives; see FileSystem::LockFile.
class BIGTABLE_EXPORT FileLock {
 public:
  virtual ~FileLock() = default;

  // FailedPrecondition if the path no longer names the locked file: then another process may lock
  // it too. Cheap: at most one system call. Thread-safe.
  virtual absl::Status Check() const { return absl::OkStatus(); }
};

// Thread-safe. Paths use '/'. Errors: NotFound, AlreadyExists, PermissionDenied, ResourceExhausted
// (no space left, too many open files), FailedPrecondition (a directory instead of a file or the
// reverse, or a directory that is not empty; or a reason of the implementation why it does not open
// a file), Unavailable (an I/O error, which may be temporary). Each names the path and the system's
// reason.
class BIGTABLE_EXPORT FileSystem {
 public:
  // How NewRandomAccessFile reads.
  enum class ReadMode { kMapped, kPositional };
  enum class LockMode { kExclusive, kShared };

  virtual ~FileSystem() = default;

  // The machine's own file system. Never destroyed.
  static FileSystem* Posix();

  // Returns this file system for long-term work in the directory `path`. In the result, `path` and
  // every path below it refer to the directory that `path` names now, even if the directory is
  // renamed or replaced, or if the path is relative and the process changes its working directory.
  // Other paths are as before. This file system must outlive the result. The result must outlive
  // its locks, but not its files.
  //
  // Null if no path can change its meaning in these ways: then use this file system itself.
  // NotFound; FailedPrecondition if it is not a directory.
  virtual absl::StatusOr<std::unique_ptr<FileSystem>> HoldDirectory(std::string_view /*path*/) {
    return nullptr;
  }

  // Creates `path`, or empties it if it exists.
  virtual absl::StatusOr<std::unique_ptr<WritableFile>> NewWritableFile(std::string_view path) = 0;
  // kMapped is a request: if the file cannot be mapped, and with kPositional, mapping() is null.
  virtual absl::StatusOr<std::unique_ptr<RandomAccessFile>> NewRandomAccessFile(
      std::string_view path, ReadMode mode) = 0;
  // Creates a log file of `size` zero bytes, with its memory populated. Its space is reserved if
  // the system can do that (ResourceExhausted if there is not enough).
  virtual absl::StatusOr<std::unique_ptr<LogFile>> NewLogFile(std::string_view path,
                                                              uint64_t size) = 0;

  // For reads that are under way together. Null: there is no such thing now, and RandomAccessFile
  // has WillNeed for it. May make system calls, and use a descriptor.
  virtual std::unique_ptr<ReadQueue> NewReadQueue() { return nullptr; }

  // Reads a whole file; for small files.
  virtual absl::StatusOr<std::string> ReadFile(std::string_view path) = 0;
  virtual absl::StatusOr<uint64_t> FileSize(std::string_view path) = 0;
  virtual bool FileExists(std::string_view path) = 0;
  // The names (not paths) in the directory, sorted.
  virtual absl::StatusOr<std::vector<std::string>> ListDirectory(std::string_view path) = 0;

  // OK if it exists already. The parent must exist.
  virtual absl::Status CreateDirectory(std::string_view path) = 0;
  // The directory must be empty.
  virtual absl::Status RemoveDirectory(std::string_view path) = 0;
  // Threads that have the file open or mapped keep its bytes.
  virtual absl::Status RemoveFile(std::string_view path) = 0;
  // Atomic: at any time `to` names either the old file or the new one. An open file keeps its
  // bytes.
  virtual absl::Status RenameFile(std::string_view from, std::string_view to) = 0;
  // Gives a file that nobody writes any more a second name, which is free: removing one of the two
  // leaves the other. AlreadyExists. Unimplemented: this file system cannot, or not between these
  // directories; the caller copies the bytes instead.
  virtual absl::Status LinkFile(std::string_view from, std::string_view /*to*/) {
    return absl::UnimplementedError(std::string(from) + ": this file system has no links");
  }
  // Everything in the file, whichever process wrote it, survives a crash of the machine.
  virtual absl::Status SyncFile(std::string_view path) = 0;
  // Creations, removals and renames in `path` survive a crash of the machine.
  virtual absl::Status SyncDirectory(std::string_view path) = 0;

  // Locks `path` against all other locks in this and every other process. kExclusive creates the
  // file if needed. kShared conflicts only with exclusive locks, writes nothing, and returns
  // NotFound if there is no such file. FailedPrecondition if the lock is held; the message names
  // the process if it is known.
  virtual absl::StatusOr<std::unique_ptr<FileLock>> LockFile(std::string_view path,
                                                             LockMode mode) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_FILE_SYSTEM_H_
