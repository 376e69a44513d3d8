// How a model test follows compaction filters, which compactions apply in the background
// (support/model_filtered_cells.h). What the engine shows is compared with what the filter may have
// done, and with what it must have done or must not do.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_FILTER_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_FILTER_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_schema_steps.h"
#include "support/model.h"

namespace bigtable {

// One thread at a time.
class ModelFilterSteps : public ModelSchemaSteps {
 protected:
  using ModelSchemaSteps::ModelSchemaSteps;

  // The snapshot of a read, in the engine and in the model.
  struct ReadPoint {
    ReadOptions options;
    uint64_t sequence = 0;
    bool is_steady = false;                        // no filter changes what is read
    std::optional<int64_t> micros = std::nullopt;  // the time of the snapshot; none: the present
  };
  int64_t TimeOf(const ReadPoint& point) const { return point.micros.value_or(clock_.micros()); }

  // While this lives, filters change nothing in the table. What they have done is known.
  class Stillness {
   public:
    Stillness(ModelFilterSteps* steps, const std::string& table)
        : steps_(steps), stops_(steps->HasPending(table, steps->model_.sequence)) {
      if (!stops_) return;
      steps_->StopCompactions();
      steps_->Settle(table, {{}, steps_->model_.sequence});
    }
    // Of all tables, for observers. Without observers nothing is stopped.
    explicit Stillness(ModelFilterSteps* steps)
        : steps_(steps),
          stops_(steps->plan_.settings.filters && steps->plan_.settings.observers &&
                 steps->AnyHasPending()) {
      if (!stops_) return;
      steps_->StopCompactions();
      steps_->SettleAll();
    }
    ~Stillness() {
      if (stops_) steps_->database_->ContinueCompactions();
    }
    Stillness(const Stillness&) = delete;
    Stillness& operator=(const Stillness&) = delete;

   private:
    ModelFilterSteps* const steps_;
    const bool stops_;
  };

  // Until ContinueCompactions().
  void StopCompactions() {
    database_->PauseCompactions();
    database_->CancelCompactions();
  }
  // Whether filters will not change what a read of the table returns.
  bool IsSteady(const std::string& table, const ReadPoint& point) {
    return point.is_steady || !HasPending(table, point.sequence);
  }

  // Calls `difference`, which reads the table and returns how the result differs from the model. A
  // filter may come in between: then it is called again.
  void CheckBesideFilters(const std::string& table, const ReadPoint& point,
                          absl::FunctionRef<std::string()> difference) {
    if (!HasPending(table, point.sequence)) return Check(difference());
    Settle(table, point);
    for (std::string wrong = difference(); ok() && !wrong.empty(); wrong = difference()) {
      if (Settle(table, point) == 0) return Check(wrong);
    }
  }

  void SettleAll() {
    for (const auto& [name, table] : model_.tables) Settle(name, {{}, model_.sequence});
  }
  // Finds out which pending cells were changed, by reading their rows. Returns how many.
  size_t Settle(const std::string& table, const ReadPoint& point) {
    if (!HasPending(table, point.sequence)) return 0;
    ModelTable& model = model_.tables.at(table);
    Table* const engine = TableOf(table);
    if (engine == nullptr) return 0;
    size_t settled = 0;
    for (const std::string& key : model.RowKeys()) {
      if (!HasPending(&model, key, point.sequence)) continue;
      const ModelRow expected{key, model.Read(key, point.sequence, TimeOf(point))};
      const absl::StatusOr<Row> row =
          engine->ReadRow(key, {}, {.snapshot = point.options.snapshot});
      if (!Check(row.status(), "ReadRow")) return settled;
      for (const ModelCell& cell : model.filtered().Changed(expected, ToModel(*row))) {
        CheckMayChange(table, key, cell);
        model.mutable_filtered()->SetFiltered(key, cell);
        ++settled;
      }
    }
    return settled;
  }
  // After a Compact of the table, in which nothing else wrote: the filter was applied to everything
  // that was written before the open stream, unless a snapshot was there.
  void NoteCompacted(const std::string& table) {
    if (!snapshots_.empty()) return;
    ModelTable& model = model_.tables.at(table);
    if (!model.filtered().has_families()) return;
    for (const std::string& key : model.RowKeys()) {
      for (const ModelCell& cell : model.Read(key, model_.sequence, clock_.micros())) {
        if (!model.filtered().IsPending(key, cell)) continue;
        if (model.schema().families.at(cell.family).compaction_filter.empty()) continue;
        if (cursor_ != nullptr && cell.version.sequence > cursor_sequence_) continue;
        model.mutable_filtered()->SetFiltered(key, cell);
      }
    }
  }

 private:
  bool HasPending(const std::string& table, uint64_t sequence) {
    ModelTable& model = model_.tables.at(table);
    if (!model.filtered().has_families()) return false;
    const std::vector<std::string> keys = model.RowKeys();
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return HasPending(&model, key, sequence); });
  }
  bool AnyHasPending() {
    return std::any_of(model_.tables.begin(), model_.tables.end(),
                       [&](const auto& table) { return HasPending(table.first, model_.sequence); });
  }
  // Looks only at rows that may have a pending cell: a look takes as long as a read of the model.
  bool HasPending(ModelTable* model, const std::string& key, uint64_t sequence) {
    if (!model->filtered().MayBePending(key, sequence)) return false;
    const std::vector<ModelCell> cells = model->Read(key, sequence, clock_.micros());
    const bool has_pending = std::any_of(cells.begin(), cells.end(), [&](const ModelCell& cell) {
      return model->filtered().IsPending(key, cell);
    });
    if (!has_pending) model->mutable_filtered()->SetSteady(key, sequence);
    return has_pending;
  }
  // A snapshot keeps the cell from the filter.
  void CheckMayChange(const std::string& table, const std::string& key, const ModelCell& changed) {
    for (const Taken& taken : snapshots_) {
      if (!taken.is_steady) continue;
      for (const ModelCell& cell :
           model_.tables.at(table).Read(key, taken.sequence, taken.micros)) {
        if (cell == changed && cell.version == changed.version) {
          Check(Cat("A filter has changed a cell of ", table,
                    " that a snapshot sees: ", Describe(ModelRow{key, {cell}})));
        }
      }
    }
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_FILTER_STEPS_H_
