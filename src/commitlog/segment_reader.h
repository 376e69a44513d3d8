// Reads one segment of a commit log: records at positions that the caller names. It reports only
// whether a record is valid; log_replay.h decides what that means.
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
    std::string_view payload;  // valid until the next call
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
  // The log offset in the switch record, if the segment begins with a valid one.
  absl::StatusOr<std::optional<uint64_t>> ReadSwitch();
  // Finds the first valid record at or after `position`; false if there is none.
  absl::StatusOr<bool> FindFrom(uint64_t position, Record* record);

 private:
  SegmentReader(std::string path, uint64_t number, uint64_t salt,
                std::unique_ptr<RandomAccessFile> file);
  // Sets `bytes` to [position, position + n), which is inside the file.
  absl::Status Load(uint64_t position, uint64_t n, const char** bytes);

  const std::string path_;
  const uint64_t number_;
  const uint64_t salt_;
  const std::unique_ptr<RandomAccessFile> file_;

  uint64_t populated_ = 0;  // mapped: bytes up to here may be touched
  std::string window_;      // not mapped: the bytes from window_start_
  uint64_t window_start_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SEGMENT_READER_H_
