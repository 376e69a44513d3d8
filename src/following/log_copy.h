// A copy of the commit log of a server that may be writing to it, in memory. It can be extended by
// what was appended since; at any time it is what a replay would find if the writer had died just
// then, or a little earlier.
//
// A log only grows, so records that were copied once are right for as long as no segment is
// released. A record that is being written has no valid checksum yet, and ends the copy.
#ifndef BIGTABLE_FOLLOWING_LOG_COPY_H_
#define BIGTABLE_FOLLOWING_LOG_COPY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "commitlog/log_state.h"

namespace bigtable {

// One thread at a time.
class LogCopy {
 public:
  // The files of a log as they are named at some time, and its state. Plain value.
  struct Names {
    std::vector<std::string> files;  // sorted, without unfinished ones
    LogState state;
    bool has_state = false;

    friend bool operator==(const Names& a, const Names& b) {
      return a.files == b.files && a.has_state == b.has_state && a.state.low == b.state.low &&
             a.state.secret == b.state.secret && a.state.released == b.state.released;
    }
  };
  // Errors of the file system; NotFound: the log is gone.
  static absl::StatusOr<Names> ReadNames(FileSystem* files, const std::string& directory);

  explicit LogCopy(std::string directory) : directory_(std::move(directory)) {}

  // Drops what is released, or all if it is another log now.
  void Use(const Names& names);
  const Names& names() const { return names_; }
  // Copies the records that follow, up to this sequence number. Sets `*has_more` if any was found,
  // copied or not. Unavailable: the log is being changed in a way that needs another look at its
  // names.
  absl::Status Extend(FileSystem* files, SequenceNumber last, bool* has_more);

  // Of the copied records; 0 if there are none.
  SequenceNumber last_sequence() const { return last_sequence_; }
  // Whether it has mutations of METADATA.
  bool is_of_metadata() const { return is_of_metadata_; }

  // The copied records of a segment; null: there are none.
  const std::string* Find(uint64_t number) const;
  uint64_t bytes() const;

 private:
  // Copies from one segment. Sets `*next` to the segment that its end record names, or 0, and
  // `*is_limited` if a record after `last` ends the copy.
  absl::Status ExtendSegment(FileSystem* files, uint64_t number, SequenceNumber last,
                             bool* has_more, bool* has_ended, uint64_t* next, bool* is_limited);
  // A segment that begins with a record, and where it says that the log goes on in it.
  struct Begun {
    uint64_t number = 0;
    std::optional<uint64_t> switches_at = std::nullopt;  // a log offset
  };
  // The first one that is later.
  absl::StatusOr<std::optional<Begun>> FindBegun(FileSystem* files, uint64_t after) const;
  void NoteTables(uint8_t type, SequenceNumber sequence, std::string_view payload);

  const std::string directory_;
  Names names_;
  std::map<uint64_t, std::string> segments_;  // records, by the number of the segment
  uint64_t current_ = 0;                      // the segment that is read on; 0: `low`
  SequenceNumber last_sequence_ = 0;
  bool is_of_metadata_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_FOLLOWING_LOG_COPY_H_
