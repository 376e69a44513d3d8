// Table::ApplyBatch as MutateRows calls.
//
// A server applies the entries of a message in any order, also entries of one row. So the mutations
// of a row go in different messages, one after the other. A message has at most kMostMessageBytes,
// unless it has a single entry. Of all threads together, OutstandingBytes limits what is under way.
#ifndef BIGTABLE_REMOTE_DATA_BATCH_WRITER_H_
#define BIGTABLE_REMOTE_DATA_BATCH_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "google/bigtable/v2/bigtable.pb.h"

#include "bigtable/options.h"
#include "bigtable/row_mutation.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "remote/calls/connection.h"

namespace bigtable::remote {

// Thread-safe.
class OutstandingBytes {
 public:
  explicit OutstandingBytes(uint64_t most) : most_(most) {}

  // Waits until `bytes` fit, or nothing is under way. Errors of the limits and of the connection.
  absl::Status Take(uint64_t bytes, const CallLimits& limits, const Connection& connection);
  void GiveBack(uint64_t bytes);

 private:
  bool TryTake(uint64_t bytes);

  const uint64_t most_;
  Mutex mutex_;
  CondVar changed_;
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
};

// One call of ApplyBatch. One thread.
class BatchWriter {
 public:
  static constexpr size_t kMostMessageBytes = 3 << 20;  // gRPC's servers take 4 MiB at least

  // All outlive this. `table`: the name of the resource.
  BatchWriter(Connection* connection, OutstandingBytes* outstanding, const std::string* table,
              const CallLimits* limits);

  // Sets the status of each mutation that has none that is an error.
  void Apply(absl::Span<const RowMutation> mutations, absl::Span<absl::Status> statuses);

 private:
  using Request = google::bigtable::v2::MutateRowsRequest;
  using Entry = Request::Entry;

  struct Pending {
    size_t index;  // of the mutation
    Entry entry;
    size_t bytes;
    bool is_idempotent;
  };

  // Sends mutations of different rows.
  void ApplyRound(std::vector<Pending> pending, absl::Span<absl::Status> statuses);
  // Sends the first of `*pending` that fit in a message, and again those that may be and have
  // failed. Removes them.
  void SendMessage(std::vector<Pending>* pending, absl::Span<absl::Status> statuses);
  // One attempt: sets the status of every entry.
  absl::Status Send(const std::vector<Pending>& message, absl::Span<absl::Status> statuses);

  Connection* const connection_;
  OutstandingBytes* const outstanding_;
  const std::string* const table_;
  const CallLimits* const limits_;
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_DATA_BATCH_WRITER_H_
