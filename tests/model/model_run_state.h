// The state of a model test: the database, the model, open snapshots and streams, the script of the
// steps so far, and the first difference.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_RUN_STATE_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_RUN_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/testing/manual_clock.h"

#include "base/strings.h"
#include "model/model_cursors.h"
#include "model/model_names.h"
#include "model/model_plan.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/model_observer_rules.h"
#include "support/model_quotas.h"
#include "support/random.h"
#include "support/scoped_empty_rows.h"
#include "support/scoped_index_sizes.h"
#include "support/scoped_lesson.h"
#include "support/scoped_shortcuts.h"
#include "support/tally.h"
#include "support/test_clock.h"

namespace bigtable {

// What all steps of a model test work on. One thread at a time.
class ModelRunState {
 public:
  const std::string& failure() const { return failure_; }
  // The steps that were done, one on each line.
  const std::vector<std::string>& script() const { return script_; }

 protected:
  struct Taken {
    std::shared_ptr<const Snapshot> snapshot;
    uint64_t sequence;  // in the model
    // No compaction was running. So what the snapshot sees, no filter changes as long as it lives.
    bool is_steady;
    int64_t micros;  // when it was taken, by the clock
  };

  explicit ModelRunState(const ModelPlan& plan)
      : plan_(plan),
        lesson_(1 + plan.seed % 16),
        empty_rows_(ScopedEmptyRows::OfSeed(plan.seed)),
        index_sizes_(plan.seed),
        shortcuts_(shortcuts_off |
                   (plan.seed % 4 == 0 ? ScopedShortcuts::Bit(Shortcut::kWholeIndex) : 0)) {}
  ~ModelRunState() {
    Tally("operations", operations_);
    Tally("reads", reads_);
    Tally("reopenings", reopenings_);
  }
  ModelRunState(const ModelRunState&) = delete;
  ModelRunState& operator=(const ModelRunState&) = delete;

  bool ok() const { return failure_.empty(); }
  void Log(std::string line) { script_.push_back(std::move(line)); }
  void Check(const std::string& wrong) {
    if (ok() && !wrong.empty()) failure_ = wrong;
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok()) Check(Cat(what, ": ", status.ToString()));
    return status.ok();
  }
  void Expect(absl::StatusCode code, const absl::Status& status, std::string_view what) {
    if (status.code() != code) {
      Check(Cat(what, ": ", status.ToString(), "\n  expected: ", absl::StatusCodeToString(code)));
    }
  }
  // A filter that collects rows passes all cells instead if one of these rows is so large that the
  // engine may refuse to collect it: what it refuses has tests of its own (cache/read_memory.h).
  static void KeepWithinMemory(const ModelTable& model, const std::vector<std::string>& keys,
                               uint64_t sequence, int64_t micros, ModelFilter* filter) {
    // With what the filter copies, and beside an open stream, less than half of the smallest
    // budget.
    constexpr size_t kLargeRow = 6 << 20;
    if (!filter->NeedsRow()) return;
    for (const std::string& key : keys) {
      size_t bytes = 0;
      for (const ModelCell& cell : model.Read(key, sequence, micros)) {
        bytes += cell.qualifier.size() + cell.value.size();
      }
      if (bytes >= kLargeRow) filter->kind = ModelFilter::Kind::kPassAll;
    }
  }
  Table* TableOf(const std::string& name) {
    absl::StatusOr<Table*> table = database_->OpenTable(name, {.caller = caller_});
    return Check(table.status(), "OpenTable") ? *table : nullptr;
  }
  // The name of an existing table; empty if there is none.
  std::string AnyTable(Random& random) {
    if (plan_.settings.observers && random.OneIn(8)) return kModelIndexTable;
    const std::string name = RandomTableName(random);
    if (model_.tables.contains(name)) return name;
    return model_.tables.empty() ? "" : model_.tables.begin()->first;
  }

  const ModelPlan& plan_;
  const ScopedLesson lesson_;
  const ScopedEmptyRows empty_rows_;  // after few rows
  const ScopedIndexSizes index_sizes_;
  const ScopedShortcuts shortcuts_;  // some runs have files in parts
  // Not zero: a new table may have used the first instant of time itself.
  static constexpr int64_t kFirstMicros = 10;
  TestClock clock_{kFirstMicros};
  ManualClock quota_time_;
  std::unique_ptr<InMemoryFileSystem> memory_;  // null: the files are those of the machine
  std::string path_;
  std::unique_ptr<Database> database_;
  std::optional<std::string> caller_;  // of tables that are opened
  ModelDatabase model_;
  ModelQuotas quotas_;
  std::vector<Taken> snapshots_;
  std::unique_ptr<ModelCursor> cursor_;
  uint64_t cursor_sequence_ = 0;  // in the model; filters wait for later writes
  uint64_t operations_ = 0;       // this and the next two report how much was tested
  uint64_t reads_ = 0;
  uint64_t reopenings_ = 0;
  std::vector<std::string> script_;
  std::string failure_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_RUN_STATE_H_
