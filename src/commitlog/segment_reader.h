// Reads one segment of a commit log: records at places the caller names. What is no
// valid record is said to be none; what that means is for log_replay.h to decide.
//
// One thread at a time.
#ifndef BIGTABLE_COMMITLOG_SEGMENT_READER_H_
#define BIGTABLE_COMMITLOG_SEGMENT_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "commitlog/log_format.h"

namespace bigtable {

class SegmentReader {
 public:
  struct Record {
    uint64_t position = 0;  // in the file
    RecordHeader header;
    std::string_view payload;  // until the reader is asked for something else
    uint64_t next() const { return position + RecordSize(header.payload_size); }
  };

  static absl::StatusOr<std::unique_ptr<SegmentReader>> Open(FileSystem* file_system,
                                                             std::string path, uint64_t number,
                                                             uint64_t salt,
                                                             FileSystem::ReadMode mode);

  const std::string& path() const { return path_; }
  uint64_t number() const { return number_; }

  // Whether there is a valid record at `position`.
  absl::StatusOr<bool> ReadAt(uint64_t position, Record* record);
  // Whether the segment begins with a valid switch record, and of which log offset that speaks.
  absl::StatusOr<std::optional<uint64_t>> ReadSwitch();
  // Whether there is a valid record at `position` or at any place behind it; the first such.
  absl::StatusOr<bool> FindFrom(uint64_t position, Record* record);

 private:
  SegmentReader(std::string path, uint64_t number, uint64_t salt,
                std::unique_ptr<RandomAccessFile> file);
  // Points `bytes` to [position, position + n), which is inside the file.
  absl::Status Load(uint64_t position, uint64_t n, const char** bytes);

  const std::string path_;
  const uint64_t number_;
  const uint64_t salt_;
  const std::unique_ptr<RandomAccessFile> file_;

  uint64_t populated_ = 0;  // mapped: up to here the bytes may be touched
  std::string window_;      // not mapped: the file's bytes from window_start_ on
  uint64_t window_start_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SEGMENT_READER_H_
