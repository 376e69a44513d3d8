// Where the tablets of a table are, as far as a client knows: in key order, with what is not known
// between them. Immutable and thread-safe; whoever holds it may go on using the tablets.
#ifndef BIGTABLE_CLIENT_SERVED_TABLE_H_
#define BIGTABLE_CLIENT_SERVED_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/row_range.h"

#include "base/key_fences.h"
#include "client/remote_tablet.h"
#include "tablet/tablet.h"
#include "tabletserver/data_path.h"
#include "tabletserver/tablet_server.h"

namespace bigtable {

// A tablet in place, or one that is reached by messages; neither: it is not known where these rows
// are.
struct ServedTablet {
  std::shared_ptr<Tablet> tablet;
  TabletServer* server = nullptr;
  const DataPath* path = nullptr;  // the server's
  std::shared_ptr<const RemoteTablet> remote = nullptr;

  bool is_known() const { return tablet != nullptr || remote != nullptr; }
  const RowRange& rows() const { return remote != nullptr ? remote->rows : tablet->rows(); }
};

class ServedTable {
 public:
  // `known` are in key order and do not overlap.
  explicit ServedTable(std::vector<ServedTablet> known) {
    std::optional<std::string> next = "";  // where the next one begins
    for (ServedTablet& served : known) {
      const RowRange rows = served.rows();
      if (rows.begin() != *next) Add({}, rows.begin());
      next = rows.end();
      Add(std::move(served), next);
    }
    if (next.has_value()) Add({}, std::nullopt);
    fences_ = KeyFences({ends_.begin(), ends_.end()});
    std::sort(servers_.begin(), servers_.end());
    servers_.erase(std::unique(servers_.begin(), servers_.end()), servers_.end());
  }

  // They have every row between them. Where nothing is known there is one that is not known.
  const std::vector<ServedTablet>& tablets() const { return tablets_; }
  // The place in tablets() of the one that has `row`.
  size_t Find(std::string_view row) const {
    const auto [begin, end] = fences_.Find(row);
    if (begin == end) [[likely]]
      return begin;
    const auto first = ends_.begin();
    return static_cast<size_t>(std::upper_bound(first + static_cast<std::ptrdiff_t>(begin),
                                                first + static_cast<std::ptrdiff_t>(end), row) -
                               first);
  }
  // The place of the one that has the last rows before `row`, or the last rows if that is none.
  size_t FindBefore(const std::optional<std::string>& row) const {
    if (!row.has_value()) return ends_.size();
    return static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), *row) - ends_.begin());
  }
  // The first row at `place`.
  std::string_view BeginOf(size_t index) const {
    return index == 0 ? std::string_view() : std::string_view(ends_[index - 1]);
  }
  // The first row of these ranges, which ascend and do not overlap, of which it is not known where
  // it is, or known in a tablet that has moved since; none: all are known. For those who read
  // tablets in place.
  std::optional<std::string_view> FindMissing(absl::Span<const RowRange> ranges) const {
    size_t next = 0;  // before this one all that the ranges have touched are there
    for (const RowRange& range : ranges) {
      const auto is_in_range = [&](size_t index) {
        return !range.end().has_value() || BeginOf(index) < *range.end();
      };
      if (next == tablets_.size()) break;
      if (next > 0 && !is_in_range(next)) continue;
      for (next = std::max(next, Find(range.begin())); next < tablets_.size() && is_in_range(next);
           ++next) {
        const std::shared_ptr<Tablet>& tablet = tablets_[next].tablet;
        if (tablet != nullptr && !tablet->superseded()) continue;
        return std::max(BeginOf(next), std::string_view(range.begin()));
      }
    }
    return std::nullopt;
  }
  // The servers that have tablets of the table, each once.
  const std::vector<TabletServer*>& servers() const { return servers_; }

 private:
  void Add(ServedTablet served, const std::optional<std::string>& end) {
    if (served.server != nullptr) servers_.push_back(served.server);
    tablets_.push_back(std::move(served));
    if (end.has_value()) ends_.push_back(*end);
  }

  std::vector<ServedTablet> tablets_;
  std::vector<std::string> ends_;  // of all but the last
  KeyFences fences_;               // of these
  std::vector<TabletServer*> servers_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_SERVED_TABLE_H_
