// Rows as google.bigtable.v2.ReadRowsResponse messages, in the wire format: what a large read
// sends. The generated classes would copy each value twice, and allocate three objects for each
// cell.
//
//   RowChunks chunks(64 << 10);
//   while (reader.Next(&row)) {
//     while (!chunks.Write(row)) Send(chunks.Take());  // a full message, and the row goes on
//   }
//   if (!chunks.empty()) Send(chunks.Take());
//
// What a message has (the comments of ReadRowsResponse.CellChunk are the contract):
//   * A cell is a chunk. A value of more than 1 MiB is several: each but the last has value_size,
//     the size of the whole value, and those after the first have nothing else but their part.
//   * row_key is in the first chunk of a row, family_name in the first one of each family in it,
//     qualifier in the first one of each column: so a chunk with a family_name has a qualifier.
//     This holds across messages too.
//   * commit_row is in the last chunk of a row. A row without cells has no chunks.
//   * last_scanned_row_key is the key of a row after which the client may continue.
//
// One thread at a time.
#ifndef BIGTABLE_CONVERT_ROW_CHUNKS_H_
#define BIGTABLE_CONVERT_ROW_CHUNKS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "bigtable/row.h"

namespace bigtable::convert {

class RowChunks {
 public:
  // A message is full when it has this many bytes: it may be larger by one chunk.
  explicit RowChunks(size_t full_size) : full_size_(full_size) {}

  // Writes the chunks of the row into the message. False: the message became full before the end of
  // the row. Take it, and call this with the same row again, which continues where it stopped.
  // True: the row is complete. The message may be full then, which the next call notices.
  [[nodiscard]] bool Write(const Row& row);
  // Changes when a message is full.
  void set_full_size(size_t full_size) { full_size_ = full_size; }

  // Beside the chunks, once in a message. Not within a row.
  void WriteLastScannedRowKey(std::string_view row_key);

  // Whether the message has neither chunks nor a key.
  bool empty() const { return message_.empty(); }
  // Bytes of the message.
  size_t size() const { return message_.size(); }
  bool is_full() const { return message_.size() >= full_size_; }

  // Ends the message and begins a new one. Each value was copied once on the way into it.
  std::string Take();

 private:
  // A part of the row's cell `cell_`, from `offset_` on.
  void WriteChunk(const Row& row);
  // Makes room for what remains of the row, or for a full message.
  void Reserve(const Row& row);

  size_t full_size_;
  std::string message_;
  size_t last_size_ = 0;  // of the message before: the next one is likely to be as large

  // Within a row: where Write continues.
  size_t cell_ = 0;
  size_t offset_ = 0;
};

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_ROW_CHUNKS_H_
