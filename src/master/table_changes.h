// The master's changes of tables, their schemas, the access lists and the quotas. A file of the
// lock service decides: writing it makes the creation of a table, or a change of its schema, take
// effect, and removing it deletes the table. A later master finishes the rest of a change.
#ifndef BIGTABLE_MASTER_TABLE_CHANGES_H_
#define BIGTABLE_MASTER_TABLE_CHANGES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/clock.h"
#include "bigtable/event_listener.h"
#include "bigtable/quota.h"
#include "bigtable/schema.h"

#include "admission/access_list_store.h"
#include "admission/quota_control.h"
#include "admission/quota_store.h"
#include "base/call_limits.h"
#include "base/limited_mutex.h"
#include "base/mutex.h"
#include "base/retry_pause.h"
#include "base/sequence.h"
#include "cluster/change_readers.h"
#include "master/assignment.h"
#include "master/master_context.h"
#include "master/table_catalogue.h"
#include "schema/table_layout.h"
#include "tablet/inherited_counters.h"
#include "tablet/shared_files.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// A table as it is in a backup (transfer/table_restore.h).
struct RestoredTable {
  TableLayout layout;                // with its new name; it gets a new id
  std::vector<TabletState> tablets;  // in key order; together they have all rows
};

// The largest sequence number in it.
SequenceNumber LargestSequence(const RestoredTable& table);

// Thread-safe. One change at a time: the catalogue's change_mutex.
class TableChanges {
 public:
  // Parts of the cluster.
  struct Parts {
    SequenceSource* sequences = nullptr;
    Clock* clock = nullptr;
    QuotaControl* quotas = nullptr;  // gets those that are set
    InheritedCounters* inherited_counters = nullptr;
    SharedFiles* shared_files = nullptr;
    LimitedMutex* ingestion = nullptr;        // Ingestion::Parts::mutex
    ChangeReaders* change_readers = nullptr;  // which it sets
  };

  // All outlive this.
  TableChanges(const Parts& parts, MasterContext* context, TableCatalogue* catalogue,
               Assignment* assignment)
      : parts_(parts),
        context_(context),
        catalogue_(catalogue),
        assignment_(assignment),
        access_lists_(context->lock->session()),
        quotas_(context->lock->session()) {}
  TableChanges(const TableChanges&) = delete;
  TableChanges& operator=(const TableChanges&) = delete;

  // The limits end the wait for other changes, and for turns among the writes of the servers before
  // anything has changed.

  // Creates a table with tablets that begin at `split_rows`, and one before them. AlreadyExists;
  // InvalidArgument.
  absl::Status CreateTable(std::string_view name, const TableSchema& schema,
                           const std::vector<std::string>& split_rows, const CallLimits& limits);
  // Adds a table with what it had in a backup. Its SSTables are in the directory, durable, under
  // numbers that nothing else has. AlreadyExists; NotFound: an access list. After an error
  // `*may_be_named` says whether METADATA may name the SSTables nevertheless.
  absl::Status RestoreTable(RestoredTable table, const CallLimits& limits, bool* may_be_named);
  // Once the table is deleted, this waits for the background work on its tablets, and forgets them.
  // If the limits end the wait, OK: upkeep does the rest. It also does if METADATA cannot be
  // changed now, which is an error.
  absl::Status DeleteTable(std::string_view name, const CallLimits& limits);
  // Forgets the tablets of deleted tables once no background work on them is under way. Errors of
  // the limits: it is under way still.
  absl::Status FinishDeletions(const CallLimits& limits) {
    return FinishDeletions(IfStalled::kWait, limits);
  }
  // The same for upkeep, which calls it again and again. Waits for no background work, whose end
  // wakes upkeep, and for nothing else longer than kStallTimeout. So a server that stalls keeps its
  // own tablets only.
  void TryFinishDeletions() { FinishDeletions(IfStalled::kGiveUp, {}).IgnoreError(); }
  // Replaces the schema by the result of `change`.
  absl::Status ChangeTable(std::string_view name, const CallLimits& limits,
                           absl::FunctionRef<absl::Status(TableLayout*)> change);
  // Sets TableLayout::changes. What opens a stream waits for an ingestion of files into any table.
  // InvalidArgument: the rule.
  absl::Status SetChangeStream(std::string_view name, const ChangeStreamRule& rule,
                               const CallLimits& limits);
  // A new id for a table or a family: larger than every sequence number so far, and than those of
  // all entries that will be written by kLeftForOldest.
  SequenceNumber TakeSequence() { return parts_.sequences->Take(1 + kLeftForOldest); }
  // Replaces the list with this name. The caller has checked both arguments.
  absl::Status SetAccessList(std::string_view name, const AccessList& list,
                             const CallLimits& limits);
  // FailedPrecondition while a family uses it.
  absl::Status DeleteAccessList(std::string_view name, const CallLimits& limits);
  // Replaces the quota. NotFound: the table. The caller has checked its name.
  absl::Status SetTableQuota(std::string_view table, const Quota& quota, const CallLimits& limits);
  absl::Status SetCallerQuota(std::string_view caller, const Quota& quota,
                              const CallLimits& limits);

  // Registers a reader of changes that has everything up to `through`, or moves it on; nullopt: it
  // is not registered any more. NotFound: no table has this id.
  absl::Status SetChangeReader(uint64_t table_id, std::string_view reader,
                               std::optional<SequenceNumber> through, const CallLimits& limits);
  // The readers of the table for which changes are kept. Any thread.
  SequenceNumber SlowestReaderOf(uint64_t table_id) const {
    return parts_.change_readers->SlowestOf(table_id);
  }

