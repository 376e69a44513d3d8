#include "sstable/sstable_series.h"

#include "base/entry_key.h"
#include "base/status.h"

namespace bigtable {
namespace {

bool AreOfOneRow(std::string_view a, std::string_view b) {
  const size_t row_size = RowPrefixSize(a);
  return b.size() >= row_size && a.substr(0, row_size) == b.substr(0, row_size);
}

}  // namespace

absl::Status SSTableSeries::Add(std::string_view key, std::string_view value) {
  if (builder_ != nullptr && builder_->EstimatedSize() >= options_.file_size &&
      !AreOfOneRow(builder_->last_key(), key)) {
    BT_RETURN_IF_ERROR(Finish());
  }
  if (builder_ == nullptr) BT_RETURN_IF_ERROR(Begin());
  return builder_->Add(key, value);
}

absl::Status SSTableSeries::Begin() {
  files_.push_back(options_.name_next());
  const File& file = files_.back();
  BT_ASSIGN_OR_RETURN(auto writable, options_.create(file.path));
  builder_ =
      std::make_unique<SSTableBuilder>(std::move(writable), file.path, file.number, options_.group);
  if (options_.owner.has_value()) builder_->SetOwner(*options_.owner);
  if (options_.budget != nullptr) builder_->ChargeTo(options_.budget);
  return absl::OkStatus();
}

absl::Status SSTableSeries::Finish() {
  if (builder_ == nullptr) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(SSTableInfo info, builder_->Finish());
  builder_ = nullptr;
  infos_.push_back(std::move(info));
  return absl::OkStatus();
}

}  // namespace bigtable
