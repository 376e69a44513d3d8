// Applies mutations to a tablet: to the active memtable of each locality group that they touch. The
// tablet sets these memtables, and the schema, whenever it publishes new ones.
//
// Only for the tablet's writer (tablet.h), except last_timestamp.
#ifndef BIGTABLE_TABLET_TABLET_WRITER_H_
#define BIGTABLE_TABLET_TABLET_WRITER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "memtable/group_search.h"
#include "memtable/memtable.h"
#include "monitoring/tablet_counters.h"
#include "schema/table_layout.h"
#include "tablet/empty_rows.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class TabletWriter {
 public:
  // Both pointers outlive this. `empty_rows` gets a note of each mutation; it may be null.
  TabletWriter(const TabletEnvironment* environment, TabletCounters* counters,
               Ref<EmptyRows> empty_rows = {})
      : environment_(environment), counters_(counters), empty_rows_(std::move(empty_rows)) {}
  TabletWriter(const TabletWriter&) = delete;
  TabletWriter& operator=(const TabletWriter&) = delete;

  // Adds the operations (schema/mutation_format.h), which are well formed, to the memtables.
  // Families that the layout does not have are skipped. If `owner` is not null, the values are in
  // its memory and are not copied. `batch` as in MutationRecord.
  void Apply(std::string_view row, std::string_view operations, SequenceNumber sequence,
             int64_t server_timestamp, const RefCounted* owner, SequenceNumber batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The same for a record of the log, for the groups whose redo point is before it. The table may
  // have had other families when the record was written.
  void Replay(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp, SequenceNumber batch)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // The mutations from `first` to `last`, some of which were applied here, are a batch: they are
  // kept together or not at all.
  void EndBatch(SequenceNumber first, SequenceNumber last)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Adds the place where Apply will insert this mutation to `search`; with several locality groups,
  // that of its first operation.
  void AddTo(GroupSearch* search, std::string_view row, std::string_view operations) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // Whether the table has a change stream, so that each mutation is noted with its time.
  bool notes_changes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return notes_changes_after_ != kMaxSequence;
  }
  // The server timestamp of a mutation. A cell of it takes the time only if `takes_server_time`.
  int64_t TimestampOf(bool takes_server_time) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return takes_server_time || notes_changes() ? NextTimestamp() : last_timestamp();
  }
  // The server timestamp of the next mutation: larger than all before.
  int64_t NextTimestamp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The last one that NextTimestamp has returned. Any thread.
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_relaxed); }

  // The schema that Apply uses.
  const TableLayout* layout() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return layout_.get();
  }
  size_t groups() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) { return active_.size(); }
  const Memtable& active(size_t group) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    return *active_[group];
  }
  uint64_t bytes() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);  // in all active memtables

  // --- For the tablet ---

  // The tablet's state when it is opened: the redo points of its groups, for Replay, and the last
  // server timestamp.
  void Begin(std::vector<SequenceNumber> redo, int64_t last_timestamp)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    replay_after_ = std::move(redo);
    last_timestamp_ = last_timestamp;
  }
  // The same state as another writer's: for a half of its tablet.
  void BeginAs(const TabletWriter& other) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    Begin(other.replay_after_, other.last_timestamp());
  }
  // Sets the schema and the active memtables.
  void Use(std::shared_ptr<const TableLayout> layout, const std::vector<GroupVersion>& groups)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

 private:
  // The group and the counters of a family.
  struct FamilySlot {
    size_t group;
    FamilyCounters* counters;
    WriterCount* in_memtable = nullptr;  // in the active one; null before the first entry
  };

  // Notes the mutation in the memtable of the first group.
  void NoteChange(const LoggedChange& change, const RefCounted* owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Insert(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp, const RefCounted* owner, bool replay)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Adds the entry with key_, which is of the family.
  void AddOfFamily(const FamilyLayout& family, FamilySlot* slot, SequenceNumber sequence,
                   std::string_view value, const RefCounted* owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Add(size_t group, SequenceNumber sequence, std::string_view value, const RefCounted* owner)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // For SSTableInfo::oldest_deletion.
  void RecordDeletion(size_t group, int64_t server_timestamp, bool replay)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  const TabletEnvironment* const environment_;
  TabletCounters* const counters_;
  const Ref<EmptyRows> empty_rows_;
  std::shared_ptr<const TableLayout> layout_ ABSL_GUARDED_BY(server_writer);
  std::vector<Memtable*> active_ ABSL_GUARDED_BY(server_writer);  // the current version owns them
  std::vector<FamilySlot> slots_
      ABSL_GUARDED_BY(server_writer);  // by index of the layout's families
  std::vector<SequenceNumber> replay_after_
      ABSL_GUARDED_BY(server_writer);  // the redo points when the tablet was opened
  // Mutations with larger numbers are noted; kMaxSequence: none is.
  SequenceNumber notes_changes_after_ ABSL_GUARDED_BY(server_writer) = kMaxSequence;
  std::string key_ ABSL_GUARDED_BY(server_writer);
  std::atomic<int64_t> last_timestamp_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_WRITER_H_
