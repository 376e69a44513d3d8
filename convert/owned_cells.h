// The cells of a row that a message has brought, which the Row keeps alive.
//
// One thread at a time.
#ifndef BIGTABLE_CONVERT_OWNED_CELLS_H_
#define BIGTABLE_CONVERT_OWNED_CELLS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/row.h"

#include "base/ref_counted.h"

namespace bigtable::convert {

class OwnedCells : public RefCounted {
 public:
  struct Owned {
    std::string family;
    std::string qualifier;
    int64_t timestamp = 0;
    std::string value;
    std::string label;
  };

  std::vector<Owned> cells;

  // Makes `*row` the row with these cells, in the order of a row. There is at least one.
  static void MoveTo(Ref<OwnedCells> cells, std::string_view key, Row* row);
};

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_OWNED_CELLS_H_
