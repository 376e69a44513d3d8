// A database that is obviously right: it keeps everything that was ever done to it and answers each
// read by going through all of that, as the public headers define the answer. One thread at a time.
//
// What the definitions come to:
//   * A Set writes a cell at (column, timestamp). It is there until a later deletion covers it (of
//     the cell, its column, its family or its row) or a later Set of the same timestamp takes its
//     place.
//   * MaxVersions(n): a cell is gone once n cells of its column with newer timestamps have existed
//     since it was written, deleted later or not. A cell that a Set replaced counts as written by
//     that Set. Cells with one timestamp count once.
//   * MaxAge: a cell is gone when its timestamp is less than the present minus the age.
//   * The server's time of a mutation is the clock's, or one more than the last that was taken,
//     whichever is larger. A mutation without a Set that asks for it takes none.
//   * A read at a sequence number sees what happened up to and with the mutation of that number.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_H_

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/row_mutation.h"
#include "bigtable/schema.h"

namespace bigtable {

// When an operation took effect: its mutation's place in the order of all, and its own place in the
// mutation.
struct ModelVersion {
  uint64_t sequence = 0;
  uint32_t ordinal = 0;

  friend auto operator<=>(const ModelVersion&, const ModelVersion&) = default;
};
inline constexpr ModelVersion kNotYet{std::numeric_limits<uint64_t>::max(),
                                      std::numeric_limits<uint32_t>::max()};

struct ModelOperation {
  enum class Kind { kSet, kDeleteColumn, kDeleteCell, kDeleteFamily, kDeleteRow };

  Kind kind = Kind::kSet;
  std::string family;
  std::string qualifier;
  std::optional<int64_t> timestamp;  // a Set without one takes the server's time
  std::string value;
};

struct ModelMutation {
  std::string row;
  std::vector<ModelOperation> operations;

  RowMutation Make() const {
    RowMutation mutation(row);
    for (const ModelOperation& op : operations) {
      const std::string column = op.family + ":" + op.qualifier;
      switch (op.kind) {
        case ModelOperation::Kind::kSet:
          if (op.timestamp) {
            mutation.Set(column, Timestamp(*op.timestamp), op.value);
          } else {
            mutation.Set(column, op.value);
          }
          break;
        case ModelOperation::Kind::kDeleteColumn:
          mutation.Delete(column);
          break;
        case ModelOperation::Kind::kDeleteCell:
          mutation.DeleteCell(column, Timestamp(*op.timestamp));
          break;
        case ModelOperation::Kind::kDeleteFamily:
          mutation.DeleteFamily(op.family);
          break;
        case ModelOperation::Kind::kDeleteRow:
          mutation.DeleteRow();
          break;
      }
    }
    return mutation;
  }
};

struct ModelCell {
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  std::string value;

  friend bool operator==(const ModelCell&, const ModelCell&) = default;
};

struct ModelRow {
  std::string key;
  std::vector<ModelCell> cells;

  friend bool operator==(const ModelRow&, const ModelRow&) = default;
};

// Everything that was done to one column, in the order in which it was done.
class ModelColumn {
 public:
  void Set(ModelVersion version, int64_t timestamp, std::string value) {
    sets_[timestamp].push_back({version, std::move(value)});
  }
  void Delete(ModelVersion version) { deletes_.push_back(version); }
  void DeleteCell(ModelVersion version, int64_t timestamp) {
    cell_deletes_[timestamp].push_back(version);
  }

  // The cells that are there at `sequence`, by timestamp from new to old. `wide_deletes` are those
  // of the family and the row.
  std::vector<std::pair<int64_t, std::string>> Read(uint64_t sequence, const GcRule& gc,
                                                    int64_t now_micros,
                                                    std::vector<ModelVersion> wide_deletes) const {
    wide_deletes.insert(wide_deletes.end(), deletes_.begin(), deletes_.end());

    std::vector<std::pair<int64_t, std::string>> cells;
    std::vector<std::vector<Life>> newer;  // of each newer timestamp, one after the other
    for (const auto& [timestamp, sets] : sets_) {
      std::vector<ModelVersion> deletes = wide_deletes;
      if (const auto it = cell_deletes_.find(timestamp); it != cell_deletes_.end()) {
        deletes.insert(deletes.end(), it->second.begin(), it->second.end());
      }
      std::vector<Life> lives;
      for (size_t i = 0; i < sets.size() && sets[i].version.sequence <= sequence; ++i) {
        const ModelVersion birth = sets[i].version;
        ModelVersion death = i + 1 < sets.size() ? sets[i + 1].version : kNotYet;
        for (const ModelVersion& deletion : deletes) {
          if (deletion > birth) death = std::min(death, deletion);
        }
        if (gc.max_versions()) {
          death = std::min(death, CountedOut(birth, newer, *gc.max_versions()));
        }
        lives.push_back({birth, death});
        const bool expired =
            gc.max_age() && timestamp < now_micros - absl::ToInt64Microseconds(*gc.max_age());
        if (death.sequence > sequence && !expired) cells.emplace_back(timestamp, sets[i].value);
      }
      newer.push_back(std::move(lives));
    }
    return cells;
  }

