// A table as a plain map, made from its changes alone.
#ifndef BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_
#define BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"

namespace bigtable {

// Of families without rules and aggregates.
class ReplayedTable {
 public:
  void Apply(const TableChange& change) {
    switch (change.kind) {
      case TableChange::Kind::kMutation: {
        std::string row(change.mutation.row());
        for (const ObservedOperation& operation : change.Operations()) {
          ApplyTo(&rows_[row], operation);
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
    }
  }

  // "row f:q@5=v\n" for each cell.
  std::string Show() const {
    std::string text;
    for (const auto& [row, cells] : rows_) {
      for (const auto& [key, value] : cells) {
        text += Cat(absl::CHexEscape(row), " ", key.family, ":", key.qualifier, "@", -key.inverted,
                    "=", value, "\n");
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
  using Cells = std::map<Key, std::string>;

  static void ApplyTo(Cells* cells, const ObservedOperation& operation) {
    const std::string family(operation.family);
    const std::string qualifier(operation.qualifier);
    const int64_t time = operation.timestamp.has_value() ? operation.timestamp->micros() : 0;
    const auto is_of_column = [&](const Key& key) {
      return key.family == family && key.qualifier == qualifier;
    };
    switch (operation.kind) {
      case OperationKind::kSet:
        (*cells)[{family, qualifier, -time}] = std::string(operation.value);
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

  std::map<std::string, Cells> rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CHANGES_REPLAYED_TABLE_H_
