// Each kind of value becomes a message and comes back as it was, or as the nearest value that the
// API has; a message that a client may send comes back too.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "google/bigtable/v2/bigtable.pb.h"
#include "gtest/gtest.h"

#include "convert/chunk_merger.h"
#include "convert/column_family.h"
#include "convert/duration.h"
#include "convert/filter.h"
#include "convert/gc_rule.h"
#include "convert/limits.h"
#include "convert/mutation.h"
#include "convert/owned_cells.h"
#include "convert/parse_text.h"
#include "convert/read_modify_write.h"
#include "convert/row_chunks.h"
#include "convert/row_message.h"
#include "convert/row_set.h"
#include "convert/schema.h"
#include "convert/status.h"
#include "convert/time_range.h"
#include "convert/value_type.h"
#include "read/filter_node.h"
#include "retention/aggregates.h"
#include "rows/row_rules.h"
#include "rpc/filter_format.h"
#include "schema/mutation_format.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/random_filter.h"
#include "support/seeds.h"

namespace bigtable::convert {
namespace {

namespace v2 = google::bigtable::v2;

// --- Filters ---

Filter FilterAgain(const Filter& filter) {
  const v2::RowFilter message = ToProto(filter);
  const absl::StatusOr<Filter> again = ToFilter(message);
  EXPECT_TRUE(again.ok()) << message.ShortDebugString() << ": " << again.status();
  return again.value_or(Filter());
}

std::string BytesOf(const Filter& filter) {
  const absl::StatusOr<std::string> bytes = EncodeFilter(filter);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

std::vector<Filter> FiltersOfEveryKind() {
  const Filter a = Filter::Family("a");
  return {Filter::PassAll(),
          Filter::BlockAll(),
          a,
          Filter::Family("a.b"),
          Filter::FamilyRegex("a|b"),
          Filter::FamilyRegex("a.*"),
          Filter::ColumnRange("f", "a", "b"),
          Filter::ColumnRange("f", "", ""),
          Filter::ColumnRegex("a.b"),
          Filter::ColumnRegex("(?-s)a.b"),
          Filter::RowKeysRegex("com\\..*"),
          Filter::ValueRegex("[ab]+"),
          Filter::ValueRange("a", "b"),
          Filter::ValueRange("a", ""),
          Filter::RowSample(0.25),
          Filter::TimestampRange(Timestamp(1000), Timestamp(3000)),
          Filter::TimestampRange(Timestamp(0), Timestamp::Max()),
          Filter::Latest(2),
          Filter::CellsRowLimit(3),
          Filter::CellsRowOffset(4),
          Filter::StripValueTransformer(),
          Filter::ApplyLabel("l"),
          Filter::Sink(),
          Filter::Chain(a, Filter::Latest(1)),
          Filter::Interleave(a, Filter::Sink()),
          Filter::Condition(a, Filter::Latest(1), Filter::BlockAll())};
}

TEST(FilterRoundTripTest, EveryKindComesBack) {
  std::vector<int> kinds(static_cast<size_t>(FilterNode::Kind::kCondition) + 1);
  for (const Filter& filter : FiltersOfEveryKind()) {
    EXPECT_EQ(BytesOf(FilterAgain(filter)), BytesOf(filter)) << ToProto(filter).ShortDebugString();
    if (const FilterNode* const node = FilterNode::Of(filter)) {
      ++kinds[static_cast<size_t>(node->kind)];
    }
  }
  for (size_t i = 0; i < kinds.size(); ++i) EXPECT_GT(kinds[i], 0) << "kind " << i;
}

TEST(FilterRoundTripTest, WhatTheApiDoesNotHaveIsTheNearest) {
  const Filter a = Filter::Family("a");
  EXPECT_EQ(BytesOf(FilterAgain(Filter::Chain(std::vector<Filter>{a}))), BytesOf(a));
  EXPECT_EQ(BytesOf(FilterAgain(Filter::Interleave(std::vector<Filter>{a}))), BytesOf(a));
  EXPECT_EQ(BytesOf(FilterAgain(Filter::TimestampRange(Timestamp(1), Timestamp(1001)))),
            BytesOf(Filter::TimestampRange(Timestamp(1000), Timestamp(2000))));
  EXPECT_EQ(BytesOf(FilterAgain(Filter::TimestampRange(Timestamp(1), Timestamp(2)))),
            BytesOf(Filter::BlockAll()));
  EXPECT_EQ(BytesOf(FilterAgain(Filter::Latest(int64_t{1} << 40))),
            BytesOf(Filter::Latest((int64_t{1} << 31) - 1)));
}

TEST(FilterRoundTripTest, TheNearestComesBackRandom) {
  ForEachSeed(300, [](uint64_t seed) {
    Random random(seed);
    const auto text = [&random] { return random.Bytes(random.Below(4)); };
    const auto family = [&random] { return std::string(1, random.Pick(std::string("fgh"))); };
    const Filter any = RandomFilters(&random, {family, text, 5000}).Next().Make();
    const Filter nearest = FilterAgain(any);
    EXPECT_EQ(BytesOf(FilterAgain(nearest)), BytesOf(nearest)) << ToProto(any).ShortDebugString();
  });
}

TEST(FilterRoundTripTest, MessagesComeBack) {
  for (const char* text : {"pass_all_filter: true", "family_name_regex_filter: 'a\\\\.b'",
                           "column_qualifier_regex_filter: 'a.b'", "value_regex_filter: '(?s)a.b'",
                           "row_key_regex_filter: '[ab]'",
                           "chain { filters { sink: true } filters { block_all_filter: true } }"}) {
    const auto message = ParseText<v2::RowFilter>(text);
    EXPECT_EQ(ShowMessage(ToProto(ToFilter(message).value())), ShowMessage(message));
  }
}

// --- Mutations and rules ---

RowMutation MutationAgain(const RowMutation& mutation) {
  v2::MutateRowRequest request;
  EXPECT_TRUE(AppendMutations(mutation, Timestamp(7000), request.mutable_mutations()).ok());
  const absl::StatusOr<RowMutation> again =
      ToRowMutation(mutation.row(), request.mutations(), Timestamp(9000));
  EXPECT_TRUE(again.ok()) << again.status();
  return again.value_or(RowMutation("none"));
}

std::string OperationsOf(const RowMutation& mutation) {
  return std::string(EncodedMutation::Of(mutation).operations);
}

TEST(MutationRoundTripTest, EveryOperationComesBack) {
  const Timestamp at(3000);
  const RowMutation mutations[] = {
      RowMutation("r").Set("f:a:b", at, "v"),
      RowMutation("r").Set("f:", Timestamp(0), ""),
      RowMutation("r").AddToCell("f:n", at, 1),
      RowMutation("r").AddToCell("f:n", at, "not eight"),
      RowMutation("r").MergeToCell("f:n", at, "a state"),
      RowMutation("r").Delete("f:q"),
      RowMutation("r").DeleteTimeRange("f:q", Timestamp(1000), at),
      RowMutation("r").DeleteTimeRange("f:q", Timestamp(1000), Timestamp::Max()),
      RowMutation("r").DeleteFamily("f"),
      RowMutation("r").DeleteRow().Set("f:q", at, "v").Delete("g:q"),
  };
  for (const RowMutation& mutation : mutations) {
    const RowMutation again = MutationAgain(mutation);
    EXPECT_EQ(again.row(), mutation.row());
    EXPECT_EQ(OperationsOf(again), OperationsOf(mutation));
  }
}

TEST(MutationRoundTripTest, WhatTheApiDoesNotHaveIsTheNearest) {
  const RowMutation now = MutationAgain(RowMutation("r").Set("f:q", "v"));
  EXPECT_EQ(OperationsOf(now), OperationsOf(RowMutation("r").Set("f:q", Timestamp(7000), "v")));
  const RowMutation cell = MutationAgain(RowMutation("r").DeleteCell("f:q", Timestamp(3000)));
  EXPECT_EQ(OperationsOf(cell), OperationsOf(RowMutation("r").DeleteTimeRange(
                                    "f:q", Timestamp(3000), Timestamp(4000))));
}

TEST(ReadModifyWriteRoundTripTest, RulesComeBack) {
  ReadModifyWrite rules("r");
  rules.Increment("f:a:b", -7).Append("g:", "x").Append("f:q", "");
  v2::ReadModifyWriteRowRequest request;
  AppendRules(rules, request.mutable_rules());
  const absl::StatusOr<ReadModifyWrite> again = ToReadModifyWrite("r", request.rules());
  ASSERT_TRUE(again.ok()) << again.status();
  const auto& expected = RowRules::RulesOf(rules);
  const auto& found = RowRules::RulesOf(*again);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].column, expected[i].column);
    EXPECT_EQ(found[i].family_size, expected[i].family_size);
    EXPECT_EQ(found[i].is_increment, expected[i].is_increment);
    EXPECT_EQ(found[i].amount, expected[i].amount);
    EXPECT_EQ(found[i].bytes, expected[i].bytes);
  }
}

