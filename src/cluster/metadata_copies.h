// A second copy of each SSTable of METADATA and its root tablet, in the directory `copies`: the
// same bytes under the same number. One damaged file would otherwise take the tablets of all tables
// with it, as nothing else says which SSTables are theirs. METADATA is small, so its copies cost
// little.
//
// A file is copied after it is complete and before METADATA, or the root, names it. Both copies are
// read as a whole when their tablet is loaded. Then the one that is damaged or missing is written
// again from the other. Damage that comes about later is found at the next load.
//
// Thread-safe.
#ifndef BIGTABLE_CLUSTER_METADATA_COPIES_H_
#define BIGTABLE_CLUSTER_METADATA_COPIES_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"

#include "base/info_log.h"
#include "base/mutex.h"
#include "cluster/directory.h"
#include "sstable/sstable_info.h"
#include "tablet/tablet_state.h"

namespace bigtable {

class MetadataCopies {
 public:
  // `file_system` outlives this.
  MetadataCopies(FileSystem* file_system, const DatabaseDirectory& directory)
      : file_system_(file_system), directory_(directory) {}

  // Copies a new file. Durable.
  absl::Status Keep(uint64_t number) const;
  // Removes the copy of a file, if there is one.
  absl::Status Remove(uint64_t number) const;
  // The numbers of all copies.
  absl::StatusOr<std::vector<uint64_t>> List() const;

  // Before a tablet with this state is loaded: of each file that is damaged or missing, and whose
  // other copy is sound, writes it again, with a warning in the log. If nothing may be written
  // (`read_only`), PathOf is the sound one from here on. If both are damaged, or a file cannot be
  // written, nothing happens here: the error is one of the load.
  void Check(const TabletState& state, bool read_only, InfoLog* info_log);
  // The file to read.
  std::string PathOf(uint64_t number) const;

 private:
  absl::Status Write(const std::string& from, const std::string& to) const;
  void CheckFile(const SSTableInfo& info, bool read_only, InfoLog* info_log);

  FileSystem* const file_system_;
  const DatabaseDirectory directory_;
  mutable Mutex mutex_;
  std::set<uint64_t> read_copy_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_METADATA_COPIES_H_
