// A whole database between two writes: what a checkpoint copies.
//
// All servers of users' tablets are in one turn while the image is taken, so every mutation up to
// its sequence number is in the versions that it pins, and every batch is in it whole or not at
// all. Writers wait only for that turn, in which nothing is copied: a pin for each tablet.
//
// Schemas, access lists and quotas are those of the same moment: they are read before it, and were
// not written by its end. As after a crash, a change of a table that is under way is found before
// its deciding step or after it.
#ifndef BIGTABLE_TRANSFER_DATABASE_IMAGE_H_
#define BIGTABLE_TRANSFER_DATABASE_IMAGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/call_limits.h"
#include "base/published.h"
#include "base/sequence.h"
#include "cluster/database_history.h"
#include "cluster/server_set.h"
#include "lockservice/lock_service.h"
#include "schema/table_layout.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

struct DatabaseImage {
  struct TabletImage {
    std::shared_ptr<Tablet> tablet;
    // Its active memtables may get mutations after `sequence`. The memory of its memtables is not
    // free before it is dropped.
    Pin<TabletVersion> version;
    int64_t last_timestamp = 0;  // TabletState::last_timestamp
    // In the memtables of each group: when the oldest deletion was written; 0: there is none.
    std::vector<int64_t> oldest_deletions = {};
  };
  struct TableImage {
    TableLayout layout;
    std::vector<TabletImage> tablets;  // in key order; together they have all rows
  };

  SequenceNumber sequence = 0;
  absl::Time now;  // before it was taken; TimeBeforeLayout
  std::vector<TableImage> tables;
  // Of the lock service, by their names: schemas, access lists, quotas, and the history of the
  // copy.
  std::map<std::string, std::string> files;
};

struct ImageParts {
  ServerSet* servers = nullptr;
  const SequenceSource* sequences = nullptr;
  LockSession* session = nullptr;
  Clock* clock = nullptr;
  const DatabaseHistory* history = nullptr;  // null: it is not known
  bool read_only = false;                    // numbers are not those of the writer
};

// An image of the present. Waits for tablets that no server has. Errors of the limits; Unavailable:
// tablets and schemas change all the time, or a tablet cannot be loaded.
absl::StatusOr<DatabaseImage> TakeImage(const ImageParts& parts, const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_DATABASE_IMAGE_H_