// --- Rows and ranges ---

TEST(RowSetRoundTripTest, RangesComeBack) {
  const std::vector<RowRange> sets[] = {
      {RowRange::All()},
      {RowRange::Single("a")},
      {RowRange::RightOpen("a", "b"), RowRange::StartingAt("c")},
      {RowRange::Prefix("p"), RowRange::Single("s"), RowRange::Closed("x", "y")}};
  for (const std::vector<RowRange>& ranges : sets) {
    EXPECT_EQ(ToRowSet(ToProto(ranges)).value().Normalized(), ranges);
  }
}

TEST(TimeRangeRoundTripTest, WholeMillisecondsComeBack) {
  for (const TimeRange& range : {TimeRange{0, TimeRange::kNoEnd}, TimeRange{1000, 2000},
                                 TimeRange{5000, TimeRange::kNoEnd}}) {
    const absl::StatusOr<TimeRange> again = ToTimeRange(ToProto(range).value());
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->begin, range.begin);
    EXPECT_EQ(again->end, range.end);
  }
}

TEST(TimeRangeRoundTripTest, EndsBecomeTheNextMillisecond) {
  constexpr int64_t kLast = TimeRange::kNoEnd - TimeRange::kNoEnd % 1000;
  struct Case {
    TimeRange from;
    TimeRange to;
  };
  for (const auto& [from, to] :
       {Case{{1, 1001}, {1000, 2000}}, Case{{-1, 1}, {0, 1000}}, Case{{-2000, 1000}, {0, 1000}},
        Case{{-2000, -1000}, {0, 0}}, Case{{-1, 0}, {0, 0}}, Case{{0, kLast}, {0, kLast}},
        Case{{0, kLast + 1}, {0, TimeRange::kNoEnd}},
        Case{{kLast, TimeRange::kNoEnd}, {kLast, TimeRange::kNoEnd}},
        Case{{kLast + 1, TimeRange::kNoEnd}, {0, 0}}}) {
    const TimeRange found = WithWholeMilliseconds(from);
    EXPECT_EQ(found.begin, to.begin) << from.begin << " to " << from.end;
    EXPECT_EQ(found.end, to.end) << from.begin << " to " << from.end;
  }
}

