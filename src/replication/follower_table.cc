#include "replication/follower_table.h"

#include <memory>
#include <utility>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kApplied = "p:applied";

// Writes the file, durably.
absl::Status Mark(const DatabaseDirectory& directory, FileSystem* file_system) {
  BT_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file,
                      file_system->NewWritableFile(directory.follower_file()));
  BT_RETURN_IF_ERROR(file->Append("This database is a follower, or was one and was promoted.\n"));
  BT_RETURN_IF_ERROR(file->Sync());
  BT_RETURN_IF_ERROR(file->Close());
  return file_system->SyncDirectory(directory.path());
}

}  // namespace

absl::StatusOr<FollowerTable> FollowerTable::Open(Database* database,
                                                  const DatabaseDirectory& directory,
                                                  FileSystem* file_system) {
  const absl::Status marked = file_system->FileSize(directory.follower_file()).status();
  if (!marked.ok() && !absl::IsNotFound(marked)) return marked;
  absl::StatusOr<Table*> table = database->OpenTable(kName);
  if (absl::IsNotFound(table.status())) {
    if (marked.ok()) {
      return absl::FailedPreconditionError(
          Cat(directory.path(),
              ": the database was promoted, and is no follower any more; a "
              "follower begins with a checkpoint, in another directory"));
    }
    TableSchema schema;
    schema.families["p"] = {.gc = GcRule::MaxVersions(1)};
    table = database->OpenOrCreateTable(kName, schema);
  }
  BT_RETURN_IF_ERROR(table.status());
  if (!marked.ok()) BT_RETURN_IF_ERROR(Mark(directory, file_system));
  return FollowerTable(*table);
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
