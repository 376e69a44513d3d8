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

// A plain struct, and thread-safe as its parts are.
struct ClusterStorage {
  ClusterStorage(std::string_view path, const DatabaseOptions& options)
      : directory(path),
        file_system(options.file_system),
        files(
            std::make_shared<FilePool>(file_system, FilePool::CapacityFor(options.max_open_files))),
        open_tables(file_system, options.read_mode, options.shared_memory_budget, files),
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
  const std::shared_ptr<FilePool> files;  // the SSTables; readers may keep it
  OpenTables open_tables;
  MetadataCopies metadata_copies;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_STORAGE_H_
