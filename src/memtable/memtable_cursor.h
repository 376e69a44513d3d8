// A position in a memtable. The memtable must outlive it, and may be written to concurrently: the
// cursor sees entries that are added ahead of it. Values live as long as the memtable.
#ifndef BIGTABLE_MEMTABLE_MEMTABLE_CURSOR_H_
#define BIGTABLE_MEMTABLE_MEMTABLE_CURSOR_H_

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "base/entry_cursor.h"
#include "memtable/memtable.h"

namespace bigtable {

class MemtableCursor final : public EntryCursor {
 public:
  explicit MemtableCursor(const Memtable* memtable) : memtable_(memtable) {}

  void Seek(std::string_view target) override;
  void SeekBefore(std::string_view target) override;
  void SeekToFirst() override { Seek({}); }
  void SeekToLast() override;
  void Next() override;
  MergePlace* merge_place() const override { return entry_->merge_place(); }
  void KeepMerge(MergePlace* place, std::unique_ptr<KeptMerge> merge) const override {
    memtable_->KeepMerge(place, std::move(merge));
  }

 private:
  void Show(const MemtableEntry* entry);
  // The entry `n` steps after the current one, if it is in the same node or the next; null if it is
  // not known. A hint: while the memtable is written to, it may be another entry.
  const MemtableEntry* Ahead(size_t n) const;

  const Memtable* const memtable_;
  Memtable::Position position_;
  const MemtableEntry* entry_ = nullptr;
  size_t steps_ = 0;  // since the last Seek, up to a few
};

}  // namespace bigtable

#endif  // BIGTABLE_MEMTABLE_MEMTABLE_CURSOR_H_
