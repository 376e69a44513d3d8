// What a ScanStream reads of its family.
#ifndef BIGTABLE_BACKEND_SCAN_COLUMNS_H_
#define BIGTABLE_BACKEND_SCAN_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/filter.h"

namespace bigtable {

// As the functions of ScanStream have set it. Plain value.
struct ScanColumns {
  std::string family;
  std::optional<int64_t> max_versions = 1;
  std::vector<Filter> columns = {};  // which columns
  std::optional<Filter> timestamps = std::nullopt;
  std::optional<Filter> filter = std::nullopt;

  // All of it as one filter, which may be invalid.
  Filter ToFilter() const {
    std::vector<Filter> chain{Filter::Family(family)};
    chain.insert(chain.end(), columns.begin(), columns.end());
    if (timestamps.has_value()) chain.push_back(*timestamps);
    if (max_versions.has_value()) chain.push_back(Filter::Latest(*max_versions));
    if (filter.has_value()) chain.push_back(*filter);
    return Filter::Chain(std::move(chain));
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_SCAN_COLUMNS_H_
