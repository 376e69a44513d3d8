#include "server/admin/backups.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "server/admin/backup_text.h"
#include "server/admin/change_times.h"
#include "server/admin/field_masks.h"
#include "server/admin/inventory.h"
#include "server/admin/pages.h"
#include "server/admin/table_record.h"
#include "server/admin/table_views.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

// How often those that have expired are deleted. Nobody sees them before that.
constexpr std::chrono::seconds kEach(60);
// How long a call waits for an operation, on a thread that others need.
constexpr absl::Duration kMostWait = absl::Seconds(5);

template <typename Metadata>
std::function<void()> SetEndOf(const std::shared_ptr<Metadata>& metadata) {
  return [metadata] { *metadata->mutable_progress()->mutable_end_time() = TimestampNow(); };
}

absl::StatusOr<std::unique_ptr<google::protobuf::Message>> ShowMade(const BackupInfo& info) {
  std::optional<admin::Backup> backup = BackupOf(info);
  if (!backup.has_value()) return absl::InternalError("a backup has lost its name");
  return std::make_unique<admin::Backup>(*std::move(backup));
}

absl::Status CheckKind(const admin::Backup& backup) {
  if (backup.backup_type() == admin::Backup::HOT || backup.has_hot_to_standard_time()) {
    return absl::UnimplementedError("this server has no hot backups (backup_type)");
  }
  return absl::OkStatus();
}

}  // namespace

Backups::Backups(const AdminParts* parts, ToClient to_client)
    : parts_(*parts), to_client_(std::move(to_client)) {
  if (parts_.backups == nullptr) return;
  thread_ = std::make_unique<OperationThread>([this] { DeleteExpired(); }, kEach);
}

Backups::~Backups() { End(); }

void Backups::End() {
  if (thread_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [_, cancellation] : running_) cancellation->Cancel();
  }
  thread_->Stop();
}

absl::Status Backups::CheckEngine() const {
  if (parts_.backups != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("this server keeps no backups: it runs without --backups");
}

absl::Status Backups::CheckCluster(const ClusterName& name) const {
  SERVER_ASSIGN_OR_RETURN(const KnownInstance known, parts_.inventory.FindInstance(name.instance));
  if (FindByName(known.clusters, name.ToString()) != nullptr) return absl::OkStatus();
  return NoSuchError("Cluster", name.ToString());
}

absl::StatusOr<std::map<std::string, Backups::Found>> Backups::All() const {
  std::vector<uint64_t> unreadable;  // which do not keep the others
  SERVER_ASSIGN_OR_RETURN(const std::vector<BackupInfo> infos,
                          parts_.backups->List({}, &unreadable));
  const absl::Time now = absl::Now();
  std::map<std::string, Found> all;
  for (const BackupInfo& info : infos) {
    if (info.expire_time <= now || info.tables.size() != 1) continue;
    const std::optional<admin::Backup> backup = BackupOf(info);
    if (backup.has_value()) all[backup->name()] = {info.id, *backup};
  }
  return all;
}

std::map<std::string, admin::Backup> Backups::Creating() const {
  const std::lock_guard lock(mutex_);
  return creating_;
}

absl::StatusOr<Backups::Found> Backups::FindReady(std::string_view name) const {
  SERVER_RETURN_IF_ERROR(CheckEngine());
  SERVER_RETURN_IF_ERROR(ParseBackupName(name).status());
  // First: one that is done is in the engine before it is forgotten here.
  const bool is_creating = Creating().contains(std::string(name));
  SERVER_ASSIGN_OR_RETURN(const auto all, All());
  if (const auto found = all.find(std::string(name)); found != all.end()) return found->second;
  if (!is_creating) return NoSuchError("Backup", name);
  return absl::FailedPreconditionError(Cat("backup ", name, " is being created"));
}

absl::Status Backups::Reserve(const admin::Backup& backup) {
  const absl::Status exists =
      absl::AlreadyExistsError(Cat("Backup already exists: ", backup.name()));
  {
    const std::lock_guard lock(mutex_);
    if (!creating_.try_emplace(backup.name(), backup).second) return exists;
  }
  const auto all = All();
  if (all.ok() && !all->contains(backup.name())) return absl::OkStatus();
  Forget(backup.name());
  return all.ok() ? exists : all.status();
}

void Backups::Forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  creating_.erase(name);
}

