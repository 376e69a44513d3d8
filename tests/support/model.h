// A model of a database that is obviously correct: it keeps the whole history and computes the
// result of each read from all of it, as the public headers define the result. One thread at a
// time. Copies share the values.
//
// The definitions:
//   * A Set writes a cell at (column, timestamp). The cell exists until a later deletion covers it
//     (of the cell, a time range of its column, its column, its family or its row) or a later Set
//     of the same timestamp replaces it.
//   * A contribution to a cell of an aggregate family is a Set of what the cell was before, if it
//     existed until then, merged with the contribution.
//   * Cells that the garbage collection rule of the family drops do not exist: see model_rules.h.
//     A cell that a Set replaced counts as written by that Set.
//   * The server time of a mutation is the time of the clock or the last server time plus one,
//     whichever is larger. A mutation consumes a server time only if one of its Sets has no
//     timestamp, or if the table has a change stream.
//   * A read at a sequence number sees all mutations up to and including that number.
//   * A cell that a compaction filter has removed does not exist, and counts as if it did: see
//     model_filtered_cells.h.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "support/model_aggregates.h"
#include "support/model_cells.h"
#include "support/model_changes.h"
#include "support/model_filtered_cells.h"
#include "support/model_observer_rules.h"
#include "support/model_rules.h"

namespace bigtable {

// The history of one column, in order.
class ModelColumn {
 public:
  void Set(ModelVersion version, int64_t timestamp, ModelValue value) {
    sets_[timestamp].push_back({version, std::move(value)});
  }
  void Delete(ModelVersion version) { deletes_.push_back(version); }
  void DeleteTimeRange(ModelVersion version, int64_t begin, int64_t end) {
    range_deletes_.push_back({version, begin, end});
  }
  void DeleteCell(ModelVersion version, int64_t timestamp) {
    cell_deletes_[timestamp].push_back(version);
  }

  struct Cell {
    int64_t timestamp;
    ModelValue value;
    ModelVersion version = {};  // of its write; not compared

    friend bool operator==(const Cell& a, const Cell& b) {
      return a.timestamp == b.timestamp && a.value == b.value;
    }
  };

  // The cells of a column of the family that exist at `sequence`, by timestamp from new to old.
  // `wide_deletes` are the deletions of the family and the row.
  std::vector<Cell> Read(uint64_t sequence, const ModelRules& rules, int64_t now_micros,
                         std::vector<ModelVersion> wide_deletes, const Family& family = {}) const {
    wide_deletes.insert(wide_deletes.end(), deletes_.begin(), deletes_.end());

    std::vector<Cell> cells;
    std::vector<std::vector<ModelLife>> newer;  // when each newer timestamp counts, in order
    for (const auto& [timestamp, sets] : sets_) {
      std::vector<ModelVersion> deletes = wide_deletes;
      if (const auto it = cell_deletes_.find(timestamp); it != cell_deletes_.end()) {
        deletes.insert(deletes.end(), it->second.begin(), it->second.end());
      }
      for (const TimeRangeDelete& d : range_deletes_) {
        if (IsInTimeRange(timestamp, d.begin, d.end)) deletes.push_back(d.version);
      }
      // Later operations are ignored, except for changes of the rule.
      std::erase_if(deletes, [&](const ModelVersion& d) { return d.sequence > sequence; });
      std::vector<ModelLife> counted;
      ModelVersion ended = kNotYet;  // the cell before
      ModelValue value;
      for (size_t i = 0; i < sets.size() && sets[i].version.sequence <= sequence; ++i) {
        const ModelVersion birth = sets[i].version;
        if (rules.HasExpired(birth.sequence, timestamp, now_micros)) continue;
        const bool continues = HoldsAggregates(family) && ended == birth;
        value = continues ? ModelValue(ModelMerged(family, value, sets[i].value)) : sets[i].value;
        ModelVersion deleted = kNotYet;
        if (i + 1 < sets.size() && sets[i + 1].version.sequence <= sequence) {
          deleted = sets[i + 1].version;
        }
        for (const ModelVersion& deletion : deletes) {
          if (deletion > birth) deleted = std::min(deleted, deletion);
        }
        const ModelFate fate = rules.FateOf(birth, deleted, timestamp, newer, now_micros);
        ended = fate.death;
        counted.insert(counted.end(), fate.counted.begin(), fate.counted.end());
        if (fate.is_visible) cells.push_back({timestamp, value, birth});
      }
      newer.push_back(std::move(counted));
    }
    return cells;
  }

