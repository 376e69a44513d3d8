// What is recovered of a tablet server's log: the contents of its file in the lock service,
// "servers/NAME" (commit/server_lock.h, cluster/server_directory.h). This is the only place that
// says so. The file is text. A server that serves has an empty one. Otherwise:
//
//   fenced            the server never serves again
//   fenced N          and mutations in its log with sequence numbers above N are not recovered
//   fenced N M        and those up to M are in SSTables, even where its log ends before them
//   fenced, done      and nothing of its log is needed: the log is removed, then this file
//   void F L          mutations F to L are not recovered: a batch on several servers, the log of
//                     one of which failed, or which has lost its lock, when the others had logged
//                     their parts
//
// One of the first four lines, if any, is the first line. "void" lines follow, in ascending order.
// A newline is between two lines, and none at the end. For example
//
//   fenced 120 100
//   void 97 99
//
// Why N. A lost server may have logged mutations that it never acknowledged, and other servers go
// on without these. Its last acknowledged number is noted before another server takes over its
// tablets. So is the last number before an incomplete batch (batch_recovery.h).
//
// Why M. A flush by Resume does not need the log, and the log may end before what was flushed
// (batch_recovery.h). A redo point shows it until the next server's redo points replace it.
//
// Why void. The batch is noted in the files of all its servers before one of them goes on, so that
// no later write of a server is recovered beside it. If the process dies before all of them have
// it, it is void if one of them has it. Its numbers are never used again.
#ifndef BIGTABLE_RECOVERY_SERVER_RECORD_H_
#define BIGTABLE_RECOVERY_SERVER_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// A plain value.
struct ServerRecord {
  static constexpr std::string_view kDirectory = "servers";
  static std::string FileOf(std::string_view server);

  bool is_fenced = false;
  bool is_done = false;  // nothing of the log is needed; the rest has no meaning then
  SequenceNumber last = kMaxSequence;
  SequenceNumber flushed = 0;
  std::vector<SequenceRange> void_batches = {};  // ascending; no two overlap or adjoin

  // Whether all that is in the log is recovered.
  bool is_whole() const { return !is_done && last == kMaxSequence && void_batches.empty(); }
  // Whether a mutation that is in the log is recovered.
  bool Recovers(SequenceNumber sequence) const {
    return !is_done && sequence <= last && !IsVoid(sequence);
  }
  bool IsVoid(SequenceNumber sequence) const;
  bool IsFlushed(SequenceNumber sequence) const { return sequence <= flushed; }
  // Adds what `other` says. What was excluded before stays so. Returns whether this changes it.
  bool Add(const ServerRecord& other);

  std::string ToText() const;
  // DataLoss that names the server if it is not what ToText writes.
  static absl::StatusOr<ServerRecord> FromText(std::string_view server, std::string_view text);

  friend bool operator==(const ServerRecord&, const ServerRecord&) = default;
};

// Reads the record of a server. NotFound if it has no file.
absl::StatusOr<ServerRecord> ReadServerRecord(LockSession* session, std::string_view server);
// Changes it, durably, whatever other threads write meanwhile. `change` returns whether the record
// has to be written; it may be called several times. Does nothing if the server has no file. Errors
// of the limits: it is not written.
absl::Status UpdateServerRecord(LockSession* session, std::string_view server,
                                absl::FunctionRef<bool(ServerRecord*)> change,
                                const CallLimits& limits = {});

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_SERVER_RECORD_H_
