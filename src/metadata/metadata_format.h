// METADATA: a table of this very engine, with a row for each tablet (section 5.1 of the paper).
//
// Row key: the table's id and the tablet's end row, so that the tablets of a table stand together
// and the one for a row is found by a seek:
//
//   | table id, 8 bytes big-endian | 01 | end row |      a tablet that ends before that row
//   | table id, 8 bytes big-endian | FF |                the last tablet of the table
//
// Columns, at timestamp 0 but for events; group and number are decimal:
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
//   location:server         version 1 | the name of the server that had the tablet last
//   event:<kind>            version 1 | a detail: what has become of the tablet. At the timestamp
//   at
//                           which it happened, the last few of each kind
//
// `location` is in a locality group of its own, which is in memory.
//
// METADATA's own tablets have rows, too, which are the first of all, since the id of METADATA is
// the smallest. These rows are METADATA's first tablet, the root, which is never split, and has no
// row itself: its state is the file "root" of the lock service (root_tablet.h), in the encoding of
// EncodeRoot: version 2 | the name of the server that had the root tablet last | last timestamp |
// groups: count, then each: id, redo point, files: count, then each: order, SSTableInfo.
//
// Numbers are varints; texts and SSTableInfos have their length before them.
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

#include "tablet/table_layout.h"
#include "tablet/tablet_state.h"

namespace bigtable {

inline constexpr uint64_t kMetadataTableId = 1;
// How much longer a row of METADATA is at most than the end row that it is about, and one about a
// tablet of METADATA than that of the user's tablet that it ends with.
inline constexpr size_t kMostIdBytes = 18;

// The schema of METADATA, which is the same in every database.
TableLayout MetadataLayout();

// The row of a tablet, and the rows of all tablets of a table.
std::string MetadataRow(const TabletId& tablet);
RowRange MetadataRows(uint64_t table_id);
// The rows of the root tablet: those of METADATA's other tablets, and what would be before them.
RowRange RootRows();
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
// The server that has the tablet; nothing if there is none.
std::string EncodeLocation(std::string_view server);
// Something that has happened to the tablet: section 5.1's "log of all events pertaining to each
// tablet". `detail`: the server that has loaded it, the row of a split, the group of a compaction.
enum class TabletEventKind { kLoaded, kSplit, kMerged, kCompacted };
std::string EncodeEvent(TabletEventKind kind, absl::Time time, std::string_view detail);
// All of a state but the rows.
std::string EncodeContents(const TabletState& state);
std::string EncodeChange(const TabletChange& change);
// Adds what one cell of the row says to `state`, whose rows end where the row's key says. DataLoss;
// FailedPrecondition for a later version.
absl::Status DecodeCell(std::string_view family, std::string_view qualifier, std::string_view value,
                        TabletState* state);
// The mark that this cell is, if it is one.
TabletMark MarkOfCell(std::string_view family, std::string_view qualifier);
// The server, if this cell says which one has the tablet. Views the value.
std::optional<std::string_view> ServerOfCell(std::string_view family, std::string_view value);

// The root tablet: where it is, and what it has.
struct RootState {
  std::string server;  // that had it last; "" if none had
  TabletState tablet;  // its rows are RootRows()
};
std::string EncodeRoot(const RootState& root);
// DataLoss; FailedPrecondition for another version.
absl::StatusOr<RootState> DecodeRoot(std::string_view bytes);

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_FORMAT_H_
