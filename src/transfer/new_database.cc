#include "transfer/new_database.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "background/minor_compaction.h"
#include "base/status.h"
#include "base/steady_time.h"
#include "base/strings.h"
#include "base/thread_roles.h"
#include "compaction/job.h"
#include "lockservice/local_lock_service.h"
#include "lockservice/small_files.h"
#include "metadata/metadata_format.h"
#include "metadata/root_tablet.h"
#include "sstable/open_tables.h"
#include "tablet/snapshot_list.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// Keeps the state of one tablet.
class StateInMemory final : public TabletStore {
 public:
  explicit StateInMemory(const RowRange& rows) { state_.rows = rows; }
  bool TakesTogether(absl::Span<const TabletStep> /*steps*/) const override { return true; }
  absl::Status Commit(absl::Span<const TabletStep> steps) override {
    for (const TabletStep& step : steps) ApplyChange(step.change, &state_);
    return absl::OkStatus();
  }
  using TabletStore::Commit;
  const TabletState& state() const { return state_; }

 private:
  TabletState state_;
};

void RemoveAllIn(FileSystem* file_system, const std::string& path);

// Removes a file, or a directory with what is in it.
void RemoveTree(FileSystem* file_system, const std::string& path) {
  const absl::Status removed = file_system->RemoveFile(path);
  if (!absl::IsFailedPrecondition(removed)) return;
  RemoveAllIn(file_system, path);
  file_system->RemoveDirectory(path).IgnoreError();
}

void RemoveAllIn(FileSystem* file_system, const std::string& path) {
  const absl::StatusOr<std::vector<std::string>> names = file_system->ListDirectory(path);
  if (!names.ok()) return;
  for (const std::string& name : *names) RemoveTree(file_system, Cat(path, "/", name));
}

}  // namespace

NewDatabase::~NewDatabase() {
  if (!has_begun_ || is_finished_) return;
  // The root first: what is left in between is no database.
  small_files().Remove(RootTablet::kFile).IgnoreError();
  RemoveAllIn(parts_.file_system, directory_.path());
}

absl::Status NewDatabase::Begin() {
  FileSystem* const file_system = parts_.file_system;
  BT_RETURN_IF_ERROR(file_system->CreateDirectory(directory_.path()));
  if (!parts_.marker.empty()) BT_RETURN_IF_ERROR(RemoveOtherTry());
  BT_ASSIGN_OR_RETURN(std::vector<std::string> names,
                      file_system->ListDirectory(directory_.path()));
  // Another try may have ended before it had a marker.
  if (!parts_.marker.empty()) std::erase(names, "LOCK");
  if (!names.empty()) {
    return absl::AlreadyExistsError(Cat(directory_.path(), ": there are files, such as ",
                                        Quoted(names.front()),
                                        "; a copy of a database needs a new or empty directory"));
  }
  // Nobody else copies or opens something here before this is done.
  BT_ASSIGN_OR_RETURN(
      lock_, file_system->LockFile(directory_.lock_file(), FileSystem::LockMode::kExclusive));
  has_begun_ = true;
  if (!parts_.marker.empty()) {
    BT_ASSIGN_OR_RETURN(const auto file, file_system->NewWritableFile(marker_file()));
    BT_RETURN_IF_ERROR(file->Sync());
    BT_RETURN_IF_ERROR(file->Close());
    BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory_.path()));
  }
  for (const std::string& path :
       {directory_.lock_service(), directory_.logs(), directory_.sstables()}) {
    BT_RETURN_IF_ERROR(file_system->CreateDirectory(path));
  }
  return absl::OkStatus();
}

absl::Status NewDatabase::RemoveOtherTry() {
  FileSystem* const file_system = parts_.file_system;
  if (!file_system->FileExists(marker_file()) || small_files().Exists(RootTablet::kFile)) {
    return absl::OkStatus();
  }
  {
    BT_ASSIGN_OR_RETURN(
        const std::unique_ptr<FileLock> lock,
        file_system->LockFile(directory_.lock_file(), FileSystem::LockMode::kExclusive));
    BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        file_system->ListDirectory(directory_.path()));
    for (const std::string& name : names) {
      if (name != parts_.marker) RemoveTree(file_system, Cat(directory_.path(), "/", name));
    }
  }
  // Last, so that all of this can be interrupted.
  BT_RETURN_IF_ERROR(file_system->SyncDirectory(directory_.path()));
  return file_system->RemoveFile(marker_file());
}

