// The tablet servers that have a log: a small file of the lock service for each, "servers/NAME",
// which the server locks while it lives (tabletserver/server_lock.h; section 5.2 of the paper). A
// server's file is written after its log was created and removed after everything in its log was
// written out; so as long as the file is there, the log has to be
// read when the database is opened, and must be there. A log without a server's file is what is
// left of a creation or a removal that was cut short; it is read too, and then says nothing that is
// not in SSTables already, unless the file was lost. Every opening starts new servers, with names
// that were never used before, and takes over from all earlier ones.
//
// A server that was lost may have logged mutations that nobody acknowledged, and others have gone
// on without them: they must not be found by a later process, either. So what a fenced server has
// acknowledged is noted in its file before anybody takes its tablets over:
//
//   fenced            it never serves again
//   fenced N          and mutations in its log with larger sequence numbers than N do not count
//   fenced, done      and nothing of its log is needed: the log goes, then this file
#ifndef BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
#define BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "cluster/directory.h"
#include "cluster/server_role.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// One thread at a time.
class ServerDirectory {
 public:
  // `session` outlives this.
  ServerDirectory(FileSystem* file_system, LockSession* session, const DatabaseDirectory& directory)
      : file_system_(file_system), session_(session), directory_(directory) {}

  // Reads the names that there are.
  absl::Status Load();
  // The servers of a role whose logs have to be read, from old to new; those without a file too.
  std::vector<std::string> Servers(ServerRole role) const;
  // Whether the server has a file, and so must have a log.
  bool HasFile(std::string_view name) const;
  // The largest number in the name of a server that there is.
  uint64_t last_number() const { return last_number_; }
  static std::string NameOf(ServerRole role, uint64_t number);
  // The number in a name that NameOf made, for any role; nothing for other names. What has another
  // name among the servers' files and logs is not ours: it is neither read nor removed.
  static std::optional<uint64_t> NumberOf(std::string_view name);
  // Takes the lock of a server that has lost it, and sees to it that the server never serves again.
  // Unavailable if the server, or somebody else, has the lock. A server without a file is fenced.
  // Any thread.
  absl::Status Fence(std::string_view name);
  // Of a server that is fenced and has ended: the last mutation that counts. Once it is noted it
  // stays. Nothing if the server has no file any more.
  absl::Status NoteLast(std::string_view name, SequenceNumber last);
  struct Needed {
    bool is_needed = true;  // anything of its log
    SequenceNumber last = kMaxSequence;
  };
  // What is needed of a server's log. DataLoss if the file says nothing that is known.
  absl::StatusOr<Needed> NeededOf(std::string_view name);
  // Nothing in the server's log is needed: forgets the server, then removes its log.
  absl::Status Remove(std::string_view name);
  // Removes the other logs that there are, but for those of servers that `is_live`. Adds the names
  // of what is no log, and stays, to `*others`.
  absl::Status SweepLogs(absl::FunctionRef<bool(std::string_view name)> is_live,
                         std::vector<std::string>* others);

 private:
  // Replaces the contents of a fenced server's file. Nothing if it has none.
  absl::Status Write(std::string_view name, const std::string& contents);

  FileSystem* const file_system_;
  LockSession* const session_;
  const DatabaseDirectory directory_;
  std::vector<std::string> servers_;  // that have a file
  std::vector<std::string> strays_;   // that have only a log
  uint64_t last_number_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
