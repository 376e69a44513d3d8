// The steps of a model test that give tables observers. What observers add and refuse is a part of
// each write (support/model_write.h), and so are the calls of After (model_commits.h).
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_commits.h"
#include "model/model_engine_observers.h"
#include "model/model_tablet_steps.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelObserverSteps : public ModelTabletSteps {
 protected:
  using ModelTabletSteps::ModelTabletSteps;

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

  // Compares the calls of After with the commits since the last comparison.
  void CheckCalls() { Check(commits_.CheckCalls()); }

  ModelCommits commits_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_OBSERVER_STEPS_H_
