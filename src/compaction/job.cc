#include "compaction/job.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "absl/base/macros.h"

#include "base/entry_key.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/collecting_cursor.h"
#include "sstable/sstable_builder.h"

namespace bigtable {
namespace {

// The output files of a job. They are removed unless the job succeeds.
class Outputs {
 public:
  explicit Outputs(const CompactionJob* job) : job_(job) {}
  ~Outputs() {
    if (finished_) return;
    writer_.reset();
    for (const std::string& path : paths_) job_->file_system->RemoveFile(path).IgnoreError();
  }

  absl::Status Add(std::string_view key, std::string_view value) {
    const bool is_full = writer_.has_value() && IsPlaceToSplit(key);
    if (is_full) writer_->SetFull();
    if (PassesSplit(key) || is_full) BT_RETURN_IF_ERROR(FinishFile());
    if (!writer_.has_value()) BT_RETURN_IF_ERROR(StartFile());
    return writer_->Add(key, value);
  }

  absl::StatusOr<std::vector<SSTableInfo>> Finish() {
    BT_RETURN_IF_ERROR(FinishFile());
    finished_ = true;
    return std::move(infos_);
  }

 private:
  // Whether a split of the job is between the last key and `key`.
  bool PassesSplit(std::string_view key) {
    const size_t before = next_split_;
    while (next_split_ < job_->split_at.size() && job_->split_at[next_split_] <= key) ++next_split_;
    return next_split_ > before;
  }
  bool IsPlaceToSplit(std::string_view key) const {
    const uint64_t size = writer_->EstimatedSize();
    if (size < job_->target_file_size && !TakesMuchMemory()) return false;
    if (size >= 4 * job_->target_file_size) return true;
    const std::string_view last = writer_->last_key();
    const std::string_view same = size >= 2 * job_->target_file_size
                                      ? ColumnPrefix(last)
                                      : last.substr(0, RowPrefixSize(last));
    return !key.starts_with(same);
  }

  // Index and filter of a file of tiny rows may need more memory than its blocks.
  bool TakesMuchMemory() const {
    constexpr uint64_t kPartOfBudget = 16;
    constexpr uint64_t kAlways = 1 << 20;
    return job_->budget != nullptr &&
           writer_->index_memory() >= std::max(job_->budget->limit() / kPartOfBudget, kAlways);
  }

  absl::Status StartFile() {
    const uint64_t number = job_->new_file_number();
    std::string path = job_->path_of(number);
    BT_ASSIGN_OR_RETURN(auto file, job_->file_system->NewWritableFile(path));
    paths_.push_back(path);
    writer_.emplace(std::move(file), std::move(path), number, job_->group);
    if (job_->budget != nullptr) writer_->ChargeTo(job_->budget);
    if (job_->owner.has_value()) writer_->SetOwner(*job_->owner);
    writer_->SetOldestDeletion(job_->oldest_deletion);
    return absl::OkStatus();
  }

  absl::Status FinishFile() {
    if (!writer_.has_value()) return absl::OkStatus();
    BT_ASSIGN_OR_RETURN(SSTableInfo info, writer_->Finish());
    infos_.push_back(std::move(info));
    writer_.reset();
    return job_->on_written != nullptr ? job_->on_written(infos_.back().file_number)
                                       : absl::OkStatus();
  }

  const CompactionJob* const job_;
  std::optional<SSTableBuilder> writer_;
  size_t next_split_ = 0;
  std::vector<std::string> paths_;
  std::vector<SSTableInfo> infos_;
  bool finished_ = false;
};

bool IsSet(const std::atomic<bool>* flag) {
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

absl::Status CheckGoesOn(const CompactionJob& job) {
  if (IsSet(job.cancelled) || IsSet(job.abandoned) || IsSet(job.stopped)) {
    return absl::CancelledError("the compaction was cancelled");
  }
  return job.limits.Check("the compaction");
}

// Waits for the rate limit, unless the job is to end.
absl::Status PayFor(const CompactionJob& job, uint64_t bytes) {
  if (job.rate_limiter == nullptr) return CheckGoesOn(job);
  return job.rate_limiter->Pay(bytes, [&] { return CheckGoesOn(job); });
}

}  // namespace

absl::StatusOr<std::vector<SSTableInfo>> CompactionJob::Run(EntryCursor* input) const {
  constexpr uint64_t kPayEvery = 256 << 10;
  ABSL_ASSERT(std::is_sorted(split_at.begin(), split_at.end()) && "splits are passed in key order");
  Outputs outputs(this);
  // Both what is read and what is written count.
  CollectingCursor entries(input, &retention, major,
                           [this](uint64_t bytes) { return PayFor(*this, bytes); });
  uint64_t unpaid = 0;
  BT_RETURN_IF_ERROR(PayFor(*this, 0));
  for (entries.SeekToFirst(); entries.valid(); entries.Next()) {
    BT_RETURN_IF_ERROR(outputs.Add(entries.key(), entries.value()));
    unpaid += entries.key().size() + entries.value().size();
    if (unpaid >= kPayEvery) {
      BT_RETURN_IF_ERROR(PayFor(*this, unpaid));
      unpaid = 0;
    }
  }
  BT_RETURN_IF_ERROR(entries.status());
  if (cells_unfiltered != nullptr) *cells_unfiltered = entries.cells_unfiltered();
  if (has_collected != nullptr) *has_collected = entries.has_collected();
  return outputs.Finish();
}

absl::Status SyncDirectoryOf(FileSystem* file_system, std::string_view path) {
  return file_system->SyncDirectory(path.substr(0, path.rfind('/')));
}

}  // namespace bigtable
