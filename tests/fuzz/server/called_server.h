// A server in this process, with a database in memory, which is called without connections.
//
// One thread at a time.
#ifndef BIGTABLE_TESTS_FUZZ_SERVER_CALLED_SERVER_H_
#define BIGTABLE_TESTS_FUZZ_SERVER_CALLED_SERVER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "grpcpp/channel.h"
#include "grpcpp/support/status.h"

#include "bigtable/schema.h"

#include "fuzz/server/methods.h"
#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::server {

// How a call went: the messages as bytes.
struct FuzzReply {
  grpc::Status status;
  std::vector<std::string> messages;
};

// What the server keeps, by the engine's names of tables.
struct KeptState {
  std::map<std::string, TableSchema> schemas;
  // As text, by key. Not of a table that keeps cells for less than an hour.
  std::map<std::string, std::map<std::string, std::string>> rows;

  friend bool operator==(const KeptState&, const KeptState&) = default;
};

// One cell as text: what KeptState has of each cell of a row, one after the other.
std::string CellText(std::string_view family, std::string_view qualifier, int64_t timestamp,
                     std::string_view value);

class CalledServer {
 public:
  // The one of this process: opening costs much more than an input. Its instances are first1, which
  // is the default instance, with the tables t and u, and other1 of another project, with a table
  // t. The families of each: f, g of one version, n of sums, h of HyperLogLog.
  static CalledServer* Get();
  ~CalledServer();
  CalledServer(const CalledServer&) = delete;
  CalledServer& operator=(const CalledServer&) = delete;

  // The request as bytes, in the pieces that it would have come in.
  FuzzReply Call(const FuzzMethod& method, absl::Span<const std::string_view> request);

  // Read in the engine.
  KeptState Read() const;
  // As after the start.
  void Reset();
  // Of the files of the database: no client may see it.
  const std::string& directory() const { return directory_.path(); }

 private:
  CalledServer();
  void CreateTables();
  void DeleteTables();
  void DeleteRows(const KeptState& state);
  void ForgetOperations();
  Database* database() const { return server_->database(); }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  KeptState first_state_;
  int resets_ = 0;  // since the tables were created
};

}  // namespace bigtable::server

#endif  // BIGTABLE_TESTS_FUZZ_SERVER_CALLED_SERVER_H_