// The engine takes any range that is not empty.
TEST(FilterRoundTripTest, TimestampsBeforeTheFirstAndAfterTheLastMillisecond) {
  EXPECT_EQ(BytesOf(FilterAgain(Filter::TimestampRange(Timestamp(-2000), Timestamp(1000)))),
            BytesOf(Filter::TimestampRange(Timestamp(0), Timestamp(1000))));
  EXPECT_EQ(BytesOf(FilterAgain(Filter::TimestampRange(Timestamp(-2), Timestamp(-1)))),
            BytesOf(Filter::BlockAll()));
  const Timestamp last(TimeRange::kNoEnd - TimeRange::kNoEnd % 1000);
  EXPECT_EQ(BytesOf(FilterAgain(Filter::TimestampRange(last, Timestamp::Max()))),
            BytesOf(Filter::TimestampRange(last, Timestamp::Max())));
}

// A row as a message brings it: its families in the order of their names, with the largest values
// in several chunks.
Row RowOf(std::string_view key) {
  auto cells = MakeRef<OwnedCells>();
  cells->cells = {{"f", "a", 2000, "new", ""},
                  {"f", "a", 1000, "old", "label"},
                  {"f", "b", 0, std::string(2 * kMaxChunkValueSize + 1, 'v'), ""},
                  {"g", "", 3000, "", "label"},
                  {"g", "z", 3000, std::string(kMaxChunkValueSize, 'w'), ""}};
  Row row;
  OwnedCells::MoveTo(std::move(cells), key, &row);
  return row;
}

