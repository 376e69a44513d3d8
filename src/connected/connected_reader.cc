#include "connected/connected_reader.h"

#include <iterator>
#include <utility>

#include "rows/resume_token.h"
#include "rows/row_storage.h"

namespace bigtable {

ConnectedReader::ConnectedReader(TableService* service, uint64_t table_id,
                                 absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
                                 const ReadOptions& options)
    : table_id_(table_id), options_(options) {
  if (!ranges.ok()) {
    Fail(ranges.status());
    return;
  }
  ranges_ = *std::move(ranges);
  if (!ranges_.empty()) rows_ = service->ReadRows(ranges_, filter, options_);
  is_read_ = ranges_.empty();
}

bool ConnectedReader::Next(Row* row) {
  if (rows_ == nullptr) return false;
  absl::StatusOr<bool> has_row = rows_->Next(row);
  if (!has_row.ok()) return Fail(has_row.status());
  if (!*has_row) {
    is_read_ = true;
    rows_ = nullptr;
    return false;
  }
  ++row_count_;
  if (options_.cell_limit > 0) {
    RowBuilder::Truncate(row, static_cast<size_t>(options_.cell_limit - cell_count_));
    cell_count_ += std::ssize(row->cells());
  }
  const bool is_at_limit = (options_.row_limit > 0 && row_count_ == options_.row_limit) ||
                           (options_.cell_limit > 0 && cell_count_ == options_.cell_limit);
  if (is_at_limit) rows_ = nullptr;  // the service need not go on until this is destroyed
  return true;
}

std::string ConnectedReader::ResumeToken(const Row& row) const {
  bigtable::ResumeToken token{table_id_, options_.reverse, ranges_};
  const std::string_view last = row.key().empty() ? std::string_view(taken_) : row.key();
  if (is_read_) {
    token.ranges.clear();
  } else if (!last.empty()) {
    token.ranges = RangesLeft(ranges_, last, true, options_.reverse);
  }
  return token.Encode();
}

bool ConnectedReader::Fail(const absl::Status& status) {
  rows_ = nullptr;
  status_.Fail(status);
  return false;
}

}  // namespace bigtable
