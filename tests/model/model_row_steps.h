// The steps of a model test that read a row and write it in one atomic operation.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_ROW_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_ROW_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_mutations.h"
#include "model/model_names.h"
#include "model/model_write_steps.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelRowSteps : public ModelWriteSteps {
 protected:
  using ModelWriteSteps::ModelWriteSteps;

  void ReadModifyWrite(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const Stillness still(this, table);
    const Stillness still_for_observers(this);
    RulesOfModel rules(&model_.tables.at(table), RandomRow(random), model_.sequence,
                       clock_.micros());
    for (int64_t i = random.Between(1, 4); i > 0; --i) rules.AddRandom(random);
    Log(Cat("ReadModifyWriteRow ", table, " ", Quoted(rules.row().substr(0, 20)),
            rules.Describe()));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const absl::StatusOr<Row> written =
        engine->ReadModifyWriteRow(rules.made(), RandomWriteOptions(random));
    if (rules.expected() != absl::StatusCode::kOk) {
      ++operations_;
      return Expect(rules.expected(), written.status(), "ReadModifyWriteRow");
    }
    const ModelMutation mutation = rules.Mutation();
    Applied(table, mutation, written.status());
    if (!written.ok()) return;
    ModelRow expected{mutation.row, {}};
    for (const ModelOperation& op : mutation.operations) {
      expected.cells.push_back({op.family, op.qualifier, *op.timestamp, op.value});
    }
    Check(Difference(expected, ToModel(*written)));
  }

  void CheckAndMutate(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    ModelMutation matched = RandomMutation(random, model, clock_.micros());
    ModelMutation other = RandomMutation(random, model, clock_.micros());
    other.row = matched.row;
    if (random.OneIn(3)) (random.OneIn(2) ? matched : other).operations.clear();
    ModelFilter filter = RandomFilter(random, model);
    KeepWithinMemory(model, {matched.row}, model_.sequence, clock_.micros(), &filter);
    Log(Cat("CheckAndMutateRow ", table, " ", filter.DebugString(), ": ", Describe(matched), " or ",
            Describe(other)));
    const Stillness still(this, table);
    const Stillness still_for_observers(this);
    const bool matches = !Visible(table, matched.row, filter).cells.empty();
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const absl::StatusOr<bool> result = engine->CheckAndMutateRow(
        matched.row, filter.Make(), matched.Make(), other.Make(), RandomWriteOptions(random));
    const ModelMutation& chosen = matches ? matched : other;
    if (result.ok() && *result != matches) {
      return Check(Cat("CheckAndMutateRow: ", *result, ", expected: ", matches));
    }
    if (chosen.operations.empty()) {
      Check(result.status(), "CheckAndMutateRow");
    } else {
      Applied(table, chosen, result.status());
    }
  }

  // Sometimes another write comes in between.
  void MutateAtomically(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    const ModelMutation mutation = RandomMutation(random, model, clock_.micros());
    ModelFilter filter = RandomFilter(random, model);
    KeepWithinMemory(model, {mutation.row}, model_.sequence, clock_.micros(), &filter);
    Log(Cat("MutateRowAtomically ", table, " ", filter.DebugString(), " ", Describe(mutation)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const Stillness still(this, table);
    const Stillness still_for_observers(this);
    int disturbances = random.OneIn(3) ? 1 : 0;
    const auto function = [&](const Row& row) -> absl::StatusOr<RowMutation> {
      ++reads_;
      Check(Difference(Visible(table, mutation.row, filter), ToModel(row)));
      if (disturbances-- > 0) {
        ModelMutation between = RandomMutation(random, model_.tables.at(table), clock_.micros());
        between.row = mutation.row;
        ApplyOne(table, between, RandomWriteOptions(random));
      }
      return mutation.Make();
    };
    Applied(table, mutation,
            engine->MutateRowAtomically(mutation.row, filter.Make(), function,
                                        RandomWriteOptions(random)));
  }

 private:
  ModelRow Visible(const std::string& table, const std::string& row, const ModelFilter& filter) {
    return {row,
            filter.Apply(row, model_.tables.at(table).Read(row, model_.sequence, clock_.micros()))};
  }

  // Rules of a ReadModifyWrite, and their result by the definition.
  class RulesOfModel {
   public:
    RulesOfModel(const ModelTable* table, const std::string& row, uint64_t sequence, int64_t now)
        : table_(table), row_(row), now_(now), made_(row) {
      // The newest cell of a column comes first.
      for (const ModelCell& cell : table->Read(row, sequence, now)) {
        newest_.try_emplace({cell.family, cell.qualifier}, cell);
      }
    }

    void AddRandom(Random& random) {
      const std::string family = random.OneIn(100) ? "unknown" : ExistingFamily(random, *table_);
      const std::string qualifier = random.OneIn(2) ? "n" : RandomQualifier(random);
      const std::string column = Cat(family, ":", qualifier);
      const bool is_increment = random.OneIn(2);
      const int64_t amount = random.OneIn(4) ? static_cast<int64_t>(random.Next()) : 1;
      const std::string bytes = is_increment ? "" : RandomValue(random);
      text_ += is_increment ? Cat(" Increment ", Quoted(column.substr(0, 20)), " ", amount)
                            : Cat(" Append ", Quoted(column.substr(0, 20)), " ", bytes.size());
      if (is_increment) {
        made_.Increment(column, amount);
      } else {
        made_.Append(column, bytes);
      }
      NoteFamily(family);
      if (expected_ != absl::StatusCode::kOk) return;
      if (!table_->schema().families.contains(family)) {
        expected_ = absl::StatusCode::kNotFound;
        return;
      }
      ModelCell& cell = CellOf(family, qualifier, is_increment);
      const std::string value(cell.value.view());
      if (!is_increment) {
        cell.value = value + bytes;
      } else if (const absl::StatusOr<int64_t> number = DecodeBigEndian(value); number.ok()) {
        cell.value = EncodeBigEndian(
            static_cast<int64_t>(static_cast<uint64_t>(*number) + static_cast<uint64_t>(amount)));
      } else {
        expected_ = absl::StatusCode::kFailedPrecondition;
      }
    }

    const std::string& row() const { return row_; }
    const std::string& Describe() const { return text_; }
    const bigtable::ReadModifyWrite& made() const { return made_; }
    // The family of a rule is found missing when its column is read. Everything else that the
    // schema refuses is found with a value that cannot be incremented, and at the end.
    absl::StatusCode expected() const {
      return expected_ == absl::StatusCode::kNotFound || refused_ == absl::StatusCode::kOk
                 ? expected_
                 : refused_;
    }
    ModelMutation Mutation() const {
      ModelMutation mutation{row_, {}};
      for (const auto& [column, cell] : written_) {
        ModelOperation op;
        op.family = cell.family;
        op.qualifier = cell.qualifier;
        op.timestamp = cell.timestamp;
        op.value = cell.value;
        mutation.operations.push_back(std::move(op));
      }
      return mutation;
    }

   private:
    using Cells = std::map<std::pair<std::string, std::string>, ModelCell>;

    // The first rule that the schema refuses.
    void NoteFamily(const std::string& name) {
      if (refused_ != absl::StatusCode::kOk) return;
      const auto& families = table_->schema().families;
      const auto family = families.find(name);
      if (family == families.end()) {
        refused_ = absl::StatusCode::kNotFound;
      } else if (HoldsAggregates(family->second)) {
        refused_ = absl::StatusCode::kInvalidArgument;
      }
    }
    ModelCell& CellOf(const std::string& family, const std::string& qualifier, bool is_increment) {
      const auto [at, is_new] = written_.try_emplace({family, qualifier});
      ModelCell& cell = at->second;
      if (!is_new) return cell;
      cell = {family, qualifier, now_, is_increment ? EncodeBigEndian(0) : std::string()};
      if (const auto old = newest_.find({family, qualifier}); old != newest_.end()) {
        cell.value = old->second.value;
        cell.timestamp = std::max(now_, old->second.timestamp);
      }
      return cell;
    }

    const ModelTable* const table_;
    const std::string row_;
    const int64_t now_;
    bigtable::ReadModifyWrite made_;
    Cells newest_;
    Cells written_;
    std::string text_;
    absl::StatusCode expected_ = absl::StatusCode::kOk;
    absl::StatusCode refused_ = absl::StatusCode::kOk;
  };
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_ROW_STEPS_H_
