// METADATA: a table of this very engine, with a row for each tablet (section 5.1 of the paper).
//
// Row key: the table's id and the tablet's end row, so that the tablets of a table stand together
// and the one for a row is found by a seek:
//
//   | table id, 8 bytes big-endian | 01 | end row |      a tablet that ends before that row
//   | table id, 8 bytes big-endian | FF |                the last tablet of the table
//
// Columns, all at timestamp 0; group and number are decimal:
//
//   file:<group>/<number>   an SSTable: version 1 | order | SSTableInfo
//   redo:<group>            the group's redo point: version 1 | sequence | server | log synced
//   info:begin_row          version 1 | the tablet's first row; a tablet without it has all rows
//                           before its end
//   info:pending            version 1: the tablet is the left half of a split, and there only if
//                           another tablet begins where it ends
//   info:merging            version 1: the tablet is the left part of a merge, and there only if no
//                           other tablet begins where it begins
//   info:last_timestamp     version 1 | the largest server timestamp in SSTables
//   location:server         the server that has the tablet (reserved)
//
// `location` is in a locality group of its own, which is in memory.
//
// The METADATA table's own tablet has no row: its state is the file "root" of the lock service
// (root_tablet.h), in the encoding of EncodeTabletState: version 1 | last timestamp | groups:
// count, then each: id, redo point, files: count, then each: order, SSTableInfo.
//
// Numbers are varints; texts and SSTableInfos have their length before them.
#ifndef BIGTABLE_METADATA_METADATA_FORMAT_H_
#define BIGTABLE_METADATA_METADATA_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/row_range.h"

#include "tablet/table_layout.h"
#include "tablet/tablet_state.h"

namespace bigtable {

inline constexpr uint64_t kMetadataTableId = 1;

// The schema of METADATA, which is the same in every database.
TableLayout MetadataLayout();

// The row of a tablet, and the rows of all tablets of a table.
std::string MetadataRow(const TabletId& tablet);
RowRange MetadataRows(uint64_t table_id);
// The tablet of a row. DataLoss if it is no row of METADATA.
absl::StatusOr<TabletId> TabletOfMetadataRow(std::string_view row);

// What the row of a tablet says of a split or a merge that is under way, or was cut short.
enum class TabletMark { kNone, kPending, kMerging };

// Operations on a tablet's row (tablet/mutation_format.h): for a new tablet; for one that begins
// with everything that `state` says, pending; that it is merging; that it is neither any more; that
// it begins with this row from now on; a change of its files.
std::string EncodeNewTablet(const RowRange& rows);
std::string EncodePendingTablet(const TabletState& state);
std::string EncodeMerging();
std::string EncodeNoMark();
std::string EncodeBeginRow(std::string_view row);
// All of a state but the rows.
std::string EncodeContents(const TabletState& state);
std::string EncodeChange(const TabletChange& change);
// Adds what one cell of the row says to `state`, whose rows end where the row's key says. DataLoss;
// FailedPrecondition for a later version.
absl::Status DecodeCell(std::string_view family, std::string_view qualifier, std::string_view value,
                        TabletState* state);
// The mark that this cell is, if it is one.
TabletMark MarkOfCell(std::string_view family, std::string_view qualifier);

std::string EncodeTabletState(const TabletState& state);
absl::StatusOr<TabletState> DecodeTabletState(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_FORMAT_H_
