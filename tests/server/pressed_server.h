// What tests of a server process under pressure share: its table, connections, the status page as
// text, and what a refusal must say.
#ifndef BIGTABLE_TESTS_SERVER_PRESSED_SERVER_H_
#define BIGTABLE_TESTS_SERVER_PRESSED_SERVER_H_

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/client_context.h"

#include "server/server_process.h"

namespace bigtable::server {

// A server with the table kTable, which has the family "f".
class PressedServer : public ServerProcess {
 public:
  static constexpr const char* kInstance = "projects/p/instances/i";
  static constexpr const char* kTable = "projects/p/instances/i/tables/t";

  using Data = google::bigtable::v2::Bigtable::Stub;
  using Admin = google::bigtable::admin::v2::BigtableTableAdmin::Stub;

  std::unique_ptr<Data> NewData(bool probes = true) const {
    return google::bigtable::v2::Bigtable::NewStub(Connect(probes));
  }
  std::unique_ptr<Admin> NewAdmin() const {
    return google::bigtable::admin::v2::BigtableTableAdmin::NewStub(Connect());
  }

  static grpc::Status CreateTable(Admin* stub, const std::string& id) {
    google::bigtable::admin::v2::CreateTableRequest request;
    request.set_parent(kInstance);
    request.set_table_id(id);
    (*request.mutable_table()->mutable_column_families())["f"];
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    google::bigtable::admin::v2::Table created;
    return stub->CreateTable(&context, request, &created);
  }
  static grpc::Status WriteRow(Data* stub, const std::string& row, size_t bytes,
                               std::chrono::milliseconds deadline = std::chrono::seconds(30),
                               bool compresses = false) {
    google::bigtable::v2::MutateRowRequest request;
    request.set_table_name(kTable);
    request.set_row_key(row);
    auto* const cell = request.add_mutations()->mutable_set_cell();
    cell->set_family_name("f");
    cell->set_timestamp_micros(1000);
    cell->set_value(std::string(bytes, 'v'));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    if (compresses) context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    google::bigtable::v2::MutateRowResponse response;
    return stub->MutateRow(&context, request, &response);
  }
  // Calls `found` with each row and the size of its first value.
  static grpc::Status ReadRows(Data* stub, const google::bigtable::v2::ReadRowsRequest& request,
                               const std::function<void(const std::string&, size_t)>& found) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    const auto reader = stub->ReadRows(&context, request);
    std::string row;
    size_t bytes = 0;
    for (google::bigtable::v2::ReadRowsResponse response; reader->Read(&response);) {
      for (const auto& chunk : response.chunks()) {
        if (!chunk.row_key().empty()) {
          row = chunk.row_key();
          bytes = 0;
        }
        bytes += chunk.value().size();
        if (chunk.commit_row()) found(row, bytes);
      }
    }
    return reader->Finish();
  }
  // The size of its value; -1: there is no such row.
  static int64_t SizeOfRow(Data* stub, const std::string& row, grpc::Status* status) {
    google::bigtable::v2::ReadRowsRequest request;
    request.set_table_name(kTable);
    request.mutable_rows()->add_row_keys(row);
    int64_t size = -1;
    *status = ReadRows(stub, request, [&](const std::string&, size_t bytes) {
      size = static_cast<int64_t>(bytes);
    });
    return size;
  }

  // Whether clients that know google.rpc.RetryInfo try again, later.
  static bool MayTryAgain(grpc::StatusCode code, const google::rpc::Status& details) {
    google::rpc::RetryInfo retry;
    return code == grpc::StatusCode::UNAVAILABLE && details.details_size() == 1 &&
           details.details(0).UnpackTo(&retry) &&
           retry.retry_delay().seconds() + retry.retry_delay().nanos() > 0;
  }
  static bool MayTryAgain(const grpc::Status& status) {
    google::rpc::Status details;
    return details.ParseFromString(status.error_details()) &&
           MayTryAgain(status.error_code(), details);
  }

  // A connection of TCP; -1: none. Reading from it ends after ten seconds.
  static int ConnectTo(int port) {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<uint16_t>(port));
    const timeval ten_seconds = {.tv_sec = 10, .tv_usec = 0};
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &ten_seconds, sizeof(ten_seconds));
    if (connect(connection, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0) {
      return connection;
    }
    close(connection);
    return -1;
  }
  // Whether the server has closed it by now.
  static bool IsClosed(int connection) {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t got = recv(connection, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) continue;
      return got == 0 || errno != EAGAIN;
    }
  }
  // What the status page says: the head and the body. Empty: there was no answer.
  std::string Page(const std::string& path) const {
    const int connection = ConnectTo(http_port());
    if (connection < 0) return "";
    const std::string request =
        absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    send(connection, request.data(), request.size(), MSG_NOSIGNAL);
    std::string text;
    std::array<char, 65536> bytes;
    for (ssize_t got; (got = recv(connection, bytes.data(), bytes.size(), 0)) > 0;) {
      text.append(bytes.data(), static_cast<size_t>(got));
    }
    close(connection);
    return text;
  }
  // The number of a line "NAME NUMBER" of /metrics; -1: there is none.
  double Metric(const std::string& name) const {
    const std::string text = Page("/metrics");
    const size_t found = text.find("\n" + name + " ");
    return found == std::string::npos ? -1 : std::stod(text.substr(found + name.size() + 2));
  }
};

// Whether `condition` is true within `most`.
inline bool IsSoon(const std::function<bool()>& condition,
                   std::chrono::milliseconds most = std::chrono::seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + most;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_SERVER_PRESSED_SERVER_H_
