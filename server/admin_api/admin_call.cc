#include "server/admin_api/admin_call.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace bigtable::server {
namespace {

// Whether a call of this method is there to change something.
bool ChangesSomething(std::string_view method) {
  const std::string_view name = method.substr(method.rfind('/') + 1);
  for (const std::string_view prefix : {"Get", "List", "Check", "GenerateConsistency", "Wait"}) {
    if (name.starts_with(prefix)) return false;
  }
  return true;
}

}  // namespace

void AdminLog::Write(std::string_view method, const grpc::ServerContext& context,
                     const absl::Status& status, std::chrono::nanoseconds taken) const {
  if (log_ == nullptr || !ChangesSomething(method)) return;
  const absl::StatusOr<std::optional<std::string>> caller = authentication_->CallerOf(context);
  log_->Write(status.ok() ? LogSeverity::kInfo : LogSeverity::kWarning, "admin call",
              {{"method", std::string(method)},
               {"caller", caller.ok() ? caller->value_or("") : ""},
               {"peer", context.peer()},
               {"code", absl::StatusCodeToString(status.code())},
               {"error", std::string(status.message())}},
              absl::FromChrono(taken));
}

}  // namespace bigtable::server
