// The row and the column that a read is in, as the keys of entries name them, and the names that
// it returns. Names are views of the key's prefix as long as nothing in them is escaped. One thread
// at a time; reusable.
//
// Invariants:
// * column_prefix() begins with row_prefix(), which is empty in no row. Between EnterColumn and
//   EnterRow, for a key of another row, only column_prefix() is valid.
// * row() and qualifier() are views of the prefix or of memory of this class: they are valid until
//   another column is entered. qualifier() is that of the current column only once EnterQualifier
//   was called for it.
// * If same_column_size_ is not 0, then the prefix ends, after the row's name, with so many bytes
//   that nothing in is escaped: another key that ends equally, before its trailer, is of the same
//   column of another row, if it has no zero byte before.
#ifndef BIGTABLE_READ_KEY_POSITION_H_
#define BIGTABLE_READ_KEY_POSITION_H_

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "absl/base/macros.h"

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/key_buffer.h"

namespace bigtable {

class KeyPosition {
 public:
  // In no row.
  void Clear() {
    row_prefix_size_ = 0;
    same_column_size_ = 0;
    column_prefix_.clear();
  }

  bool in_row() const { return row_prefix_size_ > 0; }
  std::string_view row_prefix() const { return column_prefix_.view().substr(0, row_prefix_size_); }
  std::string_view column_prefix() const { return column_prefix_.view(); }
  // The prefix of the column without that of the row.
  std::string_view family_and_qualifier() const {
    return column_prefix_.view().substr(row_prefix_size_);
  }
  // Whether an entry with this key is in the row, or in the column.
  bool HasInRow(std::string_view key) const { return BeginsWith(key, row_prefix()); }
  bool HasInColumn(std::string_view key) const {
    return key.size() == column_prefix_.size() + kTrailerSize &&
           BeginsWith(key, column_prefix_.view());
  }

  // The names, unescaped.
  std::string_view row() const {
    return row_is_plain_ ? row_prefix().substr(0, row_prefix_size_ - kRowEnd) : row_;
  }
  std::string_view qualifier() const { return qualifier_; }

  // Makes the column of the key current. False: it is in another row, and EnterRow must follow.
  bool EnterColumn(std::string_view key) {
    const bool same_row = in_row() && HasInRow(key);
    same_column_size_ = 0;
    column_prefix_.assign(ColumnPrefix(key));
    return same_row;
  }
  // The row of the current column has a prefix of this size. `is_plain`: nothing in it is escaped.
  void EnterRow(size_t prefix_size, bool is_plain) {
    row_prefix_size_ = prefix_size;
    row_is_plain_ = is_plain;
    if (!is_plain) row_.assign(Unescape(row_prefix(), &qualifier_scratch_));
  }
  // Takes the qualifier from its escaped form, the end of column_prefix(). True: neither it nor the
  // row has anything escaped.
  bool EnterQualifier(std::string_view escaped) {
    qualifier_ = Unescape(escaped, &qualifier_scratch_);
    return row_is_plain_ && qualifier_.data() == escaped.data();
  }

  // From here on, RowOfSameColumn compares keys with the current column, for which EnterQualifier
  // returned true.
  void ExpectSameColumn() { same_column_size_ = family_and_qualifier().size() + kRowEnd; }
  // The size of the row's name, without the end mark, in a key of the same column of another row;
  // 0: it is none, or it is not known to be one.
  //
  // The ends of both keys, from the row's end mark to the trailer, are equal, and the mark has the
  // first zero byte. That separates the row from the column without parsing the key.
  size_t RowOfSameColumn(std::string_view key) const {
    if (same_column_size_ == 0 || key.size() <= same_column_size_ + kTrailerSize) return 0;
    const size_t row_size = key.size() - kTrailerSize - same_column_size_;
    const std::string_view column = column_prefix_.view();
    if (!SameBytes(key.data() + row_size, column.data() + column.size() - same_column_size_,
                   same_column_size_) ||
        std::memchr(key.data(), 0, row_size) != nullptr) {
      return 0;
    }
    const bool same_row =
        row_size + kRowEnd == row_prefix_size_ && SameBytes(key.data(), column.data(), row_size);
    return same_row ? 0 : row_size;
  }
  // Moves to the same column of that row.
  void EnterSameColumn(std::string_view key, size_t row_size) {
    ABSL_ASSERT(row_size == RowOfSameColumn(key) && row_size > 0 && "it is the same column");
    column_prefix_.assign(ColumnPrefix(key));
    row_prefix_size_ = row_size + kRowEnd;
    const size_t column_end = column_prefix_.size() - kQualifierEnd;
    qualifier_ = column_prefix_.view().substr(column_end - qualifier_.size(), qualifier_.size());
  }
  // Same as the calls above, for a key in which nothing is escaped: of a row with a prefix, and a
  // qualifier with an end mark, of these sizes.
  void EnterPlain(std::string_view key, size_t row_prefix_size, size_t escaped_size) {
    column_prefix_.assign(ColumnPrefix(key));
    row_prefix_size_ = row_prefix_size;
    row_is_plain_ = true;
    same_column_size_ = 0;
    qualifier_ = column_prefix_.view().substr(column_prefix_.size() - escaped_size,
                                              escaped_size - kQualifierEnd);
  }

 private:
  // The sizes of the end marks.
  static constexpr size_t kRowEnd = 2;
  static constexpr size_t kQualifierEnd = 2;

  KeyBuffer column_prefix_;
  size_t row_prefix_size_ = 0;
  size_t same_column_size_ = 0;
  bool row_is_plain_ = true;
  std::string row_;  // only if it is not plain
  std::string qualifier_scratch_;
  std::string_view qualifier_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_KEY_POSITION_H_
