#include "convert/mutation.h"

#include <string>

#include "google/bigtable/v2/bigtable.pb.h"
#include "gtest/gtest.h"

#include "convert/parse_text.h"
#include "support/database_fixture.h"

namespace bigtable::convert {
namespace {

using google::bigtable::v2::MutateRowRequest;

class ToRowMutationTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    Open();
    TableSchema schema;
    schema.families = {{"f", {}},
                       {"g", {}},
                       {"sum", {.value_type = ValueType::kInt64Sum}},
                       {"dsum", {.value_type = ValueType::kDoubleSum}},
                       {"dmin", {.value_type = ValueType::kDoubleMin}},
                       {"hll", {.value_type = ValueType::kHyperLogLog}}};
    table_ = CreateTable("t", schema);
  }

  absl::Status Apply(const std::string& mutations) {
    const auto request = ParseText<MutateRowRequest>(mutations);
    const absl::StatusOr<RowMutation> mutation =
        ToRowMutation("row", request.mutations(), Timestamp(9'876'543));
    if (!mutation.ok()) return mutation.status();
    return table_->Apply(*mutation);
  }
  // The row afterwards, or the message of the error.
  std::string RowAfter(const std::string& mutations) {
    const absl::Status status = Apply(mutations);
    return status.ok() ? Show(table_->ReadRow("row")) : status.ToString();
  }

  Table* table_ = nullptr;
};

