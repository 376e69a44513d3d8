// bigtable_family_changes: changes of column families that are made together.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

#include "bigtable/schema.h"

#include "c/arguments.h"
#include "c/family.h"
#include "c/handles.h"

using bigtable::FamilyChange;
using bigtable::FamilyUpdate;
using bigtable::OptionsOf;
using bigtable::ToError;
using bigtable::View;

namespace bigtable {
namespace {

// A part of a family that is a name.
struct NamedPart {
  const char* argument;
  std::optional<std::string> FamilyUpdate::*field;
};

bigtable_error* SetName(bigtable_family_changes* changes, const char* family, size_t family_size,
                        const NamedPart& part, const char* name, size_t name_size) {
  BT_C_CHECK_NOT_NULL({"changes", changes}, {"family", family, family_size},
                      {part.argument, name, name_size});
  FamilyUpdate update;
  update.*part.field = std::string(View(name, name_size));
  changes->changes.push_back(
      FamilyChange::Update(std::string(View(family, family_size)), std::move(update)));
  return nullptr;
}

}  // namespace
}  // namespace bigtable

bigtable_family_changes* bigtable_family_changes_new() { return new bigtable_family_changes; }
void bigtable_family_changes_free(bigtable_family_changes* changes) { delete changes; }

bigtable_error* bigtable_family_changes_add_schema_family(bigtable_family_changes* changes,
                                                          const char* name, size_t name_size,
                                                          const bigtable_schema* schema) {
  BT_C_CHECK_NOT_NULL({"changes", changes}, {"name", name, name_size}, {"schema", schema});
  const auto family = bigtable::FindFamily(schema, View(name, name_size));
  if (!family.ok()) return ToError(family.status());
  changes->changes.push_back(FamilyChange::Add(std::string(View(name, name_size)), **family));
  return nullptr;
}

bigtable_error* bigtable_family_changes_drop_family(bigtable_family_changes* changes,
                                                    const char* name, size_t name_size) {
  BT_C_CHECK_NOT_NULL({"changes", changes}, {"name", name, name_size});
  changes->changes.push_back(FamilyChange::Drop(std::string(View(name, name_size))));
  return nullptr;
}

bigtable_error* bigtable_family_changes_set_gc_rule(bigtable_family_changes* changes,
                                                    const char* family, size_t family_size,
                                                    const bigtable_gc_rule* rule) {
  BT_C_CHECK_NOT_NULL({"changes", changes}, {"family", family, family_size});
  changes->changes.push_back(
      FamilyChange::Update(std::string(View(family, family_size)), {.gc = bigtable::RuleOf(rule)}));
  return nullptr;
}

bigtable_error* bigtable_family_changes_set_access_list(bigtable_family_changes* changes,
                                                        const char* family, size_t family_size,
                                                        const char* list, size_t list_size) {
  return bigtable::SetName(changes, family, family_size, {"list", &FamilyUpdate::access_list}, list,
                           list_size);
}

bigtable_error* bigtable_family_changes_set_compaction_filter(bigtable_family_changes* changes,
                                                              const char* family,
                                                              size_t family_size, const char* name,
                                                              size_t name_size) {
  return bigtable::SetName(changes, family, family_size, {"name", &FamilyUpdate::compaction_filter},
                           name, name_size);
}

bigtable_error* bigtable_family_changes_set_owner(bigtable_family_changes* changes,
                                                  const char* family, size_t family_size,
                                                  const char* owner, size_t owner_size) {
  return bigtable::SetName(changes, family, family_size, {"owner", &FamilyUpdate::owner}, owner,
                           owner_size);
}

bigtable_error* bigtable_database_modify_families(bigtable_database* database, const char* table,
                                                  size_t table_size,
                                                  const bigtable_family_changes* changes,
                                                  const bigtable_call_options* options) {
  BT_C_CHECK_NOT_NULL({"database", database}, {"table", table, table_size}, {"changes", changes});
  return ToError(database->database->ModifyFamilies(View(table, table_size), changes->changes,
                                                    OptionsOf(options)));
}
