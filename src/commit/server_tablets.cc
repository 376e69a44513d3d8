#include "commit/server_tablets.h"

#include <utility>

#include "absl/base/macros.h"

namespace bigtable {

bool ServerTablets::HasRowsOf(const Tablet& tablet) const {
  // The first tablet that does not end before it begins.
  const auto found = tablets_.upper_bound({tablet.table_id(), tablet.rows().begin()});
  return found != tablets_.end() && found->first.table_id == tablet.table_id() &&
         found->second.get() != &tablet && !tablet.id().EndsBefore(found->second->rows().begin()) &&
         !found->second->flags().superseded();
}

void ServerTablets::Add(std::shared_ptr<Tablet> tablet) {
  MutexLock lock(&mutex_);
  ABSL_ASSERT(!HasRowsOf(*tablet) && "a server has two tablets with the same rows");
  const TabletId id = tablet->id();
  tablets_[id] = std::move(tablet);
}

std::shared_ptr<Tablet> ServerTablets::RemoveDeleted(const TabletId& id) {
  MutexLock lock(&mutex_);
  const auto found = tablets_.find(id);
  if (found == tablets_.end()) return nullptr;
  std::shared_ptr<Tablet> removed = std::move(found->second);
  removed->flags().MarkRemoved();
  tablets_.erase(found);
  return removed;
}

void ServerTablets::Remove(const Tablet& tablet) {
  MutexLock lock(&mutex_);
  const auto found = tablets_.find(tablet.id());
  if (found != tablets_.end() && found->second.get() == &tablet) tablets_.erase(found);
}

void ServerTablets::Replace(const Tablet& tablet, const Tablet::Halves& halves) {
  ABSL_ASSERT(halves.left->rows().begin() == tablet.rows().begin() &&
              halves.left->rows().end() == halves.right->rows().begin() &&
              halves.right->rows().end() == tablet.rows().end() &&
              "the halves have the rows of the tablet");
  MutexLock lock(&mutex_);
  tablets_.erase(tablet.id());
  for (const std::shared_ptr<Tablet>& half : {halves.left, halves.right}) {
    tablets_[half->id()] = half;
  }
}

std::shared_ptr<Tablet> ServerTablets::Find(uint64_t table_id, std::string_view row) const {
  MutexLock lock(&mutex_);
  // The first tablet that does not end before the row.
  const auto found = tablets_.upper_bound({table_id, std::string(row)});
  if (found == tablets_.end() || found->first.table_id != table_id) return nullptr;
  return found->second->rows().Contains(row) ? found->second : nullptr;
}

std::shared_ptr<Tablet> ServerTablets::FindBefore(uint64_t table_id,
                                                  const std::optional<std::string>& row) const {
  MutexLock lock(&mutex_);
  const auto found = tablets_.lower_bound({table_id, row});
  if (found == tablets_.end() || found->first.table_id != table_id) return nullptr;
  return !row.has_value() || found->second->rows().begin() < *row ? found->second : nullptr;
}

std::shared_ptr<Tablet> ServerTablets::Get(const TabletId& id) const {
  MutexLock lock(&mutex_);
  const auto found = tablets_.find(id);
  return found == tablets_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Tablet>> ServerTablets::Of(uint64_t table_id) const {
  std::vector<std::shared_ptr<Tablet>> tablets;
  MutexLock lock(&mutex_);
  // No tablet ends before the empty row.
  for (auto found = tablets_.lower_bound({table_id, std::string()});
       found != tablets_.end() && found->first.table_id == table_id; ++found) {
    tablets.push_back(found->second);
  }
  return tablets;
}

size_t ServerTablets::size() const {
  MutexLock lock(&mutex_);
  return tablets_.size();
}

std::vector<std::shared_ptr<Tablet>> ServerTablets::All() const {
  MutexLock lock(&mutex_);
  std::vector<std::shared_ptr<Tablet>> tablets;
  for (const auto& [id, tablet] : tablets_) tablets.push_back(tablet);
  return tablets;
}

}  // namespace bigtable
