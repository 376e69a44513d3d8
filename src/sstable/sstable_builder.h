// Writes one SSTable from entries in ascending order. One thread at a time.
//
// The file:
//
//   +--------------+-----+--------------+-------+--------+------------+------------+--------+
//   | data block 0 | ... | data block n | index | filter | dictionary | properties | footer |
//   +--------------+-----+--------------+-------+--------+------------+------------+--------+
//
// * Data blocks are adjacent, from offset 0. Each has the form in block_builder.h, and is
//   compressed and has a block trailer as in stored_block.h. Index and dictionary are stored in the
//   same way. Filter and properties have a block trailer, but are not compressed.
// * The index may be in parts (index_writer.h).
// * Filter (bloom_filter.h, or row_index.h; in pages, filter_pages.h) and dictionary (dictionary.h)
//   may be absent.
// * Properties: properties.h. Footer: footer.h.
//
// Worked example: a file of one small data block, no filter, no compression:
//
//   0    data block of 75 bytes, then its block trailer of 9
//   84   index: one entry (the row in which it ends, 302), then its block trailer
//   ...  properties, then their block trailer
//   ...  footer: offsets and sizes of sections, identity, format version, checksum, magic
#ifndef BIGTABLE_SSTABLE_SSTABLE_BUILDER_H_
#define BIGTABLE_SSTABLE_SSTABLE_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class SSTableBuilder {
 public:
  // Takes an empty `file`; `path` is for messages. The file gets a random identity.
  SSTableBuilder(std::unique_ptr<WritableFile> file, std::string path, uint64_t file_number,
                 const LocalityGroup& group);
  // The same with a given identity: the same entries produce the same bytes.
  SSTableBuilder(std::unique_ptr<WritableFile> file, std::string path, uint64_t file_number,
                 const LocalityGroup& group, uint64_t identity);
  // Without Finish(), it only closes the file, which is then unusable.
  ~SSTableBuilder();
  SSTableBuilder(const SSTableBuilder&) = delete;
  SSTableBuilder& operator=(const SSTableBuilder&) = delete;

  // Charges its memory to `budget`, which outlives it. Call it before the first entry.
  void ChargeTo(MemoryBudget* budget);

  // What SSTableInfo::oldest_deletion is if there is a deletion among the entries.
  void SetOldestDeletion(int64_t micros);

  // SSTableInfo::is_full is to be true.
  void SetFull();

  // For which table the file is; not called: for none.
  void SetOwner(SSTableOwner owner);

  // Adds an entry. Internal if `key` is not well formed or not above the last one, or if `value`
  // does not fit into a block. After an error every further call returns the same error.
  absl::Status Add(std::string_view key, std::string_view value);

  // The key that was added last, until the next call; empty if none was.
  std::string_view last_key() const;
  // The memory that grows with the number of rows and blocks, as of the last block: that of the
  // index and of the filter.
  size_t index_memory() const;
  // The approximate size of the file if it were finished now. Blocks that kZstdLongWindow still
  // holds back count with a quarter of their bytes.
  uint64_t EstimatedSize() const;

  // Writes the rest, syncs and closes the file. The caller then syncs the directory.
  // Sets `*properties`, if it is not null, to those in the file; their `info` is that returned.
  absl::StatusOr<SSTableInfo> Finish(SSTableProperties* properties = nullptr);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_BUILDER_H_
