#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

#include "bigtable/remote.h"

#include "base/status.h"
#include "connected/table_service.h"
#include "remote/calls/connection.h"
#include "remote/remote_database.h"

namespace bigtable {

absl::StatusOr<std::unique_ptr<Database>> Connect(std::string_view endpoint,
                                                  const RemoteOptions& options) {
  BT_ASSIGN_OR_RETURN(std::shared_ptr<remote::Connection> connection,
                      remote::Connection::Make(endpoint, options));
  return ConnectedTo(std::make_unique<remote::RemoteDatabase>(std::move(connection)));
}

}  // namespace bigtable
