// Tablets, as a list and by request.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/tablet_info.h"

#include "c/arguments.h"
#include "c/handles.h"

using bigtable::OptionsOf;
using bigtable::Return;
using bigtable::ReturnNone;
using bigtable::ToError;
using bigtable::View;

struct bigtable_tablets {
  std::vector<bigtable::TabletInfo> tablets;
};

namespace bigtable {
namespace {

// NULL: there are not so many tablets.
const TabletInfo* TabletAt(const bigtable_tablets* tablets, size_t index) {
  return index < tablets->tablets.size() ? &tablets->tablets[index] : nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_error* bigtable_database_list_tablets(bigtable_database* database, const char* table,
                                               size_t table_size, bigtable_tablets** tablets) {
  BT_C_CHECK_NOT_NULL({"tablets", tablets});
  *tablets = nullptr;
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size});
  absl::StatusOr<std::vector<bigtable::TabletInfo>> listed =
      database->database->ListTablets(View(table, table_size));
  if (!listed.ok()) return ToError(listed.status());
  *tablets = new bigtable_tablets{*std::move(listed)};
  return nullptr;
}
void bigtable_tablets_free(bigtable_tablets* tablets) { delete tablets; }

size_t bigtable_tablets_count(const bigtable_tablets* tablets) { return tablets->tablets.size(); }
const char* bigtable_tablets_begin_row(const bigtable_tablets* tablets, size_t index,
                                       size_t* size) {
  const bigtable::TabletInfo* const tablet = bigtable::TabletAt(tablets, index);
  return tablet == nullptr ? ReturnNone(size) : Return(tablet->rows.begin(), size);
}
const char* bigtable_tablets_end_row(const bigtable_tablets* tablets, size_t index, size_t* size) {
  const bigtable::TabletInfo* const tablet = bigtable::TabletAt(tablets, index);
  if (tablet == nullptr) return ReturnNone(size);
  return tablet->rows.end().has_value() ? Return(*tablet->rows.end(), size) : Return("", size);
}
int bigtable_tablets_server(const bigtable_tablets* tablets, size_t index) {
  const bigtable::TabletInfo* const tablet = bigtable::TabletAt(tablets, index);
  return tablet == nullptr ? -1 : tablet->server;
}
uint64_t bigtable_tablets_disk_bytes(const bigtable_tablets* tablets, size_t index) {
  const bigtable::TabletInfo* const tablet = bigtable::TabletAt(tablets, index);
  return tablet == nullptr ? 0 : tablet->disk_bytes;
}

bigtable_error* bigtable_database_split_tablet(bigtable_database* database, const char* table,
                                               size_t table_size, const char* row, size_t row_size,
                                               const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size}, {"row", row, row_size});
  return ToError(database->database->SplitTablet(View(table, table_size), View(row, row_size),
                                                 OptionsOf(options)));
}

bigtable_error* bigtable_database_merge_tablets(bigtable_database* database, const char* table,
                                                size_t table_size, const char* row, size_t row_size,
                                                const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size}, {"row", row, row_size});
  return ToError(database->database->MergeTablets(View(table, table_size), View(row, row_size),
                                                  OptionsOf(options)));
}

bigtable_error* bigtable_database_move_tablet(bigtable_database* database, const char* table,
                                              size_t table_size, const char* row, size_t row_size,
                                              int server, const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size}, {"row", row, row_size});
  return ToError(database->database->MoveTablet(View(table, table_size), View(row, row_size),
                                                server, OptionsOf(options)));
}