void ExpectSameRow(const Row& found, const Row& expected) {
  EXPECT_EQ(found.key(), expected.key());
  ASSERT_EQ(found.cells().size(), expected.cells().size());
  for (size_t i = 0; i < found.cells().size(); ++i) {
    const Cell& a = found.cells()[i];
    const Cell& b = expected.cells()[i];
    EXPECT_EQ(a.family, b.family);
    EXPECT_EQ(a.qualifier, b.qualifier);
    EXPECT_EQ(a.timestamp, b.timestamp);
    EXPECT_TRUE(a.value == b.value) << "cell " << i;
    EXPECT_EQ(std::vector<std::string>(a.labels.begin(), a.labels.end()),
              std::vector<std::string>(b.labels.begin(), b.labels.end()));
  }
}

TEST(RowRoundTripTest, ARowComesBack) {
  const Row row = RowOf("r");
  v2::Row message;
  ToRowMessage(row, &message);
  const absl::StatusOr<Row> again = ToRow(message);
  ASSERT_TRUE(again.ok()) << again.status();
  ExpectSameRow(*again, row);
}

TEST(RowRoundTripTest, RowsThatAreNoneAreErrors) {
  const auto error = [](const std::string& cell) {
    const absl::Status status =
        ToRow(ParseText<v2::Row>("key: 'r' families { name: 'f' columns { " + cell + " } }"))
            .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << cell;
    return std::string(status.message());
  };
  EXPECT_EQ(error(""), "the server's answer has no cell of row \"r\"");
  EXPECT_EQ(error("cells { timestamp_micros: -1 }"), "the server's row has a cell at -1");
  EXPECT_EQ(error("cells { labels: 'a' labels: 'b' }"),
            "the server's row has a cell with 2 labels");
}

TEST(RowRoundTripTest, RowsComeBackFromChunks) {
  const std::vector<RowRange> all = {RowRange::All()};
  ChunkMerger merger(&all, /*reverse=*/false);
  RowChunks chunks(1000);  // most rows are in several messages
  std::vector<Row> found;
  const auto receive = [&] {
    v2::ReadRowsResponse response;
    ASSERT_TRUE(response.ParseFromString(chunks.Take()));
    for (auto& chunk : *response.mutable_chunks()) {
      Row row;
      const absl::StatusOr<bool> is_whole = merger.Add(&chunk, &row);
      ASSERT_TRUE(is_whole.ok()) << is_whole.status();
      if (*is_whole) found.push_back(std::move(row));
    }
  };
  for (const char* key : {"a", "b", "c"}) {
    const Row row = RowOf(key);
    while (!chunks.Write(row)) receive();
  }
  receive();
  EXPECT_TRUE(merger.End().ok());
  ASSERT_EQ(found.size(), 3);
  ExpectSameRow(found[0], RowOf("a"));
  ExpectSameRow(found[2], RowOf("c"));
}

