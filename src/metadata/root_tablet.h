// The location and the state of METADATA's first tablet, the root tablet, which is never split: a
// small file of the lock service that is always replaced as a whole (section 5.1 of the paper).
// Every lookup begins here.
#ifndef BIGTABLE_METADATA_ROOT_TABLET_H_
#define BIGTABLE_METADATA_ROOT_TABLET_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "base/mutex.h"
#include "lockservice/small_files.h"
#include "metadata/metadata_format.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// Thread-safe.
class RootTablet final : public TabletStore {
 public:
  static constexpr std::string_view kFile = "root";

  // `files` outlives this.
  explicit RootTablet(SmallFiles* files) : files_(files) {}

  bool Exists() const { return files_->Exists(kFile); }
  // Creates an empty root tablet, durably.
  absl::Status Create();
  // Errors of SmallFiles::Read; DataLoss.
  absl::Status Load();
  // Not OK: Load has read the file's copy, because of this error of the file. SetServer writes
  // both.
  absl::Status damage() const;
  TabletState state() const;
  // The server that has the root tablet, or had it last; "" if none ever had.
  std::string server() const;
  // Records that a server has loaded it. Durable, unless `only_here`, which is for a database that
  // is opened for reading.
  absl::Status SetServer(std::string_view server, bool only_here);
  // Adds the numbers of all SSTables that the file may name. After a failed commit these are the
  // ones of the state before and of the state after it, until a commit succeeds.
  void AddFiles(std::set<uint64_t>* numbers) const;

  // The steps are always those of the root tablet.
  bool TakesTogether(absl::Span<const TabletStep> /*steps*/) const override { return true; }
  absl::Status Commit(absl::Span<const TabletStep> steps) override;
  using TabletStore::Commit;

 private:
  absl::Status Write(RootState next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  SmallFiles* const files_;
  mutable Mutex mutex_;
  RootState root_ ABSL_GUARDED_BY(mutex_);
  absl::Status damage_ ABSL_GUARDED_BY(mutex_);
  std::vector<TabletState> perhaps_ ABSL_GUARDED_BY(mutex_);  // states of failed commits
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_ROOT_TABLET_H_