 private:
  struct Write {
    ModelVersion version;
    ModelValue value;
  };

  std::map<int64_t, std::vector<Write>, std::greater<>> sets_;
  std::map<int64_t, std::vector<ModelVersion>> cell_deletes_;
  struct TimeRangeDelete {
    ModelVersion version;
    int64_t begin;
    int64_t end;
  };

  std::vector<ModelVersion> deletes_;
  std::vector<TimeRangeDelete> range_deletes_;
};

class ModelTable {
 public:
  explicit ModelTable(TableSchema schema, const std::vector<std::string>& split_rows = {})
      : schema_(std::move(schema)) {
    last_server_times_[""] = 0;
    for (const std::string& row : split_rows) last_server_times_[row] = 0;
    for (const auto& [name, family] : schema_.families) NoteFamily(name, family);
    NoteSplitRule();
    is_whole_ = has_changes();
  }

  const TableSchema& schema() const { return schema_; }

  // --- Its change stream ---

  bool has_changes() const { return schema_.changes.retention != absl::ZeroDuration(); }
  void SetChangeStream(const ChangeStreamRule& rule) {
    const bool had_changes = has_changes();
    schema_.changes = rule;
    if (has_changes() && had_changes) return;
    changes_ = {};
    is_whole_ = false;
  }
  // Since the stream was opened.
  const ModelChanges& changes() const { return changes_; }
  // Whether the stream has everything that was ever written to the table.
  bool IsWhole() const { return is_whole_; }
  // One change of families was made since the last call.
  void NoteFamilies() {
    if (has_changes()) changes_.ChangeFamilies(schema_.families);
  }

  // --- Changes of its tablets and its schema ---

  // SplitTablet makes `row` the first row of a tablet; MergeTablets undoes that. The new tablets
  // continue the server times of the superseded ones.
  void SplitTablet(const std::string& row) {
    last_server_times_[row] = std::prev(last_server_times_.upper_bound(row))->second;
  }
  void MergeTablets(const std::string& row) {
    const auto right = last_server_times_.find(row);
    if (right == last_server_times_.end()) return;
    int64_t& left = std::prev(right)->second;
    left = std::max(left, right->second);
    last_server_times_.erase(right);
  }
  // Drops the rows for snapshots too. They are those of whole tablets then.
  void DropRows(const RowRange& range) {
    std::erase_if(rows_, [&](const auto& row) { return range.Contains(row.first); });
    changes_.DropRows(range);
    // Longer bounds are moved to possible rows.
    const size_t most = RowMutation::kMaxRowSize;
    has_own_will_ |= range.begin().size() > most || range.end().value_or("").size() > most;
    if (range.empty()) return;
    // Upkeep merges what was split for this.
    const auto split = [&](const std::string& row) {
      if (last_server_times_.contains(row)) return;
      SplitTablet(row);
      has_own_will_ = true;
    };
    split(range.begin());
    if (range.end().has_value()) split(*range.end());
  }
  // The first row of each tablet. Undefined if HasOwnWill().
  std::vector<std::string> TabletBegins() const {
    std::vector<std::string> begins;
    for (const auto& [begin, last] : last_server_times_) begins.push_back(begin);
    return begins;
  }
  // The largest server time that a tablet has given.
  int64_t LastServerTime() const {
    int64_t latest = 0;
    for (const auto& [begin, last] : last_server_times_) latest = std::max(latest, last);
    return latest;
  }
  // Whether the database may split or merge the tablets by itself, or did so before. The model then
  // cannot predict server times.
  bool HasOwnWill() const { return has_own_will_; }
  // Whether the model knows the times that servers give to cells, in all that depends on them.
  bool KnowsServerTimes() const { return !has_own_will_ && !ReadTheMutation(schema_.observers); }
  void SetObservers(const std::vector<std::string>& observers) { schema_.observers = observers; }
  void SetSplitRule(const SplitRule& rule) {
    schema_.split = rule;
    NoteSplitRule();
  }