absl::StatusOr<google::longrunning::Operation> Backups::Begin(Work work) {
  const OperationStore::Begun begun = parts_.operations->Begin(work.resource, *work.metadata);
  const std::string name = begun.operation.name();
  {
    const std::lock_guard lock(mutex_);
    running_[name] = begun.cancellation;
  }
  const auto end = [this, name] {
    const std::lock_guard lock(mutex_);
    running_.erase(name);
  };
  const absl::Status added =
      thread_->Add([this, end, name, cancellation = begun.cancellation, work = std::move(work)] {
        Made made = work.run(name, cancellation.get());
        if (!made.ok()) made = to_client_(work.method, made.status());
        work.set_end();
        parts_.operations->Finish(name, *work.metadata, made);
        end();
      });
  if (added.ok()) return begun.operation;
  end();
  parts_.operations->Erase(name).IgnoreError();
  return added;
}

absl::StatusOr<google::longrunning::Operation> Backups::Create(
    const admin::CreateBackupRequest& request) {
  SERVER_RETURN_IF_ERROR(CheckEngine());
  SERVER_ASSIGN_OR_RETURN(const ClusterName cluster, ParseClusterName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckBackupId(request.backup_id()));
  SERVER_RETURN_IF_ERROR(CheckKind(request.backup()));
  SERVER_RETURN_IF_ERROR(CheckCluster(cluster));
  SERVER_ASSIGN_OR_RETURN(const KnownTable table,
                          parts_.inventory.FindTable(request.backup().source_table()));
  if (!(table.name.instance == cluster.instance)) {
    return Invalid("the source_table of a backup must be of the instance of its cluster, ",
                   cluster.instance.ToString(), ", and is ", table.name.ToString());
  }
  SERVER_ASSIGN_OR_RETURN(
      const absl::Time expire_time,
      ReadExpireTime(request.backup().has_expire_time(), request.backup().expire_time()));
  admin::Backup backup;
  backup.set_name(BackupName{cluster, request.backup_id()}.ToString());
  backup.set_source_table(table.name.ToString());
  *backup.mutable_expire_time() = request.backup().expire_time();
  *backup.mutable_start_time() = TimestampNow();
  backup.set_state(admin::Backup::CREATING);
  backup.set_backup_type(admin::Backup::STANDARD);
  SERVER_RETURN_IF_ERROR(Reserve(backup));

  const auto metadata = std::make_shared<admin::CreateBackupMetadata>();
  metadata->set_name(backup.name());
  metadata->set_source_table(backup.source_table());
  *metadata->mutable_start_time() = backup.start_time();
  const auto run = [this, backup, table, expire_time](const std::string&,
                                                      const Cancellation* cancellation) -> Made {
    const absl::StatusOr<BackupInfo> made =
        parts_.backups->Create(parts_.database, {.description = DescriptionOf(backup),
                                                 .tables = {table.engine_name},
                                                 .expire_time = expire_time,
                                                 .cancellation = cancellation});
    Forget(backup.name());
    if (!made.ok()) return made.status();
    return ShowMade(*made);
  };
  absl::StatusOr<google::longrunning::Operation> begun =
      Begin({.method = "CreateBackup",
             .resource = backup.name(),
             .metadata = metadata,
             .run = run,
             .set_end = [metadata] { *metadata->mutable_end_time() = TimestampNow(); }});
  if (!begun.ok()) Forget(backup.name());
  return begun;
}

absl::StatusOr<admin::Backup> Backups::Get(const admin::GetBackupRequest& request) const {
  const auto creating = Creating();
  absl::StatusOr<Found> found = FindReady(request.name());
  if (found.ok()) return found->backup;
  const auto before = creating.find(request.name());
  if (absl::IsFailedPrecondition(found.status()) && before != creating.end()) return before->second;
  return found.status();
}

absl::StatusOr<admin::ListBackupsResponse> Backups::List(
    const admin::ListBackupsRequest& request) const {
  SERVER_RETURN_IF_ERROR(CheckEngine());
  SERVER_ASSIGN_OR_RETURN(const ClusterName cluster, ParseClusterName(request.parent()));
  if (!request.filter().empty() || !request.order_by().empty()) {
    return absl::UnimplementedError(
        "ListBackups has neither filters (filter) nor orders (order_by)");
  }
  const bool is_any = cluster.cluster == "-";
  if (is_any) {
    SERVER_RETURN_IF_ERROR(parts_.inventory.FindInstance(cluster.instance).status());
  } else {
    SERVER_RETURN_IF_ERROR(CheckCluster(cluster));
  }
  std::map<std::string, admin::Backup> listed;
  const std::string prefix =
      is_any ? Cat(cluster.instance.ToString(), "/clusters/") : Cat(cluster.ToString(), "/");
  const auto add = [&](const admin::Backup& backup) {
    if (backup.name().starts_with(prefix)) listed.emplace(backup.name(), backup);
  };
  const auto creating = Creating();
  // Those that are there count, if one was created meanwhile.
  SERVER_ASSIGN_OR_RETURN(const auto all, All());
  for (const auto& [_, found] : all) add(found.backup);
  for (const auto& [_, backup] : creating) add(backup);
  admin::ListBackupsResponse response;
  SERVER_RETURN_IF_ERROR(AddPage(
      listed, request.page_size(), request.page_token(),
      [](const auto& backup) { return backup.first; },
      [&](const auto& backup) { *response.add_backups() = backup.second; },
      response.mutable_next_page_token()));
  return response;
}

