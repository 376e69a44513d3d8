// How both sides of a connection are known: RemoteOptions::security, certificates and tokens, and
// what errors of TLS mean.
#ifndef BIGTABLE_REMOTE_CALLS_CREDENTIALS_H_
#define BIGTABLE_REMOTE_CALLS_CREDENTIALS_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/security/credentials.h"

#include "bigtable/remote.h"

namespace bigtable::remote {

// InvalidArgument: options of `security`, certificates and tokens that are wrong or do not fit
// together or the endpoint.
absl::Status CheckSecurity(std::string_view endpoint, const RemoteOptions& options);
// A header takes no other characters.
absl::Status CheckToken(std::string_view token);

// NotFound: a file of the options. InvalidArgument: it is not PEM of the right kind.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const RemoteOptions& options);

absl::StatusOr<std::string> ReadFile(const std::string& path);

// The result of a call, where a connection failed because of TLS: gRPC's error is Unavailable for
// all. With what is wrong, and another code if to try again is no use:
//   Unauthenticated   the server's certificate is not trusted, has expired or has another name
//   InvalidArgument   the files of the options cannot be used
//   FailedPrecondition   the server has no TLS
absl::Status ExplainTls(const absl::Status& result, const RemoteOptions& options);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CALLS_CREDENTIALS_H_
