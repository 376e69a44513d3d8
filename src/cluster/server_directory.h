// The tablet servers that have a log: a small file of the lock service for each, "servers/NAME",
// which the server locks while it lives (tabletserver/server_lock.h; section 5.2 of the paper). A
// server's file is written after its log was created and removed after everything in its log was
// written out; so as long as the file is there, the log has to be
// read when the database is opened, and must be there. A log without a server's file is what is
// left of a creation or a removal that was cut short; it is read too, and then says nothing that is
// not in SSTables already, unless the file was lost. Every opening starts new servers, with names
// that were never used before, and takes over from all earlier ones.
#ifndef BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
#define BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_

#include <cstdint>
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
  // The largest number in a name that there is.
  uint64_t last_number() const { return last_number_; }
  static std::string NameOf(ServerRole role, uint64_t number);
  // Takes the lock of a server that has lost it, and sees to it that the server never serves again.
  // Unavailable if the server, or somebody else, has the lock. A server without a file is sealed.
  // Any thread.
  absl::Status Seal(std::string_view name);
  // Nothing in the server's log is needed: forgets the server, then removes its log.
  absl::Status Remove(std::string_view name);
  // Removes what else is where the logs are, but for logs of servers that `is_live`.
  absl::Status SweepLogs(absl::FunctionRef<bool(std::string_view name)> is_live);

 private:
  FileSystem* const file_system_;
  LockSession* const session_;
  const DatabaseDirectory directory_;
  std::vector<std::string> servers_;  // that have a file
  std::vector<std::string> strays_;   // that have only a log
  uint64_t last_number_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_DIRECTORY_H_