void NewDatabase::AddTablet(uint64_t table_id, const TabletState& state) {
  AddTablet(RowOf(table_id, state), OperationsOf(state));
}

void NewDatabase::AddTablet(std::string row, std::string operations) {
  tablets_.emplace_back(std::move(row), std::move(operations));
}

std::string NewDatabase::RowOf(uint64_t table_id, const TabletState& state) {
  return MetadataRow(TabletId{table_id, state.rows.end()});
}

std::string NewDatabase::OperationsOf(const TabletState& state) {
  return EncodeNewTablet(state.rows) + EncodeContents(state);
}

absl::Status NewDatabase::Finish(const std::map<std::string, std::string>& files,
                                 SequenceNumber last) {
  const RowRange others = RowRange::StartingAt(*RootRows().end());
  BT_ASSIGN_OR_RETURN(const TabletState metadata, WriteMetadata(others, tablets_, &last));
  const Rows of_root = {{MetadataRow(TabletId{kMetadataTableId, std::nullopt}),
                         EncodeNewTablet(others) + EncodeContents(metadata)}};
  BT_ASSIGN_OR_RETURN(const TabletState root, WriteMetadata(RootRows(), of_root, &last));
  BT_RETURN_IF_ERROR(WriteFiles(files));
  FileSystem* const file_system = parts_.file_system;
  for (const std::string& path : {directory_.sstables(), directory_.path()}) {
    BT_RETURN_IF_ERROR(file_system->SyncDirectory(path));
  }
  BT_RETURN_IF_ERROR(SyncDirectoryOf(file_system, directory_.path()));
  BT_RETURN_IF_ERROR(small_files().Write(RootTablet::kFile, EncodeRoot({.tablet = root})));
  is_finished_ = true;
  if (parts_.marker.empty()) return absl::OkStatus();
  // Only for the eyes of users: with a root, the directory is a database.
  file_system->RemoveFile(marker_file()).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<TabletState> NewDatabase::WriteMetadata(const RowRange& range, const Rows& rows,
                                                       SequenceNumber* last) {
  OpenTables open_tables(parts_.file_system, FileSystem::ReadMode::kPositional, parts_.budget);
  const SequenceSource sequences(*last + rows.size());
  SnapshotList snapshots(&sequences, parts_.clock);
  StateInMemory store(range);
  TabletEnvironment environment;
  environment.file_system = parts_.file_system;
  environment.clock = parts_.clock;
  environment.budget = parts_.budget;
  environment.store = &store;
  environment.snapshots = &snapshots;
  environment.open_tables = &open_tables;
  environment.file_numbers = &file_numbers_;
  environment.path_of = [this](uint64_t number) { return directory_.sstable(number); };
  environment.on_file_written = [this](uint64_t number) { return copies_.Keep(number); };
  environment.visible = [&] { return sequences.last(); };
  environment.sync_log = [](absl::Span<const ImmutableMemtables>) { return SequenceNumber{0}; };
  environment.remove_file = [this](uint64_t number) {
    parts_.file_system->RemoveFile(directory_.sstable(number)).IgnoreError();
  };
  const auto layout = std::make_shared<const TableLayout>(MetadataLayout());
  BT_ASSIGN_OR_RETURN(std::shared_ptr<Tablet> tablet,
                      Tablet::Open(&environment, layout, store.state()));
  server_writer.Assume("no server has the tablet");
  for (const auto& [row, operations] : rows) {
    tablet->writer()->Apply(row, operations, ++*last, 0, nullptr, 0);
  }
  tablet->RotateAll(*last);
  BT_RETURN_IF_ERROR(MinorCompaction(&environment, ImmutableMemtablesOf(tablet)).Run());
  TabletState state = store.state();
  for (const GroupLayout& group : layout->groups) {
    state.groups[group.id].redo = {.sequence = *last};
  }
  return state;
}

absl::Status NewDatabase::WriteFiles(const std::map<std::string, std::string>& files) {
  BT_ASSIGN_OR_RETURN(
      const auto service,
      LocalLockService::Open(parts_.file_system, directory_.lock_service(), SteadyClock(),
                             {.directory = directory_.copies_of_lock_service()}));
  BT_ASSIGN_OR_RETURN(const auto session,
                      service->OpenSession({.owner = "copy", .lease = absl::InfiniteDuration()}));
  for (const auto& [name, contents] : files) {
    BT_RETURN_IF_ERROR(session->Write(name, contents).status());
  }
  return absl::OkStatus();
}

}  // namespace bigtable
