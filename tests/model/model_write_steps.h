// The steps of a model test that write, with one thread or with several.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_WRITE_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_WRITE_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_mutations.h"
#include "model/model_names.h"
#include "model/model_observer_steps.h"
#include "model/model_schemas.h"
#include "model/model_writers.h"
#include "support/model.h"
#include "support/model_write.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelWriteSteps : public ModelObserverSteps {
 protected:
  using ModelObserverSteps::ModelObserverSteps;

  WriteOptions RandomWriteOptions(Random& random) const {
    return bigtable::RandomWriteOptions(random, plan_.settings);
  }
  static std::string Describe(const ModelMutation& mutation) {
    using Kind = ModelOperation::Kind;
    std::string text = Quoted(std::string_view(mutation.row).substr(0, 20));
    for (const ModelOperation& op : mutation.operations) {
      const std::string column = Cat(op.family, ":", absl::CHexEscape(op.qualifier.substr(0, 20)),
                                     "@", op.timestamp ? Cat(*op.timestamp) : std::string("now"));
      switch (op.kind) {
        case Kind::kSet:
          absl::StrAppend(&text, " Set ", column, "=",
                          Quoted(std::string_view(op.value).substr(0, 12)), "/", op.value.size());
          break;
        case Kind::kDeleteColumn:
          absl::StrAppend(&text, " Delete ", op.family, ":",
                          absl::CHexEscape(op.qualifier.substr(0, 20)));
          break;
        case Kind::kDeleteCell:
          absl::StrAppend(&text, " DeleteCell ", column);
          break;
        case Kind::kDeleteTimeRange:
          absl::StrAppend(&text, " DeleteTimeRange ", column, " to ", op.end);
          break;
        case Kind::kDeleteFamily:
          absl::StrAppend(&text, " DeleteFamily ", op.family);
          break;
        case Kind::kDeleteRow:
          absl::StrAppend(&text, " DeleteRow");
          break;
        case Kind::kAddToCell:
        case Kind::kMergeToCell:
          absl::StrAppend(&text, op.kind == Kind::kAddToCell ? " AddToCell " : " MergeToCell ",
                          column, "=", Quoted(std::string_view(op.value).substr(0, 12)));
          break;
      }
    }
    return text;
  }
  // Of a write of one mutation, which has returned `status`.
  void Applied(const std::string& table, const ModelMutation& mutation,
               const absl::Status& status) {
    ++operations_;
    ModelWrite write(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kOne);
    const absl::Status refusal = write.Apply(table, mutation);
    Written(&write, refusal, status);
  }
  // `refusal`: the expected error of observers.
  void Written(ModelWrite* write, const absl::Status& refusal, const absl::Status& status) {
    Check(commits_.Settle(write, refusal, status));
  }
  void Apply(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    ApplyOne(table, RandomMutation(random, model_.tables.at(table), clock_.micros()),
             RandomWriteOptions(random));
  }
  void ApplyLarge(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    ApplyOne(table, RandomLargeMutation(random, model_.tables.at(table), clock_.micros()),
             RandomWriteOptions(random));
  }
  void ApplyOne(const std::string& table, const ModelMutation& mutation,
                const WriteOptions& options) {
    Log(Cat("Apply ", table, " ", Describe(mutation)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const Stillness still(this);
    Applied(table, mutation, engine->Apply(mutation.Make(), options));
  }
  // An invalid mutation is not applied at all, even if most of it is valid. The other mutations of
  // its batch are applied.
  void ApplyInvalid(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    ModelMutation mutation = RandomMutation(random, model, clock_.micros());
    if (!model.Accepts(mutation)) return Log("(for two reasons)");
    RowMutation made = mutation.Make();
    MakeInvalid(random, model, &made);
    Log(Cat("Apply with something invalid ", table, " ", Describe(mutation)));
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    if (random.OneIn(2)) {
      return Expect(absl::StatusCode::kInvalidArgument,
                    engine->Apply(made, RandomWriteOptions(random)), "Apply, invalid");
    }
    std::vector<ModelMutation> others;
    for (int i = 0; i < 2; ++i) others.push_back(RandomMutation(random, model, clock_.micros()));
    if (plan_.settings.messages) TakeNoServerTime(&others);
    const Stillness still(this);
    script_.back() += Cat("\n    between ", Describe(others[0]), " and ", Describe(others[1]));
    const std::vector<RowMutation> batch = {others[0].Make(), made, others[1].Make()};
    const std::vector<absl::Status> statuses =
        engine->ApplyBatch(batch, RandomWriteOptions(random));
    if (statuses.size() != batch.size()) return Check("ApplyBatch: not a status for each");
    Applied(table, others[0], statuses[0]);
    Expect(absl::StatusCode::kInvalidArgument, statuses[1], "ApplyBatch, an invalid one");
    Applied(table, others[1], statuses[2]);
  }
  void ApplyBatch(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    std::vector<ModelMutation> mutations;
    for (int64_t i = random.Between(1, 30); i > 0; --i) {
      mutations.push_back(RandomMutation(random, model_.tables.at(table), clock_.micros()));
    }
    if (plan_.settings.messages) TakeNoServerTime(&mutations);
    ApplyTogether(table, mutations, RandomWriteOptions(random));
  }
  // Mutations of one or several tables, all or none: as a batch, or by a transaction that has read
  // some of the rows.
  void ApplyWriteBatch(Random& random) {
    // Messages carry none.
    if (plan_.settings.messages) return ApplyBatch(random);
    std::vector<std::pair<std::string, ModelMutation>> mutations;
    std::string text;
    for (int64_t i = random.Between(1, 12); i > 0; --i) {
      const std::string table = AnyTable(random);
      if (table.empty()) return Log("(no table)");
      mutations.emplace_back(table,
                             RandomMutation(random, model_.tables.at(table), clock_.micros()));
      absl::StrAppend(&text, "\n    ", table, " ", Describe(mutations.back().second));
    }
    const bool is_transaction = random.OneIn(2);
    Log(Cat(is_transaction ? "Transaction:" : "WriteBatch:", text));
    const WriteOptions options = RandomWriteOptions(random);
    operations_ += mutations.size();
    const Stillness still(this);
    if (is_transaction) return RunTransaction(random, mutations, options);
    const absl::Status status = ApplyTogether(mutations, options);
    ModelWrite write(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kSeveral);
    absl::Status refusal;
    for (const auto& [table, mutation] : mutations) {
      if (refusal.ok()) refusal = write.Apply(table, mutation);
    }
    Written(&write, refusal, status);
  }
  absl::Status ApplyTogether(const std::vector<std::pair<std::string, ModelMutation>>& mutations,
                             const WriteOptions& options) {
    WriteBatch batch;
    for (const auto& [table, mutation] : mutations) {
      Table* const engine = TableOf(table);
      if (engine != nullptr) batch.Apply(engine, mutation.Make());
    }
    return database_->Apply(batch, options);
  }
  // Each row is read before and after it is written. What is read changes nothing. The refusal of a
  // mutation ends the transaction or, if it is lenient, leaves the others.
  void RunTransaction(Random& random,
                      const std::vector<std::pair<std::string, ModelMutation>>& mutations,
                      const WriteOptions& options) {
    const bool is_lenient = random.OneIn(2);
    std::optional<ModelWrite> write;
    absl::Status refusal;
    const absl::Status status = database_->RunTransaction(
        [&](Transaction* transaction) -> absl::Status {
          write.emplace(&model_, &quotas_, clock_.micros(), ModelWrite::Size::kSeveral);
          refusal = absl::OkStatus();
          for (const auto& [table, mutation] : mutations) {
            Table* const engine = TableOf(table);
            if (engine == nullptr) return absl::InternalError("a table cannot be opened");
            ReadInTransaction(transaction, engine, mutation, *write);
            const absl::Status applied = transaction->Apply(engine, mutation.Make());
            refusal = write->Apply(table, mutation);
            if (write->commit_errors().empty()) Expect(refusal.code(), applied, "Transaction");
            ReadInTransaction(transaction, engine, mutation, *write);
            if (!applied.ok() && !is_lenient) return applied;
          }
          return absl::OkStatus();
        },
        options);
    if (!ok()) return;
    Written(&*write, is_lenient ? absl::OkStatus() : refusal, status);
  }
  void ReadInTransaction(Transaction* transaction, Table* engine, const ModelMutation& mutation,
                         const ModelWrite& write) {
    const absl::StatusOr<Row> row = transaction->ReadRow(engine, mutation.row);
    ++reads_;
    if (!Check(row.status(), "Transaction::ReadRow") || !write.commit_errors().empty()) return;
    const ModelTable& model = model_.tables.at(engine->name());
    // Without observers, filters were not stopped. The times of a server come with the commit.
    const bool is_steady = !plan_.settings.filters || plan_.settings.observers;
    if (!is_steady || model.KnowsServerTimes()) return;
    Check(Difference({mutation.row, model.Read(mutation.row, model_.sequence, clock_.micros())},
                     ToModel(*row)));
  }
  // The row of a batch that takes the server's time first is not specified. It differs if a client
  // has not noticed yet that tablets were merged.
  void TakeNoServerTime(std::vector<ModelMutation>* mutations) const {
    for (ModelMutation& mutation : *mutations) {
      for (ModelOperation& op : mutation.operations) {
        if (op.kind == ModelOperation::Kind::kSet && !op.timestamp) op.timestamp = clock_.micros();
      }
    }
  }
  // Enough to fill one or two memtables.
  void Fill(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    std::vector<ModelMutation> mutations;
    for (int64_t i = random.Between(20, 80); i > 0; --i) {
      ModelOperation op;
      op.family = ExistingFamily(random, model_.tables.at(table));
      op.qualifier = RandomQualifier(random);
      op.timestamp = RandomTimestamp(random, clock_.micros());
      op.value = random.Bytes(random.Below(2 << 10));
      FitToFamily(random, model_.tables.at(table), clock_.micros(), &op);
      mutations.push_back({RandomRow(random), {std::move(op)}});
    }
    ApplyTogether(table, mutations, RandomWriteOptions(random));
  }
  void ApplyTogether(const std::string& table, const std::vector<ModelMutation>& mutations,
                     const WriteOptions& options) {
    Log(Cat("ApplyBatch ", table, ":"));
    std::vector<RowMutation> made;
    for (const ModelMutation& mutation : mutations) {
      script_.back() += "\n    " + Describe(mutation);
      made.push_back(mutation.Make());
    }
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    const Stillness still(this);
    const std::vector<absl::Status> statuses = engine->ApplyBatch(made, options);
    if (statuses.size() != mutations.size()) return Check("ApplyBatch: not a status for each");
    for (size_t i = 0; i < mutations.size(); ++i) Applied(table, mutations[i], statuses[i]);
  }

  // --- Several threads ---

  void WriteConcurrently(Random& random) {
    if (quotas_.HasShort()) return Log("(a quota refuses writes)");
    std::map<std::string, Table*> tables;
    for (const auto& [name, model] : model_.tables) {
      if (model.filtered().has_families()) continue;  // the threads need to know what is there
      if (!model.schema().observers.empty()) continue;
      if (Table* const table = TableOf(name)) tables.emplace(name, table);
    }
    if (!ok() || tables.empty()) return Log("(no table)");
    ModelWriters writers(random, database_.get(), tables, model_, clock_.micros(), plan_.settings,
                         ++concurrent_steps_);
    Log(Cat("Write concurrently: ", writers.Describe()));
    writes_beside_ = true;
    for (int64_t i = random.Between(0, 12); ok() && i > 0; --i) DoBeside(random);
    writers.Join();
    writes_beside_ = false;
    operations_ += writers.operations();
    reads_ += writers.reads();
    Check(writers.Settle(&model_));
    if (ok()) StampTablets(writers);
    if (ok()) CompareAll();
  }
  // An operation that must not change the result of concurrent writes, or of reads of older data.
  void DoBeside(Random& random) {
    switch (random.Below(8)) {
      case 0:
      case 1:
        return Rewrite(random, /*compact=*/false);
      case 2:
        return Rewrite(random, /*compact=*/true);
      case 3:
        return SplitTablet(random);
      case 4:
        return MergeTablets(random);
      case 5:
        return MoveTablet(random);
      case 6:
        return AdvanceCursor(random);
      default:
        if (!snapshots_.empty()) CompareAll(&random.Pick(snapshots_));
    }
  }
  // Sets the clock past the times that the servers gave to the threads' writes, and writes one row
  // to each tablet, so that the model knows again which times the servers of the tables give.
  void StampTablets(const ModelWriters& writers) {
    int64_t last_server_time = writers.server_time();
    std::set<std::string> tables;
    if (last_server_time != 0) tables.insert(writers.shared_table());
    for (const auto& [name, table] : model_.tables) {
      if (!table.has_changes()) continue;
      // Each write has taken a time. Tablets were split between writes of which the model does not
      // know the order.
      const auto writes = static_cast<int64_t>(writers.operations());
      last_server_time = std::max(last_server_time, table.LastServerTime() + writes);
      tables.insert(name);
    }
    if (tables.empty()) return;
    clock_.Set(std::max(clock_.micros(), last_server_time + 1));
    Log(Cat("The clock is ", clock_.micros()));
    for (const std::string& table : tables) StampTablets(table);
  }
  void StampTablets(const std::string& table) {
    const ModelTable& model = model_.tables.at(table);
    if (!model.KnowsServerTimes()) return;
    Random first(0);
    const std::string family = BytesFamily(first, model);
    for (const std::string& begin : model.TabletBegins()) {
      const std::string row = begin.empty() ? std::string(1, '\0') : begin;
      if (ok()) ApplyOne(table, {row, {{.family = family, .value = "stamp"}}}, {});
    }
  }

 private:
  uint64_t concurrent_steps_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_WRITE_STEPS_H_
