// --plugin: a shared library brings the operators that a database needs. Without it, `verify` says
// what it has not checked.
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "tools/longest.h"
#include "tools/program.h"

namespace bigtable {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPlugin = BIGTABLE_EXAMPLE_PLUGIN;

class PluginTest : public testing::Test {
 protected:
  // A table with a family of the operator.
  void SetUp() override {
    static const bool is_registered =
        RegisterAggregateOperator("longest", std::make_unique<Longest>()).ok();
    ASSERT_TRUE(is_registered);
    auto database = Database::Open(shell_.path() + "/db", {});
    ASSERT_TRUE(database.ok()) << database.status();
    TableSchema schema;
    schema.families["titles"] = {.value_operator = "longest"};
    schema.families["plain"] = {};
    ASSERT_TRUE((*database)->CreateTable("t", schema).ok());
    Table* const table = *(*database)->OpenTable("t");
    for (const std::string title : {"a", "abc", "ab"}) {
      RowMutation mutation("r");
      mutation.AddToCell("titles:", Timestamp(), title).Set("plain:", "p");
      ASSERT_TRUE(table->Apply(mutation).ok());
    }
    ASSERT_TRUE((*database)->Close().ok());
  }

  Shell shell_;
};

TEST_F(PluginTest, WithThePluginItsOperatorIsThere) {
  const ProgramResult without = shell_.Run("bigtable lookup t r");
  EXPECT_EQ(without.code, 1);
  EXPECT_THAT(without.err, HasSubstr("longest"));
  EXPECT_THAT(shell_.Output(std::string("bigtable --plugin ") + kPlugin + " lookup t r"),
              HasSubstr("\"abc\""));
  EXPECT_THAT(shell_.Output(std::string("bigtable compact t --plugin ") + kPlugin + " --quiet"),
              Not(HasSubstr("longest")));
}

TEST_F(PluginTest, VerifySaysWhatItHasNotChecked) {
  const std::string without = shell_.Output("bigtable verify");
  EXPECT_THAT(without, HasSubstr("not checked: family titles of table t"));
  EXPECT_THAT(without, Not(HasSubstr("damaged")));
  EXPECT_THAT(shell_.Output(std::string("bigtable verify --plugin ") + kPlugin),
              Not(HasSubstr("not checked")));
}

TEST_F(PluginTest, WhatIsNoPluginIsAnError) {
  const ProgramResult missing = shell_.Run("bigtable --plugin missing.so ls");
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("cannot be loaded"));
  const ProgramResult twice =
      shell_.Run(std::string("bigtable --plugin ") + kPlugin + " --plugin " + kPlugin + " ls");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("longest"));
}

// The verb repair, and verify of a database without METADATA.

class RepairVerbTest : public PluginTest {};

TEST_F(RepairVerbTest, RepairsWithoutTheOperatorAndSaysHowToGoOn) {
  EXPECT_EQ(shell_.Run("rm db/lockservice/root").code, 0);
  const ProgramResult repaired = shell_.Run("bigtable repair");
  EXPECT_EQ(repaired.code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("db/lockservice/root: "));
  EXPECT_THAT(repaired.out, HasSubstr("table t: 1 tablets"));
  EXPECT_THAT(repaired.err, HasSubstr("mv db.repaired db"));
  EXPECT_THAT(shell_.Output(std::string("bigtable -d db.repaired lookup t r --plugin ") + kPlugin),
              HasSubstr("\"abc\""));
  const ProgramResult again = shell_.Run("bigtable repair --target db.repaired");
  EXPECT_EQ(again.code, 1);
}

TEST_F(RepairVerbTest, WithoutMetadataFilesAreVerifiedOneByOne) {
  EXPECT_EQ(shell_.Run("rm -r db/lockservice db/copies").code, 0);
  const ProgramResult verified = shell_.Run("bigtable verify");
  EXPECT_EQ(verified.code, 1);
  EXPECT_THAT(verified.out, HasSubstr("damaged database"));
  EXPECT_THAT(verified.out, HasSubstr("not checked: tables"));
  EXPECT_THAT(verified.out, HasSubstr("read "));
  const ProgramResult repaired = shell_.Run("bigtable repair --json");
  EXPECT_EQ(repaired.code, 0) << repaired.out << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("\"metadata_lost\":true"));
  EXPECT_THAT(repaired.out, HasSubstr("\"new_schema\":true"));
}

}  // namespace
}  // namespace bigtable
