// Schemas as google.bigtable.admin.v2.Table, and back. Pure functions.
//
// Unimplemented, with the name of what it is: a part of a schema that the API does not have.
#ifndef BIGTABLE_CONVERT_SCHEMA_H_
#define BIGTABLE_CONVERT_SCHEMA_H_

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.pb.h"
#include "google/bigtable/admin/v2/table.pb.h"

#include "bigtable/schema.h"

namespace bigtable::convert {

absl::StatusOr<google::bigtable::admin::v2::Table> ToProto(const TableSchema& schema);
// Internal: the message has a rule or a type that the library does not have.
absl::StatusOr<TableSchema> ToSchema(const google::bigtable::admin::v2::Table& table);

// How long changes are kept. Without a retention period there are none: INVALID_ARGUMENT. What the
// API does not have keeps the engine's default.
absl::StatusOr<ChangeStreamRule> ToChangeStreamRule(
    const google::bigtable::admin::v2::ChangeStreamConfig& config);
// Of a rule with a retention.
google::bigtable::admin::v2::ChangeStreamConfig ToProto(const ChangeStreamRule& rule);

using Modification = google::bigtable::admin::v2::ModifyColumnFamiliesRequest::Modification;
absl::StatusOr<Modification> ToProto(const FamilyChange& change);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_SCHEMA_H_
