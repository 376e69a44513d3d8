// A database: a directory that this library owns, and the tables in it.
#ifndef BIGTABLE_DATABASE_H_
#define BIGTABLE_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/access_list.h"
#include "bigtable/export.h"
#include "bigtable/options.h"
#include "bigtable/quota.h"
#include "bigtable/schema.h"
#include "bigtable/snapshot.h"
#include "bigtable/statistics.h"
#include "bigtable/table.h"
#include "bigtable/tablet_info.h"
#include "bigtable/transaction.h"
#include "bigtable/write_batch.h"

namespace bigtable {

class DatabaseBackend;

// Thread-safe. A directory can be open once for writing, or any number of times read-only, but
// never both.
//
// The database belongs to the process that opened it. In a child of fork(), every call on it and on
// objects that came from it returns FailedPrecondition. Destructors in the child free only the
// child's memory, which lasts until the child exits or runs another program; the parent keeps the
// lock and everything else. (A child made by a bare clone() is not detected.)
//
// One class with many functions, because they are what an administrator looks for in one place.
// Each group of them passes its calls on to a part of the engine.
class BIGTABLE_EXPORT Database {
 public:
  // Opens the database in directory `path`, or creates one.
  //
  // InvalidArgument: an option is out of range. NotFound, AlreadyExists: see create_if_missing and
  // error_if_exists. FailedPrecondition: another process or Database has it open, a newer version
  // wrote it, or there is no database but something else (allow_foreign_files). DataLoss: a file is
  // missing or damaged. Of an SSTable, only the size is checked here; other damage is reported by
  // the calls that read the damaged part.
  //
  // Cost: reads METADATA, checks the size of each SSTable, and replays the commit log, which holds
  // the mutations that were not flushed. An SSTable is opened by the first read that needs it.
  static absl::StatusOr<std::unique_ptr<Database>> Open(std::string_view path,
                                                        const DatabaseOptions& options = {});
  // Closes the database if Close was not called; an error goes to the info log.
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Waits for running calls, refuses new ones with FailedPrecondition, flushes the memtables, and
  // unlocks the directory. Calls that wait for background work return FailedPrecondition. Running
  // compactions are cancelled, including those of Compact(). Tables must not be used during or
  // after the destructor. Rows, scanners and snapshots may outlive the database. A second call
  // returns the result of the first.
  [[nodiscard]] absl::Status Close();

  // --- Tables. Changes are atomic, also across a crash, and durable when the call returns. ---

  // A name is 1 to 128 characters of [A-Za-z0-9_.-] and does not begin with a dot.
  // InvalidArgument, AlreadyExists; NotFound: an access list does not exist.
  [[nodiscard]] absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                                         const CreateTableOptions& options = {});
  // The data is invisible at once. Its space is freed when no reader uses it, and no flush or
  // compaction of it is running: the call waits for these. If its deadline or a cancellation ends
  // this wait, the table is deleted, the call returns OK, and the space is freed later. NotFound.
  [[nodiscard]] absl::Status DeleteTable(std::string_view name, const CallOptions& options = {});
  // NotFound; InvalidArgument: the caller's name. The database owns the table. For one caller,
  // every call returns the same table, which lives as long as the database. Cost: the first call
  // reads a small file; the later ones no file, whatever the number of tables.
  [[nodiscard]] absl::StatusOr<Table*> OpenTable(std::string_view name,
                                                 const OpenTableOptions& options = {});
  // OpenTable, after CreateTable if no table has this name. An existing table keeps its own schema.
  // Errors of both.
  [[nodiscard]] absl::StatusOr<Table*> OpenOrCreateTable(std::string_view name,
                                                         const TableSchema& schema,
                                                         const CreateTableOptions& options = {});
  absl::StatusOr<std::vector<std::string>> ListTables(const CallOptions& options = {});  // sorted
  absl::StatusOr<TableSchema> GetSchema(std::string_view table, const CallOptions& options = {});

