// `bigtable log` on what a crash has left, on a database that is open, and on a damaged log.
#include <algorithm>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/database.h"
#include "bigtable/table.h"

#include "support/text_driven.h"
#include "tools/program.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void WriteCells(Database* database) {
  TableSchema schema;
  schema.families["f"] = {};
  schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
  ASSERT_TRUE(database->CreateTable("t", schema).ok());
  const absl::StatusOr<Table*> table = database->OpenTable("t");
  ASSERT_TRUE(table.ok()) << table.status();
  RowMutation cells("a");
  cells.Set("f:x", Timestamp(1000), "one").Set("f:y", Timestamp(2000), std::string("\0", 1));
  ASSERT_TRUE((*table)->Apply(cells).ok());
  ASSERT_TRUE((*table)->Apply(RowMutation("b").AddToCell("sum:n", Timestamp(0), 5)).ok());
  ASSERT_TRUE((*table)->Apply(RowMutation("a").DeleteRow()).ok());
}

// A process that ends without closing its database.
void Crash(const Shell& shell) {
  const pid_t child = fork();
  if (child == 0) {
    const auto database = Database::Open(shell.database(), {.tablet_servers = 1});
    if (database.ok()) WriteCells(database->get());
    _exit(database.ok() && !testing::Test::HasFailure() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// Without the sequence numbers, which are the engine's.
std::vector<std::string> Entries(Shell* shell, const std::string& arguments) {
  return SplitLines(shell->Output("bigtable log " + arguments +
                                  " | sed 's/#[0-9]*/#N/; s/\"sequence\":[0-9]*/\"sequence\":N/'"));
}

TEST(LogTest, ShowsTheSegmentsThatACrashHasLeft) {
  Shell shell;
  Crash(shell);
  const std::string text = shell.Output(
      "bigtable log | sed 's/-[0-9][0-9]*/-N/' | awk '{print $1, $2, $3, $5}' | grep -v spare");
  EXPECT_THAT(SplitLines(text),
              ElementsAre("Server Segment State Records", "------ ------- ----- -------",
                          "root-N 00000001.log needed 2",
                          testing::StartsWith("metadata-N 00000001.log needed "),
                          "server-N 00000001.log needed 3"));
  EXPECT_THAT(shell.Output("bigtable log | grep spare"), HasSubstr("00000002.log"));
  const std::string json = shell.Output("bigtable log --json | grep server-.*00000001");
  EXPECT_THAT(json, HasSubstr("\"state\":\"needed\",\"file_size\":"));
  EXPECT_THAT(json, HasSubstr("\"records\":3,\"record_bytes\":"));
  EXPECT_THAT(json, HasSubstr("\"full\":false,\"released_sequence\":"));
}

TEST(LogTest, PrintsTheEntriesOfATableOrOfARow) {
  Shell shell;
  Crash(shell);
  EXPECT_THAT(
      Entries(&shell, "t"),
      ElementsAre("t a/f:x@1000#N.0 cell \"one\"", "t a/f:y@2000#N.1 cell \"\\x00\"",
                  "t b/sum:n@0#N.0 add-to-cell \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x05\"",
                  "t a(group 0)#N.0 delete-row"));
  EXPECT_EQ(Entries(&shell, "t --row b").size(), 1u);
  EXPECT_EQ(Entries(&shell, "--row b"), Entries(&shell, "t --row b"));
  EXPECT_THAT(
      Entries(&shell, "t --row a --json"),
      ElementsAre(
          R"({"table":"t","kind":"cell","row":"a","family":"f","column":"x","timestamp":1000,"sequence":N,"ordinal":0,"value":"one"})",
          R"({"table":"t","kind":"cell","row":"a","family":"f","column":"y","timestamp":2000,"sequence":N,"ordinal":1,"value":"\u0000"})",
          R"({"table":"t","kind":"delete-row","row":"a","family":"","column":"","timestamp":0,"sequence":N,"ordinal":0,"value":""})"));
  const std::vector<std::string> all = Entries(&shell, "--entries");
  EXPECT_THAT(all, testing::Contains(testing::StartsWith("METADATA ")));
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const std::string& line) { return line.starts_with("t "); }),
            4);
  EXPECT_EQ(Entries(&shell, "METADATA").size(), all.size() - 4);
}

TEST(LogTest, ADatabaseThatIsOpenedAndClosedHasNoLogs) {
  Shell shell;
  Crash(shell);
  shell.Output("bigtable set t c f:x=1");
  EXPECT_EQ(SplitLines(shell.Output("bigtable log")).size(), 2u);
  EXPECT_EQ(shell.Output("bigtable read t keys-only=true"), "b\nc\n");
}

TEST(LogTest, WorksWhileTheDatabaseIsOpen) {
  Shell shell;
  const auto database = Database::Open(shell.database());
  ASSERT_TRUE(database.ok()) << database.status();
  WriteCells(database->get());
  EXPECT_EQ(Entries(&shell, "t --row a").size(), 3u);
  EXPECT_EQ(shell.Run("bigtable deletetable t").code, 1);  // the lock is held
  ASSERT_TRUE((*database)->DeleteTable("t").ok());
  EXPECT_EQ(shell.Run("bigtable log t").code, 3);
  // A table that is no more has its number.
  const std::vector<std::string> entries = Entries(&shell, "--row b");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_THAT(entries[0], testing::StartsWith("#N b/sum:n"));
}

TEST(LogTest, ALogWithoutItsStateIsDamaged) {
  Shell shell;
  Crash(shell);
  shell.Output("rm db/log/server-*/STATE");
  const ProgramResult result = shell.Run("bigtable log");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("has no STATE of a commit log"));
}

// What looks like damage may be what another process is about to write.
TEST(LogTest, AnErrorNamesTheProcessThatHasTheDatabaseOpen) {
  Shell shell;
  const auto database = Database::Open(shell.database());
  ASSERT_TRUE(database.ok()) << database.status();
  WriteCells(database->get());
  shell.Output("rm db/log/metadata-*/STATE");
  const ProgramResult result = shell.Run("bigtable log");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("; the database is open, so try again (db/LOCK: lock: held by "
                                    "process " +
                                    std::to_string(getpid())));
}

TEST(LogTest, DamageIsReportedAfterTheEntriesBeforeIt) {
  Shell shell;
  const pid_t child = fork();
  if (child == 0) {
    const auto database = Database::Open(shell.database(), {.tablet_servers = 1});
    if (!database.ok()) _exit(1);
    WriteCells(database->get());
    // A later record that says that the earlier ones were synced.
    const absl::StatusOr<Table*> table = (*database)->OpenTable("t");
    for (const char* row : {"s", "t"}) {
      const WriteOptions sync = {.durability = Durability::kSync};
      if (!(*table)->Apply(RowMutation(row).Set("f:x", Timestamp(1000), "SYNCED"), sync).ok()) {
        _exit(1);
      }
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  // The third record, which deletes the row a, is cut off in its middle.
  shell.Output(
      "f=$(ls db/log/server-*/00000001.log); at=$(grep -aob SYNCED $f | head -1 | cut -d: -f1); "
      "printf X | dd of=$f bs=1 seek=$((at - 50)) conv=notrunc 2> /dev/null");
  const ProgramResult result = shell.Run("bigtable log t");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("t b/sum:n"));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("SYNCED")));
  EXPECT_THAT(result.err, HasSubstr("00000001.log at offset"));
  // Nothing was changed, so the engine finds the same.
  EXPECT_EQ(shell.Run("bigtable ls").code, 1);
}

}  // namespace
}  // namespace bigtable
