// A version of a tablet with mutations on top that are in no memtable and no log: for a transaction
// that sees its own writes before it commits.
#ifndef BIGTABLE_TABLET_OVERLAY_H_
#define BIGTABLE_TABLET_OVERLAY_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/published.h"
#include "base/sequence.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Operations on one row (schema/mutation_format.h), well formed.
struct RowOperations {
  std::string_view row;
  std::string_view operations;
};

// The version with one more memtable in each locality group, which has the operations of `rows`,
// each row once, at the sequence number that no mutation has. So a read at this number sees them
// after everything that it sees of `version`. Cells that take the server's time get `now`. Families
// that the version's schema does not have are left out. It must not be used with the scan cache.
// Cost: the insertions, and a copy of the version's lists of files.
Pin<TabletVersion> Overlay(const Tablet& tablet, const TabletVersion& version,
                           std::span<const RowOperations> rows, SequenceNumber sequence,
                           int64_t now);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_OVERLAY_H_
