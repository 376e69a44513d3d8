#include "server/options.h"

#include "bigtable/memory_budget.h"

#include "server/convert/errors.h"

namespace bigtable::server {

bool IsLoopback(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  std::string_view host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  // The whole of 127.0.0.0/8, but no name that only begins like it.
  const bool is_numeric = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || host == "::1" || (is_numeric && host.starts_with("127."));
}

namespace {

// An address for other machines.
absl::Status CheckReachable(std::string_view flag, const std::string& address,
                            const ServerOptions& options) {
  if (IsLoopback(address)) return absl::OkStatus();
  if (options.certificate.empty() && !options.plaintext) {
    return Invalid(flag, " ", address,
                   " can be reached from other machines: give --certificate and --key for TLS, or "
                   "--plaintext to do without");
  }
  if (options.client_authority.empty() && options.tokens.empty()) {
    return Invalid(flag, " ", address,
                   " can be reached from other machines: callers must say who they are, so give "
                   "--tokens or --client-authority");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOptions(const ServerOptions& options) {
  if (options.directory.empty()) return Invalid("a directory must be given");
  if (options.address.find(':') == std::string::npos) {
    return Invalid("--address ", options.address, ": must be HOST:PORT");
  }
  if (options.memory < MemoryBudget::kMinimum) {
    return Invalid("--memory ", options.memory, ": must be at least ", MemoryBudget::kMinimum,
                   " bytes");
  }
  if (options.threads < 2 || options.threads > 4096) {
    return Invalid("--threads ", options.threads, ": must be 2 to 4096");
  }
  if (options.drain_seconds < 0 || options.drain_seconds > 3600) {
    return Invalid("--drain ", options.drain_seconds, ": must be 0 to 3600 seconds");
  }
  if (options.certificate.empty() != options.key.empty()) {
    return Invalid("--certificate and --key must be given together");
  }
  const bool has_tls = !options.certificate.empty();
  if (!options.client_authority.empty() && !has_tls) {
    return Invalid("--client-authority needs --certificate and --key");
  }
  const bool knows_callers = !options.client_authority.empty() || !options.tokens.empty();
  if (!options.administrators.empty() && !knows_callers) {
    return Invalid("--administrators needs --tokens or --client-authority");
  }
  SERVER_RETURN_IF_ERROR(CheckReachable("--address", options.address, options));
  if (options.http.empty()) return absl::OkStatus();
  if (options.http.find(':') == std::string::npos || options.http.starts_with("unix:")) {
    return Invalid("--http ", options.http, ": must be HOST:PORT, or empty");
  }
  return CheckReachable("--http", options.http, options);
}

}  // namespace bigtable::server
