// A compaction filter for tests, and what it has done to the cells of a model of a table
// (support/model.h).
//
// When a compaction applies a filter is not defined, except by Database::Compact. So a cell that
// the filter would change is pending until the engine shows that it was changed, or until it must
// have been. From then on it stays changed. model/model_filter_steps.h finds that out. One thread
// at a time.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_FILTERED_CELLS_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_FILTERED_CELLS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bigtable/compaction_filter.h"
#include "bigtable/schema.h"

#include "support/model_cells.h"

namespace bigtable {

// Removes values that begin with 'x', a line break, "v1" or "v2", and makes "v3..." "w...".
class ModelCompactionFilter final : public CompactionFilter {
 public:
  static constexpr const char* kName = "test.model";

  Decision Filter(const CompactedCell& cell, std::string* value) const override {
    return Decide(cell.value, value);
  }
  static Decision Decide(std::string_view value, std::string* replacement) {
    for (const char* const prefix : {"x", "\n", "v1", "v2"}) {
      if (value.starts_with(prefix)) return Decision::kRemove;
    }
    if (!value.starts_with("v3")) return Decision::kKeep;
    *replacement = "w";
    replacement->append(value.substr(2));
    return Decision::kReplace;
  }
  static bool Changes(std::string_view value) {
    std::string replacement;
    return Decide(value, &replacement) != Decision::kKeep;
  }
};
inline const bool kModelCompactionFilterIsRegistered =
    RegisterCompactionFilter(ModelCompactionFilter::kName,
                             std::make_unique<ModelCompactionFilter>())
        .ok();

class ModelFilteredCells {
 public:
  // The family has the filter, or gets it. It stays known after the family has lost it: compactions
  // that began before may still apply it.
  void AddFamily(const std::string& name) {
    families_.insert(name);
    for (auto& [row, writes] : writes_) writes.steady_from.clear();
  }
  void RemoveFamily(const std::string& name) { families_.erase(name); }
  bool has_families() const { return !families_.empty(); }
  bool Concerns(const std::string& family) const { return families_.contains(family); }

  // A mutation of the row has a value that the filter changes.
  void RecordWrite(const std::string& row, uint64_t sequence) {
    writes_[row].sequences.insert(sequence);
  }
  // Whether the row at `sequence` may have a pending cell: it has such a value, and no earlier look
  // at the row has found that none of its cells is pending. It stays so: only writes and families
  // make a cell pending.
  bool MayBePending(const std::string& row, uint64_t sequence) const {
    const auto found = writes_.find(row);
    if (families_.empty() || found == writes_.end()) return false;
    const auto& [sequences, steady_from] = found->second;
    const auto next = sequences.upper_bound(sequence);
    if (next == sequences.begin()) return false;
    const auto steady = steady_from.find(*std::prev(next));
    return steady == steady_from.end() || steady->second > sequence;
  }
  // No cell of the row at `sequence` is pending, after a look that MayBePending has asked for.
  void SetSteady(const std::string& row, uint64_t sequence) {
    RowWrites& writes = writes_.at(row);
    const uint64_t last = *std::prev(writes.sequences.upper_bound(sequence));
    writes.steady_from[last] = sequence;
  }

  // Whether the filter may change the cell, a result of ModelTable::Read.
  bool IsPending(const std::string& row, const ModelCell& cell) const {
    return Concerns(cell.family) && ModelCompactionFilter::Changes(cell.value) &&
           !filtered_.contains(KeyOf(row, cell));
  }
  void SetFiltered(const std::string& row, const ModelCell& cell) {
    filtered_.insert(KeyOf(row, cell));
  }

  // Changes the cells of a row that were filtered.
  void Apply(const std::string& row, std::vector<ModelCell>* cells) const {
    if (filtered_.empty()) return;
    std::erase_if(*cells, [&](ModelCell& cell) {
      std::string replacement;
      const auto decision = Concerns(cell.family)
                                ? ModelCompactionFilter::Decide(cell.value, &replacement)
                                : CompactionFilter::Decision::kKeep;
      if (decision == CompactionFilter::Decision::kKeep) return false;
      if (!filtered_.contains(KeyOf(row, cell))) return false;
      cell.value = std::move(replacement);
      return decision == CompactionFilter::Decision::kRemove;
    });
  }

  // Of a whole row as the model returns it, and the engine at the same snapshot: the pending cells
  // that were changed.
  std::vector<ModelCell> Changed(const ModelRow& expected, const ModelRow& got) const {
    std::map<std::tuple<std::string, std::string, int64_t>, const ModelCell*> present;
    for (const ModelCell& cell : got.cells) {
      present[{cell.family, cell.qualifier, cell.timestamp}] = &cell;
    }
    std::vector<ModelCell> changed;
    for (const ModelCell& cell : expected.cells) {
      if (!IsPending(expected.key, cell)) continue;
      std::string replacement;
      const auto decision = ModelCompactionFilter::Decide(cell.value, &replacement);
      const auto at = present.find({cell.family, cell.qualifier, cell.timestamp});
      const bool is_changed = decision == CompactionFilter::Decision::kRemove
                                  ? at == present.end()
                                  : at != present.end() && at->second->value.view() == replacement;
      if (is_changed) changed.push_back(cell);
    }
    return changed;
  }

 private:
  // A write of a cell.
  using Key = std::tuple<std::string, std::string, std::string, int64_t, ModelVersion>;
  static Key KeyOf(const std::string& row, const ModelCell& cell) {
    return {row, cell.family, cell.qualifier, cell.timestamp, cell.version};
  }

  // Of values that the filter changes.
  struct RowWrites {
    std::set<uint64_t> sequences;
    // Since which sequence after a write, and until the next one, no cell is pending.
    std::map<uint64_t, uint64_t> steady_from;
  };

  std::set<std::string> families_;
  std::set<Key> filtered_;
  std::map<std::string, RowWrites> writes_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_FILTERED_CELLS_H_