  // Makes all of these changes of families of the table in order, each of what the ones before it
  // have left, or none of them:
  //
  //   database->ModifyFamilies("t", {FamilyChange::Drop("f"), FamilyChange::Add("f", {.gc = rule}),
  //                                  FamilyChange::Update("g", {.gc = rule})});
  //
  // A family that is dropped and added again is empty afterwards, and may be in another locality
  // group and hold other values. Writes to such a family that meet the change, and in a table with
  // a change stream writes to a family that is dropped, are Aborted, change nothing, and can be
  // made again; all other reads and writes find the families as they were before, or as they are
  // after all changes. An empty list changes nothing. Errors are those of AddFamily, UpdateFamily
  // and DropFamily, for the first change that cannot be made.
  //
  // Cost: the schema is written and synced once, however many the changes are. Each tablet takes
  // it in its commit queue; twice, if a rule changes or a family is replaced.
  [[nodiscard]] absl::Status ModifyFamilies(std::string_view table,
                                            const std::vector<FamilyChange>& changes,
                                            const CallOptions& options = {});
  // NotFound: the table, the locality group, or the access list. AlreadyExists: the family.
  [[nodiscard]] absl::Status AddFamily(std::string_view table, std::string_view name,
                                       const Family& family, const CallOptions& options = {});
  // The family's data is invisible at once. A family that is added under the same name later starts
  // empty.
  [[nodiscard]] absl::Status DropFamily(std::string_view table, std::string_view name,
                                        const CallOptions& options = {});
  // Changes only the fields that `update` sets: UpdateFamily("t", "f", {.gc = rule}). A new rule
  // brings no old versions back: see GcRule. The schema keeps each change of a rule, about ten
  // bytes. A family cannot change its locality group. NotFound: the table, the family, or the
  // access list.
  [[nodiscard]] absl::Status UpdateFamily(std::string_view table, std::string_view name,
                                          const FamilyUpdate& update,
                                          const CallOptions& options = {});
  // Adds a locality group for families that are added later, or changes how the next SSTables of an
  // existing one are written.
  [[nodiscard]] absl::Status SetLocalityGroup(std::string_view table, std::string_view name,
                                              const LocalityGroup& group,
                                              const CallOptions& options = {});

  // Sets when tablets of the table are split and merged.
  [[nodiscard]] absl::Status SetSplitRule(std::string_view table, const SplitRule& rule,
                                          const CallOptions& options = {});

  // Sets TableSchema::changes. A retention that is not zero opens a change stream for a table that
  // has none: it has every mutation that is applied after the call, and none from before it. Of an
  // open stream it changes the limits. Zero closes the stream, and its changes are dropped; one
  // that is opened later begins anew. A table with a stream takes no files (Table::Ingest), and the
  // opening of a stream waits for an ingestion into any table. InvalidArgument: the rule.
  [[nodiscard]] absl::Status SetChangeStream(std::string_view table, const ChangeStreamRule& rule,
                                             const CallOptions& options = {});

  // Sets TableSchema::observers: mutations that are applied after the call are observed by these. A
  // write that is under way is observed by the earlier ones, or by these. InvalidArgument: a name
  // that is not registered or is given twice, or more than 16 of them.
  [[nodiscard]] absl::Status SetObservers(std::string_view table,
                                          const std::vector<std::string>& observers,
                                          const CallOptions& options = {});

  // --- Access lists (section 4 of the paper). As with tables, changes are atomic and durable. A
  // change applies to every call that begins after it. ---

  // Creates or replaces the list, which names the users that may read and write the families that
  // refer to it. InvalidArgument: a name. After Unavailable the change may or may not apply, until
  // the list is set again.
  [[nodiscard]] absl::Status SetAccessList(std::string_view name, const AccessList& list,
                                           const CallOptions& options = {});
  // NotFound. FailedPrecondition: a column family uses the list; the message names the family.
  [[nodiscard]] absl::Status DeleteAccessList(std::string_view name,
                                              const CallOptions& options = {});
  absl::StatusOr<AccessList> GetAccessList(std::string_view name,
                                           const CallOptions& options = {});  // NotFound
  absl::StatusOr<std::vector<std::string>> ListAccessLists(
      const CallOptions& options = {});  // sorted

  // --- Quotas (section 8.3 of the paper). Changes are atomic and durable, and apply to calls that
  // begin after them. A database that was opened read-only keeps the quotas that it finds. ---

  // Replaces the quota of the table, with full buckets. Quota{} removes it. It is deleted with the
  // table. NotFound: the table. InvalidArgument: all quotas together take more than 512 KiB, with
  // some twenty bytes and the name for each. After Unavailable the change may or may not apply,
  // until a quota is set again.
  [[nodiscard]] absl::Status SetTableQuota(std::string_view table, const Quota& quota,
                                           const CallOptions& options = {});
  // The same for a caller, which need not be known otherwise. InvalidArgument: the name.
  [[nodiscard]] absl::Status SetCallerQuota(std::string_view caller, const Quota& quota,
                                            const CallOptions& options = {});
  // NotFound: the table.
  absl::StatusOr<Quota> GetTableQuota(std::string_view table, const CallOptions& options = {});
  // InvalidArgument: the name.
  absl::StatusOr<Quota> GetCallerQuota(std::string_view caller, const CallOptions& options = {});
  // Those that are set, by name.
  absl::StatusOr<std::map<std::string, Quota>> ListTableQuotas(const CallOptions& options = {});
  absl::StatusOr<std::map<std::string, Quota>> ListCallerQuotas(const CallOptions& options = {});

