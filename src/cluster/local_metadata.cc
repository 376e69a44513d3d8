#include "cluster/local_metadata.h"

#include <memory>

#include "base/status.h"

namespace bigtable {

absl::Status LocalMetadata::error() const {
  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : parts_.servers->OfRole(role))
      BT_RETURN_IF_ERROR(host->server()->write_error().status());
  }
  return absl::OkStatus();
}

DataService* LocalMetadata::FindService(std::string_view server) {
  // An ended server can still report the outcome of earlier requests.
  const std::shared_ptr<ServerHost> host = parts_.servers->FindEver(server);
  return host == nullptr ? nullptr : parts_.servers->ServiceOf(host.get());
}

bool LocalMetadata::HasEnded(std::string_view server) {
  const std::shared_ptr<ServerHost> host = parts_.servers->FindEver(server);
  return host == nullptr || host->server()->state().ended();
}

absl::Duration LocalMetadata::RetryTimeout() {
  // A METADATA server that cannot be replaced must not keep a database from being closed.
  if (parts_.closing->is_ending) return absl::Milliseconds(200);
  return parts_.closing->is_closing ? absl::Seconds(3) : absl::InfiniteDuration();
}

absl::Status LocalMetadata::CheckDirectory() {
  return parts_.directory_lock == nullptr ? absl::OkStatus() : parts_.directory_lock->Check();
}

}  // namespace bigtable
