// A database: a directory that this library owns, and the tables in it.
#ifndef BIGTABLE_DATABASE_H_
#define BIGTABLE_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"
#include "bigtable/options.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/statistics.h"
#include "bigtable/table.h"
#include "bigtable/tablet_info.h"

namespace bigtable {

class DatabaseImpl;

// Thread-safe. A directory is open for writing once, or read-only any number of times, never both.
//
// The database is of the process that has opened it. In a child of fork() every call on it, and on
// what came from it, is FailedPrecondition, and destructors leave everything to the parent, whose
// lock ends with it; only the memory is the child's, until it ends or runs another program. (A
// child made by a bare clone() goes unnoticed.)
class Database {
 public:
  // Opens the database in directory `path`, or creates one.
  //
  // InvalidArgument: an option out of range. NotFound, AlreadyExists: see create_if_missing and
  // error_if_exists. FailedPrecondition: another process or Database has it open, or it was written
  // by a newer version. DataLoss: a file is missing or damaged. What is wrong with an SSTable, but
  // for its size, is an error of the calls that need it.
  //
  // Cost: reads METADATA, looks at the size of each SSTable, and reads the commit log, which holds
  // what was not yet written out. The first read that needs an SSTable opens it.
  static absl::StatusOr<std::unique_ptr<Database>> Open(std::string_view path,
                                                        const DatabaseOptions& options = {});
  // Closes, if Close was not called; an error goes to the info log.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Waits for calls under way, refuses new ones with FailedPrecondition, writes the memtables out,
  // and gives the directory free. Calls that wait for background work end with FailedPrecondition,
  // and compactions under way are given up, those of Compact() too. Tables must not be used beside
  // or after the destructor; rows, scanners and snapshots may outlive the database. A second call
  // returns what the first did.
  [[nodiscard]] absl::Status Close();

  // --- Tables. Changes are atomic, also across a crash, and durable when the call returns. ---

  // A name is 1 to 128 characters of [A-Za-z0-9_.-] and does not begin with a dot.
  // InvalidArgument, AlreadyExists; NotFound: an access list.
  [[nodiscard]] absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                                         const CreateTableOptions& options = {});
  // The data is gone at once, and its space once no reader holds it. NotFound.
  [[nodiscard]] absl::Status DeleteTable(std::string_view name, const CallOptions& options = {});
  // NotFound; InvalidArgument: the caller's name. The table is the database's: the same one each
  // time for one caller, and kept as long as the database.
  [[nodiscard]] absl::StatusOr<Table*> OpenTable(std::string_view name,
                                                 const OpenTableOptions& options = {});
  // OpenTable, after CreateTable if there is no table of this name. One that is there keeps its own
  // schema. Errors of both.
  [[nodiscard]] absl::StatusOr<Table*> OpenOrCreateTable(std::string_view name,
                                                         const TableSchema& schema,
                                                         const CreateTableOptions& options = {});
  absl::StatusOr<std::vector<std::string>> ListTables();  // sorted
  absl::StatusOr<TableSchema> GetSchema(std::string_view table);

  // NotFound: the table, the locality group, or the access list. AlreadyExists: the family.
  [[nodiscard]] absl::Status AddFamily(std::string_view table, std::string_view name,
                                       const Family& family, const CallOptions& options = {});
  // The family's data is gone at once; adding a family of this name later begins with none.
  [[nodiscard]] absl::Status DropFamily(std::string_view table, std::string_view name,
                                        const CallOptions& options = {});
  // Changes what `update` names, and nothing else: UpdateFamily("t", "f", {.gc = rule}). A new rule
  // brings nothing back: see GcRule. Each change of a rule is kept in the schema, some ten bytes. A
  // family stays in its locality group. NotFound: the table, the family, or the access list.
  [[nodiscard]] absl::Status UpdateFamily(std::string_view table, std::string_view name,
                                          const FamilyUpdate& update,
                                          const CallOptions& options = {});
  // Adds a locality group, for families to come, or changes how the next SSTables of one are
  // written.
  [[nodiscard]] absl::Status SetLocalityGroup(std::string_view table, std::string_view name,
                                              const LocalityGroup& group,
                                              const CallOptions& options = {});

  // When tablets of the table are split and merged from now on.
  [[nodiscard]] absl::Status SetSplitRule(std::string_view table, const SplitRule& rule,
                                          const CallOptions& options = {});

  // --- Access lists (section 4 of the paper). As with tables, changes are atomic and durable; for
  // calls that begin after the change they hold at once. ---

