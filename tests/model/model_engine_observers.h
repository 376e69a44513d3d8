// The observers of the random tests in the engine. What they do is in
// support/model_observer_rules.h; here are their reads and additions. They are registered under the
// names of the rules. kModelRecord records its calls of After.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_ENGINE_OBSERVERS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_ENGINE_OBSERVERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "model/model_cursors.h"
#include "support/model_cells.h"
#include "support/model_observer_rules.h"
#include "support/random.h"

namespace bigtable {

inline ModelMutation ToModel(std::string_view row,
                             const std::vector<ObservedOperation>& operations) {
  // In the order of OperationKind.
  static constexpr ModelOperation::Kind kKinds[] = {
      ModelOperation::Kind::kSet,          ModelOperation::Kind::kAddToCell,
      ModelOperation::Kind::kMergeToCell,  ModelOperation::Kind::kDeleteColumn,
      ModelOperation::Kind::kDeleteCell,   ModelOperation::Kind::kDeleteTimeRange,
      ModelOperation::Kind::kDeleteFamily, ModelOperation::Kind::kDeleteRow};
  ModelMutation mutation{std::string(row), {}};
  for (const ObservedOperation& operation : operations) {
    ModelOperation op;
    op.kind = kKinds[static_cast<size_t>(operation.kind)];
    op.family = operation.family;
    op.qualifier = operation.qualifier;
    if (operation.timestamp.has_value()) op.timestamp = operation.timestamp->micros();
    op.value = std::string(operation.value);
    op.end = operation.end.micros();
    mutation.operations.push_back(std::move(op));
  }
  return mutation;
}
inline ModelMutation ToModel(const ObservedMutation& observed) {
  return ToModel(observed.row(), observed.operations());
}

class ModelEngineObserver final : public MutationObserver {
 public:
  // A call of After.
  struct Call {
    std::string table;
    ModelMutation mutation;
    uint64_t sequence;
    absl::Status status;  // of a read of the row, as it was then
    ModelRow row;
  };

  static const std::vector<std::string>& Names() {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> registered = {kModelStamp, kModelRefuse, kModelLimit,
                                             kModelIndex, kModelCount,  kModelRecord};
      for (const std::string& name : registered) {
        RegisterMutationObserver(name, std::make_unique<ModelEngineObserver>(name)).IgnoreError();
      }
      return registered;
    }();
    return names;
  }
  // Some of them, for a table of this name. Additions to the index are not indexed.
  static std::vector<std::string> Draw(Random& random, const std::string& table) {
    std::vector<std::string> drawn;
    for (const std::string& name : Names()) {
      const bool is_index = name == kModelIndex || name == kModelCount;
      if ((is_index && table == kModelIndexTable) || random.OneIn(2)) continue;
      drawn.insert(drawn.begin() + random.Between(0, std::ssize(drawn)), name);
    }
    return drawn;
  }
  // Since the last call of it. Not for several threads.
  static std::vector<Call> TakeCalls() { return std::exchange(Calls(), {}); }

  explicit ModelEngineObserver(std::string name) : name_(std::move(name)) {}

  absl::Status Before(const ObservedMutation& observed, ObserverContext* context) override {
    Reads reads(context);
    std::vector<ModelAddition> additions;
    const std::string table(observed.table()->name());
    BT_RETURN_IF_ERROR(ObserveByRule(name_, table, ToModel(observed), &reads, &additions));
    for (const ModelAddition& addition : additions) {
      Table* to = observed.table();
      if (addition.table != table) {
        BT_ASSIGN_OR_RETURN(to, context->OpenTable(addition.table));
      }
      BT_RETURN_IF_ERROR(context->Apply(to, addition.mutation.Make()));
    }
    return absl::OkStatus();
  }
  void After(const ObservedMutation& observed, uint64_t sequence) override {
    const absl::StatusOr<Row> row = observed.table()->ReadRow(observed.row());
    Call call{std::string(observed.table()->name()), ToModel(observed), sequence, row.status(), {}};
    if (row.ok()) call.row = ToModel(*row);
    Calls().push_back(std::move(call));
  }
  bool ObservesCommits() const override { return name_ == kModelRecord; }

 private:
  class Reads final : public ModelObserverReads {
   public:
    explicit Reads(ObserverContext* context) : context_(context) {}

    Cells Before(bool newest) override { return CellsOf(context_->ReadBefore(FilterFor(newest))); }
    Cells After(bool newest) override { return CellsOf(context_->ReadAfter(FilterFor(newest))); }
    Cells ReadRow(const std::string& table, const std::string& row) override {
      BT_ASSIGN_OR_RETURN(Table* const opened, context_->OpenTable(table));
      return CellsOf(context_->ReadRow(opened, row));
    }
    absl::StatusOr<size_t> CountRows(const std::string& table, const std::string& prefix) override {
      BT_ASSIGN_OR_RETURN(Table* const opened, context_->OpenTable(table));
      RowReader reader = context_->ReadRows(opened, RowSet(RowRange::Prefix(prefix)));
      size_t count = 0;
      while (reader.Next()) ++count;
      BT_RETURN_IF_ERROR(reader.status());
      return count;
    }

   private:
    static Filter FilterFor(bool newest) { return newest ? Filter::Latest(1) : Filter(); }
    static Cells CellsOf(const absl::StatusOr<Row>& row) {
      BT_RETURN_IF_ERROR(row.status());
      return ToModel(*row).cells;
    }

    ObserverContext* const context_;
  };

  static std::vector<Call>& Calls() {
    static std::vector<Call> calls;
    return calls;
  }

  const std::string name_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_ENGINE_OBSERVERS_H_
