// The changing files of a database that another process may be writing, as they are at one moment:
// the lock service and the commit logs. With the SSTables, which do not change, they are what that
// process would leave if it died then; so an opening recovers the database from them as after that.
//
// How one moment is found without the writer's help:
//
//  1. The files of the lock service, and the names and the states of the logs, are read.
//  2. Each log is copied up to its end. Let `last` be the largest sequence number in users' logs.
//  3. Users' logs are copied once more, up to that number.
//  4. All SSTables that there are, are opened. What was read in step 1 is read again, and
//  METADATA's
//     logs are looked at again. If anything has changed, all of this is done again; records that
//     are copied stay copied, and files that are open stay open.
//
// Why the result is one moment: let it be the end of step 2. A write that was acknowledged before
// it was in its log, and is copied in step 2 or 3. A write that was made after seeing another one
// that is not in the copy is not in it either: when it got its number, `last` had been taken, so
// its number is larger. A batch over several logs gets its numbers at once, and no log goes on
// before it is in all of them; an opening leaves out one that is not. METADATA and the files of the
// lock service have not changed from step 2 to step 4, so they are those of that moment, and what
// they say that the logs no longer need was not overwritten. A file is removed
// only after METADATA has forgotten it, so all that METADATA names at that moment are open.
#ifndef BIGTABLE_FOLLOWING_LIVE_IMAGE_H_
#define BIGTABLE_FOLLOWING_LIVE_IMAGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"

#include "bigtable/file_system.h"

#include "base/call_limits.h"
#include "base/sequence.h"
#include "cluster/directory.h"
#include "following/held_files.h"
#include "following/log_copy.h"

namespace bigtable {

// One thread at a time.
class LiveImage {
 public:
  // Both outlive this. `held` gets the SSTables.
  LiveImage(FileSystem* files, DatabaseDirectory directory, HeldFiles* held)
      : files_(files), directory_(std::move(directory)), held_(held) {}

  // Takes the files as they are now. Sets `*has_changed` unless they are as after the last call, or
  // if something was found to be different before an error.
  // NotFound: there is no database. Unavailable: they change all the time. Errors of the limits and
  // of the file system: then the image is as it was, or may only be used for another call.
  absl::Status Take(const CallLimits& limits, bool* has_changed);

  // The files of the lock service and their copies, by their paths.
  const std::map<std::string, std::string>& service_files() const { return service_files_; }
  // By the names of their servers.
  const std::map<std::string, LogCopy>& logs() const { return logs_; }
  // No write with a larger number is in it.
  SequenceNumber last_sequence() const { return last_; }

 private:
  // What must be the same before and after.
  struct Fixed {
    std::map<std::string, std::string> service_files;
    std::map<std::string, LogCopy::Names> logs;

    friend bool operator==(const Fixed&, const Fixed&) = default;
  };

  absl::StatusOr<Fixed> ReadFixed() const;
  absl::Status ReadServiceFiles(const std::string& directory,
                                std::map<std::string, std::string>* files) const;
  absl::Status HoldSSTables() const;
  // One pass of the steps. Sets `*is_settled`, unless they are to be done again.
  absl::Status Try(bool* is_settled, bool* has_changed);

  FileSystem* const files_;
  const DatabaseDirectory directory_;
  HeldFiles* const held_;
  std::map<std::string, std::string> service_files_;
  std::map<std::string, LogCopy> logs_;
  SequenceNumber last_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_FOLLOWING_LIVE_IMAGE_H_
