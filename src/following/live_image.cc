#include "following/live_image.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"

namespace bigtable {

absl::Status LiveImage::Take(const CallLimits& limits, bool* has_changed) {
  // Flushes commit a few times a second, and a pass takes as long as what has been appended since
  // the last one. A writer that opens or closes the database needs longer.
  constexpr int kMostTries = 1000;
  *has_changed = false;
  for (int tries = 0; tries < kMostTries; ++tries) {
    BT_RETURN_IF_ERROR(limits.Check("the refresh"));
    bool is_settled = false;
    const absl::Status tried = Try(&is_settled, has_changed);
    if (tried.ok() && is_settled) return absl::OkStatus();
    // A file was listed and then removed.
    if (!tried.ok() && !absl::IsNotFound(tried) && !absl::IsUnavailable(tried)) return tried;
    if (!files_->FileExists(directory_.lock_service())) {
      return absl::NotFoundError(Cat(directory_.path(), ": there is no database here"));
    }
    if (tries > 3) absl::SleepFor(std::min(absl::Milliseconds(5), limits.MostSleep()));
  }
  return absl::UnavailableError(
      Cat(directory_.path(), ": its METADATA, tables and logs change all the time"));
}

absl::Status LiveImage::Try(bool* is_settled, bool* has_changed) {
  constexpr SequenceNumber kAll = kMaxSequence;
  BT_ASSIGN_OR_RETURN(Fixed fixed, ReadFixed());
  *has_changed = *has_changed || fixed.service_files != service_files_;
  std::erase_if(logs_, [&](const auto& log) {
    const bool is_gone = !fixed.logs.contains(log.first);
    *has_changed = *has_changed || is_gone;
    return is_gone;
  });
  last_ = 0;
  for (const auto& [server, names] : fixed.logs) {
    LogCopy& log = logs_.try_emplace(server, directory_.log_of(server)).first->second;
    *has_changed = *has_changed || !(log.names() == names);
    log.Use(names);
    bool has_more;
    BT_RETURN_IF_ERROR(log.Extend(files_, kAll, &has_more));
    *has_changed = *has_changed || has_more;
    if (!log.is_of_metadata()) last_ = std::max(last_, log.last_sequence());
  }
  for (auto& [_, log] : logs_) {
    if (log.is_of_metadata()) continue;
    bool has_more;
    BT_RETURN_IF_ERROR(log.Extend(files_, last_, &has_more));
  }
  if (*has_changed) BT_RETURN_IF_ERROR(HoldSSTables());
  for (auto& [_, log] : logs_) {
    if (!log.is_of_metadata()) continue;
    const SequenceNumber before = log.last_sequence();
    bool has_more;
    BT_RETURN_IF_ERROR(log.Extend(files_, kAll, &has_more));
    if (log.last_sequence() != before || has_more) return absl::OkStatus();
  }
  BT_ASSIGN_OR_RETURN(const Fixed again, ReadFixed());
  if (!(again == fixed)) return absl::OkStatus();
  service_files_ = std::move(fixed.service_files);
  *is_settled = true;
  return absl::OkStatus();
}

absl::Status LiveImage::HoldSSTables() const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                      files_->ListDirectory(directory_.sstables()));
  for (const std::string& name : names) {
    const std::optional<uint64_t> number = DatabaseDirectory::SSTableNumber(name);
    if (!number.has_value()) continue;
    const absl::Status held = held_->Hold(directory_.sstable(*number)).status();
    // One that was removed just now is not named, or METADATA will be found to have changed.
    if (!held.ok() && !absl::IsNotFound(held)) return held;
  }
  return absl::OkStatus();
}

absl::StatusOr<LiveImage::Fixed> LiveImage::ReadFixed() const {
  Fixed fixed;
  const std::string copies = directory_.copies_of_lock_service();
  BT_RETURN_IF_ERROR(ReadServiceFiles(directory_.lock_service(), &fixed.service_files));
  if (files_->FileExists(copies)) {
    BT_RETURN_IF_ERROR(ReadServiceFiles(copies, &fixed.service_files));
  }
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> servers,
                      files_->ListDirectory(directory_.logs()));
  for (const std::string& server : servers) {
    BT_ASSIGN_OR_RETURN(fixed.logs[server], LogCopy::ReadNames(files_, directory_.log_of(server)));
  }
  return fixed;
}

absl::Status LiveImage::ReadServiceFiles(const std::string& directory,
                                         std::map<std::string, std::string>* files) const {
  BT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files_->ListDirectory(directory));
  for (const std::string& name : names) {
    if (name.ends_with('~')) continue;  // being written
    const std::string path = Cat(directory, "/", name);
    absl::StatusOr<std::string> bytes = files_->ReadFile(path);
    if (bytes.ok()) {
      (*files)[path] = *std::move(bytes);
      continue;
    }
    if (!absl::IsFailedPrecondition(bytes.status())) return bytes.status();
    BT_RETURN_IF_ERROR(ReadServiceFiles(path, files));  // it is a directory
  }
  return absl::OkStatus();
}

}  // namespace bigtable