  // --- Tablets (sections 5.2 and 6 of the paper). The table's SplitRule splits and merges
  // automatically. Reads and writes continue during a change, and atomicity and snapshots are not
  // affected. Changes are atomic, and durable when the call returns. ---

  // In key order. Each row of the table is in exactly one of them.
  absl::StatusOr<std::vector<TabletInfo>> ListTablets(std::string_view table,
                                                      const CallOptions& options = {});
  // Splits a tablet so that `row` is the first row of the new one. Copies no data: both tablets
  // share SSTables until these are compacted. NotFound: the table; AlreadyExists: a tablet already
  // begins with `row`.
  [[nodiscard]] absl::Status SplitTablet(std::string_view table, std::string_view row,
                                         const CallOptions& options = {});
  // Merges the tablet that begins with `row` with the one before it. Flushes both tablets, and
  // rewrites files that they share with other tablets. NotFound: the table does not exist, or no
  // tablet but the first begins with `row`.
  [[nodiscard]] absl::Status MergeTablets(std::string_view table, std::string_view row,
                                          const CallOptions& options = {});
  // Moves the tablet that contains `row` to this server (TabletInfo::server). Flushes its
  // memtables, mostly while writes continue.
  [[nodiscard]] absl::Status MoveTablet(std::string_view table, std::string_view row, int server,
                                        const CallOptions& options = {});

  // --- Batches ---

  // Applies all mutations of the batch, which are of tables of this database, or none: see
  // WriteBatch. An empty batch changes nothing. Errors are those of Table::Apply, for any of the
  // mutations. After Unavailable, the next opening of the database may find the batch, as a whole.
  //
  // Cost: for rows of one tablet, that of one larger mutation. For rows of several tablets, a
  // record in the log of each of their servers; batches of several tablets are committed one group
  // at a time, and hold up other writes to these servers meanwhile, with kSync for a sync of each
  // log.
  [[nodiscard]] absl::Status Apply(const WriteBatch& batch, const WriteOptions& options = {});

  // --- Transactions ---

  // Begins a transaction, which sees every write that was acknowledged before the call: see
  // Transaction. FailedPrecondition: a read-only or closed database. Cost: that of a snapshot. From
  // the first transaction on, every write costs a hash and a store more.
  [[nodiscard]] absl::StatusOr<Transaction> BeginTransaction(const CallOptions& options = {});
  // Begins a transaction, calls `function` with it, and commits it; all of it again, after pauses
  // of up to five milliseconds, as long as the commit is Aborted by a conflict. So `function` must
  // have no other effects, or such that may happen several times. If it returns an error, nothing
  // is applied, and the error is returned. DeadlineExceeded, Cancelled: of the options. There is no
  // other bound on how often it is called.
  [[nodiscard]] absl::Status RunTransaction(absl::FunctionRef<absl::Status(Transaction*)> function,
                                            const WriteOptions& options = {});

  // --- Time ---

  // The snapshot contains every write that was acknowledged before the call, and none that begins
  // after it. Does not wait: a read at the snapshot waits, within its own deadline, for the writes
  // that were under way on the server that it reads.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const Snapshot>> TakeSnapshot();

  // --- Copies ---

  // Makes a copy of the whole database in another directory, which Open opens like any other: with
  // exactly the writes that were made before some moment of the call, each batch and transaction
  // whole, and with the schemas, access lists and quotas. Durable when it returns. Writers wait
  // only for that moment, and no memtable is flushed.
  //
  // The SSTables of the copy are hard links to those of this database, where the file system has
  // them between the two directories; elsewhere they are copied. So the time depends on what is in
  // memory and on the number of files, not on their size, and the space is shared until compactions
  // have replaced the files here. Meanwhile these keep the files that they replace. Neither
  // database changes what the other one has.
  //
  // The directory is new or empty, its parent exists, and it is outside of this database's own. It
  // is on DatabaseOptions::file_system. AlreadyExists: there are files in it. After an error there
  // is nothing in it, or, if the process ends meanwhile, what is there is no database, and can be
  // removed. Unavailable: a tablet cannot be loaded. Works on a database that was opened for
  // reading.
  [[nodiscard]] absl::Status Checkpoint(std::string_view directory,
                                        const CallOptions& options = {});

  // --- Background work ---

