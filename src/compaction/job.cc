#include "compaction/job.h"

#include <algorithm>

#include "absl/base/macros.h"

#include "base/status.h"
#include "compaction/collecting_cursor.h"
#include "compaction/job_files.h"

namespace bigtable {
namespace {

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
  ABSL_ASSERT(std::is_sorted(split_at.begin(), split_at.end()) && "splits are passed in key order");
  JobFiles files(this);
  BT_RETURN_IF_ERROR(RunInto(input, &files));
  return files.Finish();
}

absl::Status CompactionJob::RunInto(EntryCursor* input, JobFiles* files) const {
  constexpr uint64_t kPayEvery = 256 << 10;
  // Both what is read and what is written count.
  CollectingCursor entries(input, &retention, major,
                           [this](uint64_t bytes) { return PayFor(*this, bytes); });
  uint64_t unpaid = 0;
  BT_RETURN_IF_ERROR(PayFor(*this, 0));
  for (entries.SeekToFirst(); entries.valid(); entries.Next()) {
    BT_RETURN_IF_ERROR(files->Add(entries.key(), entries.value()));
    unpaid += entries.key().size() + entries.value().size();
    if (unpaid >= kPayEvery) {
      BT_RETURN_IF_ERROR(PayFor(*this, unpaid));
      unpaid = 0;
    }
  }
  BT_RETURN_IF_ERROR(entries.status());
  if (cells_unfiltered != nullptr) *cells_unfiltered = entries.cells_unfiltered();
  if (has_collected != nullptr) *has_collected = entries.has_collected();
  return absl::OkStatus();
}

absl::Status SyncDirectoryOf(FileSystem* file_system, std::string_view path) {
  return file_system->SyncDirectory(path.substr(0, path.rfind('/')));
}

}  // namespace bigtable
