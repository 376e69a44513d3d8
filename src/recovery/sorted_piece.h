// One piece of a sorted log, opened for reading; sorted_log_format.h describes its bytes.
//
// Thread-safe: nothing changes after Open. Every byte of the file is verified with a checksum
// before it is used. A mismatch is DataLoss that names the file and the offset.
#ifndef BIGTABLE_RECOVERY_SORTED_PIECE_H_
#define BIGTABLE_RECOVERY_SORTED_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/sequence.h"
#include "recovery/sorted_log_format.h"

namespace bigtable {

// Selects records: of rows of one table in [first_row, end_row), with a sequence number above
// `after`.
struct SortedRange {
  uint64_t table_id = 0;
  std::string_view first_row = {};
  std::optional<std::string_view> end_row = std::nullopt;  // none: to the end of the table
  SequenceNumber after = 0;
};

// Row and payload are valid until the callback returns. An error ends the reading and is returned.
using SortedRecordCallback = absl::FunctionRef<absl::Status(const SortedRecord&)>;

class SortedPiece {
 public:
  // Opens the file that the manifest describes as `summary`. Reads footer and index.
  static absl::StatusOr<std::unique_ptr<SortedPiece>> Open(FileSystem* file_system,
                                                           std::string path,
                                                           const SortedPieceSummary& summary,
                                                           FileSystem::ReadMode mode);

  const std::string& path() const { return path_; }
  const SortedPieceSummary& summary() const { return summary_; }

  // Delivers the records of the range in the order (row, sequence number). Reads only blocks that
  // may contain such records, and adds their size to `*bytes_read`.
  absl::Status Read(const SortedRange& range, SortedRecordCallback callback,
                    uint64_t* bytes_read) const;
  // Reads every block.
  absl::Status Verify(uint64_t* bytes_read) const;

 private:
  SortedPiece(std::string path, const SortedPieceSummary& summary,
              std::unique_ptr<RandomAccessFile> file)
      : path_(std::move(path)), summary_(summary), file_(std::move(file)) {}

  absl::Status LoadIndex();
  // Sets `bytes` to [offset, offset + n) of the file, in its mapping or in `buffer`.
  absl::Status Load(uint64_t offset, uint64_t n, std::string* buffer,
                    std::string_view* bytes) const;
  absl::Status LoadBlock(const SortedBlock& block, std::string* buffer,
                         std::string_view* bytes) const;
  absl::Status LossAt(uint64_t offset, std::string_view what) const;

  const std::string path_;
  const SortedPieceSummary summary_;
  const std::unique_ptr<RandomAccessFile> file_;
  std::string index_;                // if the file is not mapped
  std::vector<SortedBlock> blocks_;  // their rows are in the mapping or in index_
};

}  // namespace bigtable

#endif  // BIGTABLE_RECOVERY_SORTED_PIECE_H_
