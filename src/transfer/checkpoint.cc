#include "transfer/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/status.h"
#include "transfer/new_database.h"

namespace bigtable {
namespace {

// A new directory of the same file system.
class Checkpoint final : public ImageTarget {
 public:
  Checkpoint(const CopyParts& parts, std::string_view directory)
      : file_system_(parts.storage->file_system),
        copy_({file_system_, parts.image.clock, parts.budget}, directory) {}

  absl::Status AddFile(const SSTableInfo& info, FileSystem* files, const std::string& path,
                       const CallLimits& limits) override {
    const std::string to = copy_.directory().sstable(info.file_number);
    const absl::Status linked = file_system_->LinkFile(path, to);
    if (linked.ok()) ++linked_;
    if (!absl::IsUnimplemented(linked)) return linked;
    ++copied_;
    return CopyFile(files, path, file_system_, to, limits).status();
  }
  FileSystem* file_system() override { return file_system_; }
  std::string PathOfNew(uint64_t number) override { return copy_.directory().sstable(number); }
  absl::Status AddNew(const SSTableInfo& /*info*/, const CallLimits& /*limits*/) override {
    return absl::OkStatus();
  }
  absl::Status AddTablet(uint64_t table_id, const TabletState& state) override {
    copy_.AddTablet(table_id, state);
    return absl::OkStatus();
  }
  FileNumbers* file_numbers() override { return copy_.file_numbers(); }

  NewDatabase* copy() { return &copy_; }
  size_t linked() const { return linked_; }
  size_t copied() const { return copied_; }

 private:
  FileSystem* const file_system_;
  NewDatabase copy_;
  size_t linked_ = 0;
  size_t copied_ = 0;
};

}  // namespace

absl::Status WriteCheckpoint(const CopyParts& parts, std::string_view directory,
                             const CallLimits& limits) {
  constexpr int kMostTries = 3;
  for (int tries = 1;; ++tries) {
    Checkpoint checkpoint(parts, directory);
    BT_RETURN_IF_ERROR(checkpoint.copy()->Begin());
    const absl::StatusOr<CopiedImage> image = CopyImage(parts, &checkpoint, limits);
    if (absl::IsNotFound(image.status()) && tries < kMostTries) continue;
    BT_RETURN_IF_ERROR(image.status());
    BT_RETURN_IF_ERROR(checkpoint.copy()->Finish(image->files, image->sequence));
    parts.info_log->Info("checkpoint in ", directory, ": ", checkpoint.linked(),
                         " SSTables are linked, ", checkpoint.copied(), " copied");
    return absl::OkStatus();
  }
}

}  // namespace bigtable
