// What a tablet server serves. The locations of a role's tablets are in the tablets of the role
// before it, so tablets are assigned, and flushed, in this order. Each role has servers and logs of
// its own, so that waits between servers never form a cycle (section 5.1 of the paper).
#ifndef BIGTABLE_CLUSTER_SERVER_ROLE_H_
#define BIGTABLE_CLUSTER_SERVER_ROLE_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "metadata/metadata_format.h"

namespace bigtable {

enum class ServerRole : uint8_t {
  kRoot,      // METADATA's root tablet; there is one such server
  kMetadata,  // METADATA's other tablets; one
  kUser,      // users' tablets; as many as DatabaseOptions::tablet_servers says
};

inline constexpr std::array kServerRoles = {ServerRole::kRoot, ServerRole::kMetadata,
                                            ServerRole::kUser};
inline constexpr std::array kMetadataRoles = {ServerRole::kRoot, ServerRole::kMetadata};

// "root", "metadata" or "server": the prefix of its servers' names.
constexpr std::string_view NameOfRole(ServerRole role) {
  constexpr std::array<std::string_view, 3> kNames = {"root", "metadata", "server"};
  return kNames[static_cast<size_t>(role)];
}

// The role whose tablets have this row.
inline ServerRole RoleOf(uint64_t table_id, std::string_view row) {
  if (table_id != kMetadataTableId) return ServerRole::kUser;
  return RootRows().Contains(row) ? ServerRole::kRoot : ServerRole::kMetadata;
}

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_ROLE_H_
