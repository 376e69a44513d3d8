// Verbs that read change nothing in the directory.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/expect_status.h"
#include "tools/program.h"

namespace bigtable {
namespace {

// The files of the database, and their bytes.
std::map<std::string, std::string> DatabaseFiles(const Shell& shell) {
  std::map<std::string, std::string> files = shell.Contents();
  std::erase_if(files, [&](const auto& file) { return !file.first.starts_with(shell.database()); });
  return files;
}

TEST(ReadOnlyTest, VerbsThatReadChangeNoByte) {
  Shell shell;
  shell.Output("bigtable createtable t families=f splits=m");
  shell.Output("bigtable set t r f:a=1 f:b=2 && bigtable set t r f:a=3");
  shell.Output("bigtable changestream t 7d");
  const std::map<std::string, std::string> before = DatabaseFiles(shell);
  EXPECT_GT(before.size(), 5u);
  for (const std::string verb :
       {"ls", "ls t", "read t", "lookup t r", "count t", "changes t", "changestream t",
        "export t out.csv", "export t out.jsonl --resume position", "stats", "tablets t",
        "metadata", "verify", "options", "sst --entries db/sst/*.sst", "log", "log --entries"}) {
    shell.Output("bigtable " + verb);
    EXPECT_EQ(DatabaseFiles(shell), before) << verb;
  }
  shell.Output("bigtable set t r f:a=4");
  EXPECT_NE(DatabaseFiles(shell), before);
}

// Here this process is the program that writes.
TEST(ReadOnlyTest, ChangesAreFollowedBesideTheirWriter) {
  Shell shell;
  shell.Output("bigtable createtable t families=f && bigtable changestream t 1h");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, shell.OpenDatabase());
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("t"));
  const auto write = [&](int row) {
    ASSERT_OK(table->Apply(RowMutation("r" + std::to_string(row)).Set("f:", Timestamp(1), "v")));
  };
  const std::string rows = " --position p | sed -E 's/^[^ ]+ [0-9]+ row ([^:]*).*/\\1/'";
  write(0);
  EXPECT_EQ(shell.Output("bigtable changes t" + rows), "r0\n");
  std::thread writer([&] {
    for (int row = 1; row <= 20; ++row) {
      absl::SleepFor(absl::Milliseconds(20));
      write(row);
      if (row == 10) {
        ASSERT_OK(database->Flush("t"));
      }
    }
  });
  std::string expected;
  for (int row = 1; row <= 20; ++row) expected += "r" + std::to_string(row) + "\n";
  EXPECT_EQ(shell.Output("bigtable changes t --follow --limit 20" + rows), expected);
  writer.join();
  EXPECT_EQ(shell.Output("bigtable changes t" + rows), "");
  write(21);
  EXPECT_EQ(shell.Output("bigtable changes t" + rows), "r21\n");
}

// The program that has it is another one.
TEST(ReadOnlyTest, CountAndVerifyNeedNoOperatorOfAggregates) {
  class Longest final : public AggregateOperator {
   public:
    absl::Status Merge(std::string_view older, std::string* state) const override {
      if (older.size() >= state->size()) state->assign(older);
      return absl::OkStatus();
    }
  };
  ASSERT_OK(RegisterAggregateOperator("tools.longest", std::make_unique<Longest>()));
  Shell shell;
  {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database, shell.OpenDatabase());
    TableSchema schema;
    schema.families["longest"] = {.value_operator = "tools.longest"};
    schema.families["f"] = {};
    ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenOrCreateTable("t", schema));
    for (const char* row : {"a", "b", "c"}) {
      for (const char* title : {"a title", "title"}) {
        ASSERT_OK(table->Apply(RowMutation(row).AddToCell("longest:q", Timestamp(1), title)));
      }
    }
    ASSERT_OK(table->Apply(RowMutation("d").Set("f:q", "v")));
    ASSERT_OK(database->Flush("t"));
  }
  EXPECT_EQ(shell.Output("bigtable count t"), "4\n");
  EXPECT_THAT(shell.Output("bigtable verify"), testing::HasSubstr("and 4 rows of 1 tables"));
  EXPECT_THAT(shell.Run("bigtable read t").err, testing::HasSubstr("tools.longest"));
}

}  // namespace
}  // namespace bigtable
