// The tablets of a table and their servers, as far as a client knows them: in key order, with gaps
// for unknown locations. Immutable and thread-safe. A caller that holds it may continue to use the
// tablets.
#ifndef BIGTABLE_ROUTING_SERVED_TABLE_H_
#define BIGTABLE_ROUTING_SERVED_TABLE_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/macros.h"
#include "absl/types/span.h"

#include "bigtable/row_range.h"

#include "base/key_fences.h"
#include "rpc/data_service.h"
#include "serving/data_path.h"
#include "tablet/tablet.h"

namespace bigtable {

// The location of a tablet that is reached by messages, as METADATA had it at the lookup.
//
// Immutable except for `is_stale`. Thread-safe.
struct RemoteTablet {
  RowRange rows;
  std::string server;              // the name of the server
  DataService* service = nullptr;  // reaches the server
  // A caller learned that the tablet is not there, or got no response: look the tablet up again.
  mutable std::atomic<bool> is_stale{false};
};

// A tablet in place, or one that is reached by messages. Neither: the location of these rows is
// unknown.
struct ServedTablet {
  std::shared_ptr<Tablet> tablet;
  const DataPath* path = nullptr;  // of its server
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
      ABSL_ASSERT(next.has_value() && rows.begin() >= *next && "tablets do not overlap");
      if (rows.begin() != *next) Add({}, rows.begin());
      next = rows.end();
      Add(std::move(served), next);
    }
    if (next.has_value()) Add({}, std::nullopt);
    ABSL_ASSERT(tablets_.size() == ends_.size() + 1 && "together they have every row");
    fences_ = KeyFences({ends_.begin(), ends_.end()});
  }

  // Together they have every row. Rows of unknown location have an entry for which is_known() is
  // false.
  const std::vector<ServedTablet>& tablets() const { return tablets_; }
  // The index in tablets() of the tablet that has `row`.
  size_t Find(std::string_view row) const {
    const auto [begin, end] = fences_.Find(row);
    if (begin == end) [[likely]]
      return begin;
    const auto first = ends_.begin();
    return static_cast<size_t>(std::upper_bound(first + static_cast<std::ptrdiff_t>(begin),
                                                first + static_cast<std::ptrdiff_t>(end), row) -
                               first);
  }
  // The index of the tablet that has the last rows before `row`, or the last rows if `row` is
  // empty.
  size_t FindBefore(const std::optional<std::string>& row) const {
    if (!row.has_value()) return ends_.size();
    return static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), *row) - ends_.begin());
  }
  // The first row of the tablet at `index`.
  std::string_view BeginOf(size_t index) const {
    ABSL_ASSERT(index < tablets_.size() && "there is such a tablet");
    return index == 0 ? std::string_view() : std::string_view(ends_[index - 1]);
  }
  // The first row of these ranges whose location is unknown, or whose tablet was superseded.
  // Nothing if all are known. The ranges must ascend and not overlap. For callers that read tablets
  // in place.
  std::optional<std::string_view> FindMissing(absl::Span<const RowRange> ranges) const {
    size_t next = 0;  // all touched tablets before this index are known
    for (const RowRange& range : ranges) {
      const auto is_in_range = [&](size_t index) {
        return !range.end().has_value() || BeginOf(index) < *range.end();
      };
      if (next == tablets_.size()) break;
      if (next > 0 && !is_in_range(next)) continue;
      for (next = std::max(next, Find(range.begin())); next < tablets_.size() && is_in_range(next);
           ++next) {
        const std::shared_ptr<Tablet>& tablet = tablets_[next].tablet;
        if (tablet != nullptr && !tablet->flags().superseded()) continue;
        return std::max(BeginOf(next), std::string_view(range.begin()));
      }
    }
    return std::nullopt;
  }

 private:
  void Add(ServedTablet served, const std::optional<std::string>& end) {
    tablets_.push_back(std::move(served));
    if (end.has_value()) ends_.push_back(*end);
  }

  std::vector<ServedTablet> tablets_;
  std::vector<std::string> ends_;  // of all tablets but the last
  KeyFences fences_;               // of ends_
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_SERVED_TABLE_H_
