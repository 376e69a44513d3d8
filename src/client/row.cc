#include "bigtable/row.h"

#include "client/row_storage.h"

namespace bigtable {

Row::Row() = default;
Row::~Row() = default;

Row::Row(Row&& other) noexcept
    : storage_(std::move(other.storage_)),
      key_(std::exchange(other.key_, {})),
      cells_(std::exchange(other.cells_, {})) {}

Row& Row::operator=(Row&& other) noexcept {
  storage_ = std::move(other.storage_);
  key_ = std::exchange(other.key_, {});
  cells_ = std::exchange(other.cells_, {});
  return *this;
}

}  // namespace bigtable
