// The SSTables that are open. A file that several tablets name (the children of a split, until each
// has compacted it) is opened once, so its index, its mapping and its cached data exist once.
#ifndef BIGTABLE_SSTABLE_OPEN_TABLES_H_
#define BIGTABLE_SSTABLE_OPEN_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/ref_counted.h"
#include "filesystem/file_pool.h"
#include "sstable/sstable.h"
#include "sstable/sstable_info.h"

namespace bigtable {

// Thread-safe. Holds no references: an SSTable is listed as long as another owner refers to it,
// which may be longer than this object lives.
class OpenTables {
 public:
  // `file_system` outlives this. If `files` is not null, it opens the files; otherwise the file
  // system also outlives the tables.
  OpenTables(FileSystem* file_system, FileSystem::ReadMode read_mode,
             std::shared_ptr<MemoryBudget> budget, std::shared_ptr<FilePool> files = nullptr);

  // The SSTable of this file, already open or opened now. Errors of SSTable::Open; they are the
  // same in both cases if the file is not the expected one.
  absl::StatusOr<Ref<SSTable>> Open(std::string path, const SSTableInfo& expected, bool in_memory);

  // The same, but the file is opened at its first use. What one look at the file's name can find is
  // reported now: NotFound, or DataLoss if it has another size.
  absl::StatusOr<Ref<SSTable>> Defer(std::string path, const SSTableInfo& expected, bool in_memory);

  // For tests: how many are open or deferred.
  size_t size() const;

 private:
  class Registry;
  using Key = std::pair<uint64_t, bool>;

  SSTable::Options OptionsOf(const Key& key) const;

  FileSystem* const file_system_;
  const SSTable::Options options_;
  const std::shared_ptr<Registry> registry_;  // tables that outlive this still leave it
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_OPEN_TABLES_H_