  void AddFamily(const std::string& name, const Family& family) {
    schema_.families[name] = family;
    NoteFamily(name, family);
  }
  void DropFamily(const std::string& name) {
    schema_.families.erase(name);
    rules_.erase(name);
    filtered_.RemoveFamily(name);
    for (auto& [key, row] : rows_) row.families.erase(name);
  }
  // `sequence` is larger than all previous ones and not that of a mutation.
  void UpdateFamily(const std::string& name, const Family& family, uint64_t sequence,
                    int64_t now_micros) {
    schema_.families[name] = family;
    rules_.at(name).Change(family.gc, sequence, now_micros);
    if (!family.compaction_filter.empty()) filtered_.AddFamily(name);
  }
  void SetLocalityGroup(const std::string& name, const LocalityGroup& group) {
    schema_.locality_groups[name] = group;
  }

  // Whether every family in the mutation exists, and holds what is written.
  bool Accepts(const ModelMutation& mutation) const {
    return std::all_of(mutation.operations.begin(), mutation.operations.end(),
                       [&](const ModelOperation& op) {
                         if (op.kind == ModelOperation::Kind::kDeleteRow) return true;
                         const auto family = schema_.families.find(op.family);
                         if (family == schema_.families.end()) return false;
                         const bool is_set = op.kind == ModelOperation::Kind::kSet;
                         return HoldsAggregates(family->second) ? !is_set : !op.is_contribution();
                       });
  }

  // Requires Accepts(mutation). `sequence` is larger than all previous ones.
  void Apply(uint64_t sequence, int64_t now_micros, const ModelMutation& mutation) {
    const bool takes_server_time = std::any_of(
        mutation.operations.begin(), mutation.operations.end(), [](const ModelOperation& op) {
          return op.kind == ModelOperation::Kind::kSet && !op.timestamp;
        });
    int64_t& last_server_time = std::prev(last_server_times_.upper_bound(mutation.row))->second;
    if (takes_server_time || has_changes()) {
      last_server_time = std::max(now_micros, last_server_time + 1);
    }
    if (has_changes()) changes_.Apply(mutation, last_server_time);

    RowHistory& row = rows_[mutation.row];
    uint32_t ordinal = 0;
    for (const ModelOperation& op : mutation.operations) {
      const ModelVersion version{sequence, ordinal++};
      if (ModelCompactionFilter::Changes(op.value)) filtered_.RecordWrite(mutation.row, sequence);
      if (op.kind == ModelOperation::Kind::kDeleteRow) {
        row.deletes.push_back(version);
        continue;
      }
      FamilyHistory& family = row.families[op.family];
      switch (op.kind) {
        case ModelOperation::Kind::kSet:
          family.columns[op.qualifier].Set(version, op.timestamp.value_or(last_server_time),
                                           op.value);
          break;
        case ModelOperation::Kind::kDeleteColumn:
          family.columns[op.qualifier].Delete(version);
          break;
        case ModelOperation::Kind::kDeleteCell:
          family.columns[op.qualifier].DeleteCell(version, *op.timestamp);
          break;
        case ModelOperation::Kind::kDeleteFamily:
          family.deletes.push_back(version);
          break;
        case ModelOperation::Kind::kDeleteRow:
          break;
        case ModelOperation::Kind::kAddToCell:
          family.columns[op.qualifier].Set(
              version, *op.timestamp, ModelState(schema_.families.at(op.family), op.value.view()));
          break;
        case ModelOperation::Kind::kMergeToCell:
          family.columns[op.qualifier].Set(version, *op.timestamp, op.value);
          break;
        case ModelOperation::Kind::kDeleteTimeRange:
          family.columns[op.qualifier].DeleteTimeRange(version, *op.timestamp, op.end);
          break;
      }
    }
  }

  // A row before a mutation of it, which can be taken back.
  class SavedRow;
  SavedRow Save(const std::string& row) const;
  void Restore(SavedRow saved);

