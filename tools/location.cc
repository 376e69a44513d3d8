#include "tools/location.h"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

#include "bigtable/remote.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

// A person waits, so the end comes sooner than that of RemoteOptions.
constexpr absl::Duration kRetryFor = absl::Seconds(10);

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// An option that only a server has, if one is given; otherwise "".
std::string OptionOfServer(const Location& location) {
  const std::vector<std::pair<const char*, bool>> options = {
      {"--project", !location.project.empty()},
      {"--instance", !location.instance.empty()},
      {"--app-profile", !location.app_profile.empty()},
      {"--tls", location.tls},
      {"--plaintext", location.plaintext},
      {"--root-certificates", !location.root_certificates.empty()},
      {"--client-certificate", !location.client_certificate.empty()},
      {"--client-key", !location.client_key.empty()},
      {"--token-file", !location.token_file.empty()},
      {"--retry-for", !location.retry_for.empty()}};
  for (const auto& [name, is_given] : options) {
    if (is_given) return name;
  }
  return "";
}

absl::Status CheckServer(const std::string& server) {
  if (server.empty() || server.starts_with("unix:")) return absl::OkStatus();
  const size_t colon = server.rfind(':');
  int port = 0;
  if (colon != std::string::npos && colon > 0 &&
      absl::SimpleAtoi(server.substr(colon + 1), &port) && port >= 1 && port <= 65535) {
    return absl::OkStatus();
  }
  return UsageError(
      Cat("--server ", server, " is not of the form HOST:PORT, as in 127.0.0.1:8086"));
}

absl::StatusOr<RemoteOptions> RemoteOptionsOf(const Location& location) {
  RemoteOptions options;
  if (!location.project.empty()) options.project = location.project;
  if (!location.instance.empty()) options.instance = location.instance;
  options.app_profile = location.app_profile;
  options.plaintext = location.plaintext;
  options.root_certificates = location.root_certificates;
  options.client_certificate = location.client_certificate;
  options.client_key = location.client_key;
  options.token_file = location.token_file;
  options.retry_for = kRetryFor;
  if (!location.retry_for.empty() &&
      (!absl::ParseDuration(location.retry_for, &options.retry_for) ||
       options.retry_for < absl::ZeroDuration())) {
    return UsageError(
        Cat("--retry-for ", location.retry_for, " is not a duration, as in 10s or 0s"));
  }
  const bool has_certificate =
      !location.root_certificates.empty() || !location.client_certificate.empty();
  if (location.google) {
    options.security = RemoteOptions::Security::kGoogleDefault;
  } else if (location.tls || has_certificate || !location.client_key.empty()) {
    options.security = RemoteOptions::Security::kTls;
  }
  return options;
}

// Tells a person why nothing seems to happen. Thread-safe.
class RetryNotice {
 public:
  RetryNotice(std::ostream* stream, const Location& location)
      : stream_(stream), server_(location.ServerName()) {}

  void Show(const absl::Status& error, absl::Duration pause) {
    const absl::MutexLock lock(&mutex_);
    const absl::Duration now =
        absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
    // The first pauses are short, and most errors have passed after them. A call after a while
    // without any begins anew.
    if (now - last_retry_ > 2 * last_pause_ + absl::Seconds(1)) next_ = now + absl::Seconds(1);
    last_retry_ = now;
    last_pause_ = pause;
    if (now + pause < next_) return;
    *stream_ << "bigtable: server " << server_ << " is tried again: " << MessageOf(error) << "\n"
             << std::flush;
    next_ = now + absl::Seconds(1);
  }

 private:
  std::ostream* const stream_;
  const std::string server_;
  absl::Mutex mutex_;
  // By a clock that does not jump.
  absl::Duration last_retry_ ABSL_GUARDED_BY(mutex_) = -absl::InfiniteDuration();
  absl::Duration last_pause_ ABSL_GUARDED_BY(mutex_);
  absl::Duration next_ ABSL_GUARDED_BY(mutex_);
};

absl::Status CheckSecurity(const Location& location) {
  if (location.client_certificate.empty() != location.client_key.empty()) {
    return UsageError("--client-certificate and --client-key must be given together");
  }
  const bool has_tls =
      location.tls || !location.root_certificates.empty() || !location.client_certificate.empty();
  if (location.plaintext && (has_tls || location.google)) {
    return UsageError("--plaintext cannot be combined with TLS");
  }
  if (location.google && (has_tls || !location.token_file.empty())) {
    return UsageError(
        "--google has the credentials of Google's environment, and takes no certificates and no "
        "token");
  }
  return absl::OkStatus();
}

}  // namespace

std::string WithNamesOfOptions(std::string_view message) {
  return absl::StrReplaceAll(
      {message.data(), message.size()},
      {{"endpoint ", "server "},
       {"RemoteOptions::security must be kTls, or plaintext true",
        "give --tls, or --plaintext, which encrypts nothing"},
       {"RemoteOptions::security", "--tls"},
       {"RemoteOptions::app_profile", "--app-profile"},
       {"RemoteOptions::root_certificates, client_certificate and client_key",
        "--root-certificates, --client-certificate and --client-key"},
       {"RemoteOptions::root_certificates", "--root-certificates"},
       {"RemoteOptions::client_certificate", "--client-certificate"},
       {"RemoteOptions::client_key", "--client-key"},
       {"RemoteOptions::token_file", "--token-file"},
       {"RemoteOptions::", "--"}});
}

std::string Location::ServerName() const { return server.empty() ? "Cloud Bigtable" : server; }

absl::Status SettleLocation(bool may_be_server, Location* location) {
  if (!location->directory.empty() && location->is_server()) {
    return UsageError(
        "--directory and --server cannot both be given: a database is in a directory or on a "
        "server");
  }
  if (location->directory.empty() && !location->is_server()) {
    location->directory = Environment(kDirectoryVariable);
    if (may_be_server) location->server = Environment(kServerVariable);
    if (!location->directory.empty() && location->is_server()) {
      return UsageError(Cat("both ", kDirectoryVariable, " and ", kServerVariable,
                            " are set; give --directory or --server"));
    }
  }
  const std::string option = OptionOfServer(*location);
  if (!option.empty() && !location->is_server()) {
    return UsageError(Cat(option,
                          " is for a database on a server: give --server HOST:PORT, or set ",
                          kServerVariable));
  }
  TOOLS_RETURN_IF_ERROR(CheckSecurity(*location));
  return CheckServer(location->server);
}

absl::StatusOr<std::unique_ptr<Database>> ConnectTo(const Location& location,
                                                    [[maybe_unused]] std::ostream* progress) {
  TOOLS_ASSIGN_OR_RETURN(RemoteOptions options, RemoteOptionsOf(location));
#ifdef BIGTABLE_TOOLS_HAS_REMOTE
  if (progress != nullptr) {
    options.on_retry = [notice = std::make_shared<RetryNotice>(progress, location)](
                           const absl::Status& error, absl::Duration pause) {
      notice->Show(error, pause);
    };
  }
  // The statuses of calls say what is wrong; gRPC would log it too.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  absl::StatusOr<std::unique_ptr<Database>> database = Connect(location.server, options);
  if (absl::IsInvalidArgument(database.status())) {
    return UsageError(WithNamesOfOptions(MessageOf(database.status())));
  }
  return database;
#else
  return UsageError(
      "this program was built without bigtable::remote, so it works on directories alone; build "
      "it with BIGTABLE_BUILD_SERVER=ON, which needs gRPC");
#endif
}

}  // namespace bigtable::tools
