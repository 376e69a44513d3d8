// Adds SSTables that were written elsewhere to the tablets of a table, all of them at one moment
// (Table::Ingest). The files are in the directory already, are durable, and were checked
// (transfer/ingest_files.h).
//
// How.
//
//  1. One ingestion of a database at a time begins here. The memtables of the tablets are flushed
//     while writes go on. Then the tablets are claimed, as for a split: no background work on them
//     is under way.
//  2. Each file gets a place in time: what is added to the sequence numbers of its entries. Files
//     that win over everything before get numbers that are kAhead above all that are assigned, so
//     that no write has one of them meanwhile. Files that lose get numbers below all that the
//     tablets have, which were left unused when the table was created (kLeftForOldest). The files
//     are opened.
//  3. The tablets stop, which takes a turn among the writes, and the rest of their memtables is
//     flushed. From here on their writers wait. So the new files are newer, or older, than
//     everything that a tablet has, and form sorted runs of their own.
//  4. One record of METADATA's log adds the files to all tablets: a batch of mutations, if need be
//     over several tablets of METADATA, which one server has. From here on it cannot be undone.
//  5. In a turn at all servers of the tablets, each tablet is replaced by one with the files, the
//     sequence numbers advance behind those of the files, and these become visible on all servers
//     at once, as those of a batch do. The tablets take writes again.
//
// Only step 3 to 5 make anybody wait, and only for the tablets that the files have rows of: for a
// flush of a few mutations, a commit to METADATA, and the turns.
//
// Reads never see a part. A snapshot that was taken before does not see files that win, because
// their numbers are larger than its own. Files that lose change what was written long ago, also for
// older snapshots; for the length of step 5, a reader of several servers may see them on one and
// not yet on another.
#ifndef BIGTABLE_MASTER_INGESTION_H_
#define BIGTABLE_MASTER_INGESTION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/sequence.h"
#include "cluster/server_host.h"
#include "commit/batch_writer.h"
#include "master/master_context.h"
#include "schema/table_layout.h"
#include "sstable/sstable_info.h"
#include "tablet/shared_files.h"

namespace bigtable {

struct IngestedFile {
  uint32_t group_id = 0;
  // As the file says itself, except that it has its new number and SSTableInfo::ingested.
  SSTableInfo info;
};

// FailedPrecondition: the table has a change stream, whose readers would not see the files.
absl::Status CheckTakesFiles(const TableLayout& layout);

struct IngestRequest {
  // The files are right for this schema; of the groups and families that the table has.
  const TableLayout* layout = nullptr;
  // In the order of their age, from old to new. Not empty.
  absl::Span<const IngestedFile> files;
  bool oldest_wins = false;  // they lose against what the table has; each has one sequence number
  CallLimits limits;
};

// Thread-safe.
class Ingestion {
 public:
  // How many numbers are skipped, so that no mutation has the numbers of files that are being
  // added. It is enough for two minutes of the fastest writes; a database can ingest two hundred
  // million times, if the files of each call span few numbers. (The loss of another server at that
  // moment makes the source skip as many, too: then snapshots of the moment may see the files.)
  static constexpr uint64_t kAhead = uint64_t{1} << 28;
  // The most sequence numbers that the files of a call may span.
  static constexpr uint64_t kMostNumbers = uint64_t{1} << 40;

  struct Parts {
    SequenceSource* sequences = nullptr;
    BatchWriter* batches = nullptr;
    SharedFiles* shared_files = nullptr;
    // Held during a call: what is published later has larger numbers.
    LimitedMutex* mutex = nullptr;
  };

  // All outlive this.
  Ingestion(const Parts& parts, MasterContext* context) : parts_(parts), context_(context) {}
  Ingestion(const Ingestion&) = delete;
  Ingestion& operator=(const Ingestion&) = delete;

  // Adds the files. NotFound: a tablet was superseded or moved; try again with tablets that were
  // looked up again. Aborted: the schema has changed. `*may_be_named`: METADATA may name the files,
  // after success and after an error whose outcome is not known; otherwise nothing has changed.
  // `tablets` are those that the files have rows of, in key order.
  absl::Status AddTo(const std::vector<HostedTablet>& tablets, const IngestRequest& request,
                     bool* may_be_named);

 private:
  class Run;

  const Parts parts_;
  MasterContext* const context_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_INGESTION_H_
