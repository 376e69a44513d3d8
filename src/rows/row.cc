#include "bigtable/row.h"

#include "base/shortcuts.h"
#include "rows/row_storage.h"

namespace bigtable {

namespace {

// Without a destructor, so that it can be used until the thread ends.
thread_local RowStorage* spare = nullptr;
thread_local bool keeps_spare = false;

// Deletes the spare storage when the thread ends. Rows that are destroyed later keep no storage.
struct SpareOwner {
  SpareOwner() { keeps_spare = true; }
  ~SpareOwner() {
    keeps_spare = false;
    delete std::exchange(spare, nullptr);
  }
};

}  // namespace

RowStorage* RowStorage::Take() {
  thread_local SpareOwner owner;
  if (spare == nullptr || !Shortcuts().Has(Shortcut::kRowStorage)) return new RowStorage;
  return std::exchange(spare, nullptr);
}

void RowStorage::GiveBack(RowStorage* storage) {
  std::unique_ptr<RowStorage> owned(storage);
  if (!keeps_spare || spare != nullptr) return;
  storage->Clear();
  if (storage->heap_bytes() > kMostSpareBytes) return;
  storage->version = {};
  spare = owned.release();
}

void Row::Recycle::operator()(RowStorage* storage) const { RowStorage::GiveBack(storage); }

}  // namespace bigtable
