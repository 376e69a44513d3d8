#include "server/admin/table_views.h"

#include <string>

#include "absl/status/status.h"

#include "bigtable/schema.h"

#include "server/convert/column_family.h"
#include "server/convert/errors.h"

namespace bigtable::server {
namespace {

absl::Status AddSchema(const AdminParts& parts, const KnownTable& known, admin::Table* table) {
  const absl::StatusOr<TableSchema> schema = parts.database->GetSchema(known.engine_name);
  if (absl::IsNotFound(schema.status())) return NoSuchError("Table", known.name.ToString());
  SERVER_RETURN_IF_ERROR(schema.status());
  for (const auto& [name, family] : schema->families) {
    (*table->mutable_column_families())[name] = ToProto(family);
  }
  table->set_granularity(admin::Table::MILLIS);
  SERVER_ASSIGN_OR_RETURN(const bool is_protected, parts.inventory.IsProtected(known.name));
  table->set_deletion_protection(is_protected);
  return absl::OkStatus();
}

// Each cluster of the instance has all of the table.
absl::Status AddClusters(const AdminParts& parts, const KnownTable& known, admin::Table* table) {
  SERVER_ASSIGN_OR_RETURN(const KnownInstance instance,
                          parts.inventory.FindInstance(known.name.instance));
  for (const admin::Cluster& cluster : instance.clusters) {
    const std::string id = cluster.name().substr(cluster.name().rfind('/') + 1);
    (*table->mutable_cluster_states())[id].set_replication_state(admin::Table::ClusterState::READY);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<admin::Table> ShowTable(const AdminParts& parts, const KnownTable& known,
                                       admin::Table::View view) {
  admin::Table table;
  table.set_name(known.name.ToString());
  switch (view) {
    case admin::Table::NAME_ONLY:
      return table;
    case admin::Table::SCHEMA_VIEW:
      SERVER_RETURN_IF_ERROR(AddSchema(parts, known, &table));
      return table;
    case admin::Table::REPLICATION_VIEW:
    case admin::Table::ENCRYPTION_VIEW:
      SERVER_RETURN_IF_ERROR(AddClusters(parts, known, &table));
      return table;
    case admin::Table::FULL:
      SERVER_RETURN_IF_ERROR(AddSchema(parts, known, &table));
      SERVER_RETURN_IF_ERROR(AddClusters(parts, known, &table));
      return table;
    default:
      return Invalid("view must be one of Table.View, and is ", static_cast<int>(view));
  }
}

}  // namespace bigtable::server