 private:
  struct Write {
    ModelVersion version;
    std::string value;
  };
  struct Life {
    ModelVersion birth;
    ModelVersion death;
  };

  // When the n-th newer timestamp had a cell since `birth`.
  static ModelVersion CountedOut(ModelVersion birth, const std::vector<std::vector<Life>>& newer,
                                 int64_t n) {
    std::vector<ModelVersion> first_seen;
    for (const std::vector<Life>& lives : newer) {
      for (const Life& life : lives) {
        if (life.death > birth) {
          first_seen.push_back(std::max(life.birth, birth));
          break;  // lives are in order: this is the first
        }
      }
    }
    if (first_seen.size() < static_cast<size_t>(n)) return kNotYet;
    std::sort(first_seen.begin(), first_seen.end());
    return first_seen[static_cast<size_t>(n) - 1];
  }

  std::map<int64_t, std::vector<Write>, std::greater<>> sets_;
  std::map<int64_t, std::vector<ModelVersion>> cell_deletes_;
  std::vector<ModelVersion> deletes_;
};

class ModelTable {
 public:
  explicit ModelTable(TableSchema schema, const std::vector<std::string>& split_rows = {})
      : schema_(std::move(schema)) {
    last_server_times_[""] = 0;
    for (const std::string& row : split_rows) last_server_times_[row] = 0;
  }

  const TableSchema& schema() const { return schema_; }

  // A tablet begins with `row` from now on, or does not any more: each goes on with the server's
  // times of those that it was.
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
  // Whether the tablets change by themselves, so that nobody knows which time a server gives.
  bool HasOwnWill() const {
    return schema_.split.tablet_size != 0 && schema_.split.tablet_size < (1 << 20);
  }

  void AddFamily(const std::string& name, const Family& family) { schema_.families[name] = family; }
  void DropFamily(const std::string& name) {
    schema_.families.erase(name);
    for (auto& [key, row] : rows_) row.families.erase(name);
  }
  void UpdateFamily(const std::string& name, const Family& family) {
    schema_.families[name] = family;
  }
  void SetLocalityGroup(const std::string& name, const LocalityGroup& group) {
    schema_.locality_groups[name] = group;
  }
  // Whether anything was ever written to it.
  bool WasWritten(const std::string& family) const {
    return std::any_of(rows_.begin(), rows_.end(),
                       [&](const auto& row) { return row.second.families.contains(family); });
  }

  // Whether every family that the mutation names is there.
  bool Accepts(const ModelMutation& mutation) const {
    return std::all_of(mutation.operations.begin(), mutation.operations.end(),
                       [&](const ModelOperation& op) {
                         return op.kind == ModelOperation::Kind::kDeleteRow ||
                                schema_.families.contains(op.family);
                       });
  }

  // Requires Accepts(mutation). `sequence` is larger than all before.
  void Apply(uint64_t sequence, int64_t now_micros, const ModelMutation& mutation) {
    const bool takes_server_time = std::any_of(
        mutation.operations.begin(), mutation.operations.end(), [](const ModelOperation& op) {
          return op.kind == ModelOperation::Kind::kSet && !op.timestamp;
        });
    int64_t& last_server_time = std::prev(last_server_times_.upper_bound(mutation.row))->second;
    if (takes_server_time) last_server_time = std::max(now_micros, last_server_time + 1);

    RowHistory& row = rows_[mutation.row];
    uint32_t ordinal = 0;
    for (const ModelOperation& op : mutation.operations) {
      const ModelVersion version{sequence, ordinal++};
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
      }
    }
  }

  // The cells of a row by family, qualifier, and timestamp from new to old.
  std::vector<ModelCell> Read(const std::string& row_key, uint64_t sequence,
                              int64_t now_micros) const {
    std::vector<ModelCell> cells;
    const auto row = rows_.find(row_key);
    if (row == rows_.end()) return cells;
    for (const auto& [family_name, family] : row->second.families) {
      std::vector<ModelVersion> wide_deletes = row->second.deletes;
      wide_deletes.insert(wide_deletes.end(), family.deletes.begin(), family.deletes.end());
      const GcRule& gc = schema_.families.at(family_name).gc;
      for (const auto& [qualifier, column] : family.columns) {
        for (auto& [timestamp, value] : column.Read(sequence, gc, now_micros, wide_deletes)) {
          cells.push_back({family_name, qualifier, timestamp, std::move(value)});
        }
      }
    }
    return cells;
  }

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

  TableSchema schema_;
  std::map<std::string, RowHistory> rows_;
  std::map<std::string, int64_t> last_server_times_;  // of each tablet, by its first row
};

struct ModelDatabase {
  std::map<std::string, ModelTable> tables;
  uint64_t sequence = 0;  // of the last mutation

  // Whether it was applied; otherwise nothing changed.
  bool Apply(const std::string& table, int64_t now_micros, const ModelMutation& mutation) {
    ModelTable& model = tables.at(table);
    if (!model.Accepts(mutation)) return false;
    model.Apply(++sequence, now_micros, mutation);
    return true;
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_H_
