// The interface of the paper's examples: OpenOrDie, Operation and Apply.
#include <cstdlib>
#include <memory>
#include <stdlib.h>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "api/write_fixture.h"
#include "support/expect_status.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

class OperationTest : public WriteFixture {};

TEST_F(OperationTest, AnOperationAppliesAMutationThatHasATable) {
  RowMutation r1(table_, "com.cnn.www");
  r1.Set("f:www.c-span.org", Timestamp(1), "CNN");
  r1.Delete("f:www.abc.com");
  Operation op;

  Apply(&op, &r1);

  EXPECT_TRUE(op.ok()) << op.status();
  EXPECT_EQ(Show(table_->ReadRow("com.cnn.www")), "f:www.c-span.org@1=CNN");
}

TEST_F(OperationTest, AnOperationRefusesAMutationWithoutATable) {
  RowMutation mutation("r");
  mutation.Set("f:q", "v");
  Operation op;

  Apply(&op, &mutation);

  EXPECT_FALSE(op.ok());
  EXPECT_STATUS(kInvalidArgument, "table", op.status());
}

TEST(OpenOrDieTest, DatabasesAreSharedByTheProcessAndClosedWhenItExits) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The child runs this test from its start, so the path must be the same in both.
  const char* const inherited = std::getenv("BIGTABLE_OPEN_OR_DIE_TEST");
  std::unique_ptr<TempDirectory> directory;
  if (inherited == nullptr) {
    directory = std::make_unique<TempDirectory>();
    setenv("BIGTABLE_OPEN_OR_DIE_TEST", directory->path().c_str(), 1);
  }
  const std::string path = inherited != nullptr ? inherited : directory->path();
  if (inherited == nullptr) {
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                         Database::Open(path + "/web", TestOptions()));
    TableSchema schema;
    schema.families["anchor"] = {};
    ASSERT_OK(database->CreateTable("webtable", schema));
  }

  EXPECT_EXIT(
      {
        Table* table = OpenOrDie(path + "/web/webtable");
        if (OpenOrDie(path + "/web/webtable") != table) std::exit(3);
        const RowMutation mutation =
            RowMutation("com.cnn.www").Set("anchor:a", Timestamp(1), "CNN");
        std::exit(table->Apply(mutation, {.durability = Durability::kNone}).ok() ? 0 : 4);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_DEATH(OpenOrDie(path + "/web/nosuchtable"), "nosuchtable");

  if (inherited == nullptr) {
    unsetenv("BIGTABLE_OPEN_OR_DIE_TEST");
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Database> database,
                         Database::Open(path + "/web", TestOptions()));
    ASSERT_OK_AND_ASSIGN(Table * table, database->OpenTable("webtable"));
    EXPECT_EQ(Show(table->ReadRow("com.cnn.www")), "anchor:a@1=CNN");
  }
}

}  // namespace
}  // namespace bigtable
