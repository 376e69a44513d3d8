#include "admission/access_control.h"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/access_list_store.h"
#include "base/status.h"
#include "base/strings.h"
#include "metadata/metadata_format.h"
#include "read/filter_program.h"
#include "schema/mutation_format.h"

namespace bigtable {

absl::Status AccessCheck::CheckRead(const TableLayout& layout, const FilterNode* filter) {
  const FilterProgram program(filter);
  for (const FamilyLayout& family : layout.families) {
    if (family.access_list.empty()) continue;
    if (!program.passes_everything() && !program.MayPassFamily(family.name)) continue;
    BT_RETURN_IF_ERROR(Check(Right::kRead, layout, family));
  }
  return absl::OkStatus();
}

bool AccessCheck::CheckWrites(const TableLayout& layout,
                              absl::Span<const EncodedMutation> mutations,
                              absl::Span<absl::Status> statuses) {
  bool may_any = false;
  SharedErrors errors;
  for (size_t i = 0; i < mutations.size(); ++i) {
    if (statuses[i].ok()) {
      statuses[i] = errors.Share(CheckWrite(layout, mutations[i].operations));
    }
    may_any |= statuses[i].ok();
  }
  return may_any;
}

absl::Status AccessCheck::CheckWrite(const TableLayout& layout, std::string_view operations) {
  if (layout.table_id == kMetadataTableId) {
    return absl::PermissionDeniedError(Cat("caller ", Quoted(caller_), " may not write METADATA"));
  }
  const FamilyLayout* last = nullptr;  // the next operation mostly has the same
  OperationReader reader(operations);
  for (MutationOperation operation; reader.Next(&operation);) {
    if (operation.is_of_row()) {
      for (const FamilyLayout& family : layout.families) {
        BT_RETURN_IF_ERROR(Check(Right::kWrite, layout, family));
      }
      return absl::OkStatus();
    }
    const FamilyLayout* const family = layout.FindFamily(operation.family);
    if (family == nullptr || family == last) continue;
    BT_RETURN_IF_ERROR(Check(Right::kWrite, layout, *family));
    last = family;
  }
  return absl::OkStatus();
}

absl::Status AccessCheck::Check(Right right, const TableLayout& layout,
                                const FamilyLayout& family) {
  if (family.access_list.empty()) return absl::OkStatus();
  auto found = std::find_if(lists_.begin(), lists_.end(),
                            [&](const auto& known) { return known.first == family.access_list; });
  if (found == lists_.end()) {
    BT_ASSIGN_OR_RETURN(std::shared_ptr<const AccessList> read,
                        control_->Find(family.access_list, limits_));
    lists_.emplace_back(family.access_list, std::move(read));
    found = lists_.end() - 1;
  }
  const AccessList* const list = found->second.get();
  if (list != nullptr) {
    const std::set<std::string, std::less<>>& names =
        right == Right::kRead ? list->readers : list->writers;
    if (names.contains(caller_) || names.contains(AccessList::kEverybody)) return absl::OkStatus();
  }
  return absl::PermissionDeniedError(Cat(
      "caller ", Quoted(caller_), " may not ", right == Right::kRead ? "read" : "write",
      " column family ", Quoted(family.name), " of table ", layout.name, ": its access list ",
      Quoted(family.access_list),
      list == nullptr         ? " is not there"
      : right == Right::kRead ? " does not name them as a reader; a filter can leave the family out"
                              : " does not name them as a writer"));
}

absl::StatusOr<std::shared_ptr<const AccessList>> AccessControl::Find(const std::string& name,
                                                                      const CallLimits& limits) {
  absl::StatusOr<LockServiceFile> file = session_->Read(AccessListStore::FileOf(name), limits);
  if (absl::IsNotFound(file.status())) {
    MutexLock lock(&mutex_);
    known_.erase(name);
    return std::shared_ptr<const AccessList>();
  }
  BT_RETURN_IF_ERROR(file.status());
  {
    MutexLock lock(&mutex_);
    const auto found = known_.find(name);
    if (found != known_.end() && found->second.generation == file->generation) {
      return found->second.list;
    }
  }
  absl::StatusOr<AccessList> decoded = DecodeAccessList(file->contents);
  if (!decoded.ok()) return Annotate(decoded.status(), Cat("access list ", Quoted(name)));
  auto list = std::make_shared<const AccessList>(*std::move(decoded));
  MutexLock lock(&mutex_);
  Known& known = known_[name];
  if (known.generation < file->generation) known = {file->generation, list};
  return list;
}

}  // namespace bigtable
