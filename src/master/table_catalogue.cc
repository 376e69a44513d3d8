#include "master/table_catalogue.h"

#include "base/status.h"
#include "master/schema_store.h"

namespace bigtable {

absl::Status TableCatalogue::Read(SequenceSource* sequences) {
  BT_ASSIGN_OR_RETURN(const std::vector<TableLayout> layouts, schemas_.ReadAll());
  for (const TableLayout& layout : layouts) {
    // Ids of tables and families are sequence numbers, and so are changes of rules.
    sequences->AdvanceTo(layout.table_id + kLeftForOldest);
    for (const FamilyLayout& family : layout.families) {
      if (family.created != 0) sequences->AdvanceTo(family.created + kLeftForOldest);
    }
    sequences->AdvanceTo(layout.LastChange());
    Set(layout);
  }
  return absl::OkStatus();
}

absl::StatusOr<TableLayout> TableCatalogue::Find(std::string_view name) const {
  MutexLock lock(&mutex_);
  const auto found = tables_.find(name);
  if (found != tables_.end()) return *found->second;
  return NoTableError(name, tables_,
                      [](const auto& table) -> std::string_view { return table.first; });
}

bool TableCatalogue::Has(std::string_view name) const {
  MutexLock lock(&mutex_);
  return tables_.contains(name);
}

absl::StatusOr<uint64_t> TableCatalogue::FindId(std::string_view name) const {
  BT_ASSIGN_OR_RETURN(const TableLayout layout, Find(name));
  return layout.table_id;
}

absl::Status TableCatalogue::Check(uint64_t table_id) const {
  MutexLock lock(&mutex_);
  return ids_.contains(table_id) ? absl::OkStatus() : absl::NotFoundError("the table was deleted");
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
  ids_.insert(layout.table_id);
  tables_[layout.name] = std::move(shared);
}

void TableCatalogue::Erase(std::string_view name) {
  MutexLock lock(&mutex_);
  const auto found = tables_.find(name);
  if (found == tables_.end()) return;
  ids_.erase(found->second->table_id);
  tables_.erase(found);
}

}  // namespace bigtable
