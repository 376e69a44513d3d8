// The server: a database, the gRPC services in front of it, and the threads that run their calls.
#ifndef BIGTABLE_SERVER_SERVER_H_
#define BIGTABLE_SERVER_SERVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "grpcpp/channel.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/support/channel_arguments.h"

#include "bigtable/backup_engine.h"
#include "bigtable/clock.h"
#include "bigtable/database.h"

#include "server/admin/catalogue.h"
#include "server/admin/engine_service.h"
#include "server/admin/instance_admin_service.h"
#include "server/admin/operation_store.h"
#include "server/admin/operations_service.h"
#include "server/admin/resumption.h"
#include "server/admin/table_admin_service.h"
#include "server/admin_api/admin_api.h"
#include "server/calls/admission.h"
#include "server/calls/authentication.h"
#include "server/calls/call_queues.h"
#include "server/calls/client_errors.h"
#include "server/connections/acceptor.h"
#include "server/connections/connection_times.h"
#include "server/count_reports.h"
#include "server/data/data_service.h"
#include "server/data/response_params.h"
#include "server/data/served_tables.h"
#include "server/grpc_services/health_service.h"
#include "server/grpc_services/reflection_service.h"
#include "server/health.h"
#include "server/http/http_server.h"
#include "server/http/status_site.h"
#include "server/monitor/json_log.h"
#include "server/monitor/monitor.h"
#include "server/options.h"

namespace bigtable::server {

class Server {
 public:
  // Opens the database and serves it. Errors are those of CheckOptions, CheckSystem and
  // Database::Open; Unavailable: the address cannot be listened on. What can be found out before
  // the database is opened, or created, is.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       const ConnectionTimes& times = {});
  // Shutdown, if it was not called.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Refuses new calls, waits for those under way, and after ServerOptions::drain_seconds cancels
  // them; then closes the database and returns how that went. A second call returns OK.
  absl::Status Shutdown();

  // The address that is listened on, with the port.
  const std::string& address() const { return address_; }
  // For a program that has the server in it: calls without a connection, and so without its
  // certificates. The channel is not used after Shutdown.
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments) const {
    return grpc_->InProcessChannel(arguments);
  }
  // The URL of the status page; empty if there is none.
  const std::string& http_address() const { return http_address_; }
  Database* database() const { return database_.get(); }
  const DataService& data() const { return *data_; }
  const Admission& admission() const { return *admission_; }
  const Monitor& monitor() const { return monitor_; }

 private:
  // Cloud Bigtable's timestamps are milliseconds, also those that the server assigns.
  class MillisecondClock final : public Clock {
   public:
    absl::Time Now() override;
  };

  Server(const ServerOptions& options, const ConnectionTimes& times);
  // To the log, if it is the server's too.
  void Log(LogSeverity severity, std::string_view message, const JsonLog::Fields& fields) const;
  // The whole of an error of which a client gets a part: to the log, or to the standard error.
  void LogError(std::string_view method, const absl::Status& error, uint64_t unlogged) const;
  void ReportCounts(const char* message, absl::Span<const std::string_view> names,
                    absl::Span<const uint64_t> counts) const;
  absl::Status OpenDatabase();
  void AddServices(grpc::ServerBuilder* builder);
  absl::Status StartGrpc(grpc::ServerBuilder* builder);
  absl::Status StartHealth();
  absl::Status Serve();
  absl::Status Accept();
  void StartReports();
  absl::Status ServeStatus();
  HttpTls TlsOfStatus() const;
  absl::Status Resume();

  const ServerOptions options_;
  const ConnectionTimes times_;
  const uint64_t memory_before_;        // of the process, before the database is opened
  const std::shared_ptr<JsonLog> log_;  // null: the database has its own
  std::string address_;
  std::string http_address_;
  Monitor monitor_;  // the database and the calls report to it
  Authentication authentication_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  ClientErrors client_errors_;
  MillisecondClock clock_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Catalogue> catalogue_;
  std::unique_ptr<BackupEngine> backups_;  // null: there are none
  OperationStore operations_;
  Resumption resumption_{[this] { return Resume(); }};
  std::unique_ptr<ServedTables> tables_;
  std::unique_ptr<ResponseParams> response_params_;

  std::unique_ptr<TableAdminService> table_admin_;
  std::unique_ptr<InstanceAdminService> instance_admin_;
  std::unique_ptr<OperationsService> operations_service_;
  std::unique_ptr<EngineService> engine_service_;
  std::unique_ptr<Admission> admission_;
  std::unique_ptr<grpc::Server> grpc_;
  std::unique_ptr<CallQueues> queues_;
  std::unique_ptr<DataService> data_;
  std::unique_ptr<AdminApi> admin_api_;
  std::unique_ptr<HealthService> health_service_;
  std::unique_ptr<ReflectionService> reflection_service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;  // gRPC's side
  std::unique_ptr<Acceptor> acceptor_;
  std::unique_ptr<CountReports> reports_;
  std::unique_ptr<Health> health_;
  std::unique_ptr<StatusSite> site_;
  std::unique_ptr<HttpServer> http_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_SERVER_H_
