#include <memory>
#include <string>
#include <utility>

#include "bigtable/table.h"

#include "backend/row_source.h"

namespace bigtable {

RowReader::RowReader(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;
RowReader::~RowReader() {
  // In a child process its resources belong to the parent.
  if (source_ != nullptr && source_->is_forked()) (void)source_.release();
}

bool RowReader::Next() { return source_->Next(&row_); }

Row RowReader::TakeRow() {
  source_->MarkTaken(row_);
  return std::move(row_);
}

const absl::Status& RowReader::status() const { return source_->status(); }

std::string RowReader::ResumeToken() const { return source_->ResumeToken(row_); }

}  // namespace bigtable
