#include "server/admin/backup_text.h"

#include <algorithm>
#include <cstdint>

#include "absl/time/clock.h"

#include "server/text/errors.h"
#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

constexpr std::string_view kOf = " of ";
constexpr std::string_view kCopiedFrom = " copied from ";

// Removes a name of so many parts from the front of the text. The last part has no spaces; others,
// such as the ids of projects, may have some, but no slashes.
std::string_view TakeName(int parts, std::string_view* text) {
  size_t last = 0;  // where the last part begins
  for (int i = 1; i < parts; ++i) {
    const size_t slash = text->find('/', last);
    if (slash == std::string_view::npos) return {};
    last = slash + 1;
  }
  const size_t end = std::min(text->find(' ', last), text->size());
  const std::string_view name = text->substr(0, end);
  text->remove_prefix(end);
  return name;
}

bool TakeWord(std::string_view word, std::string_view* text) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  return true;
}

}  // namespace

std::string DescriptionOf(const admin::Backup& backup) {
  const std::string text = Cat(backup.name(), kOf, backup.source_table());
  return backup.source_backup().empty() ? text : Cat(text, kCopiedFrom, backup.source_backup());
}

std::optional<admin::Backup> BackupOf(const BackupInfo& info) {
  std::string_view text = info.description;
  admin::Backup backup;
  backup.set_name(std::string(TakeName(8, &text)));
  if (!ParseBackupName(backup.name()).ok() || !TakeWord(kOf, &text)) return std::nullopt;
  backup.set_source_table(std::string(TakeName(6, &text)));
  if (!ParseTableName(backup.source_table()).ok()) return std::nullopt;
  if (TakeWord(kCopiedFrom, &text)) backup.set_source_backup(std::string(text));
  *backup.mutable_expire_time() = ToTimestamp(info.expire_time);
  *backup.mutable_start_time() = ToTimestamp(info.time);
  *backup.mutable_end_time() = ToTimestamp(info.time);
  backup.set_size_bytes(static_cast<int64_t>(info.bytes));
  backup.set_state(admin::Backup::READY);
  backup.set_backup_type(admin::Backup::STANDARD);
  return backup;
}

admin::BackupInfo InfoOf(const admin::Backup& backup) {
  admin::BackupInfo info;
  info.set_backup(backup.name());
  info.set_source_table(backup.source_table());
  info.set_source_backup(backup.source_backup());
  *info.mutable_start_time() = backup.start_time();
  *info.mutable_end_time() = backup.end_time();
  return info;
}

google::protobuf::Timestamp ToTimestamp(absl::Time time) {
  // The last second of the year 9999, which no Timestamp is after.
  constexpr int64_t kLast = 253402300799;
  google::protobuf::Timestamp timestamp;
  if (time >= absl::FromUnixSeconds(kLast)) {
    timestamp.set_seconds(kLast);
    return timestamp;
  }
  const int64_t seconds = absl::ToUnixSeconds(time);
  timestamp.set_seconds(seconds);
  timestamp.set_nanos(
      static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
  return timestamp;
}

absl::StatusOr<absl::Time> ReadExpireTime(bool is_set, const google::protobuf::Timestamp& time) {
  if (!is_set) return Invalid("a backup must have an expire_time");
  const absl::Time read = absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
  const absl::Time now = absl::Now();
  if (read > now) return read;
  return Invalid("expire_time must be later than now (", absl::FormatTime(now), "), and is ",
                 absl::FormatTime(read));
}

}  // namespace bigtable::server
