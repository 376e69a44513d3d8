#include "cluster/server_directory.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/cleanup/cleanup.h"

#include "base/status.h"
#include "base/strings.h"
#include "commit/server_lock.h"
#include "commitlog/log_directory.h"

namespace bigtable {
namespace {

constexpr std::string_view kFencedAt = "fenced ";
constexpr std::string_view kDone = "fenced, done";

bool ParseNumber(std::string_view text, SequenceNumber* number) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && parsed == end;
}

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
  BT_ASSIGN_OR_RETURN(servers_, session_->List(ServerLock::kDirectory));
  std::erase_if(servers_, [](const std::string& name) { return !NumberOf(name).has_value(); });
  for (const std::string& name : servers_) {
    BT_RETURN_IF_ERROR(session_->Read(ServerLock::FileOf(name)).status());  // fails if damaged
    last_number_ = std::max(last_number_, *NumberOf(name));
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
  const std::string file = ServerLock::FileOf(name);
  const absl::StatusOr<std::optional<LockSequencer>> sequencer =
      session_->TryLock(file, LockMode::kExclusive);
  if (absl::IsNotFound(sequencer.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(sequencer.status());
  if (!sequencer->has_value()) return absl::UnavailableError(Cat("server ", name, " is locked"));
  // The next server to lock the file reads that it is fenced.
  const absl::Cleanup unlock = [&] { session_->Unlock(file).IgnoreError(); };
  // A file that was removed meanwhile must not be created again.
  const absl::StatusOr<LockServiceFile> found = session_->Read(file);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(found.status());
  if (ServerLock::IsFenced(found->contents)) return absl::OkStatus();
  const absl::Status fenced =
      session_->Write(file, ServerLock::kFenced, found->generation).status();
  return absl::IsNotFound(fenced) ? absl::OkStatus() : fenced;
}

absl::Status ServerDirectory::Write(std::string_view name, const std::string& contents) {
  const std::string file = ServerLock::FileOf(name);
  const absl::StatusOr<LockServiceFile> found = session_->Read(file);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  BT_RETURN_IF_ERROR(found.status());
  const absl::Status written = session_->Write(file, contents, found->generation).status();
  return absl::IsNotFound(written) ? absl::OkStatus() : written;
}

absl::Status ServerDirectory::RecordLast(std::string_view name, SequenceNumber last) {
  BT_ASSIGN_OR_RETURN(Needed needed, NeededOf(name));
  if (!needed.is_needed || needed.last <= last) return absl::OkStatus();
  needed.last = last;
  return Write(name, needed);
}

absl::Status ServerDirectory::RecordFlushed(std::string_view name, SequenceNumber flushed) {
  BT_ASSIGN_OR_RETURN(Needed needed, NeededOf(name));
  if (!needed.is_needed || needed.flushed >= flushed) return absl::OkStatus();
  needed.flushed = flushed;
  return Write(name, needed);
}

absl::Status ServerDirectory::Write(std::string_view name, const Needed& needed) {
  std::string contents = Cat(kFencedAt, needed.last);
  if (needed.flushed != 0) contents += Cat(" ", needed.flushed);
  return Write(name, contents);
}

absl::StatusOr<ServerDirectory::Needed> ServerDirectory::NeededOf(std::string_view name) {
  const absl::StatusOr<LockServiceFile> found = session_->Read(ServerLock::FileOf(name));
  if (absl::IsNotFound(found.status())) return Needed();
  BT_RETURN_IF_ERROR(found.status());
  std::string_view contents = found->contents;
  if (contents.empty() || contents == ServerLock::kFenced) return Needed();
  if (contents == kDone) return Needed{.is_needed = false};
  Needed needed;
  if (contents.starts_with(kFencedAt)) {
    contents.remove_prefix(kFencedAt.size());
    const size_t space = contents.find(' ');
    if (ParseNumber(contents.substr(0, space), &needed.last) &&
        (space == contents.npos || ParseNumber(contents.substr(space + 1), &needed.flushed))) {
      return needed;
    }
  }
  return absl::DataLossError(Cat("the file of server ", name, " has unknown contents"));
}

absl::Status ServerDirectory::RecordDone(std::string_view name) {
  BT_ASSIGN_OR_RETURN(const Needed needed, NeededOf(name));
  if (needed.is_needed && needed.last == kMaxSequence) return absl::OkStatus();
  // Again if it is there: a write that has failed may have left it without being durable.
  return Write(name, std::string(kDone));
}

absl::Status ServerDirectory::Remove(std::string_view name) {
  BT_ASSIGN_OR_RETURN(const Needed needed, NeededOf(name));
  if (needed.is_needed) BT_RETURN_IF_ERROR(RecordDone(name));
  // Without its file the whole log would be read.
  if (!needed.is_needed || needed.last != kMaxSequence) {
    BT_RETURN_IF_ERROR(RemoveLog(file_system_, directory_.log_of(name)));
  }
  const absl::Status removed = session_->Remove(ServerLock::FileOf(name));
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
