#include "sstable/open_tables.h"

#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"

#include "base/mutex.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

class OpenTables::Registry {
 public:
  // The flag is `in_memory`: a table that is opened again because its schema has changed is a
  // different one.
  using Key = std::pair<uint64_t, bool>;

  // Null if it is not open, or is just being closed.
  Ref<SSTable> Find(const Key& key, const SSTableInfo& expected) const {
    MutexLock lock(&mutex_);
    return FindLocked(key, expected);
  }
  // Adds `table`, or returns the one that another thread has added before.
  Ref<SSTable> Add(const Key& key, Ref<SSTable> table) {
    MutexLock lock(&mutex_);
    if (Ref<SSTable> other = FindLocked(key, table->info())) return other;
    tables_[key] = table.get();
    return table;
  }
  void Remove(const Key& key, const SSTable* table) {
    MutexLock lock(&mutex_);
    const auto found = tables_.find(key);
    if (found != tables_.end() && found->second == table) tables_.erase(found);
  }
  size_t size() const {
    MutexLock lock(&mutex_);
    return tables_.size();
  }

 private:
  Ref<SSTable> FindLocked(const Key& key, const SSTableInfo& expected) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = tables_.find(key);
    if (found == tables_.end() || !found->second->TryAddRef()) return {};
    Ref<SSTable> table(found->second);
    found->second->Release();  // TryAddRef's
    // If another file is expected, SSTable::Open reports the mismatch.
    return table->info().identity == expected.identity && table->info().size == expected.size &&
                   table->info().ingested == expected.ingested
               ? table
               : Ref<SSTable>();
  }

  mutable Mutex mutex_;
  absl::flat_hash_map<Key, SSTable*> tables_ ABSL_GUARDED_BY(mutex_);
};

OpenTables::OpenTables(FileSystem* file_system, FileSystem::ReadMode read_mode,
                       std::shared_ptr<MemoryBudget> budget, std::shared_ptr<FilePool> files)
    : file_system_(file_system),
      options_{.read_mode = read_mode, .files = std::move(files), .budget = std::move(budget)},
      registry_(std::make_shared<Registry>()) {}

absl::StatusOr<Ref<SSTable>> OpenTables::Open(std::string path, const SSTableInfo& expected,
                                              bool in_memory) {
  const Registry::Key key(expected.file_number, in_memory);
  if (Ref<SSTable> table = registry_->Find(key, expected)) {
    BT_RETURN_IF_ERROR(table->EnsureOpen());
    return table;
  }
  BT_ASSIGN_OR_RETURN(Ref<SSTable> table,
                      SSTable::Open(file_system_, std::move(path), expected, OptionsOf(key)));
  return registry_->Add(key, std::move(table));
}

absl::StatusOr<Ref<SSTable>> OpenTables::Defer(std::string path, const SSTableInfo& expected,
                                               bool in_memory) {
  const Registry::Key key(expected.file_number, in_memory);
  if (options_.files == nullptr) return Open(std::move(path), expected, in_memory);
  if (Ref<SSTable> table = registry_->Find(key, expected)) return table;
  BT_ASSIGN_OR_RETURN(const uint64_t size, file_system_->FileSize(path));
  if (size != expected.size) {
    return absl::DataLossError(Cat(path, ": has ", size, " bytes instead of ", expected.size));
  }
  return registry_->Add(key, SSTable::Defer(std::move(path), expected, OptionsOf(key)));
}

SSTable::Options OpenTables::OptionsOf(const Key& key) const {
  SSTable::Options options = options_;
  options.in_memory = key.second;
  options.on_close = [registry = registry_, key](const SSTable* table) {
    registry->Remove(key, table);
  };
  return options;
}

size_t OpenTables::size() const { return registry_->size(); }

}  // namespace bigtable
