// A commit log that log_sorter.h has sorted, opened for the servers that take over its tablets:
// each reads only the records of its tablet's rows.
//
// Guarantees, for any range:
//
// 1. Each record of the log in the range, up to the end that ReplayLog found, is delivered once,
//    however many copies of it the log has. Records that the log's server had released may be among
//    them: `after` of the range, the tablet's redo point, excludes them.
// 2. Pieces are in log order, and every sequence number in a piece is larger than all in earlier
//    pieces. Within a piece, records are in the order (row, sequence number). So the numbers of
//    each row ascend; between rows of one piece there is no order of numbers.
// 3. When the range was read from the pieces up to number i, every record in it with a sequence
//    number up to LargestIn(i) was delivered. So between two pieces, and only there, the server may
//    flush its memtables and move the redo point to that number.
// 4. Only records of the log are delivered. Bytes that differ from what was written are DataLoss,
//    which names the file and the offset; records that were delivered before are valid. The log
//    itself still exists: remove the sorted one, and sort again.
//
// Thread-safe: any number of servers may read at a time. Keeps a file open for each piece, and
// about 60 bytes and a row in memory for each block.
#ifndef BIGTABLE_RECOVERY_SORTED_LOG_H_
#define BIGTABLE_RECOVERY_SORTED_LOG_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "recovery/sorted_log_format.h"
#include "recovery/sorted_piece.h"

namespace bigtable {

struct SortedLogOptions {
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
  // Whether Open reads every byte of every piece. Pieces are not synced. If the machine may have
  // crashed since the sort, the caller must know that the sorted log is complete before it begins
  // to replay. If false, damage is found only when it is read.
  bool verify = true;
};

class SortedLog {
 public:
  // NotFound: there is none; sorting has not begun, or was interrupted. DataLoss: it is incomplete,
  // as after a power loss, or an earlier program has made it. In either case sort the log (again).
  // FailedPrecondition: the format is newer than this program.
  static absl::StatusOr<std::unique_ptr<SortedLog>> Open(FileSystem* file_system,
                                                         const std::string& directory,
                                                         const SortedLogOptions& options);

  // The results of ReplayLog when the log was sorted. A caller that did not sort the log itself,
  // and knows a sequence number that the log must reach, compares it with last_sequence.
  SequenceNumber last_sequence() const { return manifest_.last_sequence; }
  uint64_t log_records() const { return manifest_.log_records; }  // copies included
  uint64_t log_segments() const { return manifest_.log_segments; }
  bool clean() const { return manifest_.clean; }

  size_t pieces() const { return pieces_.size(); }
  // The largest sequence number in piece i; i counts from 0 to pieces() - 1.
  SequenceNumber LargestIn(size_t i) const { return manifest_.pieces[i].largest; }
  uint64_t records() const;  // in all pieces

  // Delivers the records of the range in piece i.
  absl::Status ReadPiece(size_t i, const SortedRange& range, SortedRecordCallback callback) const;
  // The same for all pieces, one after another.
  absl::Status Read(const SortedRange& range, SortedRecordCallback callback) const;

  // Bytes of blocks that were read so far: by Open for verification, and by all reads.
  uint64_t bytes_verified() const { return bytes_verified_; }
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  explicit SortedLog(SortedManifest manifest) : manifest_(std::move(manifest)) {}

  const SortedManifest manifest_;
  std::vector<std::unique_ptr<SortedPiece>> pieces_;
  uint64_t bytes_verified_ = 0;
  mutable std::atomic<uint64_t> bytes_read_{0};
};

// Removes the sorted log in `directory`, or the remains of one, and nothing else. OK if there is
// none. After OK a power loss does not bring it back. If this is interrupted, Open returns NotFound
// or DataLoss, or finds the whole sorted log if power was lost before any removal was durable;
// another call continues. It must not be opened concurrently. Objects that have it open can
// continue to read.
absl::Status RemoveSortedLog(FileSystem* file_system, std::string_view directory);

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_SORTED_LOG_H_
