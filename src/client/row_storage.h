// What a Row keeps in place for as long as it lives, and how it is built.
#ifndef BIGTABLE_CLIENT_ROW_STORAGE_H_
#define BIGTABLE_CLIENT_ROW_STORAGE_H_

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "bigtable/row.h"

#include "base/published.h"
#include "base/ref_counted.h"
#include "tablet/cell_cursor.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// The cells of a row, the text that is not in place anywhere else (the key and the qualifiers), and
// what keeps everything else in place: the tablet's version and blocks of the block cache.
class RowStorage {
 public:
  Pin<TabletVersion> version;
  absl::InlinedVector<Cell, 2> cells;
  absl::InlinedVector<Ref<const RefCounted>, 2> owners;

  // A copy of `text` that stays in place.
  std::string_view Keep(std::string_view text) {
    char* to = inside_ + used_;
    if (text.size() > sizeof(inside_) - used_) {
      outside_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
      to = outside_.back().get();
    } else {
      used_ += text.size();
    }
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  // Forgets everything but the version.
  void Clear() {
    cells.clear();
    owners.clear();
    outside_.clear();
    used_ = 0;
  }

 private:
  size_t used_ = 0;
  char inside_[128];
  std::vector<std::unique_ptr<char[]>> outside_;
};

// Fills a Row with cells from a cursor. Reuses what the Row has.
class RowBuilder {
 public:
  explicit RowBuilder(Row* row) : row_(row) {}

  void Start(std::string_view key, const Pin<TabletVersion>& version) {
    if (row_->storage_ == nullptr) {
      row_->storage_ = std::make_unique<RowStorage>();
      row_->storage_->version = version.Clone();
    } else {
      row_->storage_->Clear();
    }
    row_->key_ = row_->storage_->Keep(key);
  }
  void Add(const CellCursor& cursor) {
    RowStorage& storage = *row_->storage_;
    // Cells of one column share its name.
    std::string_view qualifier = cursor.qualifier();
    if (storage.cells.empty() || storage.cells.back().qualifier != qualifier) {
      qualifier = storage.Keep(qualifier);
    } else {
      qualifier = storage.cells.back().qualifier;
    }
    storage.cells.push_back(
        {cursor.family().name, qualifier, Timestamp(cursor.timestamp()), cursor.value(), {}});
    const RefCounted* const owner = cursor.value_owner();
    if (owner != nullptr && !cursor.value().empty() &&
        (storage.owners.empty() || storage.owners.back().get() != owner)) {
      storage.owners.emplace_back(owner);
    }
  }
  void Finish() { row_->cells_ = absl::MakeConstSpan(row_->storage_->cells); }

 private:
  Row* const row_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_ROW_STORAGE_H_
