#include "server/admin/consistency.h"

#include <string>
#include <string_view>

#include "server/text/errors.h"

namespace bigtable::server {
namespace {

std::string TokenOf(std::string_view table) { return Cat("consistent:", table); }

}  // namespace

absl::StatusOr<admin::GenerateConsistencyTokenResponse> Consistency::Generate(
    const admin::GenerateConsistencyTokenRequest& request) const {
  SERVER_RETURN_IF_ERROR(parts_.inventory.FindTable(request.name()).status());
  admin::GenerateConsistencyTokenResponse response;
  response.set_consistency_token(TokenOf(request.name()));
  return response;
}

absl::StatusOr<admin::CheckConsistencyResponse> Consistency::Check(
    const admin::CheckConsistencyRequest& request) const {
  SERVER_RETURN_IF_ERROR(parts_.inventory.FindTable(request.name()).status());
  if (request.consistency_token() != TokenOf(request.name())) {
    return Invalid("consistency_token must be one that GenerateConsistencyToken has returned for ",
                   request.name(), ", and is ", Quoted(request.consistency_token()));
  }
  admin::CheckConsistencyResponse response;
  response.set_consistent(true);
  return response;
}

}  // namespace bigtable::server
