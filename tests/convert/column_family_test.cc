// Column families and the types of their values.
#include "convert/column_family.h"

#include <string>

#include "gtest/gtest.h"

#include "convert/parse_text.h"
#include "convert/value_type.h"

namespace bigtable::convert {
namespace {

using TypeProto = google::bigtable::admin::v2::Type;
using FamilyProto = google::bigtable::admin::v2::ColumnFamily;

std::string Aggregate(const std::string& rest) { return "aggregate_type { " + rest + " }"; }

constexpr const char* kInt64 = "input_type { int64_type { encoding { big_endian_bytes {} } } } ";

TEST(ToValueTypeTest, BytesAndAggregates) {
  const auto type_of = [](const std::string& text) {
    return ToValueType(ParseText<TypeProto>(text)).value();
  };
  EXPECT_EQ(type_of(""), ValueType::kBytes);
  EXPECT_EQ(type_of("bytes_type { encoding { raw {} } }"), ValueType::kBytes);
  EXPECT_EQ(type_of(Aggregate(std::string(kInt64) + "sum {}")), ValueType::kInt64Sum);
  EXPECT_EQ(type_of(Aggregate(std::string(kInt64) + "min {}")), ValueType::kInt64Min);
  EXPECT_EQ(type_of(Aggregate(std::string(kInt64) + "max {}")), ValueType::kInt64Max);
  EXPECT_EQ(type_of(Aggregate("input_type { int64_type {} } hllpp_unique_count {}")),
            ValueType::kHyperLogLog);
  EXPECT_EQ(type_of(Aggregate("input_type { float64_type {} } sum {}")), ValueType::kDoubleSum);
  EXPECT_EQ(type_of(Aggregate("min {} input_type { float64_type {} }")), ValueType::kDoubleMin);
  EXPECT_EQ(type_of(Aggregate("input_type { float64_type {} } max {}")), ValueType::kDoubleMax);
}

// What a server says of its families is taken as far as the engine has it.
TEST(ToValueTypeTest, GoesByTheAggregatorAndWhetherItTakesDoubles) {
  const auto type_of = [](const std::string& text) {
    return ToValueType(ParseText<TypeProto>(text));
  };
  EXPECT_EQ(type_of("string_type {}").value(), ValueType::kBytes);
  EXPECT_EQ(type_of(Aggregate("sum {}")).value(), ValueType::kInt64Sum);
  EXPECT_EQ(type_of(Aggregate("hllpp_unique_count {} input_type { bytes_type {} }")).value(),
            ValueType::kHyperLogLog);
  EXPECT_EQ(type_of(Aggregate("hllpp_unique_count {} input_type { float64_type {} }")).value(),
            ValueType::kHyperLogLog);
  EXPECT_EQ(type_of(Aggregate("max {} input_type { float32_type {} }")).value(),
            ValueType::kInt64Max);
  EXPECT_EQ(type_of(Aggregate(kInt64)).status().message(),
            "aggregate_type must have sum, min, max or hllpp_unique_count");
}

TEST(CheckValueTypeTest, RefusesOtherTypes) {
  const auto refusal = [](const std::string& text) {
    const absl::Status status = CheckValueType(ParseText<TypeProto>(text));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("string_type {}"),
            "the type of a family must be aggregate_type or bytes_type, and is string_type");
  EXPECT_EQ(refusal("int64_type { encoding { ordered_code_bytes {} } }"),
            "the type of a family must be aggregate_type or bytes_type, and is int64_type with "
            "ordered_code_bytes");
  EXPECT_EQ(refusal(Aggregate(kInt64)),
            "aggregate_type must have sum, min, max or hllpp_unique_count");
  EXPECT_EQ(refusal(Aggregate("sum {}")),
            "aggregate_type.input_type must be an int64_type with big_endian_bytes or a "
            "float64_type, and is none");
  EXPECT_EQ(refusal(Aggregate("max {} input_type { float32_type {} }")),
            "aggregate_type.input_type must be an int64_type with big_endian_bytes or a "
            "float64_type, and is float32_type");
  EXPECT_EQ(refusal(Aggregate("hllpp_unique_count {} input_type { float64_type {} }")),
            "aggregate_type.input_type must be an int64_type with big_endian_bytes, and is "
            "float64_type");
  EXPECT_EQ(refusal(Aggregate("hllpp_unique_count {} input_type { bytes_type {} }")),
            "aggregate_type.input_type must be an int64_type with big_endian_bytes, and is "
            "bytes_type");
  EXPECT_EQ(refusal(Aggregate("sum {} input_type { int64_type { encoding { ordered_code_bytes {} "
                              "} } }")),
            "aggregate_type.input_type must be an int64_type with big_endian_bytes or a "
            "float64_type, and is int64_type with ordered_code_bytes");
  EXPECT_EQ(refusal(Aggregate(std::string(kInt64) + "sum {} state_type { bytes_type {} }")),
            "aggregate_type.state_type must be left out or be what the aggregate has, and is "
            "bytes_type");
  EXPECT_EQ(
      refusal(
          Aggregate(std::string(kInt64) + "hllpp_unique_count {} state_type { int64_type {} }")),
      "aggregate_type.state_type must be left out or be what the aggregate has, and is int64_type");
  EXPECT_EQ(
      refusal(Aggregate("sum {} input_type { float64_type {} } state_type { float64_type {} }")),
      "aggregate_type.state_type must be left out or be what the aggregate has, and is "
      "float64_type");
  EXPECT_EQ(
      refusal(Aggregate("min {} input_type { float64_type {} } state_type { bytes_type {} }")),
      "aggregate_type.state_type must be left out or be what the aggregate has, and is bytes_type");
}

TEST(ValueTypeToProtoTest, IsTheInverse) {
  for (const ValueType type : {ValueType::kBytes, ValueType::kInt64Sum, ValueType::kInt64Min,
                               ValueType::kInt64Max, ValueType::kHyperLogLog, ValueType::kDoubleSum,
                               ValueType::kDoubleMin, ValueType::kDoubleMax}) {
    EXPECT_EQ(ToValueType(ToProto(type)).value(), type);
  }
  EXPECT_EQ(ShowMessage(ToProto(ValueType::kInt64Sum)),
            "aggregate_type { input_type { int64_type { encoding { big_endian_bytes { } } } } "
            "state_type { int64_type { encoding { big_endian_bytes { } } } } sum { } }");
  EXPECT_EQ(ShowMessage(ToProto(ValueType::kHyperLogLog)),
            "aggregate_type { input_type { int64_type { encoding { big_endian_bytes { } } } } "
            "state_type { bytes_type { encoding { raw { } } } } hllpp_unique_count { } }");
  EXPECT_EQ(ShowMessage(ToProto(ValueType::kDoubleSum)),
            "aggregate_type { input_type { float64_type { } } "
            "state_type { bytes_type { encoding { raw { } } } } sum { } }");
  EXPECT_EQ(ShowMessage(ToProto(ValueType::kDoubleMin)),
            "aggregate_type { input_type { float64_type { } } state_type { float64_type { } } "
            "min { } }");
}

TEST(CheckFamilyIdTest, HoldsToCloudBigtablesNames) {
  EXPECT_TRUE(CheckFamilyId("-_.aZ9").ok());
  EXPECT_TRUE(CheckFamilyId(std::string(64, 'f')).ok());
  for (const std::string& id :
       {std::string(), std::string("a/b"), std::string("a:b"), std::string(65, 'f')}) {
    EXPECT_EQ(CheckFamilyId(id).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(CheckFamilyId(id).message(),
              "the id of a column family must be 1 to 64 of [-_.a-zA-Z0-9], and is \"" + id + "\"");
  }
}

TEST(ToFamilyTest, HasTheRuleAndTheType) {
  EXPECT_EQ(ToFamily(FamilyProto()).value(), Family());
  EXPECT_EQ(ToFamily(ParseText<FamilyProto>("gc_rule { max_num_versions: 2 } value_type { " +
                                            Aggregate(std::string(kInt64) + "max {}") + " }"))
                .value(),
            (Family{.gc = GcRule::MaxVersions(2), .value_type = ValueType::kInt64Max}));
}

TEST(ToRequestedFamilyTest, NamesTheFieldThatIsWrong) {
  const auto refusal = [](const std::string& text) {
    const absl::Status status = ToRequestedFamily(ParseText<FamilyProto>(text)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("gc_rule { max_num_versions: 0 }"),
            "gc_rule: max_num_versions must be at least 1, and is 0");
  EXPECT_EQ(refusal("value_type { date_type {} }"),
            "value_type: the type of a family must be aggregate_type or bytes_type, and is "
            "date_type");
  EXPECT_EQ(refusal("gc_rule { intersection { rules { max_num_versions: 2 } rules { max_age { "
                    "seconds: 1 } } } } value_type { " +
                    Aggregate(std::string(kInt64) + "sum {}") + " }"),
            "gc_rule: a family of aggregates must not have an intersection of max_num_versions and "
            "max_age");
}

TEST(FamilyToProtoTest, HasWhatTheMessageCanHave) {
  EXPECT_EQ(ShowMessage(ToProto(Family{.locality_group = "g", .gc = GcRule::MaxVersions(2)})),
            "gc_rule { max_num_versions: 2 }");
  EXPECT_EQ(ToProto(Family{.value_type = ValueType::kInt64Min}).value_type().ShortDebugString(),
            ToProto(ValueType::kInt64Min).ShortDebugString());
  EXPECT_EQ(ShowMessage(ToProto(Family{.value_operator = "longest"}).value_type()),
            "aggregate_type { input_type { bytes_type { encoding { raw { } } } } state_type { "
            "bytes_type { encoding { raw { } } } } }");
}

}  // namespace
}  // namespace bigtable::convert
