#include "cluster/server_directory.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/cleanup/cleanup.h"

#include "base/status.h"
#include "base/strings.h"
#include "commitlog/log_directory.h"

namespace bigtable {
namespace {

std::string PrefixOf(ServerRole role) { return Cat(NameOfRole(role), "-"); }

}  // namespace

std::optional<uint64_t> ServerDirectory::NumberOf(std::string_view name) {
  for (const ServerRole role : kServerRoles) {
    const std::string prefix = PrefixOf(role);
    if (!name.starts_with(prefix)) continue;
    uint64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [parsed, error] = std::from_chars(name.data() + prefix.size(), end, number);
    if (error == std::errc() && parsed == end && name == NameOf(role, number)) return number;
  }
  return std::nullopt;
}

absl::Status ServerDirectory::Load() {
  BT_ASSIGN_OR_RETURN(servers_, session_->List(ServerRecord::kDirectory));
  std::erase_if(servers_, [](const std::string& name) { return !NumberOf(name).has_value(); });
  for (const std::string& name : servers_) {
    last_number_ = std::max(last_number_, *NumberOf(name));
    BT_ASSIGN_OR_RETURN(const ServerRecord record, RecordOf(name));
    if (!record.void_batches.empty()) {
      last_number_ = std::max(last_number_, record.void_batches.back().last);
    }
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> logs,
                      file_system_->ListDirectory(directory_.logs()));
  for (const std::string& name : logs) {
    const std::optional<uint64_t> number = NumberOf(name);
    if (!number.has_value()) continue;
    last_number_ = std::max(last_number_, *number);
    if (!HasFile(name)) strays_.push_back(name);
  }
  return absl::OkStatus();
}

std::vector<std::string> ServerDirectory::Servers(ServerRole role) const {
  std::vector<std::string> servers = servers_;
  servers.insert(servers.end(), strays_.begin(), strays_.end());
  const std::string prefix = PrefixOf(role);
  std::erase_if(servers, [&](const std::string& name) { return !name.starts_with(prefix); });
  std::sort(servers.begin(), servers.end(),
            [](const std::string& a, const std::string& b) { return NumberOf(a) < NumberOf(b); });
  return servers;
}

bool ServerDirectory::HasFile(std::string_view name) const {
  return std::find(servers_.begin(), servers_.end(), name) != servers_.end();
}

std::string ServerDirectory::NameOf(ServerRole role, uint64_t number) {
  return Cat(PrefixOf(role), number);
}

absl::Status ServerDirectory::Fence(std::string_view name) {
  const std::string file = ServerRecord::FileOf(name);
  const absl::StatusOr<std::optional<LockSequencer>> sequencer =
      session_->TryLock(file, LockMode::kExclusive);
  if (absl::IsNotFound(sequencer.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(sequencer.status());
  if (!sequencer->has_value()) return absl::UnavailableError(Cat("server ", name, " is locked"));
  // The next server to lock the file reads that it is fenced.
  const absl::Cleanup unlock = [&] { session_->Unlock(file).IgnoreError(); };
  return UpdateServerRecord(session_, name,
                            [](ServerRecord* record) { return record->Add({.is_fenced = true}); });
}

absl::StatusOr<ServerRecord> ServerDirectory::RecordOf(std::string_view name) {
  absl::StatusOr<ServerRecord> record = ReadServerRecord(session_, name);
  if (absl::IsNotFound(record.status())) return ServerRecord{.flushed = kMaxSequence};
  return record;
}

absl::Status ServerDirectory::Record(std::string_view name, const ServerRecord& added) {
  return UpdateServerRecord(
      session_, name, [&](ServerRecord* record) { return !record->is_done && record->Add(added); });
}

absl::Status ServerDirectory::RecordDone(std::string_view name) {
  return UpdateServerRecord(session_, name, [](ServerRecord* record) {
    if (record->is_whole()) return false;
    record->is_done = true;
    // Again if it is there: a write that has failed may have left it without being durable.
    return true;
  });
}

absl::Status ServerDirectory::Remove(std::string_view name) {
  BT_ASSIGN_OR_RETURN(const ServerRecord record, RecordOf(name));
  // Without its file the whole log would be read.
  if (!record.is_whole()) {
    if (!record.is_done) BT_RETURN_IF_ERROR(RecordDone(name));
    BT_RETURN_IF_ERROR(RemoveLog(file_system_, directory_.log_of(name)));
  }
  const absl::Status removed = session_->Remove(ServerRecord::FileOf(name));
  if (!absl::IsNotFound(removed)) BT_RETURN_IF_ERROR(removed);
  std::erase(servers_, name);
  std::erase(strays_, name);
  return RemoveLog(file_system_, directory_.log_of(name));
}

absl::Status ServerDirectory::SweepLogs(absl::FunctionRef<bool(std::string_view name)> is_live,
                                        std::vector<std::string>* others) {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> logs,
                      file_system_->ListDirectory(directory_.logs()));
  for (const std::string& name : logs) {
    if (!NumberOf(name).has_value()) others->push_back(name);
    if (!NumberOf(name).has_value() || HasFile(name) || is_live(name)) continue;
    BT_RETURN_IF_ERROR(RemoveLog(file_system_, directory_.log_of(name)));
  }
  return absl::OkStatus();
}

}  // namespace bigtable
