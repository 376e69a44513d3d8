#include "server/server.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "absl/base/config.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/resource_quota.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

#include "bigtable/options.h"

#include "grpc/compression.h"
#include "grpc/grpc.h"
#include "grpc/support/log.h"
#include "server/calls/deadline.h"
#include "server/calls/process_memory.h"
#include "server/connections/connection_limit.h"
#include "server/option_values.h"
#include "server/start_checks.h"
#include "server/text/errors.h"
#include "server/tls_files.h"

namespace bigtable::server {
namespace {

// What gRPC takes at most: more than the largest request, so that the server says what is too
// large.
constexpr int kMostMessageBytes = static_cast<int>(RequestLimits::kLargest) + (1 << 20);
// A frame of HTTP/2, and what is read of a connection at once: larger ones leave more memory
// unused.
constexpr int kMostFrameBytes = 256 << 10;
// Calls that a client may have open on a connection. It keeps further ones to itself until one has
// ended; Cloud Bigtable takes a hundred.
constexpr int kMostStreamsOfAConnection = 1000;
// What reflection lists.
constexpr std::array<const char*, 6> kServices = {"google.bigtable.v2.Bigtable",
                                                  "google.bigtable.admin.v2.BigtableTableAdmin",
                                                  "google.bigtable.admin.v2.BigtableInstanceAdmin",
                                                  "google.longrunning.Operations",
                                                  "bigtable.server.Engine",
                                                  "grpc.health.v1.Health"};
// How often a client may ask whether the connection is there.
constexpr int kLeastPingMillis = 5'000;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return absl::NotFoundError(Cat(path, " cannot be read"));
  return content.str();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(
    const ServerOptions& options) {
  // gRPC is not ended with the server: that may wait ten seconds for a timer of its own.
  static const bool is_kept = (grpc_init(), true);
  static_cast<void>(is_kept);
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
  SERVER_ASSIGN_OR_RETURN(pair.private_key, ReadFile(options.key));
  SERVER_ASSIGN_OR_RETURN(pair.cert_chain, ReadFile(options.certificate));
  tls.pem_key_cert_pairs.push_back(std::move(pair));
  if (!options.client_authority.empty()) {
    SERVER_ASSIGN_OR_RETURN(tls.pem_root_certs, ReadFile(options.client_authority));
    // With tokens, a client without a certificate may have one of these.
    tls.client_certificate_request =
        options.tokens.empty() ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                               : GRPC_SSL_REQUEST_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  SERVER_RETURN_IF_ERROR(CheckTlsFiles(options));
  return grpc::SslServerCredentials(tls);
}

// While there is one, gRPC logs nothing: why it cannot listen, it prints as a dump of its errors.
class QuietGrpc {
 public:
  QuietGrpc() {
    gpr_set_log_function([](gpr_log_func_args*) {});
  }
  ~QuietGrpc() { gpr_set_log_function(nullptr); }
  QuietGrpc(const QuietGrpc&) = delete;
  QuietGrpc& operator=(const QuietGrpc&) = delete;
};

// Sanitizers have memory of their own.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
constexpr bool kHasMoreMemory = true;
#else
constexpr bool kHasMoreMemory = false;
#endif

// A program that has the server in it has memory beside: `before`.
RequestLimits LimitsOf(const ServerOptions& options, uint64_t before) {
  RequestLimits limits(options.memory, options.threads);
  limits.resident += before;
  limits.alarm = kHasMoreMemory ? 0 : limits.alarm + before;
  return limits;
}

// Decompression is the server's (calls/gzip.h), which knows gzip alone; of other compressions gRPC
// says UNIMPLEMENTED.
void KeepCompressed(grpc::ServerBuilder* builder) {
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  constexpr unsigned kAlgorithms = 1U << GRPC_COMPRESS_NONE | 1U << GRPC_COMPRESS_GZIP;
  builder->AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                              static_cast<int>(kAlgorithms));
}

// gRPC's own quota of memory would reset streams, also those of calls that were executed. So it has
// none. Without its probe of the bandwidth, windows stay as they are at first.
void LimitMemory(const RequestLimits& limits, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMostMessageBytes);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, limits.windows_grow ? 1 : 0);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMostFrameBytes);
  builder->AddChannelArgument(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kMostFrameBytes);
}

// They take a quarter of the memory at most.
size_t MostChangeStreams(uint64_t memory) {
  return std::clamp<size_t>(memory / 4 / ChangeStreams::kMemoryOfOne, 4, ChangeStreams::kMost);
}

