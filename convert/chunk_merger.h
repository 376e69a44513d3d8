// Rows from the chunks of ReadRowsResponse messages: the inverse of row_chunks.h.
//
// Every rule of the protocol is checked, so a stream that breaks one is an error and never a wrong
// row:
//
//   * A row begins with a chunk that has a row key, a family and a qualifier; rows come in the
//     order of the read, each once, and are rows that were asked for.
//   * Later chunks of the row have no key, or the same one; a family comes with a qualifier.
//   * A value may be split. All chunks but the last have the size of the whole value; chunks after
//     the first have nothing but the value and its size.
//   * A chunk that resets the row has nothing else, and there is a row that it resets.
//   * A row is complete when a chunk commits it, which is not within a value; a stream does not end
//     within a row.
//   * A row has at most 1 GiB.
//   * last_scanned_row_key does not go back, and does not come within a row.
#ifndef BIGTABLE_CONVERT_CHUNK_MERGER_H_
#define BIGTABLE_CONVERT_CHUNK_MERGER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/v2/bigtable.pb.h"

#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "base/ref_counted.h"
#include "convert/owned_cells.h"

namespace bigtable::convert {

// One stream of one attempt. One thread at a time.
class ChunkMerger {
 public:
  using Chunk = google::bigtable::v2::ReadRowsResponse::CellChunk;

  // `ranges`: what this attempt asked for, as RowSet::Normalized() has them. They outlive this.
  ChunkMerger(const std::vector<RowRange>* ranges, bool reverse)
      : ranges_(ranges), reverse_(reverse) {}

  // Takes the next chunk. True: it has completed a row, which is in `*row`. Internal: the chunk
  // breaks a rule, and nothing may be called any more.
  absl::StatusOr<bool> Add(Chunk* chunk, Row* row);
  absl::Status AddLastScanned(std::string_view row_key);
  // The stream ended without an error.
  absl::Status End() const;

  // The last row that was completed or scanned; empty before.
  const std::string& last_row() const { return last_row_; }

 private:
  absl::Status Begin(const Chunk& chunk);
  absl::Status BeginCell(Chunk* chunk);
  absl::Status AddValue(Chunk* chunk);
  absl::Status Reset(const Chunk& chunk);
  absl::Status CheckOrder(std::string_view row_key) const;
  bool WasAsked(std::string_view row_key) const;

  const std::vector<RowRange>* const ranges_;
  const bool reverse_;
  std::string last_row_;
  std::string key_;  // of the row under way; empty: none
  Ref<OwnedCells> cells_;
  uint64_t row_size_ = 0;
  bool is_in_value_ = false;
  uint64_t value_size_ = 0;  // of the whole value, within one
};

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_CHUNK_MERGER_H_
