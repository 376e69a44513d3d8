// The commit log of a server that was lost, sorted, so that each server that takes over some of its
// tablets reads only its part (section 6 of the paper). The log itself is read once, by the master,
// which has it sorted. A small log is sorted in memory.
//
// It also finds the parts of batches in the log. Before the mutations are read, it is determined
// which of the batches count (batch_recovery.h).
#ifndef BIGTABLE_RECOVERY_DEAD_LOG_H_
#define BIGTABLE_RECOVERY_DEAD_LOG_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "recovery/log_replay.h"
#include "recovery/log_sorter.h"
#include "recovery/sorted_log.h"
#include "recovery/void_batches.h"
#include "schema/mutation_format.h"

namespace bigtable {

// Thread-safe once opened, except EndAt and Skip.
class DeadLog {
 public:
  struct Options {
    // The sequence number to which the log is known to be durable, and whether a log must exist.
    ReplayOptions replay;
    // Mutations with larger sequence numbers were never acknowledged, and must not be read.
    SequenceNumber last = kMaxSequence;
    // Whether batches whose parts would be in this log, but are not, are lost. Otherwise the log
    // may have been removed in part, because it is not needed.
    bool is_whole = true;
    // The server's mutations up to this number are in SSTables, wherever its log ends.
    SequenceNumber flushed = 0;
    // Where the sorted pieces of a log go that is larger than one piece. Empty: they stay in
    // memory.
    std::string sorted_directory;
    uint64_t piece_size = uint64_t{64} << 20;
  };

  // Reads and sorts the log in `directory`. Errors of SortLog.
  static absl::StatusOr<std::unique_ptr<DeadLog>> Sort(FileSystem* file_system,
                                                       const std::string& server,
                                                       const std::string& directory,
                                                       const Options& options);
  // Removes the sorted pieces.
  ~DeadLog();
  DeadLog(const DeadLog&) = delete;
  DeadLog& operator=(const DeadLog&) = delete;

  const std::string& server() const { return server_; }
  SequenceNumber last_sequence() const { return log_->last_sequence(); }
  const SortLogStatistics& statistics() const { return statistics_; }

  // The part of a batch that has others in other logs.
  struct BatchPart {
    SequenceNumber first = 0;
    SequenceNumber last = 0;
    std::vector<std::pair<std::string, SequenceNumber>> others;  // server, last number of its part
  };
  // In the order of the log.
  const std::vector<BatchPart>& parts() const { return parts_; }
  bool is_whole() const { return is_whole_; }
  // Whether the server's mutations up to `sequence` are in SSTables.
  bool IsFlushed(SequenceNumber sequence) const { return sequence <= flushed_; }
  SequenceNumber flushed() const { return flushed_; }
  // The last sequence number that is read.
  SequenceNumber last() const { return std::min(last_, last_sequence()); }
  // Before the first Read: mutations after `last`, and those of void batches, are not read.
  void EndAt(SequenceNumber last) { last_ = std::min(last_, last); }
  void Skip(std::vector<VoidBatches::Batch> void_batches) { void_ = std::move(void_batches); }

  using Callback =
      absl::FunctionRef<absl::Status(const MutationRecord& record, SequenceNumber sequence)>;
  // Delivers the mutations of a tablet's rows that have sequence numbers above `after`. The
  // mutations of one row come in their order. `between` is called at points where everything
  // delivered so far may be flushed, and nothing else.
  absl::Status Read(const RowRange& rows, uint64_t table_id, SequenceNumber after,
                    Callback callback,
                    absl::FunctionRef<absl::Status(SequenceNumber through)> between) const;

 private:
  DeadLog(FileSystem* file_system, std::string server, const Options& options)
      : file_system_(file_system),
        server_(std::move(server)),
        is_whole_(options.is_whole),
        flushed_(options.flushed),
        last_(options.last) {}

  // Splits a batch, or a part of one, which it notes, into its mutations.
  absl::Status Cut(
      RecordType type, SequenceNumber sequence, std::string_view payload,
      absl::FunctionRef<absl::Status(RecordType, SequenceNumber sequence, std::string_view payload)>
          add);
  bool IsVoid(SequenceNumber sequence) const;

  std::unique_ptr<FileSystem> memory_;  // where the pieces are, unless they are on disk
  FileSystem* file_system_;
  const std::string server_;
  const bool is_whole_;
  const SequenceNumber flushed_;
  SequenceNumber last_;
  std::vector<VoidBatches::Batch> void_;
  std::vector<BatchPart> parts_;
  std::string sorted_directory_;
  SortLogStatistics statistics_;
  std::unique_ptr<SortedLog> log_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_DEAD_LOG_H_