// --- Schemas ---

std::vector<GcRule> Rules() {
  const GcRule three = GcRule::MaxVersions(3);
  const GcRule hour = GcRule::MaxAge(absl::Hours(1));
  return {GcRule(),
          three,
          hour,
          GcRule::Union(three, hour),
          GcRule::Intersection(three, hour),
          GcRule::Union(GcRule::Intersection(three, hour), GcRule::MaxVersions(9))};
}

TEST(ValueTypeRoundTripTest, EveryTypeComesBack) {
  for (int i = 0; i <= static_cast<int>(kLastValueType); ++i) {
    const auto type = static_cast<ValueType>(i);
    EXPECT_EQ(ToValueType(ToProto(type)).value(), type);
    EXPECT_TRUE(CheckValueType(ToProto(type)).ok());
    const Family family = {.value_type = type};
    EXPECT_EQ(ToFamily(ToProto(family)).value(), family);
    EXPECT_EQ(ToRequestedFamily(ToProto(family)).value(), family);
  }
}

TEST(SchemaRoundTripTest, FamiliesComeBack) {
  TableSchema schema;
  for (const GcRule& rule : Rules()) {
    schema.families["r" + std::to_string(schema.families.size())] = {.gc = rule};
  }
  schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
  const auto message = ToProto(schema);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(ToSchema(*message).value().families, schema.families);
}

TEST(SchemaRoundTripTest, ARequestHasNothingThatIsOutputOnly) {
  const Family family = {.gc = GcRule::MaxVersions(1), .value_type = ValueType::kInt64Max};
  const Modification create = ToProto(FamilyChange::Add("f", family)).value();
  EXPECT_EQ(create.id(), "f");
  EXPECT_FALSE(create.create().value_type().aggregate_type().has_state_type());
  EXPECT_EQ(ToRequestedFamily(create.create()).value(), family);
  const Modification update =
      ToProto(FamilyChange::Update("f", {.gc = GcRule::MaxVersions(2)})).value();
  EXPECT_EQ(ToFamily(update.update()).value().gc, GcRule::MaxVersions(2));
  EXPECT_EQ(ShowMessage(update.update_mask()), "paths: \"gc_rule\"");
  EXPECT_TRUE(ToProto(FamilyChange::Drop("f")).value().drop());
}

// --- Statuses ---

TEST(StatusRoundTripTest, EveryCodeComesBack) {
  for (int code = 0; code <= 16; ++code) {
    absl::Status status(static_cast<absl::StatusCode>(code), code == 0 ? "" : "why");
    EXPECT_EQ(ToStatus(ToGrpcStatus(status)), status);
    EXPECT_EQ(ToStatus(ToRpcStatus(status)), status);
  }
}

TEST(StatusRoundTripTest, TheTimeToWaitComesBack) {
  const absl::Status status = UnavailableFor(absl::Milliseconds(2500), "later");
  EXPECT_EQ(ToStatus(ToGrpcStatus(status)), status);
  EXPECT_EQ(RetryAfter(ToStatus(ToRpcStatus(status))), absl::Milliseconds(2500));
}

TEST(StatusRoundTripTest, NumbersThatAreNoCodesAreUnknown) {
  for (const int code : {-1, 17, 77}) {
    google::rpc::Status message;
    message.set_code(code);
    EXPECT_EQ(ToStatus(message).code(), absl::StatusCode::kUnknown);
  }
}

TEST(DurationRoundTripTest, NanosecondsComeBack) {
  for (const absl::Duration duration : {absl::ZeroDuration(), absl::Nanoseconds(1),
                                        absl::Milliseconds(1500), absl::Hours(1 << 20)}) {
    EXPECT_EQ(ToDuration(ToProto(duration)), duration);
    EXPECT_TRUE(IsDuration(ToProto(duration)));
  }
  EXPECT_TRUE(IsDuration(ToProto(absl::InfiniteDuration())));
}

}  // namespace
}  // namespace bigtable::convert
