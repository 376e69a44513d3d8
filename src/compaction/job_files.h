// The SSTables that a compaction writes, or several compactions of adjacent rows together.
#ifndef BIGTABLE_COMPACTION_JOB_FILES_H_
#define BIGTABLE_COMPACTION_JOB_FILES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "compaction/job.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// One thread at a time. The files are removed unless they are finished.
class JobFiles {
 public:
  // The files are as this job says, which outlives this: their options, their numbers, their sizes.
  explicit JobFiles(const CompactionJob* job) : job_(job) {}
  ~JobFiles();
  JobFiles(const JobFiles&) = delete;
  JobFiles& operator=(const JobFiles&) = delete;

  // Keys ascend. After an error the files must not be finished.
  absl::Status Add(std::string_view key, std::string_view value);
  // Whether one of the files could not be written.
  bool has_failed() const { return has_failed_; }
  // How many bytes of keys and values each file has so far, in key order.
  const std::vector<uint64_t>& content() const { return content_; }
  // The files, each synced, in key order; none if nothing was added. The last call.
  absl::StatusOr<std::vector<SSTableInfo>> Finish();

 private:
  // Whether a split of the job is between the last key and `key`.
  bool PassesSplit(std::string_view key);
  bool IsPlaceToSplit(std::string_view key) const;
  absl::Status Write(std::string_view key, std::string_view value);
  bool TakesMuchMemory() const;
  absl::Status StartFile();
  absl::Status FinishFile();

  const CompactionJob* const job_;
  std::optional<SSTableBuilder> writer_;
  size_t next_split_ = 0;
  std::vector<std::string> paths_;
  std::vector<uint64_t> content_;
  std::vector<SSTableInfo> infos_;
  bool has_failed_ = false;
  bool finished_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMPACTION_JOB_FILES_H_
