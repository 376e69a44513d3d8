// An SSTable of given rows in memory, written once and opened by each benchmark that reads it.
#ifndef BIGTABLE_BENCH_MICRO_TABLE_FILE_H_
#define BIGTABLE_BENCH_MICRO_TABLE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/ref_counted.h"
#include "base/status.h"
#include "blocks/read_settings.h"
#include "common.h"
#include "sstable/sstable.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// Reads all blocks, so that the measurement verifies none for the first time.
inline absl::Status ReadThrough(const SSTable& table, const ReadSettings& settings = {}) {
  SSTableCursor cursor(&table, settings);
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
  }
  return cursor.status();
}

class TableFile {
 public:
  // `rows` ascend. If blocks are compressed, the second half of each value is zeros: zstd does not
  // compress a block of random bytes, and then there would be nothing to decompress.
  TableFile(const std::vector<uint32_t>& rows, size_t value_size, const LocalityGroup& group = {})
      : info_(Write(rows, value_size, group)) {}

  absl::StatusOr<Ref<SSTable>> Open(std::shared_ptr<MemoryBudget> budget) const {
    BT_RETURN_IF_ERROR(info_.status());
    return SSTable::Open(&file_system_, kPath, *info_,
                         {.read_mode = FileSystem::ReadMode::kMapped, .budget = std::move(budget)});
  }

 private:
  static constexpr const char* kPath = "/table";

  absl::StatusOr<SSTableInfo> Write(const std::vector<uint32_t>& rows, size_t value_size,
                                    const LocalityGroup& group) const {
    BT_ASSIGN_OR_RETURN(auto file, file_system_.NewWritableFile(kPath));
    SSTableBuilder writer(std::move(file), kPath, /*file_number=*/1, group, /*identity=*/1);
    const bool compressed = group.compression != Compression::kNone;
    std::string value;
    for (const uint32_t row : rows) {
      value = ValueOf(row, compressed ? value_size / 2 : value_size);
      value.resize(value_size, '\0');
      BT_RETURN_IF_ERROR(writer.Add(EntryKeyOf(row), value));
    }
    return writer.Finish();
  }

  mutable InMemoryFileSystem file_system_;
  const absl::StatusOr<SSTableInfo> info_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BENCH_MICRO_TABLE_FILE_H_