absl::Status Backups::Briefly(
    const CallOptions& options,
    const std::function<absl::Status(const CallOptions& options)>& call) const {
  const absl::Time end = absl::Now() + kMostWait;
  absl::Status status = call({.deadline = std::min(options.deadline, end)});
  if (!absl::IsDeadlineExceeded(status) || options.deadline <= end) return status;
  return absl::UnavailableError("an operation on backups is under way; try again later");
}

absl::StatusOr<admin::Backup> Backups::Update(const admin::UpdateBackupRequest& request,
                                              const CallOptions& options) {
  SERVER_ASSIGN_OR_RETURN(Found found, FindReady(request.backup().name()));
  SERVER_RETURN_IF_ERROR(
      UpdateFields(request.backup(), request.update_mask(), {"expire_time"}, &found.backup));
  SERVER_ASSIGN_OR_RETURN(
      const absl::Time expire_time,
      ReadExpireTime(found.backup.has_expire_time(), found.backup.expire_time()));
  SERVER_RETURN_IF_ERROR(Briefly(options, [&](const CallOptions& limits) {
    return parts_.backups->Update(found.id, {.expire_time = expire_time}, limits);
  }));
  return found.backup;
}

absl::Status Backups::Delete(const admin::DeleteBackupRequest& request,
                             const CallOptions& options) {
  SERVER_ASSIGN_OR_RETURN(const Found found, FindReady(request.name()));
  return Briefly(
      options, [&](const CallOptions& limits) { return parts_.backups->Delete(found.id, limits); });
}

absl::StatusOr<google::longrunning::Operation> Backups::Restore(
    const admin::RestoreTableRequest& request) {
  SERVER_RETURN_IF_ERROR(CheckEngine());
  SERVER_ASSIGN_OR_RETURN(const InstanceName instance, ParseInstanceName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckTableId(request.table_id()));
  KnownTable table{{instance, request.table_id()}, ""};
  SERVER_ASSIGN_OR_RETURN(table.engine_name,
                          EngineTableName(table.name, parts_.inventory.default_instance()));
  if (request.source_case() != admin::RestoreTableRequest::kBackup) {
    return Invalid("RestoreTable must have a backup");
  }
  SERVER_ASSIGN_OR_RETURN(const Found found, FindReady(request.backup()));
  const std::string name = table.name.ToString();
  const absl::Status exists = parts_.inventory.FindTable(name).status();
  if (exists.ok()) return absl::AlreadyExistsError(Cat("Table already exists: ", name));
  if (!absl::IsNotFound(exists)) return exists;

  const auto metadata = std::make_shared<admin::RestoreTableMetadata>();
  metadata->set_name(name);
  metadata->set_source_type(admin::BACKUP);
  *metadata->mutable_backup_info() = InfoOf(found.backup);
  *metadata->mutable_progress()->mutable_start_time() = TimestampNow();
  const auto run = [this, table, found, metadata](const std::string& operation,
                                                  const Cancellation* cancellation) {
    return RestoreTo(table, found, cancellation, [&](int percent) {
      if (percent == metadata->progress().progress_percent()) return;
      metadata->mutable_progress()->set_progress_percent(percent);
      parts_.operations->SetMetadata(operation, *metadata);
    });
  };
  return Begin({.method = "RestoreTable",
                .resource = name,
                .metadata = metadata,
                .run = run,
                .set_end = SetEndOf(metadata)});
}

