// Determines which batches on several servers are recovered from the logs of dead servers.
//
// Each part of a batch names the others (schema/mutation_format.h, kBatchPart). A batch is
//
//   void         if the record of one of its servers says so (server_record.h): none of its parts
//                is recovered;
//   incomplete   if a log ends before the part that it should have, and the part is not in
//                SSTables: the process or the machine died while the batch was being written, and
//                it was not acknowledged at a level that survives this. Every log with a part of it
//                ends before that part, since what is recovered of a server is a prefix of its
//                writes;
//   complete     otherwise.
//
// An end that is brought forward may make other batches incomplete, and so on, until nothing
// changes. The order of the logs does not matter: ends only decrease, and the result is the largest
// set of ends for which every batch that is left is complete.
//
// Resume flushes memtables although their log cannot be synced. If the machine dies before the new
// log is durable, the old one ends before what was flushed. A redo point of the server that is not
// before a part says that the part is in SSTables: it was in the memtables when these were rotated,
// and the flush was either committed together with all older ones, or after a sync of the log. Redo
// points are replaced by those of the next servers, so they are noted in the server's file first.
//
// A log that is not there had all its parts: it is removed only once everything in it is in
// SSTables, or is known not to count. So records are written before any tablet is loaded from a
// log.
#ifndef BIGTABLE_RECOVERY_BATCH_RECOVERY_H_
#define BIGTABLE_RECOVERY_BATCH_RECOVERY_H_

#include <memory>
#include <vector>

#include "recovery/dead_log.h"

namespace bigtable {

// Adds to the record of each log what is not recovered of it. Returns the logs that end earlier now
// than before. `logs` are all logs of dead servers that batches write to.
std::vector<DeadLog*> SettleBatches(const std::vector<std::unique_ptr<DeadLog>>& logs);

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_BATCH_RECOVERY_H_
