// METADATA: a table of this engine, with a row for each tablet (section 5.1 of the paper).
//
// Row key: the table's id and the tablet's end row. So the tablets of a table are adjacent, and a
// seek finds the tablet of a row:
//
//   | table id, 8 bytes big-endian | 01 | end row |      a tablet that ends before that row
//   | table id, 8 bytes big-endian | FF |                the last tablet of the table
//
// Columns, at timestamp 0 except for events; group and number are decimal:
//
//   file:<group>/<number>   an SSTable: version 1 | order | SSTableInfo | share, if it is not 0
//   redo:<group>            the group's redo point: version 1 | sequence | server | log synced
//   info:policy/<group>     version 1 | the state that the group's compaction policy has left
//   info:begin_row          version 1 | the tablet's first row; a tablet without it has all rows
//                           before its end
//   info:pending            version 1: the tablet is the left child of a split, and exists only if
//                           another tablet begins where it ends
//   info:merging            version 1: the tablet is the left part of a merge, and exists only if
//                           no other tablet begins where it begins
//   info:last_timestamp     version 1 | the largest server timestamp in SSTables
//   location:server         version 1 | the name of the server that had the tablet last
//   event:<kind>            version 1 | a detail of an event of the tablet. The timestamp is the
//                           time of the event; the last eight of each kind are kept
//
// `location` is in a locality group of its own, which is in memory.
//
// METADATA's own tablets have rows, too. They are the first of all, since the id of METADATA is the
// smallest. These rows are METADATA's first tablet, the root tablet, which is never split and has
// no row itself. Its state is the file "root" of the lock service (root_tablet.h), in the encoding
// of EncodeRoot: version 2 | the name of the server that had the root tablet last | last timestamp
// | groups: count, then each: id, redo point, files: count, then each: order, SSTableInfo.
//
// Numbers are varints. Texts and SSTableInfos are preceded by their length.
#ifndef BIGTABLE_METADATA_METADATA_FORMAT_H_
#define BIGTABLE_METADATA_METADATA_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/row_range.h"

#include "schema/table_layout.h"
#include "tablet/tablet_state.h"

namespace bigtable {

inline constexpr uint64_t kMetadataTableId = 1;
// A row key of METADATA is at most this much longer than the end row of its tablet. The key of a
// row for a tablet of METADATA is at most this much longer than the end row of the user's tablet in
// the key.
inline constexpr size_t kMostIdBytes = 18;

// The schema of METADATA, which is the same in every database.
TableLayout MetadataLayout();

// The row of a tablet, and the rows of all tablets of a table.
std::string MetadataRow(const TabletId& tablet);
RowRange MetadataRows(uint64_t table_id);
// The rows of the root tablet: those of METADATA's other tablets, and all before them.
RowRange RootRows();
// The tablet of a row. DataLoss if it is not a row of METADATA.
absl::StatusOr<TabletId> TabletOfMetadataRow(std::string_view row);

// The mark of a tablet's row for a split or merge that is in progress or was interrupted.
enum class TabletMark { kNone, kPending, kMerging };

// Operations on a tablet's row (schema/mutation_format.h): for a new tablet; for a pending tablet
// with the contents of `state`; to mark it as merging; to remove both marks; to change its first
// row.
std::string EncodeNewTablet(const RowRange& rows);
std::string EncodePendingTablet(const TabletState& state);
std::string EncodeMerging();
std::string EncodeNoMark();
std::string EncodeBeginRow(std::string_view row);
// The server that has the tablet; empty if there is none.
std::string EncodeLocation(std::string_view server);
// An event of the tablet: section 5.1's "log of all events pertaining to each tablet". `detail`:
// the server that has loaded it, the row of a split, the group of a compaction.
enum class TabletEventKind { kLoaded, kSplit, kMerged, kCompacted };
std::string EncodeEvent(TabletEventKind kind, absl::Time time, std::string_view detail);
// The whole state except the rows.
std::string EncodeContents(const TabletState& state);
std::string EncodeChange(const TabletChange& change);
// Adds one cell of the row to `state`, whose rows end where the row's key says. DataLoss;
// FailedPrecondition for a later version.
absl::Status DecodeCell(std::string_view family, std::string_view qualifier, std::string_view value,
                        TabletState* state);
// The tablet of a row that consists of such operations. DataLoss; FailedPrecondition for a later
// version.
absl::StatusOr<TabletState> DecodeTablet(const TabletId& tablet, std::string_view operations);
// The mark in this cell, if it has one.
TabletMark MarkOfCell(std::string_view family, std::string_view qualifier);
// The server in this cell, if it has the tablet's location. Views the value.
std::optional<std::string_view> ServerOfCell(std::string_view family, std::string_view value);

// The root tablet: its server and its state.
struct RootState {
  std::string server;  // that had it last; "" if none had
  TabletState tablet;  // its rows are RootRows()
};
std::string EncodeRoot(const RootState& root);
// DataLoss; FailedPrecondition for another version.
absl::StatusOr<RootState> DecodeRoot(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_FORMAT_H_
