// The SSTables that are open: one that several tablets name (halves of a split, until each has
// compacted it) is opened once, so that its index, its mapping, and what of it is in memory are
// there once.
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

// Thread-safe. Refers to no SSTable itself: one is here as long as somebody else does, which may be
// longer than this lives.
class OpenTables {
 public:
  // `file_system` outlives this. Files are opened by `files`, if it is not null; otherwise the file
  // system outlives them, too.
  OpenTables(FileSystem* file_system, FileSystem::ReadMode read_mode,
             std::shared_ptr<MemoryBudget> budget, std::shared_ptr<FilePool> files = nullptr);

  // The SSTable of this file, open already or opened now. Errors of SSTable::Open, the same in both
  // cases if the file is not the one that is expected.
  absl::StatusOr<Ref<SSTable>> Open(std::string path, const SSTableInfo& expected, bool in_memory);

  // The same, but it is opened at its first use. What can be seen of the file at the price of one
  // look at its name is seen now: NotFound, or DataLoss if it has another size.
  absl::StatusOr<Ref<SSTable>> Defer(std::string path, const SSTableInfo& expected, bool in_memory);

  // For tests: how many are open, or deferred.
  size_t size() const;

 private:
  class Registry;
  using Key = std::pair<uint64_t, bool>;

  SSTable::Options OptionsOf(const Key& key) const;

  FileSystem* const file_system_;
  const SSTable::Options options_;
  const std::shared_ptr<Registry> registry_;  // tables that outlive this leave it, too
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_OPEN_TABLES_H_
