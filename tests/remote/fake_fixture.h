// A database that is connected to a server that does what a test tells it.
#ifndef BIGTABLE_TESTS_REMOTE_FAKE_FIXTURE_H_
#define BIGTABLE_TESTS_REMOTE_FAKE_FIXTURE_H_

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

#include "bigtable/bigtable.h"
#include "bigtable/remote.h"

#include "remote/fake_service.h"

namespace bigtable::remote {

inline const grpc::Status kUnavailable(grpc::StatusCode::UNAVAILABLE, "try again");

class FakeTest : public testing::Test {
 protected:
  void SetUp() override { Connect({}); }
  void Connect(const RemoteOptions& options) {
    auto connected = bigtable::Connect(fake_.address(), options);
    ASSERT_TRUE(connected.ok()) << connected.status();
    database_ = *std::move(connected);
    table_ = database_->OpenTable("t").value();
  }

  // The rows of a read, as "a b", and the error it ended with.
  std::string ReadAll(const RowSet& rows = RowRange::All(), const ReadOptions& options = {}) {
    RowReader reader = table_->ReadRows(rows, options);
    std::string keys;
    while (reader.Next()) {
      keys += std::string(reader.row().key()) + "=";
      for (const Cell& cell : reader.row().cells()) keys += std::string(cell.value) + ",";
      keys += " ";
    }
    error_ = reader.status();
    return keys;
  }

  FakeService fake_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  absl::Status error_;
};

}  // namespace bigtable::remote

#endif  // BIGTABLE_TESTS_REMOTE_FAKE_FIXTURE_H_
