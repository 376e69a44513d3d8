// The tables of a follower, and how they become what those of the other database are: one pass
// reads what is new in all of them and applies it.
//
// Order. Changes are applied by their sequence numbers, over all tables, as far as every table was
// read; so a batch over several tables is applied as one batch. A batch of changes is written
// together with what is applied then (follower_table.h).
//
// After an error, what was read is forgotten, and the next pass begins with what is applied.
#ifndef BIGTABLE_REPLICATION_REPLICA_H_
#define BIGTABLE_REPLICATION_REPLICA_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/change_stream.h"
#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/follower.h"
#include "bigtable/write_batch.h"

#include "base/call_limits.h"
#include "base/steady_time.h"
#include "cluster/database_history.h"
#include "cluster/directory.h"
#include "replication/change_feed.h"
#include "replication/follower_table.h"

namespace bigtable {

// One thread, except for the counters.
class Replica {
 public:
  // All outlive it. `directory` is that of `own`, in the file system.
  Replica(Database* source, Database* own, const DatabaseDirectory& directory,
          FileSystem* file_system, const FollowerOptions* options)
      : source_(source),
        own_(own),
        directory_(directory),
        file_system_(file_system),
        options_(options) {}
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Whether a follower of `source` can begin without a copy of it. Errors of Follower::Open.
  static absl::Status CheckBeginsEmpty(Database* source, const FollowerOptions& options);

  // Finds the tables, and makes own ones. Errors of Follower::Open.
  absl::Status FindAll() { return FindTables({}); }
  // Whether a pass looks for tables that are new, or were deleted: those that somebody waits for,
  // and of the others one in a second.
  enum class Looks { kNow, kSometimes };
  // Applies everything that the other database had when it was called. Errors of
  // FindAll, and of both databases.
  absl::Status Pass(Looks looks, const CallLimits& limits);

  uint64_t changes_applied() const { return changes_applied_.load(std::memory_order_relaxed); }
  uint64_t bytes_applied() const { return bytes_applied_.load(std::memory_order_relaxed); }

 private:
  // A table, with its feed.
  struct Followed {
    std::unique_ptr<ChangeFeed> feed;
    Table* own = nullptr;
    std::set<std::string, std::less<>> families;  // that the own one has
    std::string registered;                       // the position of the registered reader
  };

  absl::Status PassOnce(Looks looks, const CallLimits& limits);
  // Reads what is applied, and checks that it goes on in the other database.
  absl::Status ReadState(const CallLimits& limits);
  // The same as a directory begins: what FollowerTable::Contents are to be.
  absl::StatusOr<FollowerTable::Contents> FirstContents(const FollowerTable& state,
                                                        const FollowerTable::Contents& contents,
                                                        const CallLimits& limits) const;
  // What was read since the history was looked at is of it. Unavailable: another database has taken
  // the place of the one that is followed.
  absl::Status CheckSource() const;
  // Finds the tables to follow, and creates and deletes own ones.
  absl::Status FindTables(const CallLimits& limits);
  // Those that are to be followed, and, of all that there are, those that were followed before: of
  // a table whose stream was closed, the error of the next read says so.
  static absl::StatusOr<std::vector<std::string>> TablesOfSource(
      Database* source, const FollowerOptions& options,
      const std::map<std::string, ChangePosition>& known, const CallLimits& limits);
  absl::Status Begin(const std::string& name, const CallLimits& limits);
  // The beginning of a stream that has everything that was ever written to its table. OutOfRange:
  // it has not.
  static absl::StatusOr<ChangeRound> BeginningOf(const std::string& name, TableBackend* source,
                                                 const CallLimits& limits);
  // Where to begin with a table of which nothing is known.
  absl::StatusOr<ChangePosition> FirstPosition(const std::string& name, TableBackend* source,
                                               const CallLimits& limits) const;
  // With the families with which its changes begin.
  absl::Status CreateOwn(const std::string& name, TableBackend* source, const CallLimits& limits);
  // Of families that the schema names: as in the other database.
  absl::Status CopyAccessLists(const TableSchema& schema) const;
  // A checkpoint has those of the other database, which has taken the mutations.
  absl::Status EndStorageQuotas() const;
  absl::Status DeleteOwn(const std::string& name);
  absl::Status SetFamilies(Followed* followed) const;

  // Applies what is pending up to the number.
  absl::Status ApplyThrough(SequenceNumber through, const CallLimits& limits);
  void Add(Followed* followed, const TableChange& change);
  absl::Status Commit();
  absl::Status DropRows(const Followed& followed, const TableChange& change) const;
  absl::Status ChangeFamilies(Followed* followed, const TableChange& change);
  void RegisterReader();

  Database* const source_;
  Database* const own_;
  const DatabaseDirectory directory_;
  FileSystem* const file_system_;
  const FollowerOptions* const options_;
  bool is_image_ = true;       // Refresh has a meaning
  DatabaseHistory of_source_;  // as state_ was read
  DatabaseHistory of_own_;
  std::optional<FollowerTable> state_;
  std::map<std::string, ChangePosition> known_;  // what state_ had when it was read
  std::map<std::string, Followed> tables_;       // by name
  std::optional<SteadyTime> found_at_;
  std::optional<SteadyTime> registered_at_;
  WriteBatch batch_;
  std::set<Followed*> in_batch_;
  std::atomic<uint64_t> changes_applied_{0};
  std::atomic<uint64_t> bytes_applied_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_REPLICATION_REPLICA_H_
