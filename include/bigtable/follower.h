// A follower: a database of its own that has what another one has had a moment ago (section 8.3 of
// the paper: replication). For a standby that takes over, and for reads elsewhere.
//
//   // Once: a copy to begin with.
//   source->Checkpoint("/follower");
//   ...
//   absl::StatusOr<std::unique_ptr<Follower>> follower = Follower::Open("/follower", source.get());
//   Table* table = *(*follower)->database()->OpenTable("t");      // to be read
//   ...
//   absl::StatusOr<std::unique_ptr<Database>> writer = (*follower)->Promote();
//
// What it follows. Tables with a change stream (TableSchema::changes): their mutations, dropped row
// ranges and changes of families, and, if it follows all tables, which tables there are. Mutations
// are applied in the order of their commits, and a batch over several of these tables is applied as
// one. Not followed are quotas, locality groups and split rules of tables that exist, and what
// compaction filters remove; garbage collection and filters work here as the schema says. Observers
// are not called: what they have added is followed like every mutation.
//
// Where it is. The other database is given as a Database: of this process; or of another process on
// this machine, opened with DatabaseOptions::follow, so that nothing is asked of its writer.
//
// What it begins with. An empty directory, if the other database still has every change since the
// tables were created; or a checkpoint, or a restored backup, which must not be older than what the
// change streams keep, and not changed since. Its own progress is in a table of its own,
// "bigtable.follower", which is written together with the mutations. So a follower that ends at any
// moment goes on without loss and without repetition. A file FOLLOWER marks the directory, and
// stays in it: if the table is gone, the follower was promoted, and follows nothing any more.
#ifndef BIGTABLE_FOLLOWER_H_
#define BIGTABLE_FOLLOWER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/call_options.h"
#include "bigtable/database.h"
#include "bigtable/export.h"
#include "bigtable/options.h"

namespace bigtable {

// Plain value.
struct FollowerOptions {
  // Of the follower's own database. `durability`: kBuffered or kSync; what is lost of it is
  // followed again.
  DatabaseOptions database = {};
  // Empty: all tables with a change stream, also those that are created later.
  std::vector<std::string> tables = {};
  // How long it waits, with nothing to apply, before it looks again.
  absl::Duration interval = absl::Milliseconds(20);
  // The name under which it registers as a reader of changes, so that these are kept for it
  // (Table::SetChangeReader). Empty: it does not; so for a database that is followed from outside.
  std::string reader = {};
};

// Plain value.
struct FollowerStatistics {
  uint64_t changes_applied = 0;  // since it was opened
  uint64_t bytes_applied = 0;    // of their mutations
  // It has everything that was committed before this time, by this machine's clock; InfinitePast()
  // before it has caught up for the first time.
  absl::Time complete_through = absl::InfinitePast();
  // How much it is behind: the time since then.
  absl::Duration lag = absl::InfiniteDuration();
  // OK, or why the last attempt has failed. Every error is tried again, after pauses of up to five
  // seconds; OutOfRange and FailedPrecondition do not pass by themselves.
  absl::Status status;
};

// Plain value.
struct PromoteOptions {
  // The directory of the database that was followed, so that no process opens it for writing from
  // here on: FenceDatabase. Empty: whoever calls must see to it.
  std::string fence_directory = {};
  // Of that directory. Null: the file system of the machine.
  FileSystem* file_system = nullptr;
  // Of the whole call.
  absl::Time deadline = absl::InfiniteFuture();
  // Null: it cannot be cancelled.
  const Cancellation* cancellation = nullptr;
};

class FollowerThread;

// Thread-safe, except that Promote, Close and the destructor are called by one thread, and last.
class BIGTABLE_EXPORT Follower {
 public:
  // Opens or creates the follower's database in the directory, and begins to follow. `source`
  // outlives it. Errors of Database::Open. InvalidArgument: an option, such as Durability::kNone.
  // FailedPrecondition: a table of `source` has no change stream; the directory is that of a
  // follower that was promoted, or has followed another database, or is no copy of `source`; or
  // `source` was restored from a backup of before what the follower has. OutOfRange: the directory
  // is too old or empty, and the changes that it needs are not kept any more. NotFound: a table of
  // `options.tables`. It can be called again after any error; if an empty directory is not what the
  // follower can begin with, nothing is created.
  static absl::StatusOr<std::unique_ptr<Follower>> Open(std::string_view path, Database* source,
                                                        const FollowerOptions& options = {});
  // Close().
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // The follower's database, to read from. Nothing but the follower may write to the tables that it
  // follows, or change them.
  Database* database() const;

  // Waits until it has everything that the other database had when the call began. The error that
  // it cannot go on with; DeadlineExceeded, Cancelled.
  absl::Status CatchUp(const CallOptions& options = {});

  FollowerStatistics Statistics() const;

  // Ends following, and makes the follower's database one to be written, which is returned. With
  // `fence_directory`, the other one is fenced first, and then everything that it has is followed:
  // nothing that was durable there is missing. Without, it has what CatchUp would give at that
  // moment, or, if the other database cannot be read any more, what it has. FailedPrecondition: a
  // process has the directory open for writing. After an error it follows as before, but what was
  // fenced stays so; if only the last step is missing, it is stopped. It can be called again. After
  // success everything that was followed is durable, and Follower::Open refuses the directory.
  absl::StatusOr<std::unique_ptr<Database>> Promote(const PromoteOptions& options = {});

  // Stops, and closes the follower's database. A second call returns OK.
  absl::Status Close();

 private:
  explicit Follower(std::unique_ptr<FollowerThread> thread);
  std::unique_ptr<FollowerThread> thread_;
};

// From here on no process opens the database in the directory for writing: Database::Open is
// FailedPrecondition, and names the file FENCED, which says so and can be removed by hand. Durable
// when it returns. Reading it, and following it, still work. FailedPrecondition: a process has it
// open for writing. NotFound: there is no database.
BIGTABLE_EXPORT absl::Status FenceDatabase(std::string_view directory,
                                           FileSystem* file_system = nullptr);

}  // namespace bigtable

#endif  // BIGTABLE_FOLLOWER_H_
