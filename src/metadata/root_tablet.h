// The state of METADATA's first tablet, the root, which is never split, and where it is: a small
// file of the lock service that is replaced whole (section 5.1 of the paper). It is where
// everything begins.
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
  // Begins with nothing, durably.
  absl::Status Create();
  // Errors of SmallFiles::Read; DataLoss.
  absl::Status Load();
  TabletState state() const;
  // The server that has the root tablet, or had it last; "" if none ever had.
  std::string server() const;
  // A server has loaded it. Durable, unless this is `only_here`: in a database that is only read.
  absl::Status SetServer(std::string_view server, bool only_here);
  // Adds the numbers of all SSTables that the file may name: after a failed commit those of the
  // state before and of the one after, until one succeeds.
  void AddFiles(std::set<uint64_t>* numbers) const;

  // The steps are the root's: there is no other tablet.
  bool TakesTogether(absl::Span<const TabletStep> /*steps*/) const override { return true; }
  absl::Status Commit(absl::Span<const TabletStep> steps) override;
  using TabletStore::Commit;

 private:
  absl::Status Write(RootState next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  SmallFiles* const files_;
  mutable Mutex mutex_;
  RootState root_ ABSL_GUARDED_BY(mutex_);
  std::vector<TabletState> perhaps_ ABSL_GUARDED_BY(mutex_);  // of commits that failed
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_ROOT_TABLET_H_
