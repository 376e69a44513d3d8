// A table as a plain map, made from its changes alone.
//
// Cells that a rule has for garbage stay in the map until a garbage collection takes them, and are
// not shown. So what is shown is the same before and after it, as in the table.
#ifndef BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_
#define BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"

namespace bigtable {

// Of families without aggregates, with rules that are MaxVersions or MaxAge and do not change.
class ReplayedTable {
 public:
  using Rules = std::map<std::string, GcRule, std::less<>>;

  explicit ReplayedTable(Rules rules = {}) : rules_(std::move(rules)) {}

  void Apply(const TableChange& change) {
    switch (change.kind) {
      case TableChange::Kind::kMutation: {
        std::string row(change.mutation.row());
        for (const ObservedOperation& operation : change.Operations()) {
          ApplyTo(&rows_[row], operation);
          if (operation.kind == OperationKind::kSet) CountVersions(&rows_[row], operation);
        }
        if (rows_[row].empty()) rows_.erase(row);
        return;
      }
      case TableChange::Kind::kDropRows:
        std::erase_if(rows_, [&](const auto& row) { return change.rows.Contains(row.first); });
        return;
      case TableChange::Kind::kFamilies:
        for (auto& [_, row] : rows_) {
          std::erase_if(row, [&](const auto& cell) {
            const std::string& family = cell.first.family;
            return !change.schema->families.contains(family) ||
                   std::count(change.new_families.begin(), change.new_families.end(), family) > 0;
          });
        }
        std::erase_if(rows_, [](const auto& row) { return row.second.empty(); });
        return;
      case TableChange::Kind::kGarbageCollection:
        for (auto& [key, row] : rows_) {
          if (!change.rows.Contains(key)) continue;
          std::erase_if(row, [&](const auto& cell) {
            const auto& families = change.families;
            return std::count(families.begin(), families.end(), cell.first.family) > 0 &&
                   IsGarbage(cell.first, cell.second, change.collected_at);
          });
        }
        std::erase_if(rows_, [](const auto& row) { return row.second.empty(); });
        return;
    }
  }

  // "row f:q@5=v\n" for each cell.
  // At the time, which does not matter without rules.
  std::string Show(absl::Time now = absl::InfinitePast()) const {
    std::string text;
    for (const auto& [row, cells] : rows_) {
      for (const auto& [key, cell] : cells) {
        if (IsGarbage(key, cell, now)) continue;
        text += Cat(absl::CHexEscape(row), " ", key.family, ":", key.qualifier, "@", -key.inverted,
                    "=", cell.value, "\n");
      }
    }
    return text;
  }
  static std::string Show(Table* table, const ReadOptions& options = {}) {
    std::string text;
    RowReader reader = table->ReadRows(RowRange::All(), options);
    for (const Row& row : reader) {
      for (const Cell& cell : row.cells()) {
        text += Cat(absl::CHexEscape(ToAbsl(row.key())), " ", cell.family, ":", cell.qualifier, "@",
                    cell.timestamp.micros(), "=", cell.value, "\n");
      }
    }
    return reader.status().ok() ? text : std::string(reader.status().ToString());
  }

 private:
  struct Key {
    std::string family;
    std::string qualifier;
    int64_t inverted = 0;  // the timestamp, so that newer cells come first

    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Value {
    std::string value;
    // The newer timestamps of the column at which a cell has existed since this one was written.
    std::set<int64_t> newer = {};
  };
  using Cells = std::map<Key, Value>;

  bool IsGarbage(const Key& key, const Value& cell, absl::Time now) const {
    const auto found = rules_.find(key.family);
    if (found == rules_.end()) return false;
    const std::optional<int64_t> versions = found->second.max_versions();
    const std::optional<absl::Duration> age = found->second.max_age();
    return (versions.has_value() && static_cast<int64_t>(cell.newer.size()) >= *versions) ||
           (age.has_value() && absl::FromUnixMicros(-key.inverted) < now - *age);
  }

  // A cell that was counted out counts no more.
  void CountVersions(Cells* cells, const ObservedOperation& set) const {
    const Key written{std::string(set.family), std::string(set.qualifier),
                      -set.timestamp->micros()};
    for (auto& [key, cell] : *cells) {
      if (key.family != written.family || key.qualifier != written.qualifier) continue;
      if (key.inverted < written.inverted && !IsGarbage(key, cell, absl::InfinitePast())) {
        (*cells)[written].newer.insert(-key.inverted);
      }
    }
    if (IsGarbage(written, (*cells)[written], absl::InfinitePast())) return;
    for (auto& [key, cell] : *cells) {
      if (key.family != written.family || key.qualifier != written.qualifier) continue;
      if (key.inverted > written.inverted) cell.newer.insert(-written.inverted);
    }
  }

  static void ApplyTo(Cells* cells, const ObservedOperation& operation) {
    const std::string family(operation.family);
    const std::string qualifier(operation.qualifier);
    const int64_t time = operation.timestamp.has_value() ? operation.timestamp->micros() : 0;
    const auto is_of_column = [&](const Key& key) {
      return key.family == family && key.qualifier == qualifier;
    };
    switch (operation.kind) {
      case OperationKind::kSet:
        (*cells)[{family, qualifier, -time}] = {std::string(operation.value)};
        return;
      case OperationKind::kDelete:
        std::erase_if(*cells, [&](const auto& cell) { return is_of_column(cell.first); });
        return;
      case OperationKind::kDeleteCell:
        cells->erase({family, qualifier, -time});
        return;
      case OperationKind::kDeleteTimeRange:
        std::erase_if(*cells, [&](const auto& cell) {
          const int64_t of_cell = -cell.first.inverted;
          return is_of_column(cell.first) && of_cell >= time && of_cell < operation.end.micros();
        });
        return;
      case OperationKind::kDeleteFamily:
        std::erase_if(*cells, [&](const auto& cell) { return cell.first.family == family; });
        return;
      case OperationKind::kDeleteRow:
        cells->clear();
        return;
      case OperationKind::kAddToCell:
      case OperationKind::kMergeToCell:
        return;  // no family holds aggregates
    }
  }

  Rules rules_;
  std::map<std::string, Cells> rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_