  // The cells of a row by family, qualifier, and timestamp from new to old.
  std::vector<ModelCell> Read(const std::string& row_key, uint64_t sequence,
                              int64_t now_micros) const {
    std::vector<ModelCell> cells = ReadUnfiltered(row_key, sequence, now_micros);
    filtered_.Apply(row_key, &cells);
    return cells;
  }
  // The cells as if there were no compaction filters.
  std::vector<ModelCell> ReadUnfiltered(const std::string& row_key, uint64_t sequence,
                                        int64_t now_micros) const {
    std::vector<ModelCell> cells;
    const auto row = rows_.find(row_key);
    if (row == rows_.end() || sequence < restored_) return cells;
    for (const auto& [family_name, family] : row->second.families) {
      std::vector<ModelVersion> wide_deletes = row->second.deletes;
      wide_deletes.insert(wide_deletes.end(), family.deletes.begin(), family.deletes.end());
      const ModelRules& rules = rules_.at(family_name);
      for (const auto& [qualifier, column] : family.columns) {
        for (auto& [timestamp, value, version] : column.Read(
                 sequence, rules, now_micros, wide_deletes, schema_.families.at(family_name))) {
          cells.push_back({family_name, qualifier, timestamp, std::move(value), {}, version});
        }
      }
    }
    return cells;
  }

  // From now on this is the table that a backup of it became. Reads at an earlier number find
  // nothing.
  void BeRestored(uint64_t sequence) {
    restored_ = sequence;
    changes_ = {};
    is_whole_ = false;
  }

  // What compaction filters have done to the cells.
  const ModelFilteredCells& filtered() const { return filtered_; }
  ModelFilteredCells* mutable_filtered() { return &filtered_; }

  // Every row that was ever written, in order.
  std::vector<std::string> RowKeys() const {
    std::vector<std::string> keys;
    for (const auto& [key, row] : rows_) keys.push_back(key);
    return keys;
  }

 private:
  struct FamilyHistory {
    std::map<std::string, ModelColumn> columns;
    std::vector<ModelVersion> deletes;
  };
  struct RowHistory {
    std::map<std::string, FamilyHistory> families;
    std::vector<ModelVersion> deletes;
  };

  void NoteFamily(const std::string& name, const Family& family) {
    rules_.emplace(name, family.gc);
    if (!family.compaction_filter.empty()) filtered_.AddFamily(name);
  }
  // Tablets of less than 100 MiB: a test may write that much.
  void NoteSplitRule() {
    has_own_will_ = has_own_will_ || schema_.split.merge_size != 0 ||
                    (schema_.split.tablet_size != 0 && schema_.split.tablet_size < 100 << 20);
  }

  TableSchema schema_;
  uint64_t restored_ = 0;  // when BeRestored was called
  bool has_own_will_ = false;
  std::map<std::string, ModelRules> rules_;  // of each family
  std::map<std::string, RowHistory> rows_;
  ModelFilteredCells filtered_;
  ModelChanges changes_;
  bool is_whole_ = false;
  std::map<std::string, int64_t> last_server_times_;  // of each tablet, by its first row
};

class ModelTable::SavedRow {
  friend class ModelTable;
  std::string key;
  std::optional<RowHistory> history;
  std::optional<ModelChanges::Row> changes;
  int64_t last_server_time = 0;
};

inline ModelTable::SavedRow ModelTable::Save(const std::string& row) const {
  SavedRow saved;
  saved.key = row;
  if (const auto found = rows_.find(row); found != rows_.end()) saved.history = found->second;
  saved.changes = changes_.Save(row);
  saved.last_server_time = std::prev(last_server_times_.upper_bound(row))->second;
  return saved;
}
inline void ModelTable::Restore(SavedRow saved) {
  std::prev(last_server_times_.upper_bound(saved.key))->second = saved.last_server_time;
  changes_.Restore(saved.key, saved.changes);
  if (saved.history.has_value()) {
    rows_[saved.key] = *std::move(saved.history);
  } else {
    rows_.erase(saved.key);
  }
}

struct ModelDatabase {
  std::map<std::string, ModelTable> tables;
  uint64_t sequence = 0;  // of the last mutation, change of a rule, or restored table

  // Returns whether the mutation was applied; if not, nothing changed.
  bool Apply(const std::string& table, int64_t now_micros, const ModelMutation& mutation) {
    ModelTable& model = tables.at(table);
    if (!model.Accepts(mutation)) return false;
    model.Apply(++sequence, now_micros, mutation);
    return true;
  }
  // `name` does not exist.
  void RestoreTable(const std::string& source, const std::string& name) {
    const auto copy = tables.at(source);
    tables.emplace(name, copy).first->second.BeRestored(++sequence);
  }
  void UpdateFamily(const std::string& table, const std::string& name, const Family& family,
                    int64_t now_micros) {
    tables.at(table).UpdateFamily(name, family, ++sequence, now_micros);
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_H_
