// How mutations are applied to a tablet: to the active memtable of each locality group that they
// touch. The tablet sets these memtables, and the schema, whenever it publishes others.
//
// Used by the tablet's writer alone (tablet.h), except last_timestamp.
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
#include "memtable/memtable.h"
#include "monitoring/tablet_counters.h"
#include "tablet/table_layout.h"
#include "tablet/tablet_environment.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class TabletWriter {
 public:
  // Both outlive this.
  TabletWriter(const TabletEnvironment* environment, TabletCounters* counters)
      : environment_(environment), counters_(counters) {}
  TabletWriter(const TabletWriter&) = delete;
  TabletWriter& operator=(const TabletWriter&) = delete;

  // Adds the operations (tablet/mutation_format.h), which are well formed, to the memtables.
  // Families that the layout does not have are passed over. If `owner` is not null the values lie
  // in it and stay there, otherwise they are copied.
  void Apply(std::string_view row, std::string_view operations, SequenceNumber sequence,
             int64_t server_timestamp, const Ref<const RefCounted>& owner);
  // The same for a record of the log, for the groups whose redo point is before it.
  // The mutation may be of a table that had other families then.
  void Replay(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp);

  // A server's timestamp for a mutation that comes now: larger than all before.
  int64_t NextTimestamp();
  // The last one that was given out. Any thread.
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_relaxed); }

  // The schema that Apply goes by.
  const TableLayout* layout() const { return layout_.get(); }
  size_t groups() const { return active_.size(); }
  const Memtable& active(size_t group) const { return *active_[group]; }
  uint64_t bytes() const;  // in all active memtables

  // --- For the tablet ---

  // Where the tablet begins: the redo points of its groups, which Replay goes by, and the last
  // timestamp that was given out.
  void Begin(std::vector<SequenceNumber> redo, int64_t last_timestamp) {
    replay_after_ = std::move(redo);
    last_timestamp_ = last_timestamp;
  }
  // Where another one is: for a half of its tablet.
  void BeginAs(const TabletWriter& other) { Begin(other.replay_after_, other.last_timestamp()); }
  // From now on these are the schema and the active memtables.
  void Use(std::shared_ptr<const TableLayout> layout, const std::vector<GroupVersion>& groups);

 private:
  // Where what is written to a family goes, and where it is counted.
  struct FamilySlot {
    size_t group;
    FamilyCounters* counters;
  };

  void Insert(std::string_view row, std::string_view operations, SequenceNumber sequence,
              int64_t server_timestamp, const Ref<const RefCounted>& owner, bool replay);
  void Add(size_t group, SequenceNumber sequence, std::string_view value,
           const Ref<const RefCounted>& owner);

  const TabletEnvironment* const environment_;
  TabletCounters* const counters_;
  std::shared_ptr<const TableLayout> layout_;
  std::vector<Memtable*> active_;             // the current version keeps them
  std::vector<FamilySlot> slots_;             // of the layout's families
  std::vector<SequenceNumber> replay_after_;  // redo points as they were when it was opened
  std::string key_;
  std::atomic<int64_t> last_timestamp_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_WRITER_H_
