#include "tablet/tablet_writer.h"

#include <algorithm>

#include "absl/base/macros.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "schema/mutation_format.h"

namespace bigtable {

void TabletWriter::Use(std::shared_ptr<const TableLayout> layout,
                       const std::vector<GroupVersion>& groups) {
  ABSL_ASSERT(groups.size() == layout->groups.size() && replay_after_.size() <= groups.size() &&
              "groups are as in the layout, and only added");
  layout_ = std::move(layout);
  notes_changes_after_ = layout_->changes_since != 0 ? layout_->changes_since : kMaxSequence;
  active_.clear();
  for (const GroupVersion& group : groups) active_.push_back(group.active.get());
  replay_after_.resize(groups.size(), 0);
  slots_.clear();
  for (const FamilyLayout& family : layout_->families) {
    slots_.push_back({layout_->GroupIndex(family.group_id), counters_->Family(family.name)});
  }
}

void TabletWriter::Apply(std::string_view row, std::string_view operations, SequenceNumber sequence,
                         int64_t server_timestamp, const RefCounted* owner, SequenceNumber batch) {
  ABSL_ASSERT((!empty_rows_ || sequence > empty_rows_->last_written()) &&
              "numbers of mutations ascend");
  if (environment_->last_writes != nullptr) environment_->last_writes->Record(row, sequence);
  counters_->CountRow();
  if (!Shortcuts().Has(Shortcut::kPinnedValues)) [[unlikely]]
    owner = nullptr;
  if (sequence > notes_changes_after_) [[unlikely]] {
    NoteChange({sequence, batch, server_timestamp, row, operations}, owner);
  }
  Insert(row, operations, sequence, server_timestamp, owner, false);
}

void TabletWriter::Replay(std::string_view row, std::string_view operations,
                          SequenceNumber sequence, int64_t server_timestamp, SequenceNumber batch) {
  last_timestamp_ = std::max(last_timestamp_.load(), server_timestamp);
  if (sequence > notes_changes_after_ && sequence > replay_after_[0]) {
    NoteChange({sequence, batch, server_timestamp, row, operations}, nullptr);
  }
  Insert(row, operations, sequence, server_timestamp, nullptr, true);
}

// The memtable of the first group is flushed with them, whether it has an entry of the mutation or
// not. So its redo point is that of the changes too.
void TabletWriter::NoteChange(const LoggedChange& change, const RefCounted* owner) {
  active_[0]->RecordSequence(change.sequence);
  active_[0]->NoteChange(change, owner);
}

// A row with zero bytes has another prefix in its keys. Its search may end elsewhere, and is of no
// use.
void TabletWriter::AddTo(GroupSearch* search, std::string_view row,
                         std::string_view operations) const {
  if (active_.size() == 1) return search->Add(active_[0], row);
  OperationReader reader(operations);
  MutationOperation operation;
  const FamilyLayout* const family =
      reader.Next(&operation) ? layout_->FindFamily(operation.family) : nullptr;
  const size_t group =
      family == nullptr ? 0 : slots_[static_cast<size_t>(family - layout_->families.data())].group;
  search->Add(active_[group], row);
}

void TabletWriter::Insert(std::string_view row, std::string_view operations,
                          SequenceNumber sequence, int64_t server_timestamp,
                          const RefCounted* owner, bool replay) {
  key_.clear();
  AppendRowPrefix(&key_, row);
  const size_t row_size = key_.size();
  if (empty_rows_) empty_rows_->RecordWrite(key_, sequence);
  OperationReader reader(operations);
  MutationOperation operation;
  for (uint32_t ordinal = 0; reader.Next(&operation); ++ordinal) {
    const EntryVersion version{sequence, ordinal};
    key_.resize(row_size);
    if (operation.is_of_row()) {
      for (size_t group = 0; group < active_.size(); ++group) {
        if (replay && sequence <= replay_after_[group]) continue;
        key_.resize(row_size);
        AppendNoFamily(&key_, layout_->groups[group].id);
        AppendTrailer(&key_, 0, version, operation.kind);
        RecordDeletion(group, server_timestamp, replay);
        Add(group, sequence, {}, owner);
      }
      continue;
    }
    const FamilyLayout* family = layout_->FindFamily(operation.family);
    if (family == nullptr) continue;
    FamilySlot& slot = slots_[static_cast<size_t>(family - layout_->families.data())];
    const size_t group = slot.group;
    const bool is_deletion = TraitsOf(operation.kind).is_deletion;
    if (!replay) {
      slot.counters->Count(!is_deletion, operation.qualifier.size() + operation.value.size());
    } else if (sequence <= replay_after_[group]) {
      continue;
    }
    if (is_deletion) RecordDeletion(group, server_timestamp, replay);
    if (ScopeOf(operation.kind) == EntryScope::kFamily) {
      AppendNoColumn(&key_, operation.family);
    } else {
      AppendColumn(&key_, operation.family, operation.qualifier);
    }
    const int64_t timestamp = operation.has_timestamp ? operation.timestamp : server_timestamp;
    AppendTrailer(&key_, timestamp, version, operation.kind);
    AddOfFamily(*family, &slot, sequence, operation.value, owner);
  }
}

void TabletWriter::AddOfFamily(const FamilyLayout& family, FamilySlot* slot,
                               SequenceNumber sequence, std::string_view value,
                               const RefCounted* owner) {
  if (slot->in_memtable == nullptr) [[unlikely]] {
    slot->in_memtable = active_[slot->group]->families()->Of(family.name);
  }
  slot->in_memtable->Add(key_.size() + value.size());
  Add(slot->group, sequence, value, owner);
}

// A mutation that takes no timestamp of the server may have an old one, which is all that is known
// of it when it is replayed.
void TabletWriter::RecordDeletion(size_t group, int64_t server_timestamp, bool replay) {
  Memtable* const memtable = active_[group];
  if (replay) return memtable->RecordDeletion(std::max<int64_t>(server_timestamp, 1));
  if (memtable->oldest_deletion() != 0) return;
  memtable->RecordDeletion(absl::ToUnixMicros(environment_->clock->Now()));
}

void TabletWriter::EndBatch(SequenceNumber first, SequenceNumber last) {
  ABSL_ASSERT(first <= last && "a batch has a mutation");
  for (Memtable* const memtable : active_) {
    if (memtable->last_sequence() >= first) memtable->RecordBatchEnd(last);
  }
}

uint64_t TabletWriter::bytes() const {
  uint64_t bytes = 0;
  for (const Memtable* memtable : active_) bytes += memtable->bytes();
  return bytes;
}

// Adds the entry with key_.
void TabletWriter::Add(size_t group, SequenceNumber sequence, std::string_view value,
                       const RefCounted* owner) {
  Memtable* const memtable = active_[group];
  memtable->RecordSequence(sequence);
  if (owner != nullptr && !value.empty()) {
    memtable->AddPinned(key_, value, owner);
  } else {
    memtable->Add(key_, value);
  }
}

int64_t TabletWriter::NextTimestamp() {
  const int64_t now = absl::ToUnixMicros(environment_->clock->Now());
  const int64_t next = std::max(now, last_timestamp_.load(std::memory_order_relaxed) + 1);
  last_timestamp_.store(next, std::memory_order_relaxed);
  return next;
}

}  // namespace bigtable
