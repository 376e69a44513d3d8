#include "server/admin/catalogue.h"

#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/schema.h"

#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

constexpr std::string_view kFamily = "resource";
constexpr std::string_view kColumn = "resource:";

}  // namespace

void Catalogue::Change::PutBytes(std::string_view name, const std::string& bytes) {
  batch_.Apply(table_, RowMutation(name).DeleteRow().Set(kColumn, bytes));
}

void Catalogue::Change::Erase(std::string_view name) {
  batch_.Apply(table_, RowMutation(name).DeleteRow());
}

absl::StatusOr<std::unique_ptr<Catalogue>> Catalogue::Open(Database* database) {
  TableSchema schema;
  schema.families[std::string(kFamily)] = {.gc = GcRule::MaxVersions(1)};
  absl::StatusOr<Table*> table = database->OpenOrCreateTable(kCatalogueTable, schema);
  if (!table.ok()) return Annotate(table.status(), "the server's catalogue");
  return std::unique_ptr<Catalogue>(new Catalogue(database, *table));
}

absl::Status Catalogue::Apply(const Change& change) {
  absl::Status applied = database_->Apply(change.batch_, {.durability = Durability::kSync});
  changes_.fetch_add(1);
  return applied;
}

absl::StatusOr<std::optional<std::string>> Catalogue::FindBytes(const std::string& name) const {
  SERVER_ASSIGN_OR_RETURN(const Row row, table_->ReadRow(name));
  if (row.cells().empty()) return std::nullopt;
  return std::string(row.cells()[0].value);
}

absl::StatusOr<std::vector<Catalogue::NamedBytes>> Catalogue::ListBytes(
    const std::string& prefix) const {
  std::vector<NamedBytes> rows;
  RowReader reader = table_->ReadRows(RowRange::Prefix(prefix));
  for (const Row& row : reader) {
    if (row.key().find('/', prefix.size()) != std::string_view::npos) continue;
    rows.emplace_back(row.key(), row.cells()[0].value);
  }
  SERVER_RETURN_IF_ERROR(reader.status());
  return rows;
}

absl::Status Catalogue::Parse(const std::string& name, const std::string& bytes,
                              google::protobuf::MessageLite* resource) {
  if (resource->ParseFromString(bytes)) return absl::OkStatus();
  return absl::DataLossError(Cat("row ", Quoted(name), " of table ", kCatalogueTable,
                                 " does not have a serialized ", resource->GetTypeName()));
}

}  // namespace bigtable::server