Backups::Made Backups::RestoreTo(const KnownTable& table, const Found& found,
                                 const Cancellation* cancellation,
                                 const std::function<void(int percent)>& on_progress) const {
  {
    const std::lock_guard lock(parts_.catalogue->change_mutex());
    const std::string name = table.name.ToString();
    if (parts_.inventory.FindTable(name).ok()) {
      return absl::AlreadyExistsError(Cat("Table already exists: ", name));
    }
    // What an earlier table of the name may have left.
    SERVER_RETURN_IF_ERROR(TableRecord::Remove(parts_.catalogue, table.name));
  }
  SERVER_ASSIGN_OR_RETURN(const BackupInfo info, parts_.backups->Get(found.id));
  if (info.tables.size() != 1) return NoSuchError("Backup", found.backup.name());
  const uint64_t all = std::max<uint64_t>(info.bytes, 1);
  SERVER_RETURN_IF_ERROR(parts_.backups->RestoreTable(
      found.id, info.tables[0], parts_.database, table.engine_name,
      {.on_progress =
           [&](uint64_t, uint64_t copied) {
             on_progress(static_cast<int>(std::min(copied, all) * 100 / all));
           },
       .cancellation = cancellation}));
  on_progress(100);
  absl::StatusOr<admin::Table> shown = ShowTable(parts_, table, admin::Table::SCHEMA_VIEW);
  auto response = std::make_unique<admin::Table>();
  response->set_name(table.name.ToString());
  if (shown.ok()) *response = *std::move(shown);  // it may be deleted already
  return response;
}

absl::StatusOr<google::longrunning::Operation> Backups::Copy(
    const admin::CopyBackupRequest& request) {
  SERVER_RETURN_IF_ERROR(CheckEngine());
  SERVER_ASSIGN_OR_RETURN(const ClusterName cluster, ParseClusterName(request.parent()));
  SERVER_RETURN_IF_ERROR(CheckBackupId(request.backup_id()));
  SERVER_RETURN_IF_ERROR(CheckCluster(cluster));
  SERVER_ASSIGN_OR_RETURN(const Found source, FindReady(request.source_backup()));
  SERVER_ASSIGN_OR_RETURN(const absl::Time expire_time,
                          ReadExpireTime(request.has_expire_time(), request.expire_time()));
  admin::Backup backup = source.backup;
  backup.set_name(BackupName{cluster, request.backup_id()}.ToString());
  backup.set_source_backup(source.backup.name());
  *backup.mutable_expire_time() = request.expire_time();
  backup.set_state(admin::Backup::CREATING);
  SERVER_RETURN_IF_ERROR(Reserve(backup));

  const auto metadata = std::make_shared<admin::CopyBackupMetadata>();
  metadata->set_name(backup.name());
  *metadata->mutable_source_backup_info() = InfoOf(source.backup);
  *metadata->mutable_progress()->mutable_start_time() = TimestampNow();
  const auto run = [this, backup, source, expire_time, metadata](
                       const std::string&, const Cancellation* cancellation) -> Made {
    const absl::StatusOr<BackupInfo> made = parts_.backups->Copy(
        source.id, {.description = DescriptionOf(backup), .expire_time = expire_time},
        {.cancellation = cancellation});
    Forget(backup.name());
    if (!made.ok()) return made.status();
    metadata->mutable_progress()->set_progress_percent(100);
    return ShowMade(*made);
  };
  absl::StatusOr<google::longrunning::Operation> begun = Begin({.method = "CopyBackup",
                                                                .resource = backup.name(),
                                                                .metadata = metadata,
                                                                .run = run,
                                                                .set_end = SetEndOf(metadata)});
  if (!begun.ok()) Forget(backup.name());
  return begun;
}

void Backups::DeleteExpired() {
  const absl::Status deleted = parts_.backups->DeleteExpired(absl::Now()).status();
  if (!deleted.ok()) to_client_("expired backups", deleted).IgnoreError();  // which logs it
}

absl::Status CheckHasNoBackups(const AdminParts& parts, std::string_view name) {
  if (parts.backups == nullptr) return absl::OkStatus();
  std::vector<uint64_t> unreadable;
  SERVER_ASSIGN_OR_RETURN(const std::vector<BackupInfo> infos,
                          parts.backups->List({}, &unreadable));
  for (const BackupInfo& info : infos) {
    if (info.expire_time <= absl::Now()) continue;
    const std::optional<admin::Backup> backup = BackupOf(info);
    if (!backup.has_value() || !backup->name().starts_with(Cat(name, "/"))) continue;
    return absl::FailedPreconditionError(
        Cat(name, " cannot be deleted: it has backups, such as ", backup->name()));
  }
  return absl::OkStatus();
}

}  // namespace bigtable::server
