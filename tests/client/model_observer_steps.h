// How a model test follows observers: the observers of its tables, and the calls of After that each
// step must make. What observers add and refuse is a part of each write (support/model_write.h).
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "client/model_engine_observers.h"
#include "client/model_tablet_steps.h"
#include "support/model.h"
#include "support/model_write.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelObserverSteps : public ModelTabletSteps {
 protected:
  explicit ModelObserverSteps(const ModelPlan& plan) : ModelTabletSteps(plan) {
    ModelEngineObserver::TakeCalls();
  }

  // A table for the observers, with some of them.
  static void Observe(Random& random, const std::string& name, TableSchema* schema) {
    schema->families["s"] = {};
    schema->families["n"] = {.value_type = ValueType::kInt64Sum};
    if (name == kModelIndexTable) schema->families["i"] = {};
    schema->observers = ModelEngineObserver::Draw(random, name);
  }
  void SetObservers(Random& random) {
    if (!plan_.settings.observers) return Log("(no observers here)");
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    std::vector<std::string> observers = ModelEngineObserver::Draw(random, table);
    const bool is_known = !random.OneIn(10);
    if (!is_known) observers.push_back(random.OneIn(2) ? "model.unknown" : kModelStamp);
    if (!is_known && observers.back() == kModelStamp) observers.emplace_back(kModelStamp);
    Log(Cat("SetObservers ", table, " ", absl::StrJoin(observers, ", ")));
    const absl::Status status = database_->SetObservers(table, observers);
    if (!is_known) return Expect(absl::StatusCode::kInvalidArgument, status, "SetObservers");
    if (Check(status, "SetObservers")) model_.tables.at(table).SetObservers(observers);
  }

  // A commit that After must be called for.
  void Committed(ModelCommitCalls calls) {
    if (!calls.empty()) commits_.push_back(std::move(calls));
  }
  // Compares the calls of After with the commits since the last comparison.
  void CheckCalls() {
    const std::vector<ModelEngineObserver::Call> calls = ModelEngineObserver::TakeCalls();
    const std::vector<ModelCommitCalls> commits = std::exchange(commits_, {});
    size_t next = 0;
    for (const ModelCommitCalls& commit : commits) {
      for (size_t i = 0; i < commit.size(); ++i, ++next) {
        if (next == calls.size()) return Check("After was not called for a committed mutation");
        CheckCall(commit[i], calls[next]);
        const bool is_same = last_sequence_ == calls[next].sequence;
        if (is_same != (i > 0) || last_sequence_ > calls[next].sequence) {
          Check(Cat("After was called with ", calls[next].sequence, " behind ", last_sequence_));
        }
        last_sequence_ = calls[next].sequence;
      }
    }
    if (next < calls.size()) {
      Check(Cat("After was called without a commit, for ", calls[next].table, " row ",
                Quoted(calls[next].mutation.row)));
    }
  }

 private:
  void CheckCall(const ModelCommitCall& expected, const ModelEngineObserver::Call& call) {
    const std::string what = Cat("After for ", expected.table, " row ",
                                 Quoted(std::string_view(expected.mutation.row).substr(0, 20)));
    if (call.table != expected.table || call.mutation.row != expected.mutation.row) {
      return Check(Cat(what, ", but it was called for ", call.table, " row ",
                       Quoted(std::string_view(call.mutation.row).substr(0, 20))));
    }
    if (!IsSame(expected.mutation, call.mutation)) Check(Cat(what, ": another mutation"));
    if (!Check(call.status, what)) return;
    const std::string wrong = Difference({call.mutation.row, expected.row}, call.row);
    if (!wrong.empty()) Check(Cat(what, " reads ", wrong));
  }
  static bool IsSame(const ModelMutation& a, const ModelMutation& b) {
    const auto fields = [](const ModelOperation& op) {
      return std::tuple(op.kind, op.family, op.qualifier, op.timestamp, op.value.view(), op.end);
    };
    return std::ranges::equal(a.operations, b.operations, {}, fields, fields);
  }

  std::vector<ModelCommitCalls> commits_;
  uint64_t last_sequence_ = 0;  // of a call
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_
