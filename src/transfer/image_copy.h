// Copies the image of a database to wherever its SSTables are to be: the files that it has, new
// ones with what was in memtables, and the state of each tablet.
#ifndef BIGTABLE_TRANSFER_IMAGE_COPY_H_
#define BIGTABLE_TRANSFER_IMAGE_COPY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/call_limits.h"
#include "base/info_log.h"
#include "base/sequence.h"
#include "cluster/storage.h"
#include "sstable/sstable_info.h"
#include "tablet/file_numbers.h"
#include "tablet/tablet_state.h"
#include "transfer/database_image.h"

namespace bigtable {

// What copies use of an open database.
struct CopyParts {
  ImageParts image;
  ClusterStorage* storage = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  InfoLog* info_log = nullptr;
};

// Where an image goes. One thread at a time.
class ImageTarget {
 public:
  virtual ~ImageTarget() = default;
  // Before everything else, with DatabaseImage::files. An error ends the copy.
  virtual absl::Status Begin(const std::map<std::string, std::string>& /*files*/) {
    return absl::OkStatus();
  }
  // Whether it takes the tablets of this table.
  virtual bool TakesTable(std::string_view /*table*/) const { return true; }
  // Takes an SSTable of the database, which is at `path` of its file system `files`. Called once
  // for each.
  virtual absl::Status AddFile(const SSTableInfo& info, FileSystem* files, const std::string& path,
                               const CallLimits& limits) = 0;
  // A new SSTable goes to this path of this file system, and is then taken, synced.
  virtual FileSystem* file_system() = 0;
  virtual std::string PathOfNew(uint64_t number) = 0;
  virtual absl::Status AddNew(const SSTableInfo& info, const CallLimits& limits) = 0;
  // A tablet whose SSTables were taken. Its redo points are at the number of the image.
  virtual absl::Status AddTablet(uint64_t table_id, const TabletState& state) = 0;
  // The numbers of new SSTables, which follow those of all others.
  virtual FileNumbers* file_numbers() = 0;
};

struct CopiedImage {
  SequenceNumber sequence = 0;
  // As of DatabaseImage.
  absl::Time now;
  std::map<std::string, std::string> files;
};

// Copies an image of the present. Errors of TakeImage, of the target, and of the limits. NotFound,
// in rare cases: a file was removed before the image was taken, and another try succeeds.
absl::StatusOr<CopiedImage> CopyImage(const CopyParts& parts, ImageTarget* target,
                                      const CallLimits& limits);

// Copies a file, and syncs the copy, on the same or another file system. Returns its checksum: that
// of each mebibyte, with the checksum of those before as its seed.
absl::StatusOr<uint64_t> CopyFile(FileSystem* from_files, const std::string& from,
                                  FileSystem* to_files, const std::string& to,
                                  const CallLimits& limits);
// The checksum alone.
absl::StatusOr<uint64_t> ChecksumOfFile(FileSystem* files, const std::string& path,
                                        const CallLimits& limits);

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_IMAGE_COPY_H_
