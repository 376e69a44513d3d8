// A database on the machine's own file system, for tests that change its environment.
#ifndef BIGTABLE_TESTS_WORLD_WORLD_FIXTURE_H_
#define BIGTABLE_TESTS_WORLD_WORLD_FIXTURE_H_

#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/temp_directory.h"

namespace bigtable {

class WorldFixture : public testing::Test {
 protected:
  static DatabaseOptions SmallOptions() {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 32 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    return options;
  }

  static std::unique_ptr<Database> Open(std::string_view path,
                                        const DatabaseOptions& options = SmallOptions()) {
    auto database = Database::Open(path, options);
    EXPECT_OK(database);
    return database.ok() ? *std::move(database) : nullptr;
  }
  // A database with a table "t" that has a family "f".
  static std::unique_ptr<Database> Create(std::string_view path,
                                          const DatabaseOptions& options = SmallOptions()) {
    std::unique_ptr<Database> database = Open(path, options);
    TableSchema schema;
    schema.families["f"] = {};
    EXPECT_OK(database->CreateTable("t", schema));
    return database;
  }
  static Table* OpenTable(Database* database) {
    auto table = database->OpenTable("t");
    EXPECT_OK(table);
    return table.ok() ? *table : nullptr;
  }
  // Rows "<prefix>0" to "<prefix>N-1".
  static absl::Status Write(Database* database, std::string_view prefix, int rows) {
    Table* const table = OpenTable(database);
    for (int i = 0; i < rows; ++i) {
      const absl::Status written = table->Apply(RowMutation(Cat(prefix, i)).Set("f:q", prefix));
      if (!written.ok()) return written;
    }
    return absl::OkStatus();
  }
  // The number of these rows that exist, with their value.
  static int Count(Database* database, std::string_view prefix, int rows) {
    Table* const table = OpenTable(database);
    int found = 0;
    for (int i = 0; i < rows; ++i) {
      const absl::StatusOr<Row> row = table->ReadRow(Cat(prefix, i));
      EXPECT_OK(row);
      if (row.ok() && row->cells().size() == 1 && row->cells()[0].value == prefix) ++found;
    }
    return found;
  }

  // Runs `function` in a child process that ends with it, without any of the cleanup of exit().
  // Returns true if the function did. Failures that gtest records in the child are not visible
  // here.
  static bool InChild(const std::function<bool()>& function) {
    const pid_t child = fork();
    if (child == 0) _exit(function() ? 0 : 1);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) ADD_FAILURE() << "killed by signal " << WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  TempDirectory directory_{TempDirectory::Where::kMemory};  // whose syncs take no time
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_WORLD_WORLD_FIXTURE_H_
