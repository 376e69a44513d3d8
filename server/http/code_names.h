// The names of gRPC's status codes.
#ifndef BIGTABLE_SERVER_HTTP_CODE_NAMES_H_
#define BIGTABLE_SERVER_HTTP_CODE_NAMES_H_

#include <array>
#include <string_view>

namespace bigtable::server {

// By number.
inline constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_CODE_NAMES_H_
