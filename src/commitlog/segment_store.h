// The files of a log's segments: creates them, and keeps released ones, mapped and warm, for reuse.
// That saves creating them, zeroing them, and page faults.
//
// Not thread-safe: CommitLog has a lock for it.
#ifndef BIGTABLE_COMMITLOG_SEGMENT_STORE_H_
#define BIGTABLE_COMMITLOG_SEGMENT_STORE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "commitlog/log_segment.h"

namespace bigtable {

class SegmentStore {
 public:
  // Keeps at most `max_free` files of `segment_size` bytes.
  SegmentStore(FileSystem* file_system, std::string directory, uint64_t secret,
               uint64_t segment_size, size_t max_free, std::shared_ptr<MemoryBudget> budget,
               Ref<SegmentReturns> returns);

  // Sets `*spare` to a segment of `size` bytes whose name in the directory is durable. Its bytes
  // are old; none of them is a valid record of this segment. It replaces the segment in `*spare`,
  // which has the same number and no records. After an error `*spare` is unchanged, or null if its
  // file may be gone.
  absl::Status Make(uint64_t number, uint64_t size, Ref<LogSegment>* spare);
  // Takes the files of segments that are no longer referenced, and keeps or removes them.
  absl::Status TakeBack();
  // Removes the files that are kept for reuse.
  absl::Status RemoveFree();
  // From now on, files of segments with smaller numbers are removed instead of kept.
  void KeepNoneBelow(uint64_t number) { first_kept_ = number; }

  // Thread-safe.
  uint64_t created() const { return created_.load(std::memory_order_relaxed); }
  uint64_t reused() const { return reused_.load(std::memory_order_relaxed); }

 private:
  struct NamedFile {
    std::string path;
    std::unique_ptr<SegmentFile> file;
  };

  absl::StatusOr<NamedFile> GetFile(uint64_t size);
  // Removes the file, or notes it for the next call of TakeBack or RemoveFree.
  absl::Status Remove(std::string path);
  absl::Status RemoveNoted();

  FileSystem* const file_system_;
  const std::string directory_;
  const uint64_t secret_;
  const uint64_t segment_size_;
  const size_t max_free_;
  const std::shared_ptr<MemoryBudget> budget_;
  const Ref<SegmentReturns> returns_;
  std::vector<std::string> unremoved_;
  uint64_t first_kept_ = 0;      // of KeepNoneBelow
  std::vector<NamedFile> free_;  // under their old numbers, which are below `low`
  std::atomic<uint64_t> created_{0};
  std::atomic<uint64_t> reused_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SEGMENT_STORE_H_
