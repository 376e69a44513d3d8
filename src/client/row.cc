#include "bigtable/row.h"

#include "base/shortcuts.h"
#include "client/row_storage.h"

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

std::unique_ptr<RowStorage> RowStorage::Take() {
  thread_local SpareOwner owner;
  if (spare == nullptr || !Shortcuts().Has(Shortcut::kRowStorage)) {
    return std::make_unique<RowStorage>();
  }
  return std::unique_ptr<RowStorage>(std::exchange(spare, nullptr));
}

void RowStorage::GiveBack(std::unique_ptr<RowStorage> storage) {
  if (!keeps_spare || spare != nullptr) return;
  storage->Clear();
  if (storage->heap_bytes() > kMostSpareBytes) return;
  storage->version = {};
  spare = storage.release();
}

Row::Row() = default;
Row::~Row() {
  if (storage_ != nullptr) RowStorage::GiveBack(std::move(storage_));
}

Row::Row(Row&& other) noexcept
    : storage_(std::move(other.storage_)),
      key_(std::exchange(other.key_, {})),
      cells_(std::exchange(other.cells_, {})) {}

Row& Row::operator=(Row&& other) noexcept {
  if (this == &other) return *this;
  if (storage_ != nullptr) RowStorage::GiveBack(std::move(storage_));
  storage_ = std::move(other.storage_);
  key_ = std::exchange(other.key_, {});
  cells_ = std::exchange(other.cells_, {});
  return *this;
}

}  // namespace bigtable