  // Sets who may read and write what has this list: a new one, or in place of what it was.
  // InvalidArgument: a name. After Unavailable it may hold, or not, until it is set again.
  [[nodiscard]] absl::Status SetAccessList(std::string_view name, const AccessList& list,
                                           const CallOptions& options = {});
  // NotFound. FailedPrecondition: a column family has it, which is named.
  [[nodiscard]] absl::Status DeleteAccessList(std::string_view name,
                                              const CallOptions& options = {});
  absl::StatusOr<AccessList> GetAccessList(std::string_view name);  // NotFound
  absl::StatusOr<std::vector<std::string>> ListAccessLists();       // sorted

  // --- Tablets (sections 5.2 and 6 of the paper): by themselves these things happen as the table's
  // SplitRule says. Reads and writes go on meanwhile, and atomicity and snapshots are what they are
  // without. The changes are atomic, and durable when the call returns. ---

  // In key order: each row of the table is in one of them.
  absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view table);
  // `row` begins a tablet from now on. Copies nothing: the halves share SSTables until these are
  // compacted. NotFound: the table; AlreadyExists: a tablet begins with `row`.
  [[nodiscard]] absl::Status SplitTablet(std::string_view table, std::string_view row,
                                         const CallOptions& options = {});
  // Undoes that: the tablet that begins with `row` and the one before it are one from now on.
  // Writes out what of them is in memory, and rewrites files that they share with others. NotFound:
  // the table, or no tablet but the first begins with `row`.
  [[nodiscard]] absl::Status MergeTablets(std::string_view table, std::string_view row,
                                          const CallOptions& options = {});
  // The tablet with `row` is served by this server from now on (TabletInfo::server). What of it is
  // in memory is written out, the most of it while writes go on.
  [[nodiscard]] absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                                        const CallOptions& options = {});

  // --- Time ---

  // Everything acknowledged before the call is in the snapshot, and nothing that begins after it.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot();

  // --- Background work ---

  // Minor compaction: everything written to the table before the call is in SSTables, durably. If
  // that fails, returns the error of the first try; it goes on in the background
  // (DatabaseStatistics::failing_work).
  [[nodiscard]] absl::Status Flush(std::string_view table, const CallOptions& options = {});
  // Major compaction of every locality group of the table: what is deleted and collected is gone
  // from disk, as far as no snapshot sees it. Works while compactions are paused. Ends with the
  // deadline or the cancellation also half way; what it has written then is removed. DataLoss: a
  // file is damaged, which the message names; locality groups and tablets that do not have it are
  // compacted all the same (DatabaseStatistics::quarantined_files).
  [[nodiscard]] absl::Status Compact(std::string_view table, const CallOptions& options = {});
  // Waits until no compaction is running or due, and no split or merge. Returns the background
  // error, if there is one, or that of work which has failed and is to be tried again, and
  // DeadlineExceeded. While compactions are paused, waits for minor ones only. Files that are
  // quarantined keep nobody waiting.
  [[nodiscard]] absl::Status WaitUntilQuiet(const CallOptions& options = {});
  // Lets merging compactions under way finish and starts no more, until ContinueCompactions().
  // Calls nest.
  void PauseCompactions();
  void ContinueCompactions();
  // Gives up the merging compactions under way, and what they wrote; a Compact() call returns
  // Cancelled. Waits until they have ended.
  void CancelCompactions();
  // DatabaseOptions::compaction_rate from now on, also for compactions under way.
  void SetCompactionRate(uint64_t bytes_per_second);

  // After a background error (the commit log could not be written or synced, or METADATA could not)
  // writes return it, and reads go on. Once the cause is gone, this writes out what is in memory,
  // starts a fresh log and goes on; otherwise it returns the error. What is tried again by itself
  // (DatabaseStatistics::failing_work), such as a flush to a disk that is full, is tried at once;
  // if memtables cannot be written out still, the error of that is returned. Quarantined files are
  // read again by the compactions to come.
  [[nodiscard]] absl::Status Resume();

  // What was counted and measured since the opening, and what is there now. ToPrometheusText makes
  // text of it. Cost: some microseconds for each table, and no lock that a call waits for.
  DatabaseStatistics Statistics();

 private:
  friend class DatabaseImpl;
  explicit Database(std::shared_ptr<DatabaseImpl> impl);
  std::shared_ptr<DatabaseImpl> impl_;
  // The tables that were opened, by their number (one that was deleted and made anew is another),
  // and then by their caller.
  std::map<uint64_t, std::map<std::optional<std::string>, std::unique_ptr<Table>>> tables_;
  std::mutex tables_mutex_;
};

}  // namespace bigtable

#endif  // BIGTABLE_DATABASE_H_
