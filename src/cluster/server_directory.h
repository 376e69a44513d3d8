// The tablet servers that have a log. Each has a small file of the lock service, "servers/NAME",
// which the server locks while it lives (commit/server_lock.h; section 5.2 of the paper). A
// server's file is written after its log was created, and removed after everything in its log was
// flushed. So while the file exists, the log must exist too, and must be read when the database is
// opened. A log without a server's file remains when creating or removing a log was interrupted.
// Such a log is read too, but all its mutations are in SSTables already, unless the file was lost.
// Every opening starts new servers, with names that were never used before, which take over from
// all earlier servers. What of a log is recovered is in the server's file
// (recovery/server_record.h).
#ifndef BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
#define BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/macros.h"
#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "cluster/directory.h"
#include "cluster/server_role.h"
#include "lockservice/lock_service.h"
#include "recovery/server_record.h"

namespace bigtable {

// One thread at a time.
class ServerDirectory {
 public:
  // `session` outlives this.
  ServerDirectory(FileSystem* file_system, LockSession* session, const DatabaseDirectory& directory)
      : file_system_(file_system), session_(session), directory_(directory) {}

  // Reads the names of the files and logs.
  absl::Status Load();
  // The servers of a role whose logs must be read, from old to new, including those without a file.
  std::vector<std::string> Servers(ServerRole role) const;
  // Whether the server has a file, and so must have a log.
  bool HasFile(std::string_view name) const;
  // The largest number in the name of an existing server, and of a void batch.
  uint64_t last_number() const { return last_number_; }
  static std::string NameOf(ServerRole role, uint64_t number);
  // The number in a name that NameOf made, for any role; nothing for other names. Files and logs
  // with other names do not belong to the database: they are neither read nor removed.
  static std::optional<uint64_t> NumberOf(std::string_view name);
  // Takes the lock of a server that has lost it, and marks the file so that the server never serves
  // again. Unavailable if the server or another process has the lock. A server without a file
  // counts as fenced. Thread-safe.
  absl::Status Fence(std::string_view name);
  // The record of a server. If it has no file, all that is in its log is in SSTables.
  absl::StatusOr<ServerRecord> RecordOf(std::string_view name);
  // For a fenced server that has ended: adds to its record (ServerRecord::Add), unless its log is
  // not needed any more. Does nothing if the server has no file.
  absl::Status Record(std::string_view name, const ServerRecord& added);
  // Nothing in the server's log is needed: notes that, durably. No opening reads the log from here
  // on. Does nothing for a server whose whole log counts, which it does until the file is gone.
  absl::Status RecordDone(std::string_view name);
  // The same, and removes the server's log and its file.
  absl::Status Remove(std::string_view name);
  // Removes all other logs, except those of servers for which `is_live` is true. Adds the names of
  // entries that are not logs, and that stay, to `*others`.
  absl::Status SweepLogs(absl::FunctionRef<bool(std::string_view name)> is_live,
                         std::vector<std::string>* others);

 private:
  FileSystem* const file_system_;
  LockSession* const session_;
  const DatabaseDirectory directory_;
  std::vector<std::string> servers_;  // that have a file
  std::vector<std::string> strays_;   // that have only a log
  uint64_t last_number_ = 0;
};

// The names of the tablet servers that this process starts. A name is never used twice. It contains
// a number that is larger than every sequence number so far, and so larger than the number of any
// server whose redo points METADATA may still have.
//
// Thread-safe.
class ServerNames {
 public:
  // `sequences` outlives this.
  explicit ServerNames(SequenceSource* sequences) : sequences_(sequences) {}

  // Names continue after this number. Before the first Take.
  void StartAfter(uint64_t number) {
    MutexLock lock(&mutex_);
    ABSL_ASSERT(live_.empty() && "it is called before the first name is taken");
    last_number_ = number;
  }
  // Returns a new name, which is live until Remove.
  std::string Take(ServerRole role) {
    MutexLock lock(&mutex_);
    last_number_ = std::max(last_number_, sequences_->last()) + 1;
    sequences_->AdvanceTo(last_number_);
    std::string name = ServerDirectory::NameOf(role, last_number_);
    [[maybe_unused]] const bool is_new = live_.insert(name).second;
    ABSL_ASSERT(is_new && "no two servers have one name");
    return name;
  }
  // The server with this name has ended, or could not be started.
  void Remove(std::string_view name) {
    MutexLock lock(&mutex_);
    if (const auto found = live_.find(name); found != live_.end()) live_.erase(found);
  }
  // Whether a server of this process has this name, or is about to, and has not ended.
  bool IsLive(std::string_view name) const {
    MutexLock lock(&mutex_);
    return live_.find(name) != live_.end();
  }

 private:
  SequenceSource* const sequences_;
  mutable Mutex mutex_;
  std::set<std::string, std::less<>> live_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