void LimitTimes(const ConnectionTimes& times, grpc::ServerBuilder* builder) {
  const auto set = [builder](const char* argument, std::chrono::milliseconds time) {
    builder->AddChannelArgument(argument, static_cast<int>(time.count()));
  };
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, times.handshake);
  set(GRPC_ARG_KEEPALIVE_TIME_MS, times.ping_after);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, times.ping);
}

}  // namespace

absl::Time Server::MillisecondClock::Now() {
  return absl::FromUnixMillis(absl::ToUnixMillis(absl::Now()));
}

Server::Server(const ServerOptions& options, const ConnectionTimes& times)
    : options_(options),
      times_(times),
      memory_before_(ResidentMemory()),
      log_(options.log == LogFormat::kJson ? std::make_shared<JsonLog>(stderr) : nullptr),
      client_errors_(PublicText(options.directory, options.default_instance, options.backups),
                     [this](std::string_view method, const absl::Status& error, uint64_t unlogged) {
                       LogError(method, error, unlogged);
                     }) {}

void Server::Log(LogSeverity severity, std::string_view message,
                 const JsonLog::Fields& fields) const {
  if (log_ != nullptr) log_->Write(severity, message, fields);
}

void Server::LogError(std::string_view method, const absl::Status& error, uint64_t unlogged) const {
  const std::string before = unlogged == 0 ? "" : Cat(unlogged, " others were not logged");
  if (log_ != nullptr) {
    return Log(LogSeverity::kError, "a call has failed",
               {{"method", std::string(method)}, {"error", error.ToString()}, {"before", before}});
  }
  // The database alone writes to its log.
  std::fprintf(stderr, "bigtable-server: %s has failed: %s%s\n", std::string(method).c_str(),
               OneLine(error.ToString()).c_str(),
               before.empty() ? "" : Cat(" (", before, ")").c_str());
}

void Server::ReportCounts(const char* message, absl::Span<const std::string_view> names,
                          absl::Span<const uint64_t> counts) const {
  JsonLog::Fields fields;
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    fields[std::string(names[i])] = Cat(counts[i]);
    text += Cat(" ", names[i], "=", counts[i]);
  }
  if (log_ != nullptr) return Log(LogSeverity::kWarning, message, fields);
  std::fprintf(stderr, "bigtable-server: %s:%s\n", message, text.c_str());
}

// Refused calls are no changes, and their callers hear of them; whoever runs the server hears that
// there are some.
void Server::StartReports() {
  const auto counters = [this](const auto& read, const char* message,
                               absl::Span<const std::string_view> names) {
    return CountReports::Counters{
        .read =
            [read] {
              const auto counts = read();
              return CountReports::Counts(counts.begin(), counts.end());
            },
        .report = [this, message, names](
                      const CountReports::Counts& more) { ReportCounts(message, names, more); }};
  };
  reports_ = std::make_unique<CountReports>(std::vector<CountReports::Counters>{
      counters([this] { return admission_->refused(); },
               "refused calls for want of memory (--memory)", Admission::kReasonNames),
      counters([this] { return data_->change_streams().refused(); },
               "change streams were refused, as there are too many", ChangeStreams::kReasonNames),
      counters([this] { return acceptor_->counts(); },
               "connections were closed, as there are too many (--connections), or could not be "
               "accepted for want of descriptors, or because of the network",
               Acceptor::kReasonNames)});
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      const ConnectionTimes& times) {
  SERVER_RETURN_IF_ERROR(CheckOptions(options));
  SERVER_RETURN_IF_ERROR(CheckSystem(options));
  std::unique_ptr<Server> server(new Server(options, times));
  if (!options.tokens.empty()) {
    SERVER_RETURN_IF_ERROR(server->authentication_.ReadTokens(options.tokens));
  }
  if (!options.client_authority.empty()) server->authentication_.UseCertificates();
  server->authentication_.SetAdministrators(options.administrators);
  SERVER_ASSIGN_OR_RETURN(server->credentials_, CredentialsOf(options));
  // Threads that run as long as the server are started by constructors, as std::thread, which
  // throws.
  try {
    SERVER_RETURN_IF_ERROR(server->OpenDatabase());
    SERVER_RETURN_IF_ERROR(server->Serve());
    if (!options.http.empty()) SERVER_RETURN_IF_ERROR(server->ServeStatus());
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(
        Cat("the system has no thread for the server: ", error.code().message()));
  }
  server->Log(LogSeverity::kInfo, "serving",
              {{"directory", options.directory},
               {"address", server->address()},
               {"http", server->http_address()},
               {"largest_request", Cat(server->admission().limits().largest)}});
  return server;
}

