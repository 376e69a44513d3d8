// What a tablet server serves. The tablets of a role are found in those of the one before, so they
// are assigned, and written out, in this order, and each role has servers, and logs, of its own:
// what waits for a role's servers is never what they wait for (section 5.1 of the paper).
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

// "root", "metadata" or "server": what the names of its servers begin with.
constexpr std::string_view NameOfRole(ServerRole role) {
  constexpr std::array<std::string_view, 3> kNames = {"root", "metadata", "server"};
  return kNames[static_cast<size_t>(role)];
}

// Whose tablets have this row.
inline ServerRole RoleOf(uint64_t table_id, std::string_view row) {
  if (table_id != kMetadataTableId) return ServerRole::kUser;
  return RootRows().Contains(row) ? ServerRole::kRoot : ServerRole::kMetadata;
}

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_SERVER_ROLE_H_
