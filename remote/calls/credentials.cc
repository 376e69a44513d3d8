#include "remote/calls/credentials.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/status.h"
#include "base/strings.h"

namespace bigtable::remote {
namespace {

using Security = RemoteOptions::Security;

// How a block of a PEM file ends in its first line.
constexpr std::string_view kCertificate = "CERTIFICATE-----";
constexpr std::string_view kKey = "PRIVATE KEY-----";

// Whether `endpoint` is on this machine: the whole of 127.0.0.0/8, but no name that only begins
// like it.
bool IsLoopback(std::string_view endpoint) {
  if (endpoint.starts_with("unix:")) return true;
  const std::string_view host = endpoint.substr(0, endpoint.rfind(':'));
  const bool is_numeric = host.find_first_not_of("0123456789.") == host.npos;
  return host == "localhost" || host == "[::1]" || (is_numeric && host.starts_with("127."));
}

// Without this, a file without certificates to trust would mean those of the system.
absl::StatusOr<std::string> ReadPem(const std::string& path, std::string_view kind) {
  BT_ASSIGN_OR_RETURN(std::string pem, ReadFile(path));
  if (pem.find("-----BEGIN ") != pem.npos && pem.find(kind) != pem.npos) return pem;
  return absl::InvalidArgumentError(
      Cat(path, " is no file of PEM with a ", kind == kKey ? "private key" : "certificate"));
}

}  // namespace

absl::Status CheckToken(std::string_view token) {
  const auto is_printable = [](char c) { return c > ' ' && c <= '~'; };
  if (std::all_of(token.begin(), token.end(), is_printable)) return absl::OkStatus();
  return absl::InvalidArgumentError("a token must be printable ASCII without a space");
}

absl::Status CheckSecurity(std::string_view endpoint, const RemoteOptions& options) {
  if (options.security > Security::kGoogleDefault) {
    return absl::InvalidArgumentError(
        Cat("RemoteOptions::security must be kInsecure, kTls or kGoogleDefault, and is ",
            static_cast<int>(options.security)));
  }
  const bool is_tls = options.security == Security::kTls;
  if (!is_tls && !(options.root_certificates.empty() && options.client_certificate.empty() &&
                   options.client_key.empty())) {
    return absl::InvalidArgumentError(
        "RemoteOptions::root_certificates, client_certificate and client_key are for kTls");
  }
  if (options.client_certificate.empty() != options.client_key.empty()) {
    return absl::InvalidArgumentError(
        "RemoteOptions::client_certificate and client_key must be given together");
  }
  BT_RETURN_IF_ERROR(CheckToken(options.token));
  const bool has_token = !options.token.empty() || !options.token_file.empty();
  if (!options.token.empty() && !options.token_file.empty()) {
    return absl::InvalidArgumentError("RemoteOptions::token and token_file must not both be given");
  }
  if (has_token && options.security == Security::kGoogleDefault) {
    return absl::InvalidArgumentError("RemoteOptions::token is not for kGoogleDefault");
  }
  if (options.security == Security::kInsecure && !options.plaintext && !IsLoopback(endpoint)) {
    return absl::InvalidArgumentError(
        Cat("endpoint ", Quoted(endpoint),
            " is not on this machine, so RemoteOptions::security must be kTls, or plaintext true"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(Cat("cannot read ", path));
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const RemoteOptions& options) {
  switch (options.security) {
    case Security::kInsecure:
      return grpc::InsecureChannelCredentials();
    case Security::kGoogleDefault:
      if (auto credentials = grpc::GoogleDefaultCredentials()) return credentials;
      return absl::NotFoundError("there are no Google application default credentials");
    case Security::kTls:
      break;
  }
  grpc::SslCredentialsOptions tls;
  if (!options.root_certificates.empty()) {
    BT_ASSIGN_OR_RETURN(tls.pem_root_certs, ReadPem(options.root_certificates, kCertificate));
  }
  if (!options.client_certificate.empty()) {
    BT_ASSIGN_OR_RETURN(tls.pem_cert_chain, ReadPem(options.client_certificate, kCertificate));
    BT_ASSIGN_OR_RETURN(tls.pem_private_key, ReadPem(options.client_key, kKey));
  }
  return grpc::SslCredentials(tls);
}

absl::Status ExplainTls(const absl::Status& result, const RemoteOptions& options) {
  if (!absl::IsUnavailable(result)) return result;
  const std::string_view message = ToStd(result.message());
  const auto says = [&](std::string_view text) { return message.find(text) != message.npos; };
  const auto explained = [&](absl::StatusCode code, std::string_view what) {
    return absl::Status(code, Cat(what, ": ", message));
  };
  if (!says("failed to connect to all addresses") && !says("empty address list")) return result;
  if (options.security != Security::kTls) {
    if (!says("Socket closed")) return result;
    return explained(result.code(),
                     "the server closes the connection; it may want TLS (RemoteOptions::security)");
  }
  if (says("certificate verify failed")) {
    return explained(absl::StatusCode::kUnauthenticated,
                     "the server's certificate has expired, or is not signed by "
                     "RemoteOptions::root_certificates");
  }
  if (says("is not in peer certificate")) {
    return explained(absl::StatusCode::kUnauthenticated,
                     "the server's certificate is for another host");
  }
  if (says("wrong version number")) {
    return explained(absl::StatusCode::kFailedPrecondition,
                     "the server speaks no TLS at this address");
  }
  if (says("empty address list")) {
    return explained(absl::StatusCode::kInvalidArgument,
                     "RemoteOptions::root_certificates, client_certificate and client_key cannot "
                     "be used for TLS; the key may be of another certificate");
  }
  if (!says("Socket closed")) return result;
  return explained(result.code(),
                   "the server closes the connection; it may want a client certificate that it "
                   "trusts (RemoteOptions::client_certificate)");
}

}  // namespace bigtable::remote
