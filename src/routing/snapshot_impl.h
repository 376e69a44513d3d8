// The snapshots of an embedded database.
#ifndef BIGTABLE_ROUTING_SNAPSHOT_IMPL_H_
#define BIGTABLE_ROUTING_SNAPSHOT_IMPL_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/time/time.h"

#include "bigtable/snapshot.h"

#include "base/fork_callback.h"
#include "serving/data_path.h"
#include "tablet/snapshot_list.h"

namespace bigtable {

// A snapshot that releases itself.
class SnapshotImpl final : public Snapshot {
 public:
  // `is_users`: from Database::TakeSnapshot, after SnapshotList::AddUser.
  SnapshotImpl(std::shared_ptr<SnapshotList> list, const SnapshotList::Point& point,
               bool is_users = false)
      : Snapshot(point.sequence), list_(std::move(list)), point_(point), is_users_(is_users) {}
  ~SnapshotImpl() override {
    // After a fork, another thread of the parent may have been changing the list.
    if (ForkCallback::Forks() != forks_) return;
    list_->Release(point_);
    if (is_users_) list_->RemoveUser();
  }

  bool IsOf(const SnapshotList* list) const { return list_.get() == list; }

  // Of a snapshot that TableImpl::CheckRead has checked: when it was taken, in microseconds, and
  // the point of reads at it.
  static int64_t TimeOf(const Snapshot& snapshot) {
    return absl::ToUnixMicros(static_cast<const SnapshotImpl&>(snapshot).point_.time);
  }
  static DataPath::ReadPoint ReadPointOf(const Snapshot& snapshot) {
    return {.sequence = snapshot.sequence(), .now = TimeOf(snapshot)};
  }

 private:
  const std::shared_ptr<SnapshotList> list_;
  const SnapshotList::Point point_;
  const bool is_users_;
  const uint64_t forks_ = ForkCallback::Forks();
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_SNAPSHOT_IMPL_H_
