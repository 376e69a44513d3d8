// Reads the messages of ReadRows as a client does, which refuses all that the comments of CellChunk
// (google/bigtable/v2/bigtable.proto) do not allow. One thread at a time.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_CHUNK_READER_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_CHUNK_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "google/bigtable/v2/bigtable.pb.h"

namespace bigtable::server {

class ChunkReader {
 public:
  // Ends the process (fuzz/target.h) if it is not what may come now.
  void Add(const std::string& message);

  // All rows were committed.
  bool is_between_rows() const { return !in_row_ && !in_value_; }
  // Of the rows that were committed, in their order.
  const std::vector<std::string>& keys() const { return keys_; }
  // The text (CellText) of their cells, by key.
  const std::map<std::string, std::string>& rows() const { return rows_; }

 private:
  using Chunk = google::bigtable::v2::ReadRowsResponse::CellChunk;
  void Add(const Chunk& chunk);
  void BeginCell(const Chunk& chunk);
  void EndCell(bool commits_row);

  std::vector<std::string> keys_;
  std::map<std::string, std::string> rows_;
  bool in_row_ = false;
  bool in_value_ = false;  // of several chunks
  int32_t value_size_ = 0;

  std::string key_;
  std::string row_text_;
  std::string family_;
  std::string qualifier_;
  int64_t timestamp_ = 0;
  std::string value_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_CHUNK_READER_H_
