#include "replication/follower_table.h"

#include <memory>
#include <utility>

#include "bigtable/write_batch.h"

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kApplied = "p:applied";
constexpr std::string_view kSourceRow = "/source";
constexpr std::string_view kSource = "p:source";

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
  return FollowerTable(database, *table, directory, file_system, marked.ok());
}

absl::StatusOr<FollowerTable::Contents> FollowerTable::Read() const {
  Contents contents;
  RowReader reader = table_->ReadRows(RowRange::All(), Filter::Latest(1));
  for (const Row& row : reader) {
    const std::string_view value = row.cells().front().value;
    const absl::Status damage = absl::DataLossError(
        Cat("table ", kName, ", row ", Quoted(row.key()), ": what is applied cannot be read"));
    if (row.key() == kSourceRow) {
      Decoder in(value);
      contents.source = in.Fixed64();
      if (!in.ok() || !in.at_end() || contents.source == 0) return damage;
      continue;
    }
    absl::StatusOr<ChangePosition> position = ChangePosition::Decode(value);
    if (!position.ok()) return damage;
    contents.applied.emplace(row.key(), *std::move(position));
  }
  BT_RETURN_IF_ERROR(reader.status());
  return contents;
}

absl::Status FollowerTable::Begin(const Contents& before, const Contents& now) {
  WriteBatch batch;
  for (const auto& [name, _] : before.applied) {
    if (!now.applied.contains(name)) batch.Apply(table_, RowMutation(name).DeleteRow());
  }
  std::string source;
  AppendFixed64(&source, now.source);
  batch.Apply(table_, RowMutation(kSourceRow).Set(kSource, Timestamp(0), source));
  BT_RETURN_IF_ERROR(database_->Apply(batch, {.durability = Durability::kSync}));
  if (!is_marked_) BT_RETURN_IF_ERROR(Mark(directory_, file_system_));
  is_marked_ = true;
  return absl::OkStatus();
}

RowMutation FollowerTable::Set(std::string_view table, const ChangePosition& applied) {
  return RowMutation(table).Set(kApplied, Timestamp(0), applied.Encode());
}

absl::Status FollowerTable::Forget(std::string_view table) const {
  return table_->Apply(RowMutation(table).DeleteRow());
}

}  // namespace bigtable
