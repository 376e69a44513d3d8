// The possible rows of a table after writes of which some were refused. The rules are those of
// include/bigtable/table.h: acknowledged writes are there. Refused writes are not, as long as the
// process lives; after a crash such a write may be there as a whole, if it was refused because of
// the log. The death of the machine may lose writes that were acknowledged without a sync, but only
// those after all that it keeps.
//
// One family may be dropped and added again, which removes what was written to it before.
//
// One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_UNCERTAIN_ROWS_H_
#define BIGTABLE_TESTS_CLIENT_UNCERTAIN_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/schema.h"

#include "support/model.h"

namespace bigtable {

class UncertainRows {
 public:
  using Rows = std::map<std::string, std::vector<ModelCell>>;  // only rows with cells
  enum class Crash { kOfProcess, kOfMachine };

  // `schema` has all families, including `passing`, which exists at first.
  UncertainRows(TableSchema schema, std::string passing)
      : schema_(std::move(schema)), passing_(std::move(passing)) {}

  // --- Writes ---

  void Acknowledge(const ModelMutation& mutation, bool is_durable) {
    rows_[mutation.row].push_back({mutation, generation_, true, is_durable});
  }
  // A write that was refused because of the log.
  void Doubt(const ModelMutation& mutation) {
    rows_[mutation.row].push_back({mutation, generation_, false, false});
  }
  // Whether so many writes to the row are uncertain that checking all combinations would take long.
  bool IsDoubtful(const std::string& row) const {
    const auto at = rows_.find(row);
    return at != rows_.end() && DoubtsOf(at->second).size() >= 6;
  }
  // All acknowledged writes were flushed, so they survive any crash.
  void MakeDurable() {
    for (auto& [row, writes] : rows_) {
      for (Write& write : writes) write.is_durable = write.is_acknowledged;
    }
  }
  // The refused writes are certainly lost.
  void ForgetDoubts() {
    for (auto& [row, writes] : rows_) {
      std::erase_if(writes, [](const Write& write) { return !write.is_acknowledged; });
    }
    other_generation_.reset();
  }

  // --- The family that is dropped and added ---

  bool HasFamily() const { return generation_ != kNone; }
  // The family was dropped or added.
  void ChangeFamily() { generation_ = Changed(); }
  // Dropping or adding the family was refused, but may take effect after a crash.
  void DoubtFamily() { other_generation_ = Changed(); }

  // --- Reads ---

  // The row as reads return it as long as the process lives.
  std::vector<ModelCell> Read(const std::string& row) const {
    const auto at = rows_.find(row);
    if (at == rows_.end()) return {};
    return Play(at->second, at->second.size(), {});
  }
  Rows ReadAll() const {
    Rows all;
    for (const auto& [row, writes] : rows_) {
      if (std::vector<ModelCell> cells = Read(row); !cells.empty()) all[row] = std::move(cells);
    }
    return all;
  }

  // Checks the state that was found after a crash. If it is possible, it becomes the current state.
  // Otherwise returns the wrong row, or the family.
  std::optional<std::string> Recover(Crash crash, bool has_family, const Rows& found) {
    if (has_family != HasFamily()) {
      if (!other_generation_.has_value()) return "family " + passing_;
      generation_ = *other_generation_;
    }
    other_generation_.reset();
    for (const auto& [row, cells] : found) {
      if (!rows_.contains(row)) return row;
    }
    static const std::vector<ModelCell> kNothing;
    for (auto& [row, writes] : rows_) {
      const auto at = found.find(row);
      if (!RecoverRow(crash, at == found.end() ? kNothing : at->second, &writes)) return row;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kNone = -1;
  struct Write {
    ModelMutation mutation;
    int generation;  // of the family that is dropped and added
    bool is_acknowledged;
    bool is_durable;
  };
  using Writes = std::vector<Write>;

  int Changed() {
    if (HasFamily()) return kNone;
    return ++last_generation_;
  }
  static std::vector<size_t> DoubtsOf(const Writes& writes) {
    std::vector<size_t> doubts;
    for (size_t i = 0; i < writes.size(); ++i) {
      if (!writes[i].is_acknowledged) doubts.push_back(i);
    }
    return doubts;
  }
  // The result of the first `count` writes, without uncertain ones except `made`.
  std::vector<ModelCell> Play(const Writes& writes, size_t count,
                              const std::set<size_t>& made) const {
    ModelTable table(schema_);
    uint64_t sequence = 0;
    for (size_t i = 0; i < count; ++i) {
      if (!writes[i].is_acknowledged && !made.contains(i)) continue;
      ModelMutation mutation = writes[i].mutation;
      if (writes[i].generation != generation_) {
        std::erase_if(mutation.operations, [this](const ModelOperation& op) {
          return op.family == passing_ && op.kind != ModelOperation::Kind::kDeleteRow;
        });
      }
      table.Apply(++sequence, 0, mutation);
    }
    return writes.empty() ? std::vector<ModelCell>()
                          : table.Read(writes.front().mutation.row, sequence, 0);
  }
  bool RecoverRow(Crash crash, const std::vector<ModelCell>& found, Writes* writes) const {
    size_t least = writes->size();
    if (crash == Crash::kOfMachine) {
      while (least > 0 && !(*writes)[least - 1].is_durable) --least;
    }
    const std::vector<size_t> doubts = DoubtsOf(*writes);
    for (size_t count = writes->size() + 1; count-- > least;) {
      for (uint64_t bits = 0; bits < uint64_t{1} << doubts.size(); ++bits) {
        std::set<size_t> made;
        for (size_t i = 0; i < doubts.size(); ++i) {
          if ((bits >> i & 1) != 0) made.insert(doubts[i]);
        }
        if (!made.empty() && *made.rbegin() >= count) continue;
        if (Play(*writes, count, made) != found) continue;
        Writes left;
        for (size_t i = 0; i < count; ++i) {
          if (!(*writes)[i].is_acknowledged && !made.contains(i)) continue;
          left.push_back((*writes)[i]);
          left.back().is_acknowledged = left.back().is_durable = true;
        }
        *writes = std::move(left);
        return true;
      }
    }
    return false;
  }

  const TableSchema schema_;
  const std::string passing_;
  std::map<std::string, Writes> rows_;
  int generation_ = 0;
  int last_generation_ = 0;
  std::optional<int> other_generation_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_UNCERTAIN_ROWS_H_