  // Finishes the deletions, creations and changes of schemas that an earlier master has begun.
  absl::Status Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // After errors that have stopped writes: rewrites the schemas, which in the lock service may
  // differ from the served ones. Errors of the limits: call it again.
  absl::Status RestoreSchemas(const CallLimits& limits)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());

 private:
  // The tablets of a deleted table, which METADATA may name still.
  struct Deletion {
    std::vector<HostedTablet> in_memory;  // those that may have memtables
    std::vector<HostedTablet> freed;
    RetryPause pause;  // after errors of METADATA
  };
  // What a deletion does where it has to wait: it waits until its limits end, or it gives up, at
  // once for background work, and otherwise after the stall timeout.
  enum class IfStalled { kWait, kGiveUp };
  // A turn among writers that make progress comes sooner.
  static constexpr absl::Duration kStallTimeout = absl::Milliseconds(200);

  static CallLimits LimitsOfWait(IfStalled if_stalled, CallLimits limits) {
    if (if_stalled == IfStalled::kGiveUp) {
      limits.deadline = std::min(limits.deadline, Deadline::In(kStallTimeout));
    }
    return limits;
  }

  // Adds a table, which gets an id. `*may_be_named` as of RestoreTable.
  absl::Status AddTable(TableLayout layout, const std::vector<TabletState>& tablets,
                        const CallLimits& limits, bool* may_be_named);
  absl::Status StartServers(const std::vector<ServerShare>& shares);
  // Before the table is served.
  void ShareFiles(const std::vector<TabletState>& tablets) const;
  // Where the tablets of a new table go, after the present turns of these servers.
  absl::StatusOr<std::vector<ServerShare>> FindServers(const TableLayout& layout,
                                                       const std::vector<TabletState>& tablets,
                                                       const CallLimits& limits) const;
  // Waits for the present turns of the servers that have tablets of the table. Called before the
  // mutex is locked, so that nobody waits for this call, and again under it.
  absl::Status AwaitTurns(std::string_view table, const CallLimits& limits) const;
  // Writes the result of `change`, and makes it the quotas of the servers.
  absl::Status ChangeQuotas(absl::FunctionRef<void(QuotaSet*)> change)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // After the table was deleted.
  void ForgetQuotaOf(uint64_t table_id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // NotFound: an access list that a family uses now and did not use before.
  absl::Status CheckAccessLists(const TableLayout* before, const TableLayout& layout) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  absl::Status WriteNewSchema(const TableLayout& layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // The table is deleted: the servers drop its tablets. FinishDeletion is to follow.
  absl::Status BeginDeletion(uint64_t table_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Waits for the background work on the dropped tablets, without the mutex, so that no other
  // change waits for it. Then METADATA forgets them. Errors of the limits: call it again.
  absl::Status FinishDeletion(uint64_t table_id, IfStalled if_stalled, const CallLimits& limits)
      ABSL_LOCKS_EXCLUDED(catalogue_->change_mutex());
  // Waits for the background work on each tablet, and frees its memtables in a turn among the
  // writes of its server. A tablet that has to wait holds up no other, and what is done is not done
  // again.
  absl::Status FreeMemory(uint64_t table_id, IfStalled if_stalled, const CallLimits& limits);
  void RecordFreed(uint64_t table_id, const HostedTablet& freed);
  // The last step, after FreeMemory: METADATA forgets the tablets, and their files are removed.
  // After an error, nothing is forgotten here.
  absl::Status ForgetTablets(uint64_t table_id)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  absl::Status FinishDeletions(IfStalled if_stalled, const CallLimits& limits);
  // The ids of the tables whose deletions are to be finished; with kGiveUp, without those that have
  // failed just now.
  std::vector<uint64_t> Deletions(IfStalled if_stalled) const;
  // After a change of a schema's file that has returned an error: which of the two schemas the file
  // has. It has the old one if that is still there, or can be written again. kAfter: the change was
  // made, and cannot be undone. If the file can be neither written nor read, it is unknown, and
  // writes are refused until RestoreSchemas() succeeds.
  enum class SchemaFound { kBefore, kAfter, kUnknown };
  // `after`: null if the change is the table's deletion.
  SchemaFound Settle(const TableLayout& before, const TableLayout* after)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Whether the file of the table has `layout`, or is not there if that is null. False if it cannot
  // be read. What is found survives a crash (lockservice/versioned_files.h).
  bool HasFile(std::string_view table, const TableLayout* layout) const;
  void RefuseWrites(const absl::Status& status);
  // Sends the new schema of a table to all servers of its tablets.
  absl::Status Distribute(const TableLayout& layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  // Gives the changed rules and the replaced families of `layout` a sequence number, and where the
  // table has a change stream, any change of families and the opening of the stream. Until `layout`
  // is distributed, the tablets hold these families, so that nothing is collected, and refuse
  // writes to those that are replaced, or dropped while there is a stream.
  absl::Status NumberChanges(const TableLayout& before, TableLayout* layout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(catalogue_->change_mutex());
  void Notify(void (EventListener::*function)(const TableEvent&), std::string_view table);

  const Parts parts_;
  MasterContext* const context_;
  TableCatalogue* const catalogue_;
  Assignment* const assignment_;
  AccessListStore access_lists_;
  QuotaStore quotas_;

  mutable Mutex deletions_mutex_;
  std::map<uint64_t, Deletion> deletions_ ABSL_GUARDED_BY(deletions_mutex_);  // by table id
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_TABLE_CHANGES_H_
