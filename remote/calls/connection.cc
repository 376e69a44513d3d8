#include "remote/calls/connection.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/time/clock.h"
#include "google/bigtable/v2/feature_flags.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

#include "base/status.h"
#include "base/strings.h"
#include "grpc/grpc.h"
#include "remote/calls/credentials.h"

namespace bigtable::remote {
namespace {

using Security = RemoteOptions::Security;

constexpr std::string_view kCloudData = "bigtable.googleapis.com";
constexpr std::string_view kCloudAdmin = "bigtableadmin.googleapis.com";
constexpr int kMostConnections = 64;
constexpr uint64_t kLeastOutstandingBytes = 1 << 20;
constexpr absl::Duration kTokenAge = absl::Seconds(10);

absl::Status CheckName(std::string_view option, std::string_view name) {
  const bool is_valid =
      !name.empty() && name.find('/') == name.npos &&
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (is_valid) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("RemoteOptions::", option,
                                        " must be a name of printable ASCII without a slash, and "
                                        "is ",
                                        Quoted(name)));
}

absl::Status CheckOptions(std::string_view endpoint, const RemoteOptions& options) {
  if (endpoint.empty() && options.security != Security::kGoogleDefault) {
    return absl::InvalidArgumentError(
        "the endpoint must be host:port; only with kGoogleDefault it may be empty");
  }
  BT_RETURN_IF_ERROR(CheckName("project", options.project));
  BT_RETURN_IF_ERROR(CheckName("instance", options.instance));
  if (!options.app_profile.empty()) {
    BT_RETURN_IF_ERROR(CheckName("app_profile", options.app_profile));
  }
  if (options.retry_for < absl::ZeroDuration()) {
    return absl::InvalidArgumentError(Cat("RemoteOptions::retry_for must not be negative, and is ",
                                          absl::FormatDuration(options.retry_for)));
  }
  if (options.attempt_timeout < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(
        Cat("RemoteOptions::attempt_timeout must be at least 1ms, and is ",
            absl::FormatDuration(options.attempt_timeout)));
  }
  if (options.max_outstanding_bytes < kLeastOutstandingBytes) {
    return absl::InvalidArgumentError(Cat("RemoteOptions::max_outstanding_bytes must be at least ",
                                          kLeastOutstandingBytes, ", and is ",
                                          options.max_outstanding_bytes));
  }
  if (options.connections < 1 || options.connections > kMostConnections) {
    return absl::InvalidArgumentError(Cat("RemoteOptions::connections must be from 1 to ",
                                          kMostConnections, ", and is ", options.connections));
  }
  return CheckSecurity(endpoint, options);
}

grpc::ChannelArguments ArgumentsOf(int connection, RemoteOptions::Security security) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  // Tried again here, where it is known what may be.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // Channels with equal arguments would share a connection.
  arguments.SetInt("bigtable.connection", connection);
  // A proxy of the environment would read what is not encrypted, tokens among it.
  if (security == Security::kInsecure) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (security == Security::kGoogleDefault) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 10'000);
  }
  return arguments;
}

// A text as a part of a URL.
std::string Escaped(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.') {
      escaped += c;
    } else {
      escaped += {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[c & 15]};
    }
  }
  return escaped;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Connection>> Connection::Make(std::string_view endpoint,
                                                             const RemoteOptions& options) {
  BT_RETURN_IF_ERROR(CheckOptions(endpoint, options));
  std::shared_ptr<Connection> connection(new Connection(options));
  BT_RETURN_IF_ERROR(connection->Open(endpoint));
  return connection;
}

absl::Status Connection::Open(std::string_view endpoint) {
  // Never undone: the last object of gRPC in a process may wait ten seconds for a thread of gRPC
  // that polls, and so would the destructor of a Database.
  static const bool is_initialized = (grpc_init(), true);
  (void)is_initialized;
  instance_ = Cat("projects/", options_.project, "/instances/", options_.instance);
  google::bigtable::v2::FeatureFlags flags;
  flags.set_reverse_scans(true);
  flags.set_last_scanned_row_responses(true);
  flags.set_retry_info(true);
  absl::WebSafeBase64Escape(flags.SerializeAsString(), &features_);

  BT_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                      CredentialsOf(options_));
  const std::string data(endpoint.empty() ? kCloudData : endpoint);
  const std::string admin(endpoint.empty() ? kCloudAdmin : endpoint);
  std::shared_ptr<grpc::Channel> channel;
  for (int i = 0; i < options_.connections; ++i) {
    channel = grpc::CreateCustomChannel(data, credentials, ArgumentsOf(i, options_.security));
    data_.push_back(std::make_unique<DataStub>(channel));
  }
  if (admin != data) {
    channel = grpc::CreateCustomChannel(admin, credentials, ArgumentsOf(0, options_.security));
  }
  admin_ = std::make_unique<AdminStub>(channel);
  admin_channel_ = std::move(channel);
  return Token().status();
}

std::string Connection::TableName(std::string_view table) const {
  return Cat(instance_, "/tables/", table);
}

absl::Status Connection::Prepare(std::string_view resource_field, std::string_view resource,
                                 grpc::ClientContext* context) {
  BT_RETURN_IF_ERROR(CheckOpen());
  std::string parameters = Cat(resource_field, "=", Escaped(resource));
  if (!options_.app_profile.empty()) {
    parameters += Cat("&app_profile_id=", Escaped(options_.app_profile));
  }
  context->AddMetadata("x-goog-request-params", parameters);
  context->AddMetadata("bigtable-features", features_);
  BT_ASSIGN_OR_RETURN(const std::string token, Token());
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
  return absl::OkStatus();
}

absl::StatusOr<std::string> Connection::Token() {
  if (options_.token_file.empty()) return options_.token;
  MutexLock lock(&mutex_);
  if (absl::Now() - token_read_ < kTokenAge) return token_;
  BT_ASSIGN_OR_RETURN(token_, ReadFile(options_.token_file));
  while (!token_.empty() && absl::ascii_isspace(static_cast<unsigned char>(token_.back()))) {
    token_.pop_back();
  }
  BT_RETURN_IF_ERROR(CheckToken(token_));
  token_read_ = absl::Now();
  return token_;
}

Timestamp Connection::Now() {
  const absl::Time now = options_.clock != nullptr ? options_.clock->Now() : absl::Now();
  const int64_t millisecond = std::max<int64_t>(absl::ToUnixMillis(now), 0);
  int64_t last = last_millisecond_.load(std::memory_order_relaxed);
  while (last < millisecond &&
         !last_millisecond_.compare_exchange_weak(last, millisecond, std::memory_order_relaxed)) {
  }
  return Timestamp(std::max(last, millisecond) * 1000);
}

absl::Status Connection::CheckOpen() const {
  if (!closed_.load(std::memory_order_relaxed)) return absl::OkStatus();
  return absl::FailedPreconditionError("the database is closed");
}

}  // namespace bigtable::remote
