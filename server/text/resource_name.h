// The names of resources, such as projects/P/instances/I/tables/T, and the engine's table that a
// table's name stands for.
//
// The engine has one set of tables. Those of one instance, the default instance, have there the
// same name as here: an embedded database can be served as it is. A table of another instance is
// the engine's table "P..I..T". A byte of P or I that is not in [A-Za-z0-9-] is written _xx, in
// hexadecimal. No table id contains "..", so no two tables have the same name. With one "..", as in
// kCatalogueTable, a name is no user's table.
//
// Pure functions. A name that is not of the form is INVALID_ARGUMENT; the message has the name, and
// the form that it should have.
#ifndef BIGTABLE_SERVER_TEXT_RESOURCE_NAME_H_
#define BIGTABLE_SERVER_TEXT_RESOURCE_NAME_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::server {

// The engine's table where the server keeps what the engine does not know: instances and the like.
inline constexpr std::string_view kCatalogueTable = "server..catalogue";

// Plain values. ToString is the inverse of the parser.
struct InstanceName {
  std::string project;
  std::string instance;

  std::string ToString() const;
  friend bool operator==(const InstanceName&, const InstanceName&) = default;
};

struct TableName {
  InstanceName instance;
  std::string table;

  std::string ToString() const;
  friend bool operator==(const TableName&, const TableName&) = default;
};

struct ClusterName {
  InstanceName instance;
  std::string cluster;

  std::string ToString() const;
  friend bool operator==(const ClusterName&, const ClusterName&) = default;
};

struct AppProfileName {
  InstanceName instance;
  std::string app_profile;

  std::string ToString() const;
  friend bool operator==(const AppProfileName&, const AppProfileName&) = default;
};

struct BackupName {
  ClusterName cluster;
  std::string backup;

  std::string ToString() const;
  friend bool operator==(const BackupName&, const BackupName&) = default;
};

// projects/P: the project's id. As in all names here, the id of a project or an instance may be any
// text without a slash, since instances need not be created.
absl::StatusOr<std::string> ParseProjectName(std::string_view name);
// projects/P/instances/I
absl::StatusOr<InstanceName> ParseInstanceName(std::string_view name);
// projects/P/instances/I/tables/T, with a T that CheckTableId takes, except that it may be longer:
// programs that embed the engine give their tables names of up to 128 bytes.
absl::StatusOr<TableName> ParseTableName(std::string_view name);
// projects/P/instances/I/clusters/C, and projects/P/instances/I/appProfiles/A
absl::StatusOr<ClusterName> ParseClusterName(std::string_view name);
absl::StatusOr<AppProfileName> ParseAppProfileName(std::string_view name);
// projects/P/instances/I/clusters/C/backups/B, with a B that CheckBackupId takes.
absl::StatusOr<BackupName> ParseBackupName(std::string_view name);

// What Cloud Bigtable takes as the id of something new. Tables: 1 to 50 of [-_.a-zA-Z0-9], the
// first neither '-' nor '.', and here without "..". Instances: 6 to 33 of [a-z0-9-], beginning with
// a letter and not ending with '-'; clusters 6 to 30 of these. App profiles: as tables, with "..".
// Backups: as app profiles.
absl::Status CheckTableId(std::string_view id);
absl::Status CheckInstanceId(std::string_view id);
absl::Status CheckClusterId(std::string_view id);
absl::Status CheckAppProfileId(std::string_view id);
absl::Status CheckBackupId(std::string_view id);

// The engine's name for the table. INVALID_ARGUMENT if it would be longer than the 128 bytes that
// the engine takes.
absl::StatusOr<std::string> EngineTableName(const TableName& table,
                                            const InstanceName& default_instance);

// The inverse of EngineTableName. Null if the engine's table is none that the server can name.
std::optional<TableName> TableOfEngine(std::string_view engine_name,
                                       const InstanceName& default_instance);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_TEXT_RESOURCE_NAME_H_
