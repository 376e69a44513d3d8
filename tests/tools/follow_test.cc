// The verbs follow and promote, beside a program that writes.
#include <algorithm>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/database.h"
#include "bigtable/row_mutation.h"

#include "nlohmann/json.hpp"
#include "support/expect_status.h"
#include "support/seeds.h"
#include "tools/program.h"

namespace bigtable {
namespace {

class FollowTest : public testing::Test {
 protected:
  FollowTest() {
    writer_ = *shell_.OpenDatabase();
    for (const char* name : {"t", "u"}) {
      EXPECT_OK(writer_->CreateTable(
          name, {.families = {{"f", {}}}, .changes = {.retention = absl::Hours(1)}}));
      Set(name, "a");
    }
  }
  void Set(const char* table, const char* row) {
    EXPECT_OK((*writer_->OpenTable(table))->Apply(RowMutation(row).Set("f:q", "v")));
  }
  void EndWriter() {
    EXPECT_OK(writer_->Close());
    writer_.reset();
  }
  void ExpectError(const std::string& line, int code, const std::string& text) {
    const ProgramResult result = shell_.Run(line);
    EXPECT_EQ(result.code, code) << line;
    EXPECT_NE(result.err.find(text), std::string::npos) << result.err;
  }

  Shell shell_;
  std::unique_ptr<Database> writer_;
};

TEST_F(FollowTest, CatchesUpOnceAndGoesOnInTheNextRun) {
  const std::string line = shell_.Output("bigtable follow db s --once");
  EXPECT_NE(line.find(" lag "), std::string::npos) << line;
  EXPECT_NE(line.find(", 2 changes, "), std::string::npos) << line;
  Set("t", "b");
  const auto json = nlohmann::json::parse(shell_.Output("bigtable --json follow db s --once"));
  EXPECT_EQ(json["changes"], 1);
  EXPECT_GE(json["lag"], 0);
  EXPECT_GT(json["time"], 0);
  EXPECT_FALSE(json.contains("error"));
  EXPECT_EQ(shell_.Output("bigtable --directory s count t"), "2\n");
}

TEST_F(FollowTest, FollowsOnlyTheTablesThatItIsGiven) {
  shell_.Output("bigtable follow db s --once --tables u");
  EXPECT_EQ(shell_.Output("bigtable --directory s count u"), "1\n");
  ExpectError("bigtable --directory s count t", 3, "no table");
}

TEST_F(FollowTest, PrintsLinesUntilASignalEndsIt) {
  // For two lines, a second apart.
  constexpr const char* kSeconds = kSlow ? " 10 " : " 4 ";
  for (const char* signal : {"INT", "TERM"}) {
    // Shells start background commands with SIGINT ignored, timeout does not.
    const ProgramResult result = shell_.Run(std::string("timeout --preserve-status -s ") + signal +
                                            kSeconds + "bigtable follow db s --every 1");
    EXPECT_EQ(result.code, 0) << signal << result.err;
    EXPECT_GE(std::count(result.out.begin(), result.out.end(), '\n'), 2) << result.out;
  }
  EXPECT_EQ(shell_.Output("bigtable --directory s count t"), "1\n");
}

TEST_F(FollowTest, EndsWithTheErrorThatItCannotGoOnWith) {
  shell_.Output("bigtable follow db s --once --tables t");
  EXPECT_OK(writer_->SetChangeStream("t", {}));
  ExpectError("bigtable follow db s --tables t", 1, "no change stream");
  ExpectError("bigtable follow none s", 3, "there is no database here");
  ExpectError("bigtable follow db other --once --tables missing", 3, "missing");
  ExpectError("bigtable follow db s --every 0", 2, "every");
}

TEST_F(FollowTest, PromotesAndFencesOnceTheWriterHasEnded) {
  ExpectError("bigtable promote db s", 3, "there is no database here");
  shell_.Output("bigtable follow db s --once");
  Set("t", "b");
  ExpectError("bigtable promote db s", 1, "");
  EndWriter();
  shell_.Output("bigtable promote db s");
  EXPECT_EQ(shell_.Output("bigtable --directory s count t"), "2\n");
  shell_.Output("bigtable --directory s set t c f:q=v");
  ExpectError("bigtable set t c f:q=v", 1, "is fenced");
  EXPECT_EQ(shell_.Output("bigtable count t"), "2\n");
  // The promoted database is not taken for a follower, or for a checkpoint.
  ExpectError("bigtable promote db s", 1, "no follower");
  ExpectError("bigtable follow db s", 1, "is fenced");
  EXPECT_EQ(shell_.Output("bigtable --directory s count t"), "3\n");
}

TEST_F(FollowTest, PromotesWithoutAFence) {
  shell_.Output("bigtable follow db s --once");
  Set("t", "b");
  shell_.Output("bigtable promote db s --no-fence");
  EXPECT_EQ(shell_.Output("bigtable --directory s count t"), "2\n");
  EndWriter();
  shell_.Output("bigtable set t c f:q=v");
}

}  // namespace
}  // namespace bigtable
