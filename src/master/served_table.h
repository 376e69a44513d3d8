// A table as it is served: its tablets in key order, and the server that has each. Immutable and
// thread-safe; whoever holds it may go on using the tablets.
#ifndef BIGTABLE_MASTER_SERVED_TABLE_H_
#define BIGTABLE_MASTER_SERVED_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tablet/tablet.h"
#include "tabletserver/tablet_server.h"
#include "tabletserver/write_controller.h"

namespace bigtable {

struct ServedTablet {
  std::shared_ptr<Tablet> tablet;
  TabletServer* server = nullptr;
  WriteController* write_controller = nullptr;  // the server's
};

class ServedTable {
 public:
  // `tablets` are in key order, not none, and have every row between them.
  explicit ServedTable(std::vector<ServedTablet> tablets) : tablets_(std::move(tablets)) {
    for (size_t i = 0; i + 1 < tablets_.size(); ++i) {
      ends_.push_back(*tablets_[i].tablet->id().end_row);
    }
    for (const ServedTablet& tablet : tablets_) servers_.push_back(tablet.server);
    std::sort(servers_.begin(), servers_.end());
    servers_.erase(std::unique(servers_.begin(), servers_.end()), servers_.end());
  }

  uint64_t table_id() const { return tablets_.front().tablet->table_id(); }
  // The same in all tablets, except for the moment in which it is changed.
  std::shared_ptr<const TableLayout> Layout() const { return tablets_.front().tablet->Layout(); }

  const std::vector<ServedTablet>& tablets() const { return tablets_; }
  // The place in tablets() of the one that has `row`.
  size_t Find(std::string_view row) const {
    if (ends_.empty()) return 0;
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), row) - ends_.begin());
  }
  // The servers that have tablets of the table, each once.
  const std::vector<TabletServer*>& servers() const { return servers_; }

 private:
  const std::vector<ServedTablet> tablets_;
  std::vector<std::string> ends_;  // of all tablets but the last
  std::vector<TabletServer*> servers_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SERVED_TABLE_H_
