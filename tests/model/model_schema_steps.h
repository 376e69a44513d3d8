// The steps of a model test that create, change and delete tables.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_SCHEMA_STEPS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_SCHEMA_STEPS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "model/model_names.h"
#include "model/model_run_state.h"
#include "model/model_schemas.h"
#include "support/model.h"
#include "support/random.h"

namespace bigtable {

// One thread at a time.
class ModelSchemaSteps : public ModelRunState {
 protected:
  using ModelRunState::ModelRunState;

  void CreateTable(Random& random, const std::string& name, const TableSchema& schema) {
    const std::vector<std::string> split_rows = RandomSplitRows(random);
    Log(Cat("CreateTable ", name));
    for (const std::string& row : split_rows) script_.back() += Cat(" split at ", Quoted(row));
    for (const auto& [family, settings] : schema.families) {
      script_.back() +=
          Cat(" ", family, "(", settings.locality_group, " drops ", Describe(settings.gc),
              HoldsAggregates(settings) ? " of aggregates" : "",
              settings.compaction_filter.empty() ? ")" : ", filtered)");
    }
    const absl::Status status = database_->CreateTable(name, schema, {.split_rows = split_rows});
    if (model_.tables.contains(name)) {
      return Expect(absl::StatusCode::kAlreadyExists, status, "CreateTable");
    }
    if (Check(status, "CreateTable")) model_.tables.emplace(name, ModelTable(schema, split_rows));
  }
  void DeleteTable(const std::string& name) {
    Log(Cat("DeleteTable ", name));
    cursor_.reset();
    const absl::Status status = database_->DeleteTable(name);
    if (!model_.tables.contains(name)) {
      return Expect(absl::StatusCode::kNotFound, status, "DeleteTable");
    }
    if (!Check(status, "DeleteTable")) return;
    model_.tables.erase(name);
    quotas_.tables.erase(name);
  }
  void AddFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name = RandomFamilyName(random);
    Family family = RandomFamily(random, model.schema(), plan_.settings);
    const std::string values = HoldsAggregates(family)            ? " of aggregates"
                               : family.compaction_filter.empty() ? ""
                                                                  : ", filtered";
    if (random.OneIn(10)) family.locality_group = "nowhere";
    Log(Cat("AddFamily ", table, " ", name, " in \"", family.locality_group, "\"",
            Describe(family.gc), values));
    const absl::Status status = database_->AddFamily(table, name, family);
    if (family.locality_group == "nowhere") {
      if (status.ok()) Check("AddFamily to a missing group: OK");
    } else if (model.schema().families.contains(name)) {
      Expect(absl::StatusCode::kAlreadyExists, status, "AddFamily");
    } else if (Check(status, "AddFamily")) {
      model.AddFamily(name, family);
      model.NoteFamilies();
    }
  }
  void DropFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name = RandomFamilyName(random);
    const bool there = model.schema().families.contains(name);
    if (there && random.OneIn(2)) return ReplaceFamily(random, table, name);
    if (there && IsLastWithBytes(model.schema(), name)) return Log("(the last family is kept)");
    Log(Cat("DropFamily ", table, " ", name));
    const absl::Status status = database_->DropFamily(table, name);
    if (!there) return Expect(absl::StatusCode::kNotFound, status, "DropFamily");
    if (!Check(status, "DropFamily")) return;
    model.DropFamily(name);
    model.NoteFamilies();
  }
  // Drops a family and adds another one of its name in one step, which may fail as a whole.
  void ReplaceFamily(Random& random, const std::string& table, const std::string& name) {
    ModelTable& model = model_.tables.at(table);
    const Family family = IsLastWithBytes(model.schema(), name)
                              ? model.schema().families.at(name)
                              : RandomFamily(random, model.schema(), plan_.settings);
    std::vector<FamilyChange> changes = {FamilyChange::Drop(name), FamilyChange::Add(name, family)};
    const bool fails = random.OneIn(3);
    if (fails) changes.push_back(FamilyChange::Drop("nothing"));
    Log(Cat("ModifyFamilies ", table, ": replaces ", name, fails ? ", and fails" : "",
            Describe(family.gc), HoldsAggregates(family) ? " of aggregates" : ""));
    const absl::Status status = database_->ModifyFamilies(table, changes);
    if (fails) return Expect(absl::StatusCode::kNotFound, status, "ModifyFamilies");
    if (!Check(status, "ModifyFamilies")) return;
    model.DropFamily(name);
    model.AddFamily(name, family);
    model.NoteFamilies();
  }
  void UpdateFamily(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    cursor_.reset();
    ModelTable& model = model_.tables.at(table);
    const std::string name =
        random.OneIn(20) ? RandomFamilyName(random) : ExistingFamily(random, model);
    Family family;
    const bool there = model.schema().families.contains(name);
    if (there) family = model.schema().families.at(name);
    const Family before = family;
    FamilyUpdate update;
    // A follower judges ages under the old rule at the time at which it hears of the new one.
    const bool keeps_rule = plan_.settings.follower && plan_.settings.expiry;
    if (!keeps_rule && !random.OneIn(10)) {
      do {
        update.gc = family.gc = RandomGcRule(random, plan_.settings);
      } while (CountsVersions(family.gc) && model.filtered().Concerns(name));
    }
    if (plan_.settings.filters && MayHaveFilter(family) && random.OneIn(3)) {
      family.compaction_filter = random.OneIn(3) ? "" : ModelCompactionFilter::kName;
      update.compaction_filter = family.compaction_filter;
    }
    if (plan_.settings.quotas && random.OneIn(3)) {
      family.owner = random.OneIn(2) ? "ann" : "";
      update.owner = family.owner;
    }
    Log(Cat("UpdateFamily ", table, " ", name, update.owner.has_value() ? " owner " : "",
            update.owner.value_or(""),
            update.gc.has_value() ? Cat(" drops ", Describe(*update.gc)) : "",
            update.compaction_filter.has_value() ? Cat(" filter ", *update.compaction_filter) : "",
            !update.gc.has_value() && !update.compaction_filter.has_value() ? " without a change"
                                                                            : ""));
    const absl::Status status = database_->UpdateFamily(table, name, update);
    if (!there) {
      Expect(absl::StatusCode::kNotFound, status, "UpdateFamily");
    } else if (HoldsAggregates(family) && CombinesVersionsWithAge(family.gc)) {
      Expect(absl::StatusCode::kInvalidArgument, status, "UpdateFamily");
    } else if (Check(status, "UpdateFamily")) {
      model_.UpdateFamily(table, name, family, clock_.micros());
      if (family != before) model.NoteFamilies();
    }
  }
  void CompareQuotas() {
    const auto tables = database_->ListTableQuotas();
    if (Check(tables.status(), "ListTableQuotas") && *tables != quotas_.tables) {
      Check("ListTableQuotas: not those that were set");
    }
    const auto callers = database_->ListCallerQuotas();
    if (Check(callers.status(), "ListCallerQuotas") && *callers != quotas_.callers) {
      Check("ListCallerQuotas: not those that were set");
    }
  }
  static bool IsLastWithBytes(const TableSchema& schema, const std::string& name) {
    return std::none_of(schema.families.begin(), schema.families.end(), [&](const auto& family) {
      return family.first != name && !HoldsAggregates(family.second);
    });
  }
  void SetLocalityGroup(Random& random) {
    static const std::vector<std::string> kNames = {"default", "g1", "g2", "g3"};
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const std::string name = random.Pick(kNames);
    const LocalityGroup group = RandomLocalityGroup(random);
    Log(Cat("SetLocalityGroup ", table, " ", name));
    if (Check(database_->SetLocalityGroup(table, name, group), "SetLocalityGroup")) {
      model_.tables.at(table).SetLocalityGroup(name, group);
    }
  }

  void SetSplitRule(Random& random) {
    const std::string table = AnyTable(random);
    if (table.empty()) return Log("(no table)");
    const SplitRule rule = RandomSplitRule(random);
    Log(Cat("SetSplitRule ", table, " ", rule.tablet_size, ", ", rule.merge_size));
    if (Check(database_->SetSplitRule(table, rule), "SetSplitRule")) {
      model_.tables.at(table).SetSplitRule(rule);
    }
  }

  void CompareSchemas() {
    absl::StatusOr<std::vector<std::string>> tables = database_->ListTables();
    if (!Check(tables.status(), "ListTables")) return;
    std::vector<std::string> expected;
    for (const auto& [name, table] : model_.tables) expected.push_back(name);
    if (*tables != expected) return Check("ListTables: not the existing tables");
    for (const auto& [name, table] : model_.tables) {
      absl::StatusOr<TableSchema> schema = database_->GetSchema(name);
      if (!Check(schema.status(), "GetSchema")) return;
      // The group "default" exists even if no schema defined it.
      TableSchema set = table.schema();
      set.locality_groups.try_emplace("default");
      for (auto& [family, settings] : set.families) {
        if (settings.locality_group.empty()) settings.locality_group = "default";
      }
      if (*schema != set) Check(Cat("GetSchema of ", name, ": not what was set"));
    }
  }
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_SCHEMA_STEPS_H_
