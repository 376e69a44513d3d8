// The input of a compaction as its parts see it: entries of text (support/entry_text.h), and the
// column and timestamp of the current one, entered. One family, "f", whose rules a test sets before
// it makes one of these.
#ifndef BIGTABLE_TESTS_COMPACTION_COLUMN_INPUT_H_
#define BIGTABLE_TESTS_COMPACTION_COLUMN_INPUT_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/entry_key.h"
#include "compaction/collected_column.h"
#include "compaction/paid_input.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "retention/retention.h"
#include "support/entry_text.h"

namespace bigtable {

class ColumnInput {
 public:
  ColumnInput(RetainedFamily family, bool major, const std::vector<std::string>& lines,
              std::vector<SequenceNumber> snapshots = {}, PaidInput::Pay pay = nullptr)
      : retention_(RetentionOf(std::move(family), std::move(snapshots))),
        memtable_(NewMemtable(lines)),
        entries_(memtable_.get()),
        input_(&entries_, std::move(pay)),
        column_(&retention_, major) {
    input_.SeekToFirst();
    Enter();
  }

  Retention& retention() { return retention_; }
  CollectedColumn& column() { return column_; }
  PaidInput& input() { return input_; }
  EntryKind kind() const { return KindOf(input_.key()); }
  EntryVersion version() const { return VersionOf(input_.key()); }
  // The current entry, as text; "nothing" at the end.
  std::string here() const {
    return input_.valid() ? EntryText(input_.key(), input_.value()) : "nothing";
  }
  // Adds the current entry to the column, and goes to the next one.
  void Next() {
    if (HasTimestamp(kind())) {
      column_.AddWrite(kind(), version());
    } else {
      column_.deletions().Add(kind(), version(), CollectedColumn::kGroup);
    }
    input_.Next();
    Enter();
  }

 private:
  static Ref<Memtable> NewMemtable(const std::vector<std::string>& lines) {
    Ref<Memtable> memtable = NewTestMemtable();
    for (const std::string& line : lines) {
      const std::optional<TextEntry> entry = ParseEntry(line);
      EXPECT_TRUE(entry.has_value()) << line;
      if (entry.has_value()) memtable->Add(entry->key, entry->value);
    }
    return memtable;
  }
  static Retention RetentionOf(RetainedFamily family, std::vector<SequenceNumber> snapshots) {
    Retention retention;
    retention.families = {std::move(family)};
    retention.snapshots = std::move(snapshots);
    return retention;
  }
  void Enter() {
    if (!input_.valid()) return;
    if (!column_.Has(input_.key())) column_.EnterColumn(input_.key());
    if (HasTimestamp(kind())) column_.EnterTimestamp(TimestampOf(input_.key()));
  }

  Retention retention_;
  const Ref<Memtable> memtable_;
  MemtableCursor entries_;
  PaidInput input_;
  CollectedColumn column_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_COMPACTION_COLUMN_INPUT_H_
