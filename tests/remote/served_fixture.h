// A server in this process, and a database that is connected to it.
#ifndef BIGTABLE_TESTS_REMOTE_SERVED_FIXTURE_H_
#define BIGTABLE_TESTS_REMOTE_SERVED_FIXTURE_H_

#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "bigtable/database.h"
#include "bigtable/remote.h"

#include "server/server.h"
#include "support/temp_directory.h"

namespace bigtable::remote {

class RemoteTest : public testing::Test {
 protected:
  void SetUp() override {
    server::ServerOptions options;
    options.directory = directory_.path() + "/served";
    options.address = "127.0.0.1:0";
    options.drain_seconds = 0;
    auto started = server::Server::Start(options);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = *std::move(started);
    auto connected = Connect(server_->address());
    ASSERT_TRUE(connected.ok()) << connected.status();
    database_ = *std::move(connected);
  }
  void TearDown() override {
    database_ = nullptr;
    if (server_ != nullptr) {
      EXPECT_TRUE(server_->Shutdown().ok());
    }
  }

  // A table with the families f and g, and the sums s.
  Table* NewTable(const std::string& name = "t") {
    TableSchema schema;
    schema.families = {{"f", {}}, {"g", {}}, {"s", {.value_type = ValueType::kInt64Sum}}};
    const absl::StatusOr<Table*> table = database_->OpenOrCreateTable(name, schema);
    EXPECT_TRUE(table.ok()) << table.status();
    return table.ok() ? *table : nullptr;
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};
  std::unique_ptr<server::Server> server_;
  std::unique_ptr<Database> database_;
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_TESTS_REMOTE_SERVED_FIXTURE_H_
