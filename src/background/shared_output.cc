#include "background/shared_output.h"

#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "base/status.h"

namespace bigtable {

absl::Status SharedOutput::Add(const CompactionJob& job, EntryCursor* input) {
  const std::vector<uint64_t> before = files_.content();
  BT_RETURN_IF_ERROR(job.RunInto(input, &files_));
  std::vector<uint64_t> added = files_.content();
  for (size_t file = 0; file < before.size(); ++file) added[file] -= before[file];
  added_.push_back(std::move(added));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<SharedOutput::Piece>>> SharedOutput::Finish() {
  BT_ASSIGN_OR_RETURN(const std::vector<SSTableInfo> written, files_.Finish());
  const std::vector<uint64_t>& content = files_.content();
  std::vector<std::vector<Piece>> pieces(added_.size());
  for (size_t file = 0; file < written.size(); ++file) {
    const SSTableInfo& info = written[file];
    bool is_first = true;
    for (size_t i = 0; i < added_.size(); ++i) {
      // Files that were begun later are not in the list.
      const uint64_t own = file < added_[i].size() ? added_[i][file] : 0;
      if (own == 0) continue;
      uint64_t share = 0;
      if (own < content[file]) {
        const double part = static_cast<double>(own) / static_cast<double>(content[file]);
        share = std::max<uint64_t>(static_cast<uint64_t>(part * static_cast<double>(info.size)), 1);
      }
      if (!is_first) shared_->Share(info.file_number);
      pieces[i].push_back({info, share, is_first});
      is_first = false;
    }
    ABSL_ASSERT(!is_first && "a file has an entry");
  }
  return pieces;
}

}  // namespace bigtable
