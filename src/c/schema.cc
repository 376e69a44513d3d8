#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "base/strings.h"
#include "c/arguments.h"
#include "c/family.h"
#include "c/handles.h"

using bigtable::GcRule;
using bigtable::ToEnum;

namespace bigtable {
namespace {

// Adds `value` to the groups or families of a schema.
template <typename Map>
absl::Status Add(std::string_view what, std::string_view name,
                 const typename Map::mapped_type& value, Map* map) {
  if (map->emplace(name, value).second) return absl::OkStatus();
  return absl::AlreadyExistsError(Cat("the schema has a ", what, " ", Quoted(name), " already"));
}

// NULL: the schema has no family of this name.
const char* FamilyText(const bigtable_schema* schema, std::string_view family,
                       std::string Family::*text, size_t* size) {
  const auto found = schema->schema.families.find(family);
  if (found == schema->schema.families.end()) return ReturnNone(size);
  return Return(found->second.*text, size);
}

template <typename Map>
std::vector<std::string> KeysOf(const Map& map) {
  std::vector<std::string> keys;
  keys.reserve(map.size());
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

absl::StatusOr<Family*> FindFamily(bigtable_schema* schema, std::string_view name) {
  const auto found = schema->schema.families.find(name);
  if (found != schema->schema.families.end()) return &found->second;
  return absl::NotFoundError(Cat("the schema has no column family ", Quoted(name)));
}
absl::StatusOr<const Family*> FindFamily(const bigtable_schema* schema, std::string_view name) {
  return FindFamily(const_cast<bigtable_schema*>(schema), name);
}

Family FamilyOf(std::string_view group, const bigtable_gc_rule* rule) {
  return {.locality_group = std::string(group), .gc = RuleOf(rule)};
}
GcRule RuleOf(const bigtable_gc_rule* rule) { return rule == nullptr ? GcRule() : rule->rule; }

}  // namespace bigtable

bigtable_gc_rule* bigtable_gc_rule_max_versions_new(int64_t versions) {
  return new bigtable_gc_rule{GcRule::MaxVersions(versions)};
}
bigtable_gc_rule* bigtable_gc_rule_max_age_new(int64_t micros) {
  return new bigtable_gc_rule{GcRule::MaxAge(absl::Microseconds(micros))};
}
bigtable_gc_rule* bigtable_gc_rule_union_new(const bigtable_gc_rule* a, const bigtable_gc_rule* b) {
  return new bigtable_gc_rule{GcRule::Union(a->rule, b->rule)};
}
bigtable_gc_rule* bigtable_gc_rule_intersection_new(const bigtable_gc_rule* a,
                                                    const bigtable_gc_rule* b) {
  return new bigtable_gc_rule{GcRule::Intersection(a->rule, b->rule)};
}
void bigtable_gc_rule_free(bigtable_gc_rule* rule) { delete rule; }

bigtable_locality_group* bigtable_locality_group_new() { return new bigtable_locality_group; }
void bigtable_locality_group_free(bigtable_locality_group* group) { delete group; }
void bigtable_locality_group_set_compression(bigtable_locality_group* group, int compression) {
  group->group.compression = ToEnum<bigtable::Compression>(compression);
}
void bigtable_locality_group_set_compression_level(bigtable_locality_group* group, int level) {
  group->group.compression_level = level;
}
void bigtable_locality_group_set_block_size(bigtable_locality_group* group, size_t bytes) {
  group->group.block_size = bytes;
}
void bigtable_locality_group_set_filter(bigtable_locality_group* group, int filter_kind) {
  group->group.filter = ToEnum<bigtable::FilterKind>(filter_kind);
}
void bigtable_locality_group_set_filter_bits(bigtable_locality_group* group, int bits) {
  group->group.filter_bits = bits;
}
void bigtable_locality_group_set_in_memory(bigtable_locality_group* group, bool value) {
  group->group.in_memory = value;
}
void bigtable_locality_group_set_compaction(bigtable_locality_group* group, int style) {
  group->group.compaction = ToEnum<bigtable::CompactionStyle>(style);
}
void bigtable_locality_group_set_compaction_factor(bigtable_locality_group* group, int factor) {
  group->group.compaction_factor = factor;
}
void bigtable_locality_group_set_compaction_policy(bigtable_locality_group* group, const char* name,
                                                   size_t name_size) {
  group->group.compaction_policy = bigtable::View(name, name_size);
}

bigtable_schema* bigtable_schema_new() { return new bigtable_schema; }
void bigtable_schema_free(bigtable_schema* schema) { delete schema; }

bigtable_error* bigtable_schema_add_locality_group(bigtable_schema* schema, const char* name,
                                                   size_t name_size,
                                                   const bigtable_locality_group* group) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"name", name, name_size}, {"group", group});
  return bigtable::ToError(bigtable::Add("locality group", bigtable::View(name, name_size),
                                         group->group, &schema->schema.locality_groups));
}

bigtable_error* bigtable_schema_add_family(bigtable_schema* schema, const char* name,
                                           size_t name_size, const char* group, size_t group_size,
                                           const bigtable_gc_rule* rule) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"name", name, name_size}, {"group", group, group_size});
  return bigtable::ToError(bigtable::Add(
      "column family", bigtable::View(name, name_size),
      bigtable::FamilyOf(bigtable::View(group, group_size), rule), &schema->schema.families));
}