  // Minor compaction: everything that was written to the table before the call is in SSTables,
  // durably. If the first attempt fails, returns its error; the flush is retried in the background
  // (DatabaseStatistics::failing_work).
  [[nodiscard]] absl::Status Flush(std::string_view table, const CallOptions& options = {});
  // Major compaction of every locality group of the table: deleted and garbage-collected data is
  // removed from disk, unless a snapshot can see it. No file of the directory has its bytes any
  // more: the logs continue in new files, and the old ones, and those kept for reuse, are removed.
  // For that, the memtables of all tables are flushed. What remains: keys in METADATA that begin or
  // end an SSTable; and, as long as a row or a stream that was read from memory is held, the log
  // file that it points into. A server whose log has had no mutation of the table since it was last
  // erased is left alone. Unavailable: the table is compacted, but a log stalls and may still
  // have such bytes. Works while compactions are paused. The deadline or a cancellation ends it at
  // any point, and its unfinished output is removed. DataLoss: a file is damaged; the message names
  // it. Locality groups and tablets without damage are compacted nevertheless
  // (DatabaseStatistics::quarantined_files).
  [[nodiscard]] absl::Status Compact(std::string_view table, const CallOptions& options = {});
  // Waits until no compaction, split or merge is running or due. Returns the background error if
  // there is one, the error of failed work that waits for its retry, or DeadlineExceeded. While
  // compactions are paused, waits for minor ones only. Does not wait for quarantined files.
  [[nodiscard]] absl::Status WaitUntilQuiet(const CallOptions& options = {});
  // Lets running merging compactions finish and starts no more until ContinueCompactions(), nor
  // merges of tablets by rule, which may need one. Calls of Compact and MergeTablets go on. Calls
  // nest.
  void PauseCompactions();
  void ContinueCompactions();
  // Cancels the running merging compactions, removes their output, and waits until they have ended.
  // A Compact() call returns Cancelled.
  void CancelCompactions();
  // Changes DatabaseOptions::compaction_rate, also for running compactions. Same as SetOptions.
  void SetCompactionRate(uint64_t bytes_per_second);

  // --- Options ---

  // Changes options of the open database by their names in DatabaseOptions, all of them or, after
  // an error, none:
  //
  //   database->SetOptions({{"memtable_size", "33554432"}, {"durability", "sync"}});
  //
  // These can be changed: balance_interval, compaction_rate, compaction_threads, durability (none,
  // buffered or sync), memory_budget, memtable_size, metadata_tablet_size, target_file_size. Sizes
  // and rates are decimal numbers of bytes, an interval is written as absl::ParseDuration reads it
  // ("1m30s"). A change is in effect for calls, memtables and compactions that begin afterwards, at
  // the latest half a second later, a compaction_rate and a memory_budget at once; it ends with
  // this opening. A memory_budget changes as by MemoryBudget::SetLimit; if it is shared, for all
  // its databases. A thread that is one too many ends after its compaction. The info log and the
  // file OPTIONS record a change. InvalidArgument: an option that does not exist or cannot be
  // changed, by its name, or a value that Open would refuse. ResourceExhausted: a thread could not
  // be started. Cost: that of a small file, synced; no write waits for it.
  [[nodiscard]] absl::Status SetOptions(const std::map<std::string, std::string>& values);
  // The present values of the options that SetOptions changes, as it reads them; empty after Close.
  std::map<std::string, std::string> ChangeableOptions() const;

  // After a background error (the commit log or METADATA could not be written or synced) writes
  // return that error, and reads continue. Once the cause is removed, Resume flushes the memtables,
  // starts a new log and lets writes continue; otherwise it returns the error. It also retries
  // failed background work at once (DatabaseStatistics::failing_work), such as a flush to a disk
  // that was full. If memtables still cannot be flushed, it returns that error. Later compactions
  // read quarantined files again.
  [[nodiscard]] absl::Status Resume(const CallOptions& options = {});

  // For a database that is opened with DatabaseOptions::follow: from here on it has what the one
  // that it follows had when the call began, or later. FailedPrecondition: it does not follow.
  // Unavailable: the other one has changed all the time, as while it is opened or closed. After an
  // error it stays as it was. Cost: that of DatabaseOptions::follow.
  [[nodiscard]] absl::Status Refresh(const CallOptions& options = {});

  // Counts and measurements since the database was opened, and its current state. ToPrometheusText
  // formats them. Cost: some microseconds for each table, and no lock that a call waits for.
  DatabaseStatistics Statistics();

 private:
  friend class DatabaseBackend;
  explicit Database(std::unique_ptr<DatabaseBackend> backend);
  // What this process has opened, or has connected to.
  const std::unique_ptr<DatabaseBackend> backend_;
};

}  // namespace bigtable

#endif  // BIGTABLE_DATABASE_H_
