// The tablet servers that have a log: a small file of the lock service for each, "servers/NAME",
// which the server locks while it lives (tabletserver/server_lock.h; section 5.2 of the paper). A
// server's file is written after its log was created and removed after everything in its log was
// written out; so as long as the file is there, the log has to be
// read when the database is opened, and must be there. A log without a server's file is what is
// left of a creation or a removal that was cut short; it is read too, and then says nothing that is
// not in SSTables already, unless the file was lost. Every opening starts new servers, with names
// that were never used before, and takes over from all earlier ones.
#ifndef BIGTABLE_MASTER_SERVER_DIRECTORY_H_
#define BIGTABLE_MASTER_SERVER_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "lockservice/lock_service.h"
#include "master/directory.h"

namespace bigtable {

// One thread at a time.
class ServerDirectory {
 public:
  // The servers of METADATA's tablet, whose log is recovered first, and those of user tablets.
  enum class Kind { kMetadata, kUser };

  // `session` is the master's, and outlives this.
  ServerDirectory(FileSystem* file_system, LockSession* session, const DatabaseDirectory& directory)
      : file_system_(file_system), session_(session), directory_(directory) {}

  // Reads the names that there are.
  absl::Status Load();
  // The servers whose logs have to be read, from old to new; those without a file too.
  std::vector<std::string> Servers(Kind kind) const;
  // Whether the server has a file, and so must have a log.
  bool HasFile(std::string_view name) const;
  // A name that no server has or had whose redo points METADATA may still have: `last` is the
  // database's last sequence number, which is larger than the number of any such server.
  std::string NewName(Kind kind, SequenceNumber last);
  // The number in the name that was given last: the database's sequence numbers go on above it.
  uint64_t last_number() const { return last_number_; }
  // The server has a log, a file and the lock on it.
  void Add(std::string_view name) { servers_.emplace_back(name); }
  // Takes the lock of a server that has lost it, and sees to it that the server never serves again.
  // Unavailable if the server, or somebody else, has the lock. A server without a file is sealed.
  // Any thread.
  absl::Status Seal(std::string_view name);
  // Nothing in the server's log is needed: forgets the server, then removes its log.
  absl::Status Remove(std::string_view name);
  // Removes what else is where the logs are.
  absl::Status SweepLogs();

 private:
  FileSystem* const file_system_;
  LockSession* const session_;
  const DatabaseDirectory directory_;
  std::vector<std::string> servers_;  // that have a file
  std::vector<std::string> strays_;   // that have only a log
  uint64_t last_number_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SERVER_DIRECTORY_H_
