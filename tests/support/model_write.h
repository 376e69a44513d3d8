// A write to a model of a database (support/model.h) that takes effect as a whole or not at all:
// its mutations, and what observers (support/model_observer_rules.h) add to them. One thread at a
// time.
//
// The definitions:
//   * Each mutation is observed by the observers of its table, in their order. They see the row
//     without it, with it, and with what those before have added to the row. All else is seen as
//     before the mutation, and after the mutations before it.
//   * What they add comes after the mutation, in order. What they add to another row is observed in
//     its turn.
//   * A mutation that is refused changes nothing, nor does what was to be added to it.
//   * Errors that only the commit finds (of tables without observers, and of quotas) refuse all.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_WRITE_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_WRITE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "support/model.h"
#include "support/model_observer_rules.h"
#include "support/model_quotas.h"

namespace bigtable {

// A call of After, and what it reads of the row.
struct ModelCommitCall {
  std::string table;
  ModelMutation mutation;
  std::vector<ModelCell> row;
};
using ModelCommitCalls = std::vector<ModelCommitCall>;

class ModelWrite {
 public:
  // A write of one mutation costs less.
  enum class Size { kOne, kSeveral };
  ModelWrite(ModelDatabase* model, ModelQuotas* quotas, int64_t now_micros, Size size)
      : model_(*model),
        quotas_(*quotas),
        now_micros_(now_micros),
        saves_rows_(size == Size::kSeveral) {}
  ~ModelWrite() { TakeBack({.sequence = first_sequence_}); }
  ModelWrite(const ModelWrite&) = delete;
  ModelWrite& operator=(const ModelWrite&) = delete;

  // An error is the observers': nothing of the mutation was applied.
  absl::Status Apply(const std::string& table, const ModelMutation& mutation) {
    const State before{undo_.size(), commit_errors_.size(), calls_.size(), model_.sequence};
    absl::Status status = Observe(table, mutation);
    if (!status.ok()) TakeBack(before);
    return status;
  }

  // The errors with which the commit may end, one of which it must end with. What was read is not
  // known if there are some.
  std::set<absl::StatusCode> commit_errors() const {
    return {commit_errors_.begin(), commit_errors_.end()};
  }
  // Whether a quota may refuse the commit or not.
  bool may_be_refused() const { return may_be_refused_; }

  // Keeps what was applied. Returns the calls of After.
  ModelCommitCalls Commit() {
    undo_.clear();
    for (ModelCommitCall& call : calls_) {
      call.row = model_.tables.at(call.table).Read(call.mutation.row, model_.sequence, now_micros_);
    }
    return std::move(calls_);
  }

 private:
  struct State {
    size_t undo = 0;
    size_t commit_errors = 0;
    size_t calls = 0;
    uint64_t sequence = 0;
  };
  struct Undo {
    std::string table;
    ModelTable::SavedRow row;
  };

  // Of a mutation, at the time before it (`before`) and at the present.
  class Reads final : public ModelObserverReads {
   public:
    Reads(const ModelDatabase* model, int64_t now_micros, const std::string* table,
          const std::string* row, uint64_t before)
        : model_(*model), now_micros_(now_micros), table_(*table), row_(*row), before_(before) {}

    Cells Before(bool newest) override { return Read(table_, row_, before_, newest); }
    Cells After(bool newest) override { return Read(table_, row_, model_.sequence, newest); }
    Cells ReadRow(const std::string& table, const std::string& row) override {
      return Read(table, row, before_, false);
    }
    absl::StatusOr<size_t> CountRows(const std::string& table, const std::string& prefix) override {
      const std::vector<std::string> keys = model_.tables.at(table).RowKeys();
      return std::count_if(keys.begin(), keys.end(), [&](const std::string& key) {
        return key.starts_with(prefix) && !Read(table, key, before_, false).empty();
      });
    }

   private:
    std::vector<ModelCell> Read(const std::string& table, const std::string& row, uint64_t sequence,
                                bool newest) const {
      std::vector<ModelCell> cells = model_.tables.at(table).Read(row, sequence, now_micros_);
      if (!newest) return cells;
      const auto is_older = [](const ModelCell& a, const ModelCell& b) {
        return a.family == b.family && a.qualifier == b.qualifier;
      };
      cells.erase(std::unique(cells.begin(), cells.end(), is_older), cells.end());
      return cells;
    }

    const ModelDatabase& model_;
    const int64_t now_micros_;
    const std::string& table_;
    const std::string& row_;
    const uint64_t before_;
  };

  absl::Status Observe(const std::string& table, const ModelMutation& mutation) {
    const std::vector<std::string>& observers = model_.tables.at(table).schema().observers;
    if (observers.empty()) return Add(table, mutation, /*is_observed=*/false);
    saves_rows_ = true;
    Reads reads(&model_, now_micros_, &table, &mutation.row, model_.sequence);
    if (absl::Status s = Add(table, mutation, /*is_observed=*/true); !s.ok()) return s;
    std::vector<ModelAddition> others;
    for (const std::string& observer : observers) {
      std::vector<ModelAddition> additions;
      absl::Status s = ObserveByRule(observer, table, mutation, &reads, &additions);
      if (!s.ok()) return s;
      if (observer == kModelRecord) calls_.push_back({table, mutation, {}});
      for (ModelAddition& addition : additions) {
        const bool is_of_row = addition.table == table && addition.mutation.row == mutation.row;
        if (!is_of_row) {
          others.push_back(std::move(addition));
        } else if (s = Add(table, addition.mutation, /*is_observed=*/false); !s.ok()) {
          return s;
        }
      }
    }
    for (const ModelAddition& addition : others) {
      if (absl::Status s = Observe(addition.table, addition.mutation); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  // A mutation of an observed table is checked before its observers are called.
  absl::Status Add(const std::string& table, const ModelMutation& mutation, bool is_observed) {
    ModelTable& model = model_.tables.at(table);
    if (!model.Accepts(mutation)) {
      if (is_observed) return absl::NotFoundError("a family");
      commit_errors_.push_back(absl::StatusCode::kNotFound);
      return absl::OkStatus();
    }
    const ModelQuotas::Verdict verdict = quotas_.Judge(model_, table, mutation, now_micros_);
    if (verdict != ModelQuotas::Verdict::kAdmitted) may_be_refused_ = saves_rows_ = true;
    if (verdict == ModelQuotas::Verdict::kRefused) {
      commit_errors_.push_back(absl::StatusCode::kResourceExhausted);
    }
    if (saves_rows_) undo_.push_back({table, model.Save(mutation.row)});
    model_.Apply(table, now_micros_, mutation);
    return absl::OkStatus();
  }
  void TakeBack(const State& to) {
    if (undo_.size() > to.undo) model_.sequence = to.sequence;
    for (; undo_.size() > to.undo; undo_.pop_back()) {
      model_.tables.at(undo_.back().table).Restore(std::move(undo_.back().row));
    }
    commit_errors_.resize(to.commit_errors);
    calls_.resize(to.calls);
  }

  ModelDatabase& model_;
  ModelQuotas& quotas_;
  const int64_t now_micros_;
  const uint64_t first_sequence_ = model_.sequence;
  bool saves_rows_;  // to take the write back
  std::vector<Undo> undo_;
  std::vector<absl::StatusCode> commit_errors_;
  ModelCommitCalls calls_;
  bool may_be_refused_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_WRITE_H_
