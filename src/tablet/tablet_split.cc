// How a tablet is split. Nothing is copied: both halves share the immutable memtables and SSTables
// that overlap their key ranges, the SSTables until they are compacted.
#include <algorithm>
#include <utility>

#include "absl/base/macros.h"

#include "memtable/memtable_cursor.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// Whether the memtable, which is immutable, has keys of the range, or changes: few are of one half
// only.
bool HasKeysIn(const Memtable& memtable, const KeyRange& keys) {
  if (memtable.changes() != nullptr) return true;
  MemtableCursor cursor(&memtable);
  cursor.Seek(keys.begin());
  return cursor.valid() && keys.Contains(cursor.key());
}

}  // namespace

Tablet::Halves Tablet::Split(std::string_view row, SequenceNumber last) {
  ABSL_ASSERT(row > rows_.begin() && (!rows_.end().has_value() || row < *rows_.end()) &&
              "each half has rows");
  RotateAll(last);
  MutexLock lock(&mutex_);
  const std::optional<std::string>& end = rows_.end();
  Halves halves{
      MakeHalf(RowRange::RightOpen(rows_.begin(), row)),
      MakeHalf(end.has_value() ? RowRange::RightOpen(row, *end) : RowRange::StartingAt(row))};
  flags_.SetStopped(true);
  flags_.MarkSuperseded();
  return halves;
}

std::unique_ptr<Tablet> Tablet::MakeHalf(const RowRange& rows) const {
  const Pin<TabletVersion> current = version_.Get();
  std::unique_ptr<Tablet> half(new Tablet(environment_, current->shared_layout(), rows));
  half->writer_.BeginAs(writer_);
  half->empty_rows_->StartAfter(empty_rows_->last_written());
  // The quarantine is not inherited: this half may not have the damaged file.
  half->estimates_.Inherit(estimates_);
  std::vector<GroupVersion> groups = current->groups();
  for (GroupVersion& group : groups) {
    group.active = NewMemtable(group);
    // If rows are written in order, the left half would otherwise flush a memtable without any of
    // its rows, and wait for its turn to do so.
    std::erase_if(group.immutable,
                  [&](const Ref<Memtable>& m) { return !HasKeysIn(*m, half->keys_); });
    group.SetFiles(group.files->Within(half->keys_));
    half->NoteShares(*group.files);
  }
  MutexLock lock(&half->mutex_);
  half->Publish(current->shared_layout(), std::move(groups), MakeRef<ReadLimit>(),
                current->change_files());
  return half;
}

}  // namespace bigtable
