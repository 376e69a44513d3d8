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
#include "recovery/server_record.h"
#include "recovery/sorted_log.h"
#include "schema/mutation_format.h"

namespace bigtable {

// Thread-safe once opened, except set_record.
class DeadLog {
 public:
  struct Options {
    // The sequence number to which the log is known to be durable, and whether a log must exist.
    ReplayOptions replay;
    // Which mutations are not read, and which are in SSTables already.
    ServerRecord record;
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
  const ServerRecord& record() const { return record_; }
  // Before the first Read.
  void set_record(ServerRecord record) { record_ = std::move(record); }
  // The last sequence number that is read.
  SequenceNumber last() const { return std::min(record_.last, last_sequence()); }

  using Callback =
      absl::FunctionRef<absl::Status(const MutationRecord& record, SequenceNumber sequence)>;
  // Delivers the mutations of a tablet's rows that have sequence numbers above `after`. The
  // mutations of one row come in their order, and know the batch that they belong to. `between` is
  // called at points where everything delivered so far may be flushed, and nothing else.
  absl::Status Read(const RowRange& rows, uint64_t table_id, SequenceNumber after,
                    Callback callback,
                    absl::FunctionRef<absl::Status(SequenceNumber through)> between) const;

 private:
  DeadLog(FileSystem* file_system, std::string server, const Options& options)
      : file_system_(file_system), server_(std::move(server)), record_(options.record) {}

  // Splits a batch, or a part of one, which it notes, into its mutations.
  absl::Status Cut(RecordType type, SequenceNumber sequence, std::string_view payload,
                   AddRecord add);

  std::unique_ptr<FileSystem> memory_;  // where the pieces are, unless they are on disk
  FileSystem* file_system_;
  const std::string server_;
  ServerRecord record_;
  std::vector<BatchPart> parts_;
  std::string sorted_directory_;
  SortLogStatistics statistics_;
  std::unique_ptr<SortedLog> log_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_DEAD_LOG_H_
