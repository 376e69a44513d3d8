// The end of a database: what cannot be made durable is an error.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

class CloseTest : public testing::Test {
 protected:
  void Open() {
    DatabaseOptions options;
    options.memory_budget = 32 << 20;
    options.log_segment_size = 256 << 10;
    options.tablet_servers = 1;
    options.file_system = &faulty_;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open("/db", options));
  }

  InMemoryFileSystem memory_;
  FaultyFileSystem faulty_{&memory_};
  std::unique_ptr<Database> database_;
};

TEST_F(CloseTest, ALogThatCannotBeClosedIsAnError) {
  Open();
  ASSERT_OK(database_->CreateTable("t", {.families = {{"f", {}}}}));
  ASSERT_OK_AND_ASSIGN(Table* const table, database_->OpenTable("t"));
  ASSERT_OK(table->Apply(RowMutation("row").Set("f:q", Timestamp(1), "v")));
  ASSERT_OK(database_->Flush("t"));
  faulty_.FailCalls({.kinds = {FileCall::kLogSync}, .path_contains = "server-"},
                    absl::InternalError("cannot be synced"));
  EXPECT_STATUS(kInternal, "cannot be synced", database_->Close());
  faulty_.ClearFaults();
  database_.reset();
  Open();
  ASSERT_OK_AND_ASSIGN(Table* const again, database_->OpenTable("t"));
  ASSERT_OK_AND_ASSIGN(const Row row, again->ReadRow("row"));
  EXPECT_FALSE(row.empty());
  EXPECT_OK(database_->Close());
}

}  // namespace
}  // namespace bigtable