absl::Status Server::Resume() {
  const absl::Status resumed = database_->Resume();
  Log(resumed.ok() ? LogSeverity::kInfo : LogSeverity::kError,
      resumed.ok() ? "resumed" : "not resumed",
      {{"error", resumed.ok() ? "" : resumed.ToString()}});
  return resumed;
}

absl::Status Server::OpenDatabase() {
  DatabaseOptions database;
  database.durability = options_.durability;
  database.memory_budget = options_.memory;
  database.clock = &clock_;
  database.log_sink = log_;
  database.event_listener = monitor_.events();
  database.trace_sink = monitor_.slow_requests();
  database.trace_one_of = SlowRequests::kTraceOneOf;
  SERVER_ASSIGN_OR_RETURN(database_, Database::Open(options_.directory, database));
  SERVER_ASSIGN_OR_RETURN(catalogue_, Catalogue::Open(database_.get()));
  tables_ = std::make_unique<ServedTables>(database_.get(), options_.default_instance);
  response_params_ = std::make_unique<ResponseParams>(database_.get(), catalogue_.get(),
                                                      options_.default_instance);
  if (!options_.backups.empty()) {
    SERVER_ASSIGN_OR_RETURN(backups_, BackupEngine::Open(options_.backups));
  }
  table_admin_ = std::make_unique<TableAdminService>(
      database_.get(), catalogue_.get(), &operations_, options_.default_instance, &authentication_,
      backups_.get(), [this](std::string_view method, const absl::Status& error) {
        return client_errors_.For(method, error);
      });
  instance_admin_ = std::make_unique<InstanceAdminService>(database_.get(), catalogue_.get(),
                                                           &operations_, options_.default_instance,
                                                           &authentication_, backups_.get());
  operations_service_ = std::make_unique<OperationsService>(&operations_, &authentication_);
  engine_service_ = std::make_unique<EngineService>(&resumption_, &authentication_);
  return absl::OkStatus();
}

absl::Status Server::StartGrpc(grpc::ServerBuilder* builder) {
  connections_ = builder->experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
  const QuietGrpc quiet;
  grpc_ = builder->BuildAndStart();
  if (grpc_ != nullptr) return absl::OkStatus();
  queues_.reset();  // of which gRPC would complain later
  return absl::InternalError("gRPC does not start");
}

absl::Status Server::Accept() {
  const auto hand_over = [this](int descriptor) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters parameters;
    parameters.fd = descriptor;
    connections_->HandleNewConnection(&parameters);
  };
  SERVER_ASSIGN_OR_RETURN(
      acceptor_,
      Acceptor::Start(options_.address, MostConnections(options_.connections, options_.memory),
                      times_.unacknowledged, hand_over));
  address_ = acceptor_->address();
  return absl::OkStatus();
}

absl::Status Server::Serve() {
  grpc::ServerBuilder builder;
  grpc::ResourceQuota quota("bigtable-server");
  quota.SetMaxThreads(options_.threads);
  builder.SetResourceQuota(quota);
  admission_ = std::make_unique<Admission>(LimitsOf(options_, memory_before_));
  LimitMemory(admission_->limits(), &builder);
  KeepCompressed(&builder);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreamsOfAConnection);
  LimitTimes(times_, &builder);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastPingMillis);
  queues_ = std::make_unique<CallQueues>(builder.AddCompletionQueue(), options_.threads);
  AddServices(&builder);
  SERVER_RETURN_IF_ERROR(StartGrpc(&builder));
  SERVER_RETURN_IF_ERROR(queues_->Start());
  data_->StartMethods();
  admin_api_->Start();
  SERVER_RETURN_IF_ERROR(StartHealth());
  SERVER_RETURN_IF_ERROR(Accept());
  StartReports();
  return absl::OkStatus();
}

