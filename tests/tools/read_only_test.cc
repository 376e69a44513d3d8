// Verbs that read change nothing in the directory.
#include <map>
#include <string>

#include "gtest/gtest.h"

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
  const std::map<std::string, std::string> before = DatabaseFiles(shell);
  EXPECT_GT(before.size(), 5u);
  for (const std::string verb :
       {"ls", "ls t", "read t", "lookup t r", "count t", "export t out.csv",
        "export t out.jsonl --resume position", "stats", "tablets t", "metadata", "verify",
        "options", "sst --entries db/sst/*.sst", "log", "log --entries"}) {
    shell.Output("bigtable " + verb);
    EXPECT_EQ(DatabaseFiles(shell), before) << verb;
  }
  shell.Output("bigtable set t r f:a=4");
  EXPECT_NE(DatabaseFiles(shell), before);
}

}  // namespace
}  // namespace bigtable
