#include "client/followed_database.h"

#include <utility>

#include "backend/option_limits.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "base/strings.h"
#include "client/followed_table.h"

namespace bigtable {

FollowedDatabase::FollowedDatabase(std::string_view path, const DatabaseOptions& options,
                                   std::unique_ptr<GuardedFileSystem> files)
    : path_(path),
      options_(options),
      info_log_(options.log_sink),
      files_(std::make_shared<FollowedFiles>(std::move(files), options)),
      image_(files_->files.get(), DatabaseDirectory(path), &files_->held) {}

FollowedDatabase::~FollowedDatabase() { Close().IgnoreError(); }

absl::StatusOr<std::unique_ptr<FollowedDatabase>> FollowedDatabase::Open(
    std::string_view path, const DatabaseOptions& options) {
  auto files = GuardedFileSystem::Hold(options.file_system, path);
  if (absl::IsNotFound(files.status())) {
    return absl::NotFoundError(Cat(path, ": there is no database here"));
  }
  BT_RETURN_IF_ERROR(files.status());
  std::unique_ptr<FollowedDatabase> opened(new FollowedDatabase(path, options, *std::move(files)));
  BT_RETURN_IF_ERROR(opened->RefreshWithin({}));
  if (options.follow_interval != absl::InfiniteDuration()) {
    BT_ASSIGN_OR_RETURN(opened->thread_,
                        StartThread([made = opened.get()] { made->RefreshAgainAndAgain(); }));
  }
  return opened;
}

absl::Status FollowedDatabase::Close() {
  {
    MutexLock lock(&mutex_);
    if (is_closed_) return absl::OkStatus();
    is_closed_ = true;
    closing_.Cancel();
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  LimitedMutexLock lock(&refresh_mutex_, nullptr, "the close");
  Use(nullptr);
  for (const std::weak_ptr<const FollowedState>& opened : opened_) {
    if (const auto state = opened.lock()) state->database()->Close().IgnoreError();
  }
  files_->open.pool->Detach();
  return absl::OkStatus();
}

void FollowedDatabase::Use(std::shared_ptr<const FollowedState> state) {
  states_->Set(std::move(state));
  MutexLock lock(&tables_mutex_);
  for (const auto& [_, opened] : tables_) opened.backend->Forget();
}

// --- Refreshes ---

absl::Status FollowedDatabase::Refresh(const CallOptions& options) {
  return RefreshWithin(LimitsOf(options));
}

absl::Status FollowedDatabase::RefreshWithin(const CallLimits& limits) {
  LimitedMutexLock lock(&refresh_mutex_, &limits, "the refresh");
  BT_RETURN_IF_ERROR(lock.status());
  const absl::Status status = FollowWriter(limits);
  files_->held.DropUnused();  // of the last state, or of one that could not be opened
  return status;
}

absl::Status FollowedDatabase::FollowWriter(const CallLimits& limits) {
  constexpr int kMostTries = 10;
  absl::Status failed;
  for (int tries = 0; tries < kMostTries; ++tries) {
    if (closing_.cancelled()) return absl::FailedPreconditionError("the database is closed");
    bool has_changed;
    const absl::Status taken = image_.Take(limits, &has_changed);
    is_outdated_ = is_outdated_ || has_changed;
    BT_RETURN_IF_ERROR(taken);
    if (!has_changed && !failed.ok()) return failed;  // it is not the writer's doing
    if (!is_outdated_) return absl::OkStatus();
    bool is_late;
    failed = OpenState(&is_late);
    if (!is_late) return failed;
  }
  return failed;
}

absl::Status FollowedDatabase::OpenState(bool* is_late) {
  HeldFiles* const held = &files_->held;
  const uint64_t missed = held->missed();
  auto state = FollowedState::Open(path_, options_, image_, files_);
  *is_late = !state.ok() && held->missed() != missed;
  if (absl::IsDataLoss(state.status()) && !*is_late) {
    // After another opening by the writer, a number may be that of another file.
    held->Clear();
    state = FollowedState::Open(path_, options_, image_, files_);
    *is_late = !state.ok() && held->missed() != missed;
  }
  BT_RETURN_IF_ERROR(state.status());
  is_outdated_ = false;
  std::erase_if(opened_, [](const auto& opened) { return opened.expired(); });
  opened_.push_back(*state);
  Use(*std::move(state));
  return absl::OkStatus();
}

void FollowedDatabase::RefreshAgainAndAgain() {
  const CallLimits limits{.cancellation = &closing_};
  bool has_failed = false;
  while (true) {
    {
      MutexLock lock(&mutex_);
      if (!is_closed_) changed_.WaitFor(&mutex_, options_.follow_interval);
      if (is_closed_) return;
    }
    const absl::Status refreshed = RefreshWithin(limits);
    if (!refreshed.ok() && !has_failed && !closing_.cancelled()) {
      info_log_.Warning("the database could not be followed: ", ToStd(refreshed.message()));
    }
    has_failed = !refreshed.ok();
  }
}

// --- Tables ---

absl::StatusOr<Table*> FollowedDatabase::OpenTable(std::string_view name,
                                                   const OpenTableOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  BT_RETURN_IF_ERROR(state->Table(name, options).status());
  MutexLock lock(&tables_mutex_);
  OpenedTable& opened = tables_[{std::string(name), options.caller}];
  if (opened.table == nullptr) {
    opened.backend = std::make_shared<FollowedTable>(std::string(name), options.caller, states_);
    opened.table = TableBackend::NewTable(opened.backend);
  }
  return opened.table.get();
}

absl::StatusOr<Table*> FollowedDatabase::FindTable(std::string_view name,
                                                   const OpenTableOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  BT_ASSIGN_OR_RETURN(Table* const found, state->database()->FindTable(name, options));
  if (found == nullptr) return nullptr;
  return OpenTable(name, options);
}

absl::StatusOr<std::shared_ptr<const Snapshot>> FollowedDatabase::TakeSnapshot() {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  BT_ASSIGN_OR_RETURN(auto snapshot, state->database()->TakeSnapshot());
  return std::make_shared<const FollowedSnapshot>(states_.get(), state, std::move(snapshot));
}

DatabaseStatistics FollowedDatabase::Statistics() {
  const auto state = states_->Get();
  return state.ok() ? (*state)->database()->Statistics() : DatabaseStatistics();
}

// --- Calls that the present state answers ---

absl::StatusOr<std::vector<std::string>> FollowedDatabase::ListTables(const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->ListTables(options);
}

absl::StatusOr<TableSchema> FollowedDatabase::GetSchema(std::string_view table,
                                                        const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->GetSchema(table, options);
}

absl::StatusOr<AccessList> FollowedDatabase::GetAccessList(std::string_view name,
                                                           const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->GetAccessList(name, options);
}

absl::StatusOr<std::vector<std::string>> FollowedDatabase::ListAccessLists(
    const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->ListAccessLists(options);
}

absl::StatusOr<Quota> FollowedDatabase::GetTableQuota(std::string_view table,
                                                      const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->GetTableQuota(table, options);
}

absl::StatusOr<Quota> FollowedDatabase::GetCallerQuota(std::string_view caller,
                                                       const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->GetCallerQuota(caller, options);
}

absl::StatusOr<std::map<std::string, Quota>> FollowedDatabase::ListTableQuotas(
    const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->ListTableQuotas(options);
}

absl::StatusOr<std::map<std::string, Quota>> FollowedDatabase::ListCallerQuotas(
    const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->ListCallerQuotas(options);
}

absl::StatusOr<std::vector<TabletInfo>> FollowedDatabase::ListTablets(std::string_view table,
                                                                      const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->ListTablets(table, options);
}

absl::StatusOr<DatabaseHistory> FollowedDatabase::History() {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->History();
}

absl::Status FollowedDatabase::Checkpoint(std::string_view directory, const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->Checkpoint(directory, options);
}

absl::StatusOr<CopiedImage> FollowedDatabase::CopyTo(ImageTarget* target,
                                                     const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->CopyTo(target, options);
}

absl::Status FollowedDatabase::WaitUntilQuiet(const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->WaitUntilQuiet(options);
}

absl::Status FollowedDatabase::Resume(const CallOptions& options) {
  BT_ASSIGN_OR_RETURN(const auto state, states_->Get());
  return state->database()->Resume(options);
}

}  // namespace bigtable
