// Writes one SSTable from entries in ascending order. One thread at a time.
//
// The file:
//
//   +--------------+-----+--------------+-------+--------+------------+------------+--------+
//   | data block 0 | ... | data block n | index | filter | dictionary | properties | footer |
//   +--------------+-----+--------------+-------+--------+------------+------------+--------+
//
// * Data blocks stand one after another from offset 0, each as block_builder.h says, compressed and
//   sealed as stored_block.h says. So are index, dictionary and properties; the filter is sealed.
// * The index is a block as block_builder.h says: for each data block, its last key and a varint:
//   twice the bytes that it takes in the file without its seal, plus 1 if it begins with the row in
//   which the block before it ends.
// * Filter (bloom_filter.h, or row_index.h) and dictionary (dictionary.h) may be absent.
// Properties: properties.h.
//   Footer: footer.h.
//
// Worked example: a file of one small data block, no filter, no compression:
//
//   0    data block of 75 bytes, then its seal of 9
//   84   index: one entry (the last key, 150), then its seal
//   ...  properties, then their seal
//   ...  footer: where the sections are, identity, format version, checksum, magic
#ifndef BIGTABLE_SSTABLE_SSTABLE_WRITER_H_
#define BIGTABLE_SSTABLE_SSTABLE_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "sstable/sstable_info.h"

namespace bigtable {

class SSTableWriter {
 public:
  // Takes an empty `file`; `path` is for messages. The identity of the file is drawn at random.
  SSTableWriter(std::unique_ptr<WritableFile> file, std::string path, uint64_t file_number,
                const LocalityGroup& group);
  // The same with a given identity: the same entries give the same bytes.
  SSTableWriter(std::unique_ptr<WritableFile> file, std::string path, uint64_t file_number,
                const LocalityGroup& group, uint64_t identity);
  // Without Finish() just closes the file, which is then good for nothing.
  ~SSTableWriter();
  SSTableWriter(const SSTableWriter&) = delete;
  SSTableWriter& operator=(const SSTableWriter&) = delete;

  // What this holds in memory is charged to `budget`, which outlives it. Before the first entry.
  void ChargeTo(MemoryBudget* budget);

  // Adds an entry. Internal when `key` is not well formed or not above the last one, or `value` is
  // longer than a block can be. After an error every further call fails with the same.
  absl::Status Add(std::string_view key, std::string_view value);

  // About how many bytes the file would have if it were finished now. Blocks that kZstdLongWindow
  // still holds back are counted at a quarter of their bytes.
  uint64_t EstimatedSize() const;

  // Writes the rest, syncs and closes the file. The caller then syncs the directory.
  absl::StatusOr<SSTableInfo> Finish();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_WRITER_H_
