#include "server/calls/authentication.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "grpcpp/security/auth_context.h"
#include "grpcpp/support/string_ref.h"

#include "grpc/grpc_security_constants.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr size_t kLeastTokenSize = 16;
constexpr std::string_view kBearer = "Bearer ";

std::string ToString(grpc::string_ref text) { return std::string(text.data(), text.size()); }

}  // namespace

// The messages never contain a token, nor the caller, which is the token if they were exchanged.
absl::Status Authentication::AddToken(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos ||
      line.find(' ', space + 1) != std::string_view::npos) {
    return Invalid("must be a caller and a token, with one space between");
  }
  const std::string_view caller = line.substr(0, space);
  const std::string_view token = line.substr(space + 1);
  if (token.size() < kLeastTokenSize) {
    return Invalid("the token, which is after the caller, has ", token.size(),
                   " characters; it must have at least ", kLeastTokenSize);
  }
  if (!tokens_.emplace(token, caller).second) {
    return Invalid("the token is there twice");
  }
  return absl::OkStatus();
}

absl::Status Authentication::ReadTokens(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(Cat("the file of tokens ", path, " cannot be read"));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    SERVER_RETURN_IF_ERROR(Annotate(AddToken(line), Cat(path, ", line ", number)));
  }
  if (tokens_.empty()) return Invalid("the file of tokens ", path, " has no token");
  return absl::OkStatus();
}

void Authentication::SetAdministrators(std::string_view names) {
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    if (comma > 0) administrators_.emplace(names.substr(0, comma));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
}

absl::Status Authentication::CheckAdministrator(const grpc::ServerContextBase& context) const {
  SERVER_ASSIGN_OR_RETURN(const std::optional<std::string> caller, CallerOf(context));
  if (!caller.has_value() || administrators_.contains(*caller)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      Cat(Quoted(*caller), " is not an administrator (--administrators)"));
}

absl::StatusOr<std::optional<std::string>> Authentication::Check(
    const grpc::ServerContextBase& context) const {
  if (!tokens_.empty()) {
    const auto header = context.client_metadata().find("authorization");
    if (header != context.client_metadata().end()) {
      const std::string value = ToString(header->second);
      const auto found =
          value.starts_with(kBearer) ? tokens_.find(value.substr(kBearer.size())) : tokens_.end();
      if (found == tokens_.end())
        return absl::UnauthenticatedError("the bearer token is not known");
      return std::optional<std::string>(found->second);
    }
  }
  if (uses_certificates_) {
    const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
    const std::vector<grpc::string_ref> names =
        peer == nullptr ? std::vector<grpc::string_ref>()
                        : peer->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
    if (!names.empty() && !names.front().empty()) {
      return std::optional<std::string>(ToString(names.front()));
    }
    if (peer != nullptr && peer->IsPeerAuthenticated()) {
      return absl::UnauthenticatedError("the client's certificate has no common name");
    }
    return absl::UnauthenticatedError(
        "the call must carry a token, as the metadata \"authorization: Bearer TOKEN\", or the "
        "connection have a client certificate");
  }
  return absl::UnauthenticatedError(
      "the call must carry a token, as the metadata \"authorization: Bearer TOKEN\"");
}

}  // namespace bigtable::server
