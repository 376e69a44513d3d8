// What a database that follows another one has at one moment: an image of the other one's changing
// files, and a database that was opened for reading on it.
#ifndef BIGTABLE_CLIENT_FOLLOWED_STATE_H_
#define BIGTABLE_CLIENT_FOLLOWED_STATE_H_

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
#include "following/image_file_system.h"

namespace bigtable {

// Thread-safe. Those who read keep it; a newer one does not end it.
class FollowedState {
 public:
  // `options` are those of the follower; `files` and `held` outlive it. Errors of
  // EmbeddedDatabase::Open; NotFound: a file is gone.
  static absl::StatusOr<std::shared_ptr<const FollowedState>> Open(
      std::string_view path, DatabaseOptions options, std::unique_ptr<ImageFileSystem> file_system,
      OpenFiles* files, HeldFiles* held);
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

  std::unique_ptr<ImageFileSystem> file_system_;
  std::unique_ptr<EmbeddedDatabase> database_;
  std::vector<std::shared_ptr<RandomAccessFile>> files_;  // all that it may read
};

// Where the present state is, for the tables of the follower. Thread-safe.
class FollowedStates {
 public:
  // FailedPrecondition: the database is closed.
  absl::StatusOr<std::shared_ptr<const FollowedState>> Get() const {
    MutexLock lock(&mutex_);
    if (state_ != nullptr) return state_;
    return absl::FailedPreconditionError("the database is closed");
  }
  // Null: it is closed. Returns the one before.
  std::shared_ptr<const FollowedState> Set(std::shared_ptr<const FollowedState> state) {
    MutexLock lock(&mutex_);
    state_.swap(state);
    return state;
  }

 private:
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
