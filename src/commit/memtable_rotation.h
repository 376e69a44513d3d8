// Which active memtables of a server are rotated and when, and which immutable ones are due to be
// flushed.
//
// A memtable is rotated when it is full, when the log is too long, when memory is short, or at a
// request. Memtables that are rotated at the same sequence number are flushed together without a
// sync of the log (background/minor_compaction.h). So with a memtable that is due all active ones
// are rotated. That makes small files of memtables that are not full. A server with many of them
// rotates only the memtables that are due, and its flush syncs the log.
//
// Threads: memtables are rotated by the leader of a group of writes, or by a thread that has its
// turn among the writes. HasImmutable, MemtablesToFlush and WaitingBytes are for any thread.
//
// Lock order: mutex() before the locks of ServerTablets and Tablet.
#ifndef BIGTABLE_COMMIT_MEMTABLE_ROTATION_H_
#define BIGTABLE_COMMIT_MEMTABLE_ROTATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/event_listener.h"

#include "base/call_limits.h"
#include "base/mutex.h"
#include "base/relaxed.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commit/group_commit.h"
#include "commit/rotated_tablets.h"
#include "commit/server_log.h"
#include "commit/server_tablets.h"
#include "commit/visible_sequence.h"
#include "tablet/immutable_memtables.h"
#include "tablet/tablet.h"

namespace bigtable {

// Which tables have had mutations in a server's log since its old bytes were last erased
// (BackgroundWork::EraseOldLog). A major compaction of any other table has nothing to erase there,
// so it need not flush what else the log is needed for.
//
// A table is noted when one of its memtables is rotated, so that writes cost nothing. Call
// HasAnyOf() after its memtables have been rotated.
//
// Not thread-safe.
class LoggedTables {
 public:
  // The log has mutations of the table, up to this one.
  void Record(uint64_t table_id, SequenceNumber last) {
    SequenceNumber& through = through_[table_id];
    through = std::max(through, last);
  }
  // The table was deleted, so it will not be compacted itself: the next compaction erases its bytes
  // with those of its own table.
  void RecordDeleted(uint64_t table_id, SequenceNumber last) {
    if (through_.erase(table_id) > 0) deleted_through_ = std::max(deleted_through_, last);
  }
  bool HasAnyOf(uint64_t table_id) const {
    return deleted_through_ > 0 || through_.contains(table_id);
  }
  // The log has no bytes of mutations up to this one any more.
  void MarkErased(SequenceNumber through) {
    absl::erase_if(through_, [&](const auto& table) { return table.second <= through; });
    if (deleted_through_ <= through) deleted_through_ = 0;
  }

 private:
  absl::flat_hash_map<uint64_t, SequenceNumber> through_;
  SequenceNumber deleted_through_ = 0;  // 0: of no deleted table
};

class MemtableRotation {
 public:
  // The pointers outlive this. `wake` is called when memtables are due.
  MemtableRotation(const TabletEnvironment* environment, const ServerTablets* tablets,
                   const ServerLog* log, const VisibleSequence* visible, GroupCommit* queue,
                   std::function<void()> wake)
      : environment_(environment),
        tablets_(tablets),
        log_(log),
        visible_(visible),
        queue_(queue),
        wake_(std::move(wake)) {}
  MemtableRotation(const MemtableRotation&) = delete;
  MemtableRotation& operator=(const MemtableRotation&) = delete;

  // --- For the leader ---

  // The tablet was written to: rotates those of its memtables that are full.
  void RotateFull(Tablet* tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // The log is too long: rotates memtables that have mutations of its older half.
  void RotateForLog() ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);

  // --- For other threads; these take a turn among the writes. After an error of the limits nothing
  // is rotated ---

  absl::Status RotateAll(Tablet* tablet, const CallLimits& limits);
  void RotateAll(Tablet* tablet) { RotateAll(tablet, {}).IgnoreError(); }
  // Those of several tablets, at the same sequence number.
  absl::Status RotateAll(absl::Span<const std::shared_ptr<Tablet>> tablets,
                         const CallLimits& limits);
  absl::Status RotateEverything(const CallLimits& limits);
  void RotateEverything() { RotateEverything({}).IgnoreError(); }
  // Memory is short: rotates the largest active memtables, which together have half of the bytes of
  // all, and makes the waiting ones due. (One alone would free little where there are many.)
  absl::Status RotateLargest(const CallLimits& limits);

  // --- For any thread ---

  // Whether immutable memtables are due (rotated_tablets.h).
  bool HasImmutable();
  // Memtables that have no mutation behind this are due, unless they are flushed.
  SequenceNumber DueThrough();
  // The memtables that are due. What was rotated at the same sequence number is in it together.
  std::vector<ImmutableMemtables> MemtablesToFlush();
  // Whether the log may have bytes of mutations of the table; those in an active memtable do not
  // count. After MarkErased(through), it has none up to that one.
  bool HasLogged(uint64_t table_id);
  void MarkErased(SequenceNumber through);
  // Bytes of the immutable memtables that wait for others to be due.
  uint64_t WaitingBytes() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return rotated_.waiting_bytes(); }

  // --- For TabletServer, when tablets are added or removed ---

  // Held while memtables are rotated together, and while a thread looks at the rotated ones.
  Mutex* mutex() ABSL_LOCK_RETURNED(mutex_) { return &mutex_; }
  // A tablet is added to the server: the memtables that were rotated before are due.
  void Add(const std::shared_ptr<Tablet>& tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Remove(const Tablet& tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The same, because its table was deleted.
  void RemoveDeleted(const Tablet& tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);
  // Splits the tablet. The memtables that this rotates wait until others are due.
  Tablet::Halves Split(Tablet* tablet, std::string_view row)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);
  // Rotates all active memtables of the tablet, which are due then. Does nothing if the tablet is
  // superseded or removed.
  void Rotate(const std::shared_ptr<Tablet>& tablet)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);

 private:
  // The active memtable of a locality group.
  struct Active {
    std::shared_ptr<Tablet> tablet;
    size_t group;
  };

  // All active memtables that are not empty.
  std::vector<Active> ActiveMemtables() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // How many files a flush of these writes, about.
  size_t FilesOf(const std::vector<Active>& memtables) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  // Rotates the memtables in `due`, and with them all others unless these make too many files.
  void RotateWithOthers(const std::vector<Active>& due, const std::vector<Active>& all,
                        RotationReason reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer);
  void Rotate(const Active& active, RotationReason reason)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);
  // Call it before active memtables of the tablet are rotated or dropped.
  void MarkLogged(const Tablet& tablet) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer, mutex_);

  const TabletEnvironment* const environment_;
  const ServerTablets* const tablets_;
  const ServerLog* const log_;
  const VisibleSequence* const visible_;
  GroupCommit* const queue_;
  const std::function<void()> wake_;

  Mutex mutex_;
  RotatedTablets rotated_ ABSL_GUARDED_BY(mutex_);
  LoggedTables logged_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_MEMTABLE_ROTATION_H_
