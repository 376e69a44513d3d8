#include "compaction/job_files.h"

#include <algorithm>
#include <utility>

#include "base/entry_key.h"
#include "base/status.h"

namespace bigtable {

JobFiles::~JobFiles() {
  if (finished_) return;
  writer_.reset();
  for (const std::string& path : paths_) job_->file_system->RemoveFile(path).IgnoreError();
}

absl::Status JobFiles::Add(std::string_view key, std::string_view value) {
  const absl::Status status = Write(key, value);
  has_failed_ |= !status.ok();
  return status;
}

absl::Status JobFiles::Write(std::string_view key, std::string_view value) {
  const bool is_full = writer_.has_value() && IsPlaceToSplit(key);
  if (is_full) writer_->SetFull();
  if (PassesSplit(key) || is_full) BT_RETURN_IF_ERROR(FinishFile());
  if (!writer_.has_value()) BT_RETURN_IF_ERROR(StartFile());
  content_.back() += key.size() + value.size();
  return writer_->Add(key, value);
}

absl::StatusOr<std::vector<SSTableInfo>> JobFiles::Finish() {
  BT_RETURN_IF_ERROR(FinishFile());
  finished_ = true;
  return std::move(infos_);
}

bool JobFiles::PassesSplit(std::string_view key) {
  const size_t before = next_split_;
  while (next_split_ < job_->split_at.size() && job_->split_at[next_split_] <= key) ++next_split_;
  return next_split_ > before;
}

bool JobFiles::IsPlaceToSplit(std::string_view key) const {
  const uint64_t size = writer_->EstimatedSize();
  if (size < job_->target_file_size && !TakesMuchMemory()) return false;
  if (size >= 4 * job_->target_file_size) return true;
  const std::string_view last = writer_->last_key();
  const std::string_view same =
      size >= 2 * job_->target_file_size ? ColumnPrefix(last) : last.substr(0, RowPrefixSize(last));
  return !key.starts_with(same);
}

// Index and filter of a file of tiny rows may need more memory than its blocks.
bool JobFiles::TakesMuchMemory() const {
  constexpr uint64_t kPartOfBudget = 16;
  constexpr uint64_t kAlways = 1 << 20;
  return job_->budget != nullptr &&
         writer_->index_memory() >= std::max(job_->budget->limit() / kPartOfBudget, kAlways);
}

absl::Status JobFiles::StartFile() {
  const uint64_t number = job_->new_file_number();
  std::string path = job_->path_of(number);
  BT_ASSIGN_OR_RETURN(auto file, job_->file_system->NewWritableFile(path));
  paths_.push_back(path);
  content_.push_back(0);
  writer_.emplace(std::move(file), std::move(path), number, job_->group);
  if (job_->budget != nullptr) writer_->ChargeTo(job_->budget);
  if (job_->owner.has_value()) writer_->SetOwner(*job_->owner);
  writer_->SetOldestDeletion(job_->oldest_deletion);
  return absl::OkStatus();
}

absl::Status JobFiles::FinishFile() {
  if (!writer_.has_value()) return absl::OkStatus();
  BT_ASSIGN_OR_RETURN(SSTableInfo info, writer_->Finish());
  infos_.push_back(std::move(info));
  writer_.reset();
  return job_->on_written != nullptr ? job_->on_written(infos_.back().file_number)
                                     : absl::OkStatus();
}

}  // namespace bigtable
