// A database that follows another one, which another process may be writing
// (DatabaseOptions::follow).
//
//   image of the changing files (following/live_image.h) -> a database that is opened on it for
//   reading (client/followed_state.h), the present state -> the next state, and so on
//
// A state is what a process that opens the database for reading would have found if the writer had
// died at that moment, so nothing of the engine knows that there is a writer. SSTables that were
// open for one state stay open for the next, with what the cache has of them. A state lives until
// nobody reads in it.
#ifndef BIGTABLE_CLIENT_FOLLOWED_DATABASE_H_
#define BIGTABLE_CLIENT_FOLLOWED_DATABASE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/info_log.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "client/followed_state.h"
#include "client/followed_table.h"
#include "client/read_only_calls.h"
#include "cluster/directory.h"
#include "filesystem/guarded_file_system.h"
#include "following/held_files.h"
#include "following/image_file_system.h"
#include "following/live_image.h"

namespace bigtable {

// Thread-safe.
class FollowedDatabase final : public ReadOnlyCalls {
 public:
  // Database::Open, with options that are checked and complete.
  static absl::StatusOr<std::unique_ptr<FollowedDatabase>> Open(std::string_view path,
                                                                const DatabaseOptions& options);
  ~FollowedDatabase() override;

  absl::StatusOr<Table*> FindTable(std::string_view name, const OpenTableOptions& options) override;
  absl::Status Close() override;
  absl::StatusOr<Table*> OpenTable(std::string_view name, const OpenTableOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options) override;
  absl::StatusOr<TableSchema> GetSchema(std::string_view table,
                                        const CallOptions& options) override;
  absl::StatusOr<AccessList> GetAccessList(std::string_view name,
                                           const CallOptions& options) override;
  absl::StatusOr<std::vector<std::string>> ListAccessLists(const CallOptions& options) override;
  absl::StatusOr<Quota> GetTableQuota(std::string_view table, const CallOptions& options) override;
  absl::StatusOr<Quota> GetCallerQuota(std::string_view caller,
                                       const CallOptions& options) override;
  absl::StatusOr<std::map<std::string, Quota>> ListTableQuotas(const CallOptions& options) override;
  absl::StatusOr<std::map<std::string, Quota>> ListCallerQuotas(
      const CallOptions& options) override;
  absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view table,
                                                      const CallOptions& options) override;
  absl::StatusOr<DatabaseHistory> History() override;
  absl::Status Checkpoint(std::string_view directory, const CallOptions& options) override;
  absl::StatusOr<CopiedImage> CopyTo(ImageTarget* target, const CallOptions& options) override;
  absl::Status WaitUntilQuiet(const CallOptions& options) override;
  absl::Status Resume(const CallOptions& options) override;
  absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot() override;
  absl::Status Refresh(const CallOptions& options) override;
  DatabaseStatistics Statistics() override;

 private:
  FollowedDatabase(std::string_view path, const DatabaseOptions& options,
                   std::unique_ptr<GuardedFileSystem> files);
  absl::Status RefreshWithin(const CallLimits& limits);
  // Takes the image, and opens its state if it is another one.
  absl::Status FollowWriter(const CallLimits& limits) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  // Makes it the present one, so that tables keep no other.
  void Use(std::shared_ptr<const FollowedState> state);
  // Makes the image the state. After an error `*is_late` says whether a file was missing, which it
  // should not be: if the image is still the present one, the file is lost.
  absl::Status OpenState(bool* is_late) ABSL_EXCLUSIVE_LOCKS_REQUIRED(refresh_mutex_);
  void RefreshAgainAndAgain();

  const std::string path_;
  const DatabaseOptions options_;
  InfoLog info_log_;
  const std::shared_ptr<FollowedFiles> files_;

  LimitedMutex refresh_mutex_;
  LiveImage image_ ABSL_GUARDED_BY(refresh_mutex_);
  bool is_outdated_ ABSL_GUARDED_BY(refresh_mutex_) = true;  // the state is not of the image
  // Those that somebody may still read in.
  std::vector<std::weak_ptr<const FollowedState>> opened_ ABSL_GUARDED_BY(refresh_mutex_);

  const std::shared_ptr<FollowedStates> states_ = std::make_shared<FollowedStates>();
  Mutex tables_mutex_;
  struct OpenedTable {
    std::shared_ptr<FollowedTable> backend;
    std::unique_ptr<Table> table;
  };
  std::map<std::pair<std::string, std::optional<std::string>>, OpenedTable> tables_
      ABSL_GUARDED_BY(tables_mutex_);

  Mutex mutex_;
  CondVar changed_;
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
  Cancellation closing_;
  std::thread thread_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_FOLLOWED_DATABASE_H_
