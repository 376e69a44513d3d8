#include "cluster/local_metadata.h"

#include <memory>

#include "base/status.h"

namespace bigtable {

absl::Status LocalMetadata::error() const {
  for (const ServerRole role : kMetadataRoles) {
    for (const auto& host : servers_->OfRole(role))
      BT_RETURN_IF_ERROR(host->server()->write_error().status());
  }
  return absl::OkStatus();
}

DataService* LocalMetadata::FindService(std::string_view server) {
  // An ended server can still report the outcome of earlier requests.
  const std::shared_ptr<ServerHost> host = servers_->FindEver(server);
  return host == nullptr ? nullptr : servers_->ServiceOf(host.get());
}

bool LocalMetadata::HasEnded(std::string_view server) {
  const std::shared_ptr<ServerHost> host = servers_->FindEver(server);
  return host == nullptr || host->server()->state().ended();
}

absl::Duration LocalMetadata::RetryTimeout() {
  // A METADATA server that cannot be replaced must not keep a database from being closed.
  if (environment_->closing.is_ending) return absl::Milliseconds(200);
  return environment_->closing.is_closing ? absl::Seconds(3) : absl::InfiniteDuration();
}

absl::Status LocalMetadata::CheckDirectory() {
  return environment_->read_only() ? absl::OkStatus()
                                   : environment_->storage.directory_lock->Check();
}

}  // namespace bigtable
