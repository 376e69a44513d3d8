#include "replication/follower_table.h"

#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kApplied = "p:applied";

}  // namespace

absl::StatusOr<FollowerTable> FollowerTable::Open(Database* database) {
  TableSchema schema;
  schema.families["p"] = {.gc = GcRule::MaxVersions(1)};
  BT_ASSIGN_OR_RETURN(Table* const table, database->OpenOrCreateTable(kName, schema));
  return FollowerTable(table);
}

absl::StatusOr<std::map<std::string, ChangePosition>> FollowerTable::Read() const {
  std::map<std::string, ChangePosition> applied;
  RowReader reader = table_->ReadRows(RowRange::All(), Filter::Latest(1));
  for (const Row& row : reader) {
    absl::StatusOr<ChangePosition> position = ChangePosition::Decode(row.cells().front().value);
    if (!position.ok()) {
      return absl::DataLossError(
          Cat("table ", kName, ", row ", Quoted(row.key()), ": what is applied cannot be read"));
    }
    applied.emplace(row.key(), *std::move(position));
  }
  BT_RETURN_IF_ERROR(reader.status());
  return applied;
}

RowMutation FollowerTable::Set(std::string_view table, const ChangePosition& applied) {
  return RowMutation(table).Set(kApplied, Timestamp(0), applied.Encode());
}

absl::Status FollowerTable::Forget(std::string_view table) const {
  return table_->Apply(RowMutation(table).DeleteRow());
}

}  // namespace bigtable