std::string MutationRefusal(const MutateRowRequest& request, std::string_view row_key = "row") {
  const absl::Status status =
      ToRowMutation(row_key, request.mutations(), Timestamp(5'000)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}
std::string MutationRefusal(const std::string& mutations) {
  return MutationRefusal(ParseText<MutateRowRequest>(mutations));
}

constexpr const char* kVersions =
    "mutations { set_cell { family_name: 'f' timestamp_micros: 1000 value: '1' } }"
    "mutations { set_cell { family_name: 'f' timestamp_micros: 2000 value: '2' } }"
    "mutations { set_cell { family_name: 'f' timestamp_micros: 3000 value: '3' } }";

TEST_F(ToRowMutationTest, SetsCells) {
  EXPECT_EQ(RowAfter("mutations { set_cell { family_name: 'f' column_qualifier: 'a:b' "
                     "timestamp_micros: 7000 value: 'x' } }"
                     "mutations { set_cell { family_name: 'g' } }"),
            "f:a:b@7000=x g:@0=");
}

TEST_F(ToRowMutationTest, TheServersTimeIsRoundedDownToAMillisecond) {
  EXPECT_EQ(RowAfter("mutations { set_cell { family_name: 'f' timestamp_micros: -1 } }"),
            "f:@9876000=");
}

TEST_F(ToRowMutationTest, MutationsTakeEffectInOrder) {
  EXPECT_EQ(RowAfter(std::string(kVersions) +
                     "mutations { delete_from_row {} }"
                     "mutations { set_cell { family_name: 'f' value: 'after' } }"),
            "f:@0=after");
}

TEST_F(ToRowMutationTest, DeletesColumnsFamiliesAndRows) {
  ASSERT_OK(Apply(kVersions));
  EXPECT_EQ(RowAfter("mutations { set_cell { family_name: 'f' column_qualifier: 'q' } }"
                     "mutations { set_cell { family_name: 'g' } }"
                     "mutations { delete_from_column { family_name: 'f' } }"),
            "f:q@0= g:@0=");
  EXPECT_EQ(RowAfter("mutations { delete_from_family { family_name: 'f' } }"), "g:@0=");
  EXPECT_EQ(RowAfter("mutations { delete_from_row {} }"), "");
}

TEST_F(ToRowMutationTest, DeletesTimeRanges) {
  const auto left_by = [&](const std::string& range) {
    return RowAfter(std::string(kVersions) +
                    "mutations { delete_from_column { family_name: 'f' time_range { " + range +
                    " } } }");
  };
  EXPECT_EQ(left_by("start_timestamp_micros: 1000 end_timestamp_micros: 3000"), "f:@3000=3");
  EXPECT_EQ(left_by("start_timestamp_micros: 2000"), "f:@1000=1");
  EXPECT_EQ(left_by("end_timestamp_micros: 2000"), "f:@3000=3 f:@2000=2");
  EXPECT_EQ(left_by(""), "");
}

TEST_F(ToRowMutationTest, AddsToAggregates) {
  const std::string cell =
      "family_name: 'sum' column_qualifier { raw_value: 'q' } timestamp { raw_timestamp_micros: "
      "4000 } ";
  EXPECT_EQ(RowAfter("mutations { add_to_cell { " + cell +
                     "input { int_value: 3 } } }"
                     "mutations { add_to_cell { " +
                     cell + "input { int_value: -1 } } }"),
            "sum:q@4000=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02");
  EXPECT_EQ(RowAfter("mutations { merge_to_cell { " + cell +
                     "input { raw_value: '\\000\\000\\000\\000\\000\\000\\001\\000' } } }"),
            "sum:q@4000=\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x02");
  EXPECT_EQ(RowAfter("mutations { merge_to_cell { " + cell + "input { int_value: 1 } } }"),
            "sum:q@4000=\\x00\\x00\\x00\\x00\\x00\\x00\\x01\\x03");
  EXPECT_NE(RowAfter("mutations { add_to_cell { " + cell + "input { bytes_value: 'x' } } }")
                .find("INVALID_ARGUMENT"),
            std::string::npos);
}

TEST_F(ToRowMutationTest, AddsDoubles) {
  const auto cell = [](const std::string& family) {
    return "family_name: '" + family +
           "' column_qualifier { raw_value: 'q' } timestamp { raw_timestamp_micros: 4000 } ";
  };
  EXPECT_EQ(RowAfter("mutations { add_to_cell { " + cell("dsum") +
                     "input { float_value: -2.0 } } }"
                     "mutations { add_to_cell { " +
                     cell("dsum") + "input { float_value: 0.5 } } }"),
            "dsum:q@4000=\\x80\\x00\\x86\\x06");
  EXPECT_EQ(RowAfter("mutations { merge_to_cell { " + cell("dsum") +
                     "input { raw_value: '\\000\\000\\206\\004' } } }"
                     "mutations { merge_to_cell { " +
                     cell("dmin") +
                     "input { float_value: 1.5 } } }"
                     "mutations { add_to_cell { " +
                     cell("dmin") + "input { raw_value: '\\377\\360\\0\\0\\0\\0\\0\\0' } } }"),
            "dmin:q@4000=\\xff\\xf0\\x00\\x00\\x00\\x00\\x00\\x00 "
            "dsum:q@4000=\\x80\\x00\\x86\\x02");
  EXPECT_NE(
      RowAfter("mutations { merge_to_cell { " + cell("dsum") + "input { float_value: 1.5 } } }")
          .find("not the state of a sum of doubles"),
      std::string::npos);
}

TEST_F(ToRowMutationTest, CountsUniqueInputs) {
  const std::string add =
      "mutations { add_to_cell { family_name: 'hll' column_qualifier { raw_value: '' } "
      "timestamp { raw_timestamp_micros: 0 } input { ";
  ASSERT_OK(Apply(add + "int_value: 3 } } }" + add + "int_value: 4 } } }" + add +
                  "string_value: 's' } } }" + add + "bytes_value: 's' } } }" + add +
                  "raw_value: '\\000\\000\\000\\000\\000\\000\\000\\003' } } }"));
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("row"));
  ASSERT_EQ(row.cells().size(), 1);
  EXPECT_EQ(HyperLogLogEstimate(row.cells()[0].value).value(), 3);
}

TEST_F(ToRowMutationTest, MergesStatesOfUniqueCounts) {
  ASSERT_OK(table_->Apply(RowMutation("other")
                              .AddToCell("hll:", Timestamp(0), int64_t{3})
                              .AddToCell("hll:", Timestamp(0), int64_t{4})));
  ASSERT_OK_AND_ASSIGN(const Row other, table_->ReadRow("other"));
  MutateRowRequest request;
  auto* merge = request.add_mutations()->mutable_merge_to_cell();
  merge->set_family_name("hll");
  merge->mutable_column_qualifier()->set_raw_value("");
  merge->mutable_timestamp()->set_raw_timestamp_micros(0);
  merge->mutable_input()->set_bytes_value(std::string(other.cells()[0].value));
  ASSERT_OK_AND_ASSIGN(const RowMutation mutation,
                       ToRowMutation("row", request.mutations(), Timestamp()));
  ASSERT_OK(table_->Apply(mutation));
  ASSERT_OK_AND_ASSIGN(const Row row, table_->ReadRow("row"));
  ASSERT_EQ(row.cells().size(), 1);
  EXPECT_EQ(HyperLogLogEstimate(row.cells()[0].value).value(), 2);
}

TEST(ToRowMutationRefusalTest, MergingNullHasNoEffect) {
  const auto request = ParseText<MutateRowRequest>(
      "mutations { merge_to_cell { family_name: 'sum' column_qualifier { raw_value: 'q' } "
      "timestamp { raw_timestamp_micros: 4000 } input {} } }");
  const absl::StatusOr<RowMutation> mutation =
      ToRowMutation("row", request.mutations(), Timestamp());
  ASSERT_OK(mutation);
  EXPECT_EQ(mutation->operation_count(), 0);
}

TEST_F(ToRowMutationTest, AFamilyThatIsNotThereIsNotFound) {
  EXPECT_EQ(Apply("mutations { set_cell { family_name: 'x' } }").code(),
            absl::StatusCode::kNotFound);
}

TEST(ToRowMutationRefusalTest, RowKeys) {
  const auto request = ParseText<MutateRowRequest>("mutations { delete_from_row {} }");
  EXPECT_OK(ToRowMutation(std::string(4096, 'k'), request.mutations(), Timestamp()));
  EXPECT_EQ(MutationRefusal(request, ""), "a row key must not be empty");
  EXPECT_EQ(MutationRefusal(request, std::string(4097, 'k')),
            "a row key must have at most 4096 bytes, and this one has 4097: \"" +
                std::string(80, 'k') + "\"... (4097 bytes)");
}

TEST(ToRowMutationRefusalTest, TheNumberOfMutations) {
  EXPECT_EQ(MutationRefusal(""), "there must be from 1 to 100000 mutations, and there are 0");
  MutateRowRequest request;
  for (int i = 0; i < 100'000; ++i) request.add_mutations()->mutable_delete_from_row();
  EXPECT_OK(ToRowMutation("row", request.mutations(), Timestamp()));
  request.add_mutations();
  EXPECT_EQ(MutationRefusal(request),
            "there must be from 1 to 100000 mutations, and there are 100001");
  EXPECT_OK(CheckMutationCount(100'000));
  EXPECT_FALSE(CheckMutationCount(int64_t{1} << 32).ok());
}

TEST(ToRowMutationRefusalTest, Names) {
  const std::string family_rule =
      "the name of a column family must be 1 to 64 printable ASCII characters without space and "
      "colon, and is ";
  const std::string good = "mutations { delete_from_row {} } ";
  EXPECT_EQ(MutationRefusal(good + "mutations { set_cell {} }"),
            "mutations[1]: " + family_rule + "\"\"");
  EXPECT_EQ(MutationRefusal("mutations { set_cell { family_name: 'a:b' } }"),
            "mutations[0]: " + family_rule + "\"a:b\"");
  EXPECT_EQ(MutationRefusal("mutations { delete_from_column { family_name: 'a b' } }"),
            "mutations[0]: " + family_rule + "\"a b\"");
  EXPECT_EQ(MutationRefusal("mutations { delete_from_family { family_name: '" +
                            std::string(65, 'f') + "' } }"),
            "mutations[0]: " + family_rule + "\"" + std::string(65, 'f') + "\"");
  EXPECT_EQ(MutationRefusal("mutations { set_cell { family_name: 'f' column_qualifier: '" +
                            std::string(16385, 'q') + "' } }"),
            "mutations[0]: a column qualifier must have at most 16384 bytes, and this one has "
            "16385: \"" +
                std::string(80, 'q') + "\"... (16385 bytes)");
  EXPECT_EQ(MutationRefusal("mutations {}"),
            "mutations[0]: nothing is set, or nothing that this server knows");
}

TEST(ToRowMutationRefusalTest, Values) {
  MutateRowRequest request;
  auto* set = request.add_mutations()->mutable_set_cell();
  set->set_family_name("f");
  set->mutable_value()->assign((100 << 20) + 1, 'v');
  EXPECT_EQ(MutationRefusal(request),
            "mutations[0]: a value must have at most 104857600 bytes, and this one has 104857601");
}

TEST(ToRowMutationRefusalTest, Timestamps) {
  EXPECT_EQ(MutationRefusal("mutations { set_cell { family_name: 'f' timestamp_micros: -2 } }"),
            "mutations[0]: a timestamp must not be negative, except -1 for the server's time, and "
            "is -2");
  EXPECT_EQ(
      MutationRefusal("mutations { set_cell { family_name: 'f' timestamp_micros: 1500 } }"),
      "mutations[0]: a timestamp must be a multiple of 1000 microseconds in the Bigtable API, "
      "and is 1500");
  EXPECT_EQ(MutationRefusal("mutations { delete_from_column { family_name: 'f' time_range { "
                            "start_timestamp_micros: 3000 end_timestamp_micros: 2000 } } }"),
            "mutations[0]: a range of timestamps must end after it begins: [3000, 2000)");
}

TEST(ToRowMutationRefusalTest, ValuesOfAggregates) {
  const auto refusal = [](const std::string& kind, const std::string& fields) {
    return MutationRefusal("mutations { " + kind + " { family_name: 'f' " + fields + " } }");
  };
  const std::string cell =
      "column_qualifier { raw_value: '' } timestamp { raw_timestamp_micros: 0 } ";
  for (const char* kind : {"add_to_cell", "merge_to_cell"}) {
    EXPECT_EQ(refusal(kind, ""), "mutations[0]: column_qualifier must be a raw_value");
    EXPECT_EQ(refusal(kind, "column_qualifier { bytes_value: '' }"),
              "mutations[0]: column_qualifier must be a raw_value");
    EXPECT_EQ(refusal(kind, "column_qualifier { raw_value: '' } timestamp { int_value: 0 }"),
              "mutations[0]: timestamp must be a raw_timestamp_micros");
    EXPECT_EQ(refusal(kind,
                      "column_qualifier { raw_value: '' } timestamp { "
                      "raw_timestamp_micros: -1 }"),
              "mutations[0]: a timestamp must not be negative, and is -1");
    EXPECT_EQ(refusal(kind, cell + "input { bool_value: true }"),
              "mutations[0]: input must be an int_value, a float_value, a raw_value, a "
              "bytes_value or a string_value");
    EXPECT_EQ(refusal(kind, cell + "input { int_value: 1 type { int64_type {} } }"),
              "mutations[0]: the values of a mutation must have no type: the family has it");
  }
  EXPECT_EQ(refusal("add_to_cell", cell), "mutations[0]: input must be set");
}

}  // namespace
}  // namespace bigtable::convert