bigtable_error* bigtable_schema_set_value_type(bigtable_schema* schema, const char* family,
                                               size_t family_size, int value_type) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"family", family, family_size});
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  if (!found.ok()) return bigtable::ToError(found.status());
  (*found)->value_type = ToEnum<bigtable::ValueType>(value_type);
  return nullptr;
}

bigtable_error* bigtable_schema_set_access_list(bigtable_schema* schema, const char* family,
                                                size_t family_size, const char* list,
                                                size_t list_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"family", family, family_size},
                      {"list", list, list_size});
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  if (!found.ok()) return bigtable::ToError(found.status());
  (*found)->access_list = bigtable::View(list, list_size);
  return nullptr;
}

bigtable_error* bigtable_schema_set_owner(bigtable_schema* schema, const char* family,
                                          size_t family_size, const char* owner,
                                          size_t owner_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"family", family, family_size},
                      {"owner", owner, owner_size});
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  if (!found.ok()) return bigtable::ToError(found.status());
  (*found)->owner = bigtable::View(owner, owner_size);
  return nullptr;
}

bigtable_error* bigtable_schema_set_value_operator(bigtable_schema* schema, const char* family,
                                                   size_t family_size, const char* name,
                                                   size_t name_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"family", family, family_size},
                      {"name", name, name_size});
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  if (!found.ok()) return bigtable::ToError(found.status());
  (*found)->value_operator = bigtable::View(name, name_size);
  return nullptr;
}

bigtable_error* bigtable_schema_set_compaction_filter(bigtable_schema* schema, const char* family,
                                                      size_t family_size, const char* name,
                                                      size_t name_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"family", family, family_size},
                      {"name", name, name_size});
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  if (!found.ok()) return bigtable::ToError(found.status());
  (*found)->compaction_filter = bigtable::View(name, name_size);
  return nullptr;
}

bigtable_error* bigtable_schema_add_observer(bigtable_schema* schema, const char* name,
                                             size_t name_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"name", name, name_size});
  schema->schema.observers.emplace_back(bigtable::View(name, name_size));
  return nullptr;
}

void bigtable_schema_set_split_rule(bigtable_schema* schema, uint64_t tablet_size,
                                    uint64_t merge_size, size_t prefix_length) {
  schema->schema.split = {
      .tablet_size = tablet_size, .merge_size = merge_size, .prefix_length = prefix_length};
}

void bigtable_schema_set_change_stream(bigtable_schema* schema, int64_t retention_micros,
                                       uint64_t max_bytes) {
  schema->schema.changes = {.retention = absl::Microseconds(retention_micros),
                            .max_bytes = max_bytes};
}

bigtable_error* bigtable_schema_add_split_row(bigtable_schema* schema, const char* row,
                                              size_t row_size) {
  BT_C_CHECK_NOT_NULL({"schema", schema}, {"row", row, row_size});
  schema->split_rows.emplace_back(bigtable::View(row, row_size));
  return nullptr;
}

bigtable_error* bigtable_schema_list_families(const bigtable_schema* schema,
                                              bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"schema", schema});
  return bigtable::ReturnList(bigtable::KeysOf(schema->schema.families), names);
}

bigtable_error* bigtable_schema_list_locality_groups(const bigtable_schema* schema,
                                                     bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"schema", schema});
  return bigtable::ReturnList(bigtable::KeysOf(schema->schema.locality_groups), names);
}

bigtable_error* bigtable_schema_list_observers(const bigtable_schema* schema,
                                               bigtable_string_list** names) {
  BT_C_CHECK_NOT_NULL({"names", names});
  *names = nullptr;
  BT_C_CHECK_NOT_NULL({"schema", schema});
  return bigtable::ReturnList(schema->schema.observers, names);
}

int bigtable_schema_family_value_type(const bigtable_schema* schema, const char* family,
                                      size_t family_size) {
  const auto found = bigtable::FindFamily(schema, bigtable::View(family, family_size));
  return found.ok() ? static_cast<int>((*found)->value_type) : -1;
}
const char* bigtable_schema_family_locality_group(const bigtable_schema* schema, const char* family,
                                                  size_t family_size, size_t* size) {
  return bigtable::FamilyText(schema, bigtable::View(family, family_size),
                              &bigtable::Family::locality_group, size);
}
const char* bigtable_schema_family_access_list(const bigtable_schema* schema, const char* family,
                                               size_t family_size, size_t* size) {
  return bigtable::FamilyText(schema, bigtable::View(family, family_size),
                              &bigtable::Family::access_list, size);
}
const char* bigtable_schema_family_owner(const bigtable_schema* schema, const char* family,
                                         size_t family_size, size_t* size) {
  return bigtable::FamilyText(schema, bigtable::View(family, family_size), &bigtable::Family::owner,
                              size);
}
const char* bigtable_schema_family_value_operator(const bigtable_schema* schema, const char* family,
                                                  size_t family_size, size_t* size) {
  return bigtable::FamilyText(schema, bigtable::View(family, family_size),
                              &bigtable::Family::value_operator, size);
}
const char* bigtable_schema_family_compaction_filter(const bigtable_schema* schema,
                                                     const char* family, size_t family_size,
                                                     size_t* size) {
  return bigtable::FamilyText(schema, bigtable::View(family, family_size),
                              &bigtable::Family::compaction_filter, size);
}
