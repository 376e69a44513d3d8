// Repairs a database that cannot be opened, or that has damaged files: makes a new database from
// what can still be read of it, and says file by file what could not.
//
//   absl::StatusOr<RepairReport> report = RepairDatabase("/data/web");
//   for (const RepairFinding& finding : report->findings) {
//     std::cout << finding.path << ": " << finding.problem << "\n";
//   }
//   // The repaired database is in "/data/web.repaired". Look at it before you put it in the place
//   // of the damaged one.
//
// The damaged database is left as it is: nothing is written to its directory but its LOCK, so
// whatever happens meanwhile, no more is lost, and another attempt finds the same. A backup is
// better than a repair, and a file of a backup or of another copy that is put in the place of a
// damaged one before the repair is better than its loss.
//
// What is lost with a file:
//
//   an SSTable              the rows in its damaged blocks; all of its rows if it is missing
//   a commit log            the mutations in its damaged part that no SSTable has
//   METADATA                nothing, if its other copy is sound; otherwise tables are put together
//                           from the SSTables that are there, see RepairReport::is_metadata_lost
//   a schema                nothing, if its other copy is sound; otherwise the table gets a schema
//                           with the families that its files have, and default options
//   an access list, quotas  they are not restored, if both copies are damaged
//
// docs/repair.md is the guide; docs/internals/repair.md says how it works.
#ifndef BIGTABLE_REPAIR_H_
#define BIGTABLE_REPAIR_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/export.h"
#include "bigtable/file_system.h"
#include "bigtable/row_range.h"

namespace bigtable {

// Plain value.
struct RepairOptions {
  // The directory of the repaired database: new or empty, or what an interrupted repair has left.
  // Its parent exists. "": that of the damaged one with ".repaired" at its end. In the same file
  // system, SSTables without damage are links and take no space.
  std::string target = {};
  // Of both directories; null: that of the machine. It outlives the call.
  FileSystem* file_system = nullptr;
  absl::Time deadline = absl::InfiniteFuture();
  const Cancellation* cancellation = nullptr;
};

// Rows of which entries may be missing: cells, but also deletions, so that what they had hidden is
// visible again. Plain value.
struct LostRows {
  std::string table;  // its name in the repaired database; "": any table
  RowRange rows;

  friend bool operator==(const LostRows&, const LostRows&) = default;
};

// One thing that was wrong. Plain value.
struct RepairFinding {
  std::string path;            // of the file, or of the directory
  std::string problem;         // what is wrong with it, and what was done
  std::vector<LostRows> lost;  // empty: nothing is lost
};

// A table of the repaired database. Plain value.
struct RepairedTable {
  std::string name;
  uint64_t tablets = 0;
  uint64_t files = 0;  // SSTables
  // Its schema was lost, and is one that the files suggest: its families, with default options. Its
  // name is the one that they state, or recovered_ID with the number of the table.
  bool has_new_schema = false;
};

// Plain value.
struct RepairReport {
  std::string target;                   // the directory of the repaired database
  std::vector<RepairFinding> findings;  // in the order in which they were found
  std::vector<RepairedTable> tables;    // by name
  // What METADATA knew could not be read completely, so the tables are made of all SSTables that
  // are there for them. Among these may be files that a compaction had replaced, or whose rows had
  // been dropped, for some of their tablets: they may bring back cells that were deleted or
  // collected, and count contributions to aggregates twice. Tablets have the boundaries that could
  // be read.
  bool is_metadata_lost = false;
  uint64_t files_linked = 0;     // SSTables that are links to those of the damaged database
  uint64_t files_copied = 0;     // that were copied because no link was possible
  uint64_t files_rewritten = 0;  // damaged ones of which a part was read
  uint64_t mutations = 0;        // that were recovered from commit logs

  // Whether entries may be missing.
  bool has_losses() const {
    for (const RepairFinding& finding : findings) {
      if (!finding.lost.empty()) return true;
    }
    return false;
  }
};

// Repairs the database in the directory `path`, which no process has open. Durable when it returns.
// The repaired database does not depend on the damaged one, which can be removed. Repeated, it
// gives the same entries.
//
// Needs no operator, filter or policy of the program: entries are copied as they are.
//
// Cost: reads all SSTables and logs. Writes the mutations of the logs, the SSTables that are
// damaged and, if METADATA is lost, all. Memory: 64 MiB, the mutations in the logs that no SSTable
// has, and an SSTable whose index is damaged.
//
// InvalidArgument: the target is the database itself, or inside of it. NotFound: there is no
// directory, or nothing of a database in it. FailedPrecondition: the database is open.
// AlreadyExists: there are other files in the target, such as a repaired database.
// DeadlineExceeded, Cancelled. ResourceExhausted, and other errors of the file system in the
// target. After an error the target is no database, and the call can be repeated.
BIGTABLE_EXPORT absl::StatusOr<RepairReport> RepairDatabase(std::string_view path,
                                                            const RepairOptions& options = {});

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_H_
