// What a database that follows another one has at one moment: an image of the other one's changing
// files, and a database that was opened for reading on it.
#ifndef BIGTABLE_CLIENT_FOLLOWED_STATE_H_
#define BIGTABLE_CLIENT_FOLLOWED_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/options.h"
#include "bigtable/snapshot.h"

#include "backend/table_backend.h"
#include "base/mutex.h"
#include "client/embedded_database.h"
#include "cluster/storage.h"
#include "filesystem/guarded_file_system.h"
#include "following/held_files.h"
#include "following/image_file_system.h"
#include "following/live_image.h"

namespace bigtable {

// What all states of a follower share: the SSTables that are open. States may outlive the follower.
struct FollowedFiles {
  FollowedFiles(std::unique_ptr<GuardedFileSystem> guarded, const DatabaseOptions& options)
      : files(std::move(guarded)),
        held(files.get(), options.read_mode),
        sstables(files.get(), &held),
        open(&sstables, options) {}

  const std::unique_ptr<GuardedFileSystem> files;
  HeldFiles held;
  HeldFileSystem sstables;
  OpenFiles open;
};

// Thread-safe. Those who read keep it; a newer one does not end it.
class FollowedState {
 public:
  // `options` are those of the follower. Errors of EmbeddedDatabase::Open; NotFound: a file is
  // gone.
  static absl::StatusOr<std::shared_ptr<const FollowedState>> Open(
      std::string_view path, DatabaseOptions options, const LiveImage& image,
      std::shared_ptr<FollowedFiles> files);
  // Closes the database.
  ~FollowedState();
  FollowedState(const FollowedState&) = delete;
  FollowedState& operator=(const FollowedState&) = delete;

  EmbeddedDatabase* database() const { return database_.get(); }
  // NotFound.
  absl::StatusOr<std::shared_ptr<TableBackend>> Table(std::string_view name,
                                                      const OpenTableOptions& options) const;

 private:
  FollowedState() = default;

  std::shared_ptr<FollowedFiles> shared_;
  std::unique_ptr<ImageFileSystem> file_system_;
  std::unique_ptr<EmbeddedDatabase> database_;
  std::vector<std::shared_ptr<RandomAccessFile>> files_;  // all that it may read
};

// The present state, for the tables of the follower. Thread-safe.
class FollowedStates {
 public:
  // FailedPrecondition: the database is closed.
  absl::StatusOr<std::shared_ptr<const FollowedState>> Get() const {
    MutexLock lock(&mutex_);
    if (state_ != nullptr) return state_;
    return absl::FailedPreconditionError("the database is closed");
  }
  // Null: it is closed. The one before may end here.
  void Set(std::shared_ptr<const FollowedState> state) {
    MutexLock lock(&mutex_);
    state_.swap(state);
    version_.fetch_add(1, std::memory_order_release);
  }
  // Another number for each state.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> version_{1};
  mutable Mutex mutex_;
  std::shared_ptr<const FollowedState> state_ ABSL_GUARDED_BY(mutex_);
};

// A snapshot of a state, which it keeps.
class FollowedSnapshot final : public Snapshot {
 public:
  FollowedSnapshot(const FollowedStates* owner, std::shared_ptr<const FollowedState> state,
                   std::shared_ptr<const Snapshot> snapshot)
      : Snapshot(snapshot->sequence()),
        owner_(owner),
        state_(std::move(state)),
        snapshot_(std::move(snapshot)) {}

  // Null: it is of another database.
  static const FollowedSnapshot* Of(const Snapshot* snapshot, const FollowedStates* owner) {
    const auto* const followed = dynamic_cast<const FollowedSnapshot*>(snapshot);
    return followed != nullptr && followed->owner_ == owner ? followed : nullptr;
  }
  const std::shared_ptr<const FollowedState>& state() const { return state_; }
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }

 private:
  const FollowedStates* const owner_;
  const std::shared_ptr<const FollowedState> state_;
  const std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_FOLLOWED_STATE_H_
