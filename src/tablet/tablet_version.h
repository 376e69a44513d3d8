// A version of a tablet: for each locality group its memtables, its SSTables and the sorted runs
// that these form. A reader pins a version and sees all of it, whatever is published meanwhile. A
// version is immutable, except that active memtables grow, and that its read limit is set.
//
// The current version alone defines which memtables and files a tablet has. Each version is made
// from the one before.
#ifndef BIGTABLE_TABLET_TABLET_VERSION_H_
#define BIGTABLE_TABLET_TABLET_VERSION_H_

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

#include "bigtable/memory_budget.h"

#include "base/published.h"
#include "base/ref_counted.h"
#include "base/sequence.h"
#include "cache/budget_access.h"
#include "compaction/sorted_run.h"
#include "memtable/memtable.h"
#include "schema/table_layout.h"
#include "tablet/empty_rows.h"
#include "tablet/group_files.h"

namespace bigtable {

struct GroupVersion {
  Ref<Memtable> active;
  std::vector<Ref<Memtable>> immutable;  // from new to old
  std::vector<SortedRun> runs;           // from new to old; for reads
  // The files that form the runs. Null only in tests and benchmarks without a tablet.
  Ref<const GroupFiles> files = {};

  // Sets the files, and the runs that they form. Nothing else changes them.
  void SetFiles(Ref<const GroupFiles> f) {
    files = std::move(f);
    runs = files->MakeRuns();
  }
};

// The last mutation that is complete in the versions that share this limit. They share their active
// memtables. Later mutations were written, at least in part, to memtables that these versions do
// not have. Set once, when the next active memtable replaces theirs.
class ReadLimit final : public RefCounted {
 public:
  SequenceNumber get() const { return sequence_.load(std::memory_order_acquire); }
  void Set(SequenceNumber last) {
    ABSL_ASSERT(last < kMaxSequence && "that stands for no limit");
    ABSL_ASSERT(get() == kMaxSequence && "a version has one read limit");
    sequence_.store(last, std::memory_order_release);
  }

 private:
  std::atomic<SequenceNumber> sequence_{kMaxSequence};
};

class TabletVersion final : public Publishable {
 public:
  // `budget` and `empty_rows` may be null, and `change_files` too.
  TabletVersion(std::shared_ptr<const TableLayout> layout, std::vector<GroupVersion> groups,
                Ref<ReadLimit> read_limit, std::shared_ptr<MemoryBudget> budget = nullptr,
                uint64_t scan_cache_id = 0, Ref<EmptyRows> empty_rows = {},
                Ref<const GroupFiles> change_files = {})
      : layout_(std::move(layout)),
        groups_(std::move(groups)),
        change_files_(std::move(change_files)),
        read_limit_(std::move(read_limit)),
        scan_cache_id_(scan_cache_id),
        empty_rows_(std::move(empty_rows)),
        empty_rows_epoch_(empty_rows_ ? empty_rows_->epoch() : 0),
        budget_(std::move(budget)),
        charged_(static_cast<int64_t>(memory())) {
    if (budget_ != nullptr) BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, charged_);
  }
  ~TabletVersion() override {
    if (budget_ != nullptr) BudgetAccess::Charge(*budget_, MemoryBudget::Use::kIndexes, -charged_);
  }

  const TableLayout& layout() const { return *layout_; }
  const std::shared_ptr<const TableLayout>& shared_layout() const { return layout_; }
  const std::vector<GroupVersion>& groups() const { return groups_; }  // as layout().groups

  // The files of changes, with ChangeState as the policy's state; null: there are none. Later
  // changes are in the memtables of the first group.
  const Ref<const GroupFiles>& change_files() const { return change_files_; }

  // A reader of the latest data must not read beyond this. It loads the server's visible sequence
  // number first, and then this: the limit is set before anything is written to a memtable of the
  // next version.
  SequenceNumber read_limit() const { return read_limit_->get(); }
  const Ref<ReadLimit>& shared_read_limit() const { return read_limit_; }
  // The smallest sequence number in a memtable, which the log must keep; kMaxSequence if there is
  // none.
  SequenceNumber FirstUnflushed() const {
    SequenceNumber first = kMaxSequence;
    const auto look = [&](const Ref<Memtable>& memtable) {
      if (const SequenceNumber s = memtable->first_sequence(); s != 0) first = std::min(first, s);
    };
    for (const GroupVersion& group : groups_) {
      look(group.active);
      for (const Ref<Memtable>& memtable : group.immutable) look(memtable);
    }
    return first;
  }
  // Versions whose rows look the same have the same id (cache/scan_cache.h): those with the same
  // layout, unless a compaction filter has been applied between them.
  uint64_t scan_cache_id() const { return scan_cache_id_; }
  // What reads have found out about rows of the tablet, and the epoch there of this version. Null:
  // the version is not a tablet's own.
  EmptyRows* empty_rows() const { return empty_rows_.get(); }
  uint64_t empty_rows_epoch() const { return empty_rows_epoch_; }
  // What reads of it charge; may be null.
  const std::shared_ptr<MemoryBudget>& budget() const { return budget_; }

 private:
  // Without memtables and SSTables, which are charged themselves.
  size_t memory() const {
    size_t bytes = sizeof *this + groups_.capacity() * sizeof(GroupVersion);
    for (const GroupVersion& group : groups_) {
      bytes += (group.immutable.capacity() + 2) * sizeof(Ref<Memtable>);
      bytes += group.runs.capacity() * sizeof(SortedRun);
      for (const SortedRun& run : group.runs) bytes += run.memory();
    }
    return bytes;
  }

  const std::shared_ptr<const TableLayout> layout_;
  const std::vector<GroupVersion> groups_;
  const Ref<const GroupFiles> change_files_;
  const Ref<ReadLimit> read_limit_;
  const uint64_t scan_cache_id_;
  const Ref<EmptyRows> empty_rows_;
  const uint64_t empty_rows_epoch_;
  const std::shared_ptr<MemoryBudget> budget_;
  const int64_t charged_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLET_VERSION_H_
