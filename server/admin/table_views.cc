#include "server/admin/table_views.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

#include "convert/column_family.h"
#include "convert/schema.h"
#include "server/admin/table_record.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

absl::Status AddSchema(const AdminParts& parts, const KnownTable& known, admin::Table* table) {
  SERVER_ASSIGN_OR_RETURN(const TableSchema schema, parts.database->GetSchema(known.engine_name));
  SERVER_ASSIGN_OR_RETURN(const TableRecord record,
                          TableRecord::Read(*parts.catalogue, known.name));
  for (const auto& [name, family] : schema.families) {
    admin::ColumnFamily& shown = (*table->mutable_column_families())[name];
    shown = convert::ToProto(family);
    *shown.mutable_gc_rule() = record.RuleOf(name, family.gc);
  }
  if (schema.changes.retention != absl::ZeroDuration()) {
    *table->mutable_change_stream_config() = convert::ToProto(schema.changes);
  }
  table->set_granularity(admin::Table::MILLIS);
  table->set_deletion_protection(record.is_protected());
  return absl::OkStatus();
}

bool HasSchema(admin::Table::View view) {
  return view == admin::Table::SCHEMA_VIEW || view == admin::Table::FULL;
}

bool HasClusters(admin::Table::View view) {
  return view == admin::Table::REPLICATION_VIEW || view == admin::Table::ENCRYPTION_VIEW ||
         view == admin::Table::FULL;
}

// A table with the states of the clusters alone: each cluster has all of each table.
absl::StatusOr<admin::Table> ClustersOf(const AdminParts& parts, const InstanceName& name) {
  SERVER_ASSIGN_OR_RETURN(const KnownInstance instance, parts.inventory.FindInstance(name));
  admin::Table table;
  for (const admin::Cluster& cluster : instance.clusters) {
    const std::string id = cluster.name().substr(cluster.name().rfind('/') + 1);
    (*table.mutable_cluster_states())[id].set_replication_state(admin::Table::ClusterState::READY);
  }
  return table;
}

}  // namespace

absl::StatusOr<std::vector<admin::Table>> ShowTables(const AdminParts& parts,
                                                     const std::vector<KnownTable>& known,
                                                     admin::Table::View view) {
  if (!admin::Table::View_IsValid(view) || view == admin::Table::VIEW_UNSPECIFIED) {
    return Invalid("view must be one of Table.View, and is ", static_cast<int>(view));
  }
  std::vector<admin::Table> shown;
  if (known.empty()) return shown;
  admin::Table clusters;
  if (HasClusters(view)) {
    SERVER_ASSIGN_OR_RETURN(clusters, ClustersOf(parts, known[0].name.instance));
  }
  for (const KnownTable& each : known) {
    admin::Table table = clusters;
    table.set_name(each.name.ToString());
    if (HasSchema(view)) {
      const absl::Status added = AddSchema(parts, each, &table);
      if (absl::IsNotFound(added)) continue;
      SERVER_RETURN_IF_ERROR(added);
    }
    shown.push_back(std::move(table));
  }
  return shown;
}

absl::StatusOr<admin::Table> ShowTable(const AdminParts& parts, const KnownTable& known,
                                       admin::Table::View view) {
  SERVER_ASSIGN_OR_RETURN(std::vector<admin::Table> shown, ShowTables(parts, {known}, view));
  if (shown.empty()) return NoSuchError("Table", known.name.ToString());
  return std::move(shown[0]);
}

}  // namespace bigtable::server
