// What the server says of a backup in its description (CreateBackupOptions::description), since the
// engine knows backups by numbers and has no names for them:
//
//   projects/P/instances/I/clusters/C/backups/B of projects/P/instances/I/tables/T
//
// and for a copy, after that, " copied from " and the name of the backup that it was copied from.
//
// Pure functions.
#ifndef BIGTABLE_SERVER_ADMIN_BACKUP_TEXT_H_
#define BIGTABLE_SERVER_ADMIN_BACKUP_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "google/bigtable/admin/v2/table.pb.h"
#include "google/protobuf/timestamp.pb.h"

#include "bigtable/backup_engine.h"

namespace bigtable::server {

namespace admin = google::bigtable::admin::v2;

// The description of a backup that has its names.
std::string DescriptionOf(const admin::Backup& backup);
// A backup as responses show it. Nothing if its description is not of this form: then it is not one
// of the server's.
std::optional<admin::Backup> BackupOf(const BackupInfo& info);
// The part of it that metadata of operations have.
admin::BackupInfo InfoOf(const admin::Backup& backup);

google::protobuf::Timestamp ToTimestamp(absl::Time time);
// INVALID_ARGUMENT: it is not set, or not later than now.
absl::StatusOr<absl::Time> ReadExpireTime(bool is_set, const google::protobuf::Timestamp& time);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_ADMIN_BACKUP_TEXT_H_
