// The steps of a model test that move the clock, flush, compact, and change tablets.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_TABLET_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_TABLET_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_names.h"
#include "model/model_read_steps.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelTabletSteps : public ModelReadSteps {
 protected:
  using ModelReadSteps::ModelReadSteps;

  void MoveClock(Random& random, bool back) {
    const int64_t by = random.Between(0, 2500);
    if (!back) {
      clock_.Set(clock_.micros() + by);
    } else if (!plan_.settings.expiry) {
      clock_.Set(std::max(kFirstMicros, clock_.micros() - by));
    }
    Log(Cat("The clock is ", clock_.micros()));
  }
  void Rewrite(Random& random, bool compact) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    Log(Cat(compact ? "Compact " : "Flush ", table));
    const bool is_done = Check(compact ? database_->Compact(table) : database_->Flush(table),
                               compact ? "Compact" : "Flush");
    if (compact && is_done && !writes_beside_) NoteCompacted(table);
  }
  // The following change nothing in the model except the servers' times.
  void SplitTablet(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string row = RandomRow(random);
    Log(Cat("SplitTablet ", table, " at ", Quoted(row)));
    const absl::Status split = database_->SplitTablet(table, row);
    if (absl::IsAlreadyExists(split)) return;
    if (Check(split, "SplitTablet")) model_.tables.at(table).SplitTablet(row);
  }
  void MergeTablets(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const absl::StatusOr<std::vector<TabletInfo>> tablets = database_->ListTablets(table);
    if (!Check(tablets.status(), "ListTablets")) return;
    if (tablets->size() < 2) return Log("(one tablet)");
    const std::string& row = (*tablets)[1 + random.Below(tablets->size() - 1)].rows.begin();
    Log(Cat("MergeTablets ", table, " at ", Quoted(row)));
    const absl::Status merged = database_->MergeTablets(table, row);
    // The table's rule may have merged them meanwhile.
    if (absl::IsNotFound(merged) && model_.tables.at(table).HasOwnWill()) return;
    if (Check(merged, "MergeTablets")) model_.tables.at(table).MergeTablets(row);
  }
  void MoveTablet(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string row = RandomRow(random);
    const int server = static_cast<int>(random.Below(static_cast<uint64_t>(servers_)));
    Log(Cat("MoveTablet ", table, " with ", Quoted(row), " to ", server));
    Check(database_->MoveTablet(table, row, server), "MoveTablet");
  }
  void DropRowRange(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();  // it may see the rows or not
    const RowRange rows = random.OneIn(10) ? RowRange::All() : RandomRowRange(random);
    Log(Cat("DropRowRange ", table, bigtable::Describe({rows})));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    if (Check(engine->DropRowRange(rows), "DropRowRange")) model_.tables.at(table).DropRows(rows);
  }
  void PauseOrContinue(Random& random) {
    if (pauses_ > 0 && !random.OneIn(3)) {
      Log("ContinueCompactions");
      database_->ContinueCompactions();
      --pauses_;
    } else if (random.OneIn(2)) {
      Log("CancelCompactions");
      database_->CancelCompactions();
    } else if (pauses_ < 2) {
      Log("PauseCompactions");
      database_->PauseCompactions();
      ++pauses_;
    }
  }

  int servers_ = 1;
  int pauses_ = 0;
  bool writes_beside_ = false;  // other threads are writing
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_TABLET_STEPS_H_
