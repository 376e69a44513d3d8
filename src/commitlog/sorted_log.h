// A commit log that log_sorter.h has sorted, opened for those who take over its tablets: each reads
// the records of its tablet's rows and no others.
//
// What is promised, for any range:
//
//  1. Each record of the log that lies in the range, up to the end that ReplayLog decided on, is
//     delivered once, whatever copies of it the log has. Records that the log's server had released
//     may be among them: `after` of the range, the tablet's redo point, leaves them out.
//  2. Pieces come in the log's order, and every sequence number in a piece is larger than all in
//     the piece before. Within a piece records are in order of (row, sequence number). So the
//     numbers of each row ascend, and across rows of one piece nothing is said.
//  3. When the range was read from the pieces up to number i, every record of it with a sequence
//     number up to LargestIn(i) was delivered: between two pieces, and only there, a taker may
//     write out its memtables and move the redo point there.
//  4. Not a record is delivered that was not in the log. Bytes that are not those which were
//     written are DataLoss, which names the file and the offset; what was delivered before it is
//     sound. The log itself is still there: remove the sorted one, and sort again.
//
// Thread-safe: any number of takers may read at a time. Keeps a file open for each piece, and some
// 60 bytes and a row in memory for each block of it.
#ifndef BIGTABLE_COMMITLOG_SORTED_LOG_H_
#define BIGTABLE_COMMITLOG_SORTED_LOG_H_

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
#include "commitlog/sorted_log_format.h"
#include "commitlog/sorted_piece.h"

namespace bigtable {

struct SortedLogOptions {
  FileSystem::ReadMode read_mode = FileSystem::ReadMode::kMapped;
  // Whether Open reads every byte of every piece. Pieces are not synced, so whoever cannot be sure
  // that the machine has been up since the sort has to know that all of it is there before it
  // begins to replay; without this, damage is found only when it is come to.
  bool verify = true;
};

class SortedLog {
 public:
  // NotFound: there is none; nobody has begun to sort, or was cut short. DataLoss: it is not whole,
  // as after the loss of power. In either case the log has to be sorted (again). FailedPrecondition
  // if the format is newer than this program.
  static absl::StatusOr<std::unique_ptr<SortedLog>> Open(FileSystem* file_system,
                                                         const std::string& directory,
                                                         const SortedLogOptions& options);

  // What ReplayLog said of the log when it was sorted. Who knows of a sequence number that must
  // have been reached, and did not sort the log itself, compares it with last_sequence.
  SequenceNumber last_sequence() const { return manifest_.last_sequence; }
  uint64_t log_records() const { return manifest_.log_records; }  // copies included
  uint64_t log_segments() const { return manifest_.log_segments; }
  bool clean() const { return manifest_.clean; }

  size_t pieces() const { return pieces_.size(); }
  // The largest sequence number in piece i, of pieces(), counted from 0.
  SequenceNumber LargestIn(size_t i) const { return manifest_.pieces[i].largest; }
  uint64_t records() const;  // in all pieces

  // Delivers what the range has in piece i.
  absl::Status ReadPiece(size_t i, const SortedRange& range, SortedRecordCallback callback) const;
  // The same for all pieces, one after another.
  absl::Status Read(const SortedRange& range, SortedRecordCallback callback) const;

  // Bytes of blocks that were read so far, by Open, which verifies, and by all takers.
  uint64_t bytes_verified() const { return bytes_verified_; }
  uint64_t bytes_read() const { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  explicit SortedLog(SortedManifest manifest) : manifest_(std::move(manifest)) {}

  const SortedManifest manifest_;
  std::vector<std::unique_ptr<SortedPiece>> pieces_;
  uint64_t bytes_verified_ = 0;
  mutable std::atomic<uint64_t> bytes_read_{0};
};

// Removes the sorted log in `directory`, or what is left of one, and nothing else. OK if there is
// none. After OK the loss of power does not bring it back. If this is cut short, Open finds none or
// says DataLoss, or the power was lost before anything was durably gone and it is whole; another
// call goes on. Nobody opens it meanwhile; who has it open can go on reading.
absl::Status RemoveSortedLog(FileSystem* file_system, std::string_view directory);

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SORTED_LOG_H_