void Server::AddServices(grpc::ServerBuilder* builder) {
  const ServedParts parts = {.queues = queues_.get(),
                             .admission = admission_.get(),
                             .response_params = response_params_.get(),
                             .errors = &client_errors_,
                             .monitor = &monitor_};
  data_ = std::make_unique<DataService>(parts, tables_.get(), &authentication_,
                                        options_.memory / Streams::kMemoryOfOne,
                                        MostChangeStreams(options_.memory));
  builder->RegisterService(data_.get());
  admin_api_ = std::make_unique<AdminApi>(
      parts,
      AdminApi::Services{.tables = table_admin_.get(),
                         .instances = instance_admin_.get(),
                         .operations = operations_service_.get(),
                         .engine = engine_service_.get()},
      MostAdminCalls(options_.threads), AdminLog(&authentication_, log_.get()));
  admin_api_->Register(builder);
  health_service_ = std::make_unique<HealthService>(admission_.get());
  builder->RegisterService(health_service_.get());
  reflection_service_ = std::make_unique<ReflectionService>(
      admission_.get(), std::vector<std::string>(kServices.begin(), kServices.end()));
  builder->RegisterService(reflection_service_.get());
}

absl::Status Server::StartHealth() {
  health_ = std::make_unique<Health>(
      database_.get(), options_.directory, [this](const Health::State& state) {
        health_service_->Set("", state.reads.ok());
        health_service_->Set("google.bigtable.v2.Bigtable", state.reads.ok());
        health_service_->Set("bigtable.server.Writes", state.writes.ok());
        if (state.writes.ok()) return Log(LogSeverity::kInfo, "healthy", {});
        Log(LogSeverity::kError, "not healthy",
            {{"error", state.writes.ToString()}, {"reads", state.reads.ok() ? "served" : "fail"}});
      });
  return absl::OkStatus();
}

absl::Status Server::ServeStatus() {
  monitor_.Start(database_.get());
  site_ = std::make_unique<StatusSite>(StatusSource{.database = database_.get(),
                                                    .monitor = &monitor_,
                                                    .health = health_.get(),
                                                    .streams = &data_->streams(),
                                                    .change_streams = &data_->change_streams(),
                                                    .resumption = &resumption_,
                                                    .admission = admission_.get(),
                                                    .acceptor = acceptor_.get(),
                                                    .address = address_,
                                                    .directory = options_.directory,
                                                    .version = VersionOfServer(),
                                                    .options = ValuesOf(options_)},
                                       IsLoopback(options_.http), &authentication_);
  SERVER_ASSIGN_OR_RETURN(
      http_, HttpServer::Start(options_.http, TlsOfStatus(), [this](const HttpRequest& request) {
        return site_->Answer(request);
      }));
  http_address_ =
      Cat(TlsOfStatus().certificate.empty() ? "http" : "https", "://", http_->address(), "/");
  return absl::OkStatus();
}

// For other machines, as gRPC: with TLS unless --plaintext was given, and a token or a certificate.
// On this machine a token may go in plain text, and only a certificate needs TLS.
HttpTls Server::TlsOfStatus() const {
  const bool has_only_certificates = !options_.client_authority.empty() && options_.tokens.empty();
  if (IsLoopback(options_.http) && !has_only_certificates) return {};
  return {.certificate = options_.certificate,
          .key = options_.key,
          .client_authority = options_.tokens.empty() ? options_.client_authority : ""};
}

Server::~Server() { Shutdown().IgnoreError(); }

absl::Status Server::Shutdown() {
  http_.reset();
  reports_.reset();
  acceptor_.reset();
  monitor_.Stop();
  health_.reset();
  if (grpc_ != nullptr) {
    Log(LogSeverity::kInfo, "ending", {{"directory", options_.directory}});
    if (health_service_ != nullptr) health_service_->Close();
    data_->Close();
    admission_->Close();
    grpc_->Shutdown(DeadlineIn(std::chrono::seconds(options_.drain_seconds)));
  }
  if (queues_ != nullptr) queues_->Shutdown();
  grpc_.reset();
  admin_api_.reset();
  data_.reset();
  health_service_.reset();
  reflection_service_.reset();
  queues_.reset();
  response_params_.reset();
  admission_.reset();
  if (table_admin_ != nullptr) table_admin_->EndOperations();
  catalogue_.reset();
  if (database_ == nullptr) return absl::OkStatus();
  const absl::Status closed = database_->Close();
  database_.reset();
  Log(closed.ok() ? LogSeverity::kInfo : LogSeverity::kError, "ended",
      {{"directory", options_.directory}, {"error", closed.ok() ? "" : closed.ToString()}});
  return closed;
}

}  // namespace bigtable::server
