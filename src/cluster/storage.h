// The files of an open database: where they are, the lock of their directory, the numbers of the
// SSTables, and the SSTables that are open.
#ifndef BIGTABLE_CLUSTER_STORAGE_H_
#define BIGTABLE_CLUSTER_STORAGE_H_

#include <memory>
#include <string_view>

#include "bigtable/file_system.h"
#include "bigtable/options.h"

#include "cluster/directory.h"
#include "cluster/metadata_copies.h"
#include "filesystem/file_pool.h"
#include "sstable/open_tables.h"
#include "tablet/file_leases.h"
#include "tablet/file_numbers.h"
#include "tablet/shared_files.h"

namespace bigtable {

// The SSTables that are open: of one opening of a database, or of several that follow one another
// (client/followed_database.h), so that a file stays open, and its blocks in the cache.
struct OpenFiles {
  // `file_system` is used until the pool is detached, and outlives the tables.
  OpenFiles(FileSystem* file_system, const DatabaseOptions& options)
      : pool(
            std::make_shared<FilePool>(file_system, FilePool::CapacityFor(options.max_open_files))),
        tables(file_system, options.read_mode, options.shared_memory_budget, pool) {}

  const std::shared_ptr<FilePool> pool;  // readers may keep it
  OpenTables tables;
};

// A plain struct, and thread-safe as its parts are.
struct ClusterStorage {
  // `shared`: null, or what outlives this and is detached by its owner.
  ClusterStorage(std::string_view path, const DatabaseOptions& options, OpenFiles* shared)
      : directory(path),
        file_system(options.file_system),
        own_files(shared == nullptr ? std::make_unique<OpenFiles>(file_system, options) : nullptr),
        files(shared == nullptr ? own_files->pool : shared->pool),
        open_tables(shared == nullptr ? own_files->tables : shared->tables),
        metadata_copies(file_system, directory) {}
  ClusterStorage(const ClusterStorage&) = delete;
  ClusterStorage& operator=(const ClusterStorage&) = delete;

  const DatabaseDirectory directory;
  FileSystem* const file_system;
  FileNumbers file_numbers;
  SharedFiles shared_files;
  FileLeases leases;
  // Null until the directory is locked. Released after the files are closed.
  std::unique_ptr<FileLock> directory_lock;
  const std::unique_ptr<OpenFiles> own_files;  // null: they are shared
  const std::shared_ptr<FilePool> files;
  OpenTables& open_tables;
  MetadataCopies metadata_copies;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_STORAGE_H_
