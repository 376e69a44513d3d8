#include "master/table_catalogue.h"

#include <algorithm>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status TableCatalogue::Read(SequenceSource* sequences) {
  BT_ASSIGN_OR_RETURN(const std::vector<TableLayout> layouts, schemas_.ReadAll());
  for (const TableLayout& layout : layouts) {
    // Ids of tables and families are sequence numbers, and so are changes of rules.
    sequences->AdvanceTo(layout.table_id);
    for (const FamilyLayout& family : layout.families) sequences->AdvanceTo(family.created);
    sequences->AdvanceTo(layout.LastRuleChange());
    Set(layout);
  }
  return absl::OkStatus();
}

absl::StatusOr<TableLayout> TableCatalogue::Find(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = tables_.find(name);
  if (found != tables_.end()) return *found->second;
  const std::string names = Listed(tables_, [](const auto& table) { return table.first; });
  return absl::NotFoundError(Cat("there is no table ", Quoted(name), "; there are: ", names));
}

absl::StatusOr<uint64_t> TableCatalogue::FindId(std::string_view name) const {
  BT_ASSIGN_OR_RETURN(const TableLayout layout, Find(name));
  return layout.table_id;
}

absl::Status TableCatalogue::Check(uint64_t table_id) const {
  MutexLock lock(&mutex_);
  const bool is_there = std::any_of(tables_.begin(), tables_.end(), [&](const auto& entry) {
    return entry.second->table_id == table_id;
  });
  return is_there ? absl::OkStatus() : absl::NotFoundError("the table was deleted");
}

std::vector<std::shared_ptr<const TableLayout>> TableCatalogue::All() const {
  std::vector<std::shared_ptr<const TableLayout>> layouts;
  MutexLock lock(&mutex_);
  for (const auto& [name, layout] : tables_) layouts.push_back(layout);
  return layouts;
}

void TableCatalogue::Set(const TableLayout& layout) {
  auto shared = std::make_shared<const TableLayout>(layout);
  MutexLock lock(&mutex_);
  tables_[layout.name] = std::move(shared);
}

void TableCatalogue::Erase(std::string_view name) {
  MutexLock lock(&mutex_);
  if (const auto found = tables_.find(name); found != tables_.end()) tables_.erase(found);
}

}  // namespace bigtable
