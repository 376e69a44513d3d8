#include "convert/read_modify_write.h"

#include <string>

#include "google/bigtable/v2/bigtable.pb.h"
#include "gtest/gtest.h"

#include "convert/parse_text.h"
#include "support/database_fixture.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::ReadModifyWriteRowRequest;

class ToReadModifyWriteTest : public DatabaseFixture {};

TEST_F(ToReadModifyWriteTest, AppliesTheRulesInOrder) {
  Open();
  Table* const table = CreateTable("t", {"f"});
  const auto request = ParseText<ReadModifyWriteRowRequest>(
      "rules { family_name: 'f' column_qualifier: 'n:1' increment_amount: 7 }"
      "rules { family_name: 'f' column_qualifier: 'n:1' increment_amount: -9 }"
      "rules { family_name: 'f' append_value: 'a' } rules { family_name: 'f' append_value: 'b' }");
  const absl::StatusOr<ReadModifyWrite> rules = ToReadModifyWrite("row", request.rules());
  ASSERT_OK(rules);
  EXPECT_EQ(rules->rule_count(), 4);
  ASSERT_OK(table->ReadModifyWriteRow(*rules));
  ASSERT_OK_AND_ASSIGN(const Row row, table->ReadRow("row", Filter::Latest(1)));
  ASSERT_EQ(row.cells().size(), 2);
  EXPECT_EQ(row.cells()[0].value, "ab");
  EXPECT_EQ(row.cells()[1].qualifier, "n:1");
  EXPECT_EQ(DecodeBigEndian(row.cells()[1].value).value(), -2);
}

// Cloud Bigtable's limit, which is smaller than the engine's, is that of the result.
TEST_F(ToReadModifyWriteTest, LimitsTheValueThatAnAppendingMakes) {
  const auto request = ParseText<ReadModifyWriteRowRequest>(
      "rules { family_name: 'f' column_qualifier: 'q' append_value: 'a' }");
  ASSERT_OK_AND_ASSIGN(const ReadModifyWrite rules, ToReadModifyWrite("row", request.rules()));
  EXPECT_EQ(rules.max_value_size(), 100u << 20);
}

std::string RulesRefusal(const ReadModifyWriteRowRequest& request,
                         std::string_view row_key = "row") {
  const absl::Status status = ToReadModifyWrite(row_key, request.rules()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ToReadModifyWriteRefusalTest, NamesTheRuleThatIsWrong) {
  const auto refusal = [](const std::string& rules) {
    return RulesRefusal(ParseText<ReadModifyWriteRowRequest>(rules));
  };
  EXPECT_EQ(refusal(""), "there must be from 1 to 100000 rules, and there are 0");
  EXPECT_EQ(refusal("rules { family_name: 'f' increment_amount: 0 } rules { family_name: 'f' }"),
            "rules[1]: a rule must have an append_value or an increment_amount");
  EXPECT_EQ(refusal("rules { increment_amount: 1 }"),
            "rules[0]: the name of a column family must be 1 to 64 printable ASCII characters "
            "without space and colon, and is \"\"");
  EXPECT_EQ(refusal("rules { family_name: 'f' column_qualifier: '" + std::string(16385, 'q') +
                    "' append_value: 'x' }"),
            "rules[0]: a column qualifier must have at most 16384 bytes, and this one has 16385: "
            "\"" +
                std::string(80, 'q') + "\"... (16385 bytes)");
}

TEST(ToReadModifyWriteRefusalTest, WhatIsTooMuch) {
  ReadModifyWriteRowRequest request;
  auto* rule = request.add_rules();
  rule->set_family_name("f");
  rule->mutable_append_value()->assign((100 << 20) + 1, 'v');
  EXPECT_EQ(RulesRefusal(request),
            "rules[0]: append_value must have at most 104857600 bytes, and has 104857601");
  rule->set_append_value("v");
  EXPECT_EQ(RulesRefusal(request, ""), "a row key must not be empty");
  for (int i = 0; i < 100'000; ++i) request.add_rules();
  EXPECT_EQ(RulesRefusal(request), "there must be from 1 to 100000 rules, and there are 100001");
}

}  // namespace
}  // namespace bigtable::convert
