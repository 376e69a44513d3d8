// The steps of a model test that set quotas and use them up. Between steps, tables and callers have
// quotas that nothing exceeds, or that refuse all data (support/model_quotas.h). A step that uses a
// quota up knows exactly what must be refused and admitted: the clock of quotas stands still, and
// nothing else reads and writes.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_QUOTA_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_QUOTA_STEPS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_mutations.h"
#include "model/model_names.h"
#include "model/model_row_steps.h"
#include "support/model.h"
#include "support/model_quotas.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelQuotaSteps : public ModelRowSteps {
 protected:
  using ModelRowSteps::ModelRowSteps;

  // Buckets are full in each step. The next tables are opened by somebody else.
  void BeginStep(const ModelStep& step) {
    quotas_.BeginStep();
    quota_time_.Advance(absl::Seconds(1000));
    if (!plan_.settings.quotas) return;
    Random random(~step.seed);
    caller_.reset();
    if (random.OneIn(2)) caller_ = random.OneIn(2) ? "ann" : "bob";
  }

  void SetQuota(Random& random) {
    if (!plan_.settings.quotas) return Log("(no quotas here)");
    Quota quota;
    const uint64_t kind = random.Below(6);
    if (kind == 0) quota.storage_bytes = 1;
    if (kind == 1 || kind == 2) quota.storage_bytes = ModelQuotas::kAmple;
    if (kind == 2 || kind == 3) quota.requests_per_second = 1'000'000'000;
    if (kind == 3) quota.bytes_per_second = ModelQuotas::kAmple;
    Whose whose;
    whose.is_table = random.OneIn(2);
    whose.name = whose.is_table ? AnyName(random) : random.OneIn(2) ? "ann" : "bob";
    Log(Cat("Set the quota of ", whose.Text(), ": ", Describe(quota)));
    const absl::Status status = Set(whose, quota);
    if (whose.is_table && !model_.tables.contains(whose.name)) {
      return Expect(absl::StatusCode::kNotFound, status, "SetTableQuota");
    }
    Check(status, "a change of a quota");
  }

  // A quota of requests: as many calls are admitted, and the next is refused.
  void ExhaustRate(Random& random) {
    if (!plan_.settings.quotas) return Log("(no quotas here)");
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    Whose whose{.is_table = random.OneIn(2), .name = table};
    if (!whose.is_table) {
      caller_ = "bob";
      whose.name = *caller_;
    }
    const auto rate = static_cast<uint64_t>(random.Between(1, 3));
    Log(Cat("Use up ", rate, " requests a second of ", whose.Text(), ", table ", table));
    const TemporaryQuota temporary(this, whose, {.requests_per_second = rate});
    Table* const engine = TableOf(table);
    if (engine == nullptr || !UseUpRequests(engine, rate)) return;
    const std::string row = RandomRow(random);
    const absl::Status refused = CallInVain(random, engine, row);
    CheckRateError(Cat("the quota of ", rate, " requests a second of ", whose.Text()), refused);
    if (!ok()) return;
    if (!plan_.settings.messages) CheckWait(engine, absl::Seconds(1) / static_cast<int64_t>(rate));
    if (random.OneIn(2)) {
      Check(Set(whose, {}), "the removal of a quota");
      Check(engine->ReadRow(row).status(), "ReadRow without the quota");
    }
    CompareRow(table, row, whose);
  }

  // A quota of storage of a byte less than there are, or of as many.
  void ExhaustStorage(Random& random) {
    if (!plan_.settings.quotas) return Log("(no quotas here)");
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const ModelTable& model = model_.tables.at(table);
    const ModelMutation mutation = Plain(BytesFamily(random, model), RandomRow(random));
    if (quotas_.Judge(model_, table, mutation, clock_.micros()) !=
        ModelQuotas::Verdict::kAdmitted) {
      return Log("(another quota refuses writes)");
    }
    Whose whose{.is_table = true, .name = table};
    const std::string owner = model.schema().families.at(mutation.operations[0].family).owner;
    if (!owner.empty() && random.OneIn(2)) whose = {.is_table = false, .name = owner};
    Log(Cat("Use up the storage of ", whose.Text(), ", table ", table));
    StopCompactions();
    ExhaustStorage(random, table, mutation, whose);
    database_->ContinueCompactions();
  }

 private:
  struct Whose {
    bool is_table;
    std::string name;

    std::string Text() const {
      return is_table ? Cat("table ", name) : Cat("caller \"", name, "\"");
    }
  };

  // A quota in place of another, for a time.
  class TemporaryQuota {
   public:
    TemporaryQuota(ModelQuotaSteps* steps, const Whose& whose, const Quota& quota)
        : steps_(steps), whose_(whose), before_(steps->Get(whose)) {
      steps_->Check(steps_->Set(whose_, quota), "a temporary quota");
    }
    ~TemporaryQuota() { steps_->Check(steps_->Set(whose_, before_), "the quota of before"); }
    TemporaryQuota(const TemporaryQuota&) = delete;
    TemporaryQuota& operator=(const TemporaryQuota&) = delete;

   private:
    ModelQuotaSteps* const steps_;
    const Whose whose_;
    const Quota before_;
  };

  // Also of a table that may not exist.
  std::string AnyName(Random& random) {
    return random.OneIn(8) ? RandomTableName(random) : AnyTable(random);
  }
  std::map<std::string, Quota>& QuotasOf(const Whose& whose) {
    return whose.is_table ? quotas_.tables : quotas_.callers;
  }
  Quota Get(const Whose& whose) {
    const auto found = QuotasOf(whose).find(whose.name);
    return found == QuotasOf(whose).end() ? Quota() : found->second;
  }
  absl::Status Set(const Whose& whose, const Quota& quota) {
    absl::Status status = whose.is_table ? database_->SetTableQuota(whose.name, quota)
                                         : database_->SetCallerQuota(whose.name, quota);
    if (!status.ok()) return status;
    if (quota == Quota()) {
      QuotasOf(whose).erase(whose.name);
    } else {
      QuotasOf(whose)[whose.name] = quota;
    }
    return status;
  }
  static std::string Describe(const Quota& quota) {
    return Cat(quota.storage_bytes, " bytes, ", quota.requests_per_second, " requests a second, ",
               quota.bytes_per_second, " bytes a second");
  }

  // A mutation that no observer refuses.
  static ModelMutation Plain(const std::string& family, const std::string& row) {
    ModelOperation op;
    op.family = family;
    op.qualifier = "q";
    op.timestamp = 1;
    op.value = "beyond the quota";
    return {row, {op}};
  }

  // A lost message may be paid for twice.
  bool UseUpRequests(Table* engine, uint64_t rate) {
    for (uint64_t i = 0; i < rate; ++i) {
      const absl::Status status = engine->ReadRow("a").status();
      if (plan_.settings.messages && absl::IsResourceExhausted(status)) return true;
      if (!Check(status, "ReadRow within the quota")) return false;
    }
    return true;
  }
  void CheckRateError(const std::string& beginning, const absl::Status& status) {
    Expect(absl::StatusCode::kResourceExhausted, status, "a call beyond the quota");
    if (ToStd(status.message()).starts_with(beginning)) return;
    Check(Cat("an error of another quota: ", status.ToString(), "\n  expected: ", beginning));
  }
  // The bucket is empty, and a read is admitted after this time.
  void CheckWait(Table* engine, absl::Duration wait) {
    const std::optional<absl::Duration> after = RetryAfter(engine->ReadRow("a").status());
    if (!after.has_value()) return Check("ReadRow beyond the quota: no time for a retry");
    if (absl::AbsDuration(*after - wait) > absl::Nanoseconds(2)) {
      return Check(Cat("retry after ", absl::FormatDuration(*after),
                       "\n  expected: ", absl::FormatDuration(wait)));
    }
    quota_time_.Advance(wait - absl::Microseconds(2));
    Expect(absl::StatusCode::kResourceExhausted, engine->ReadRow("a").status(),
           "ReadRow too early");
    quota_time_.Advance(absl::Microseconds(4));
    Check(engine->ReadRow("a").status(), "ReadRow at the time for a retry");
  }

  // A call of any kind, which must be refused.
  absl::Status CallInVain(Random& random, Table* engine, const std::string& row) {
    const ModelTable& model = model_.tables.at(engine->name());
    RowMutation mutation = Plain(BytesFamily(random, model), row).Make();
    if (random.OneIn(2) || !model.schema().observers.empty()) {
      mutation = RowMutation(row);  // what observers may refuse, they refuse first
      mutation.DeleteRow();
    }
    const WriteOptions options = RandomWriteOptions(random);
    switch (random.Below(plan_.settings.messages ? 8 : 10)) {
      case 0:
        return engine->ReadRow(row).status();
      case 1:
        return ReadInVain(engine->ReadRows(RowRange::StartingAt(row)));
      case 2:
        return ScanInVain(random, engine);
      case 3:
        return engine->Apply(mutation, options);
      case 4:
        return engine->ApplyBatch({mutation, mutation}, options)[random.Below(2)];
      case 5:
        return engine->CheckAndMutateRow(row, Filter(), mutation, mutation, options).status();
      case 6:
        return engine
            ->ReadModifyWriteRow(
                bigtable::ReadModifyWrite(row).Append(Cat(BytesFamily(random, model), ":q"), "x"),
                options)
            .status();
      case 7:
        return engine->MutateRowAtomically(
            row, Filter(),
            [&](const Row&) {
              Check("MutateRowAtomically beyond the quota calls the function");
              return mutation;
            },
            options);
      case 8: {
        WriteBatch batch;
        return database_->Apply(batch.Apply(engine, mutation).Apply(engine, mutation), options);
      }
      default:
        return database_->RunTransaction(
            [&](Transaction* transaction) { return transaction->Apply(engine, mutation); },
            options);
    }
  }
  absl::Status ReadInVain(RowReader reader) {
    if (reader.Next()) Check("ReadRows beyond the quota returns a row");
    return reader.status();
  }
  absl::Status ScanInVain(Random& random, Table* engine) {
    Scanner scanner(engine);
    ScanStream* const stream =
        scanner.FetchColumnFamily(ExistingFamily(random, model_.tables.at(engine->name())));
    if (!stream->Done()) Check("a Scanner beyond the quota returns a cell");
    return scanner.status();
  }

  void ExhaustStorage(Random& random, const std::string& table, const ModelMutation& mutation,
                      const Whose& whose) {
    // Then nothing changes how much is stored, once the compactions that this has begun have ended.
    for (const auto& [name, model] : model_.tables) Check(database_->Flush(name), "Flush");
    if (ok()) Check(database_->WaitUntilQuiet(), "WaitUntilQuiet");
    if (!ok()) return;
    const DatabaseStatistics statistics = database_->Statistics();
    const auto& stored_of = whose.is_table ? statistics.storage : statistics.owner_storage;
    const auto found = stored_of.find(whose.name);
    const uint64_t stored = found == stored_of.end() ? 0 : found->second.stored_bytes();
    if (stored < 2) return Log("(nothing is stored)");
    Table* const engine = TableOf(table);
    if (engine == nullptr) return;
    // The additions of observers come to what the mutation adds.
    const bool is_observed = !model_.tables.at(table).schema().observers.empty();
    if (!is_observed && random.OneIn(2)) {
      const TemporaryQuota temporary(this, whose, {.storage_bytes = stored});
      return ApplyOne(table, mutation, {});
    }
    {
      const TemporaryQuota temporary(this, whose, {.storage_bytes = stored - 1});
      Expect(absl::StatusCode::kResourceExhausted, engine->Apply(mutation.Make()),
             "a byte too many");
      CheckDeletion(table, mutation.row);
    }
    if (!ok()) return;
    CompareRow(table, mutation.row, whose);
  }
  // A deletion makes room.
  void CheckDeletion(const std::string& table, const std::string& row) {
    if (!model_.tables.at(table).schema().observers.empty()) return;  // they add data
    ModelOperation deletion;
    deletion.kind = ModelOperation::Kind::kDeleteRow;
    ApplyOne(table, {row, {deletion}}, {});
  }
  // What was refused has changed nothing. Without a quota in the way.
  void CompareRow(const std::string& table, const std::string& row, const Whose& whose) {
    const TemporaryQuota none(this, whose, {});
    Table* const engine = TableOf(table);
    if (!ok() || engine == nullptr) return;
    const ReadPoint now{{}, model_.sequence, false};
    CheckBesideFilters(table, now, [&]() -> std::string {
      const absl::StatusOr<Row> read = engine->ReadRow(row);
      if (!Check(read.status(), "ReadRow")) return "";
      return Difference({row, model_.tables.at(table).Read(row, model_.sequence, clock_.micros())},
                        ToModel(*read));
    });
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_QUOTA_STEPS_H_
