// The commit logs of a database, read without opening it: to look at what a crash has left, and at
// what the next opening would replay. A database that was closed has no logs. Nothing is changed.
//
//   absl::StatusOr<std::vector<CommitLogInfo>> logs = ListCommitLogs("/data/web");
//   for (const CommitLogInfo& log : *logs) {
//     absl::Status s = ReadCommitLog("/data/web", log.server, [](const CommitLogEntry& logged) {
//       std::cout << logged.table << " " << DebugString(logged.entry) << "\n";
//       return absl::OkStatus();
//     });
//   }
//
// Another process may have the database open: its lock is neither taken nor needed. Then a log
// changes while it is read, so that a segment may be NotFound, and an end DataLoss, which are not
// there when it is read again.
#ifndef BIGTABLE_COMMIT_LOG_H_
#define BIGTABLE_COMMIT_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/export.h"
#include "bigtable/file_system.h"
#include "bigtable/sstable.h"

namespace bigtable {

// A file of a log. Plain value.
struct CommitLogSegment {
  enum class State : uint8_t {
    kReusable,  // nothing of it is needed: the file waits for its next use
    kNeeded,    // it is read when the database is opened
    kSpare,     // prepared to be the next one, and without records
  };

  std::string path;
  State state = State::kNeeded;
  uint64_t file_size = 0;
  // Of a needed one. Records that a later segment repeats, after a stall, are counted in both.
  uint64_t records = 0;         // of mutations, batches, and parts of batches
  uint64_t record_bytes = 0;    // with their headers
  uint64_t first_sequence = 0;  // 0: there is no record
  uint64_t last_sequence = 0;
  bool is_full = false;  // an end record follows
};

// The log of a tablet server. Plain value.
struct CommitLogInfo {
  std::string server;                      // its name, such as "user-12"
  uint64_t released_sequence = 0;          // no mutation up to this sequence number is needed
  std::vector<CommitLogSegment> segments;  // by number
};

// An operation of a mutation, as it was logged: entry.sequence is that of the mutation, and
// entry.ordinal its position in it. Views: valid until the callback returns.
struct CommitLogEntry {
  uint64_t table_id = 0;
  std::string_view table = {};  // its name; empty: no table has this id
  // Its locality group is always 0: the log does not divide mutations by group.
  SSTableEntry entry;
};

// The logs of the database in the directory `database`, from old to new. `file_system` is not
// owned; null: FileSystem::Posix(). NotFound: there is no database. DataLoss: a STATE file is
// damaged. FailedPrecondition: a newer version wrote it. Cost: reads all needed segments.
BIGTABLE_EXPORT absl::StatusOr<std::vector<CommitLogInfo>> ListCommitLogs(
    std::string_view database, FileSystem* file_system = nullptr);

// Calls `callback` with each operation in the log of `server`, in the order of sequence numbers.
// Some may be in SSTables already. The next opening leaves out what the server never acknowledged,
// and batches that are not whole in all logs; here they are. An error of the callback ends the
// reading and is returned. NotFound: there is no such log. DataLoss: the log is damaged; `callback`
// has had what is before the damage.
BIGTABLE_EXPORT absl::Status ReadCommitLog(
    std::string_view database, std::string_view server,
    absl::FunctionRef<absl::Status(const CommitLogEntry&)> callback,
    FileSystem* file_system = nullptr);

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_LOG_H_
