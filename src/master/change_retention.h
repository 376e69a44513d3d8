// Drops the changes of tables that are older than their retention, or for which there is no room
// (ChangeStreamRule), unless a registered reader does not have them yet. A file of changes is
// dropped as a whole, once all of its changes may be.
//
// Stateless. Any thread.
#ifndef BIGTABLE_MASTER_CHANGE_RETENTION_H_
#define BIGTABLE_MASTER_CHANGE_RETENTION_H_

#include "base/sequence.h"
#include "master/master_context.h"
#include "schema/table_layout.h"

namespace bigtable {

// Drops those of a table, whose slowest registered reader has everything up to `slowest_reader`;
// kMaxSequence: there is no reader. Waits at most a second for each
// tablet that has any, and tries those that are busy again the next time. Cost without old changes:
// a look at the files of changes of each tablet.
void DropOldChanges(const MasterContext& context, const TableLayout& layout,
                    SequenceNumber slowest_reader);

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_CHANGE_RETENTION_H_
