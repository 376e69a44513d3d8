#include "schema/family_changes.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"

#include "base/status.h"
#include "base/strings.h"
#include "retention/aggregates.h"
#include "schema/schema_checks.h"

namespace bigtable {
namespace {

absl::StatusOr<uint32_t> FindGroup(const TableLayout& layout, const Family& family) {
  const std::string_view name =
      family.locality_group.empty() ? "default" : std::string_view(family.locality_group);
  if (const GroupLayout* group = layout.FindGroup(name)) return group->id;
  return absl::NotFoundError(Cat("table ", layout.name, " has no locality group ", Quoted(name)));
}

// What a family holds never changes, since the operator would not take what is there.
absl::Status CheckSameValues(const FamilyLayout& family, const FamilyUpdate& update) {
  const ValueType type = update.value_type.value_or(family.value_type);
  const std::string& name = update.value_operator.value_or(family.value_operator);
  if (type == family.value_type && name == family.value_operator) return absl::OkStatus();
  const auto describe = [](const Aggregate* aggregate) {
    return aggregate == nullptr ? std::string("bytes (kBytes)") : aggregate->what();
  };
  BT_RETURN_IF_ERROR(CheckValueType(family.name, type, name));
  return absl::InvalidArgumentError(Cat("family ", Quoted(family.name), " holds ",
                                        describe(family.aggregate), ", and cannot change to hold ",
                                        describe(Aggregate::Of(type, name))));
}

// One change of a layout.
class Changer {
 public:
  Changer(const std::string& name, SequenceNumber created, TableLayout* layout)
      : name_(name), created_(created), layout_(layout), found_(layout->FindFamily(name)) {}

  absl::Status operator()(const Family& family) {
    BT_RETURN_IF_ERROR(CheckNewFamily(name_, family));
    if (found_ != nullptr) {
      return absl::AlreadyExistsError(
          Cat("table ", layout_->name, " has a column family ", Quoted(name_), " already"));
    }
    BT_ASSIGN_OR_RETURN(const uint32_t group_id, FindGroup(*layout_, family));
    layout_->AddFamily(name_, group_id, family, created_);
    return absl::OkStatus();
  }

  absl::Status operator()(const FamilyUpdate& update) {
    BT_RETURN_IF_ERROR(CheckFamilyName(name_));
    if (found_ == nullptr) return layout_->NoFamilyError(name_);
    BT_RETURN_IF_ERROR(CheckSameValues(*found_, update));
    BT_RETURN_IF_ERROR(CheckFilterIsKnown(name_, update.compaction_filter.value_or("")));
    const Family changed{
        .gc = update.gc.value_or(found_->gc),
        .access_list = update.access_list.value_or(found_->access_list),
        .value_type = found_->value_type,
        .value_operator = found_->value_operator,
        .compaction_filter = update.compaction_filter.value_or(found_->compaction_filter),
        .owner = update.owner.value_or(found_->owner)};
    BT_RETURN_IF_ERROR(CheckFamily(name_, changed));
    found_->gc = changed.gc;
    found_->access_list = changed.access_list;
    found_->compaction_filter = changed.compaction_filter;
    found_->owner = changed.owner;
    return absl::OkStatus();
  }

  absl::Status operator()(std::monostate) {
    if (found_ == nullptr) return layout_->NoFamilyError(name_);
    layout_->families.erase(layout_->families.begin() + (found_ - layout_->families.data()));
    return absl::OkStatus();
  }

 private:
  const std::string& name_;
  const SequenceNumber created_;
  TableLayout* const layout_;
  FamilyLayout* const found_;  // null: there is no such family
};

}  // namespace

absl::Status ChangeFamilies(const std::vector<FamilyChange>& changes, SequenceNumber created,
                            TableLayout* layout) {
  for (const FamilyChange& change : changes) {
    BT_RETURN_IF_ERROR(std::visit(Changer(change.name, created, layout), change.change));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
