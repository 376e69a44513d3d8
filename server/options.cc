#include "server/options.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "bigtable/memory_budget.h"

#include "server/text/errors.h"

namespace bigtable::server {

HostAndPort SplitAddress(std::string_view address) {
  const size_t colon = std::min(address.rfind(':'), address.size());
  std::string_view host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(address.substr(std::min(colon + 1, address.size())))};
}

bool IsLoopback(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  const std::string host = SplitAddress(address).host;
  // The whole of 127.0.0.0/8, but no name that only begins like it.
  const bool is_numeric = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "::1" || (is_numeric && host.starts_with("127."));
}

namespace {

constexpr size_t kMaxIdSize = 64;

bool IsPort(std::string_view text) {
  constexpr int kMaxPort = 65535;
  int port = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  return !text.starts_with('-') && error == std::errc() && rest == end && port <= kMaxPort;
}

// `rule` says what there may be beside host and port.
absl::Status CheckAddress(std::string_view flag, const std::string& address,
                          std::string_view rule) {
  const HostAndPort parsed = SplitAddress(address);
  // The colons of an IPv6 address could be that of the port.
  const bool has_brackets = address.starts_with('[');
  const bool is_host =
      !parsed.host.empty() && (has_brackets || parsed.host.find(':') == std::string::npos);
  if (is_host && IsPort(parsed.port)) return absl::OkStatus();
  return Invalid(flag, " ", address, ": must be HOST:PORT", rule,
                 ", with an IPv6 address in brackets and a port from 0 to 65535");
}

// Of a project or an instance: a part of the names of resources.
absl::Status CheckId(std::string_view flag, const std::string& id) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  };
  if (!id.empty() && id.size() <= kMaxIdSize && std::all_of(id.begin(), id.end(), is_allowed)) {
    return absl::OkStatus();
  }
  return Invalid(flag, " ", Quoted(id), ": must be 1 to ", kMaxIdSize, " of [-_.:a-zA-Z0-9]");
}

absl::Status CheckAddresses(const ServerOptions& options) {
  if (!options.address.starts_with("unix:") || options.address == "unix:") {
    SERVER_RETURN_IF_ERROR(CheckAddress("--address", options.address, ", or unix:PATH"));
  }
  if (options.http.empty()) return absl::OkStatus();
  SERVER_RETURN_IF_ERROR(CheckAddress("--http", options.http, ", or empty"));
  if (options.http != options.address || options.http.ends_with(":0")) return absl::OkStatus();
  return Invalid("--http ", options.http, ": must not be the same as --address");
}

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
  SERVER_RETURN_IF_ERROR(CheckAddresses(options));
  SERVER_RETURN_IF_ERROR(CheckId("--project", options.default_instance.project));
  SERVER_RETURN_IF_ERROR(CheckId("--instance", options.default_instance.instance));
  if (options.memory < MemoryBudget::kMinimum) {
    return Invalid("--memory ", options.memory, ": must be at least ", MemoryBudget::kMinimum,
                   " bytes");
  }
  if (options.threads < 2 || options.threads > 4096) {
    return Invalid("--threads ", options.threads, ": must be 2 to 4096");
  }
  if (options.connections > 1'000'000) {
    return Invalid("--connections ", options.connections, ": must be at most 1000000");
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
  return CheckReachable("--http", options.http, options);
}

}  // namespace bigtable::server
