// A tablet of a table, as Database::ListTablets returns it (section 5 of the paper).
#ifndef BIGTABLE_TABLET_INFO_H_
#define BIGTABLE_TABLET_INFO_H_

#include <cstdint>

#include "bigtable/row_range.h"

namespace bigtable {

// Plain value.
struct TabletInfo {
  RowRange rows;
  int server = 0;           // its number: 0 to DatabaseOptions::tablet_servers - 1
  uint64_t disk_bytes = 0;  // its SSTables; an estimate for shared ones
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_INFO_H_
