// Makes a backup of an image: takes its files into a store, and describes it.
#ifndef BIGTABLE_TRANSFER_BACKUP_TARGET_H_
#define BIGTABLE_TRANSFER_BACKUP_TARGET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "base/call_limits.h"
#include "tablet/file_numbers.h"
#include "transfer/backup_manifest.h"
#include "transfer/backup_store.h"
#include "transfer/image_copy.h"

namespace bigtable {

// One thread at a time.
class BackupTarget final : public ImageTarget {
 public:
  struct Options {
    std::vector<std::string> tables;  // empty: all
    // CreateBackupOptions::on_progress
    std::function<void(uint64_t files, uint64_t copied_bytes)> on_progress;
  };

  // `known`: the files that the store has. The arguments outlive this.
  BackupTarget(BackupStore* store, const BackupStore::Files& known, const Options& options)
      : store_(store), known_(known), options_(options) {}
  // Unless the backup exists, removes the files that no other try can use, as far as that works.
  ~BackupTarget() override;
  BackupTarget(const BackupTarget&) = delete;
  BackupTarget& operator=(const BackupTarget&) = delete;

  // NotFound: there is no such table.
  absl::Status Begin(const std::map<std::string, std::string>& files) override;
  bool TakesTable(std::string_view table) const override;
  absl::Status AddFile(const SSTableInfo& info, FileSystem* files, const std::string& path,
                       const CallLimits& limits) override;
  FileSystem* file_system() override { return store_->file_system(); }
  std::string PathOfNew(uint64_t number) override { return store_->PathOfNew(number); }
  absl::Status AddNew(const SSTableInfo& info, const CallLimits& limits) override;
  absl::Status AddTablet(uint64_t table_id, const TabletState& state) override;
  FileNumbers* file_numbers() override { return &file_numbers_; }

  // After CopyImage: the description, with what the image says.
  BackupManifest Describe(CopiedImage image);
  // The backup exists, or may exist.
  void Finish() { is_finished_ = true; }

 private:
  void Add(const BackupFile& file, bool is_new);

  BackupStore* const store_;
  const BackupStore::Files& known_;
  const Options& options_;
  std::vector<BackupFile> of_memory_;
  bool is_finished_ = false;
  FileNumbers file_numbers_;
  BackupManifest manifest_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_BACKUP_TARGET_H_
