#include "server/admin/column_families.h"

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bigtable/schema.h"

#include "convert/column_family.h"
#include "convert/limits.h"
#include "server/admin/field_masks.h"
#include "server/admin/table_record.h"
#include "server/admin/table_views.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

using Modification = admin::ModifyColumnFamiliesRequest::Modification;

// The families that the table has after each modification, by whose names errors are found here:
// the engine's would have its own name of the table.
class FamilyNames {
 public:
  FamilyNames(std::string table, const TableSchema& schema) : table_(std::move(table)) {
    for (const auto& [name, family] : schema.families) names_.insert(name);
  }

  absl::Status Create(const std::string& id) {
    if (!names_.insert(id).second) {
      return absl::AlreadyExistsError(
          Cat("table ", table_, " has a column family ", Quoted(id), " already"));
    }
    return absl::OkStatus();
  }
  absl::Status Find(const std::string& id) const {
    if (names_.contains(id)) return absl::OkStatus();
    return absl::NotFoundError(Cat("table ", table_, " has no column family ", Quoted(id)));
  }
  absl::Status Drop(const std::string& id) {
    SERVER_RETURN_IF_ERROR(Find(id));
    names_.erase(id);
    return absl::OkStatus();
  }
  absl::Status CheckCount() const {
    if (names_.size() <= convert::kMaxFamilies) return absl::OkStatus();
    return Invalid("a table must have at most ", convert::kMaxFamilies, " column families, and ",
                   table_, " would have ", names_.size());
  }

 private:
  const std::string table_;
  std::set<std::string> names_;
};

absl::StatusOr<Family> Converted(const std::string& id, const admin::ColumnFamily& family) {
  absl::StatusOr<Family> converted = convert::ToRequestedFamily(family);
  if (converted.ok()) return converted;
  return Annotate(converted.status(), Cat("column family ", Quoted(id)));
}

// Without a mask, the rule alone.
absl::StatusOr<FamilyUpdate> UpdateOf(const Modification& modification, TableRecord* record) {
  google::protobuf::FieldMask mask = modification.update_mask();
  if (mask.paths().empty()) mask.add_paths("gc_rule");
  admin::ColumnFamily changed;
  SERVER_RETURN_IF_ERROR(
      UpdateFields(modification.update(), mask, {"gc_rule", "value_type"}, &changed));
  SERVER_ASSIGN_OR_RETURN(const Family family, Converted(modification.id(), changed));
  FamilyUpdate update;
  for (const std::string& path : mask.paths()) {
    if (IsOfField(path, "gc_rule")) {
      update.gc = family.gc;
      record->SetRule(modification.id(), changed.gc_rule());
    } else {
      update.value_type = family.value_type;
      update.value_operator = family.value_operator;
    }
  }
  return update;
}

absl::StatusOr<FamilyChange> ChangeOf(const Modification& modification, FamilyNames* names,
                                      TableRecord* record) {
  const std::string& id = modification.id();
  switch (modification.mod_case()) {
    case Modification::kCreate: {
      SERVER_ASSIGN_OR_RETURN(Family family, NewFamily(id, modification.create()));
      SERVER_RETURN_IF_ERROR(names->Create(id));
      record->SetRule(id, modification.create().gc_rule());
      return FamilyChange::Add(id, std::move(family));
    }
    case Modification::kUpdate: {
      SERVER_ASSIGN_OR_RETURN(FamilyUpdate update, UpdateOf(modification, record));
      SERVER_RETURN_IF_ERROR(names->Find(id));
      return FamilyChange::Update(id, std::move(update));
    }
    case Modification::kDrop:
      if (!modification.drop()) return Invalid("drop of family ", Quoted(id), " must be true");
      SERVER_RETURN_IF_ERROR(names->Drop(id));
      record->DropFamily(id);
      return FamilyChange::Drop(id);
    case Modification::MOD_NOT_SET:
      break;
  }
  return Invalid("the modification of family ", Quoted(id),
                 " must have one of create, update and drop");
}

}  // namespace

absl::StatusOr<Family> NewFamily(const std::string& id, const admin::ColumnFamily& family) {
  SERVER_RETURN_IF_ERROR(convert::CheckFamilyId(id));
  return Converted(id, family);
}

absl::StatusOr<admin::Table> ColumnFamilies::Modify(
    const admin::ModifyColumnFamiliesRequest& request, const CallOptions& options) const {
  const std::lock_guard lock(parts_.catalogue->change_mutex());
  SERVER_ASSIGN_OR_RETURN(const KnownTable known, parts_.inventory.FindTable(request.name()));
  SERVER_ASSIGN_OR_RETURN(const TableSchema schema, parts_.database->GetSchema(known.engine_name));
  if (request.modifications().empty()) {
    return Invalid("ModifyColumnFamilies must have at least one modification");
  }
  if (request.modifications_size() > convert::kMaxModifications) {
    return Invalid("ModifyColumnFamilies must have at most ", convert::kMaxModifications,
                   " modifications, and has ", request.modifications_size());
  }
  FamilyNames names(request.name(), schema);
  SERVER_ASSIGN_OR_RETURN(const TableRecord old, TableRecord::Read(*parts_.catalogue, known.name));
  TableRecord record = old;
  std::vector<FamilyChange> changes;
  for (const Modification& modification : request.modifications()) {
    SERVER_ASSIGN_OR_RETURN(FamilyChange change, ChangeOf(modification, &names, &record));
    if (modification.has_drop()) {
      SERVER_RETURN_IF_ERROR(parts_.inventory.CheckNotProtected(
          known.name, Cat("its column family ", Quoted(change.name), " cannot be dropped")));
    }
    changes.push_back(std::move(change));
  }
  SERVER_RETURN_IF_ERROR(names.CheckCount());
  // Before the families: the rules count only once the engine's are equivalent.
  const bool changes_record = !(record == old);
  if (changes_record) SERVER_RETURN_IF_ERROR(record.Store(parts_.catalogue));
  const absl::Status modified =
      parts_.database->ModifyFamilies(known.engine_name, changes, options);
  if (!modified.ok()) {
    if (changes_record) old.Store(parts_.catalogue).IgnoreError();
    return modified;
  }
  return ShowTable(parts_, known, admin::Table::SCHEMA_VIEW);
}

}  // namespace bigtable::server
