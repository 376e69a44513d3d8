// How a server answers requests: which it refuses, and where its answers end.
#include "serving/data_server.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"

#include "admission/quota_control.h"
#include "base/coding.h"
#include "lockservice/local_lock_service.h"
#include "metadata/metadata_format.h"
#include "rpc/cell_block.h"
#include "rpc/filter_format.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class DataServerTest : public StartedServerFixture {
 protected:
  using Verdict = MutateResponse::Verdict;

  static std::string SetOf(std::string_view value = "v", std::string_view qualifier = "q") {
    std::string operations;
    AppendOperation(&operations, {.family = "f", .qualifier = qualifier, .value = value});
    return operations;
  }
  MutateRequest RequestOf(const std::vector<EncodedMutation>& mutations) {
    return {.server = "server-1",
            .table_id = kTableId,
            .id = {.client = 1, .number = ++number_},
            .mutations = mutations};
  }
  MutateResponse Mutate(const MutateRequest& request) {
    absl::StatusOr<MutateResponse> response = service_.Mutate(request);
    EXPECT_OK(response);
    return response.ok() ? *std::move(response) : MutateResponse();
  }
  // Of a request with one mutation.
  absl::Status StatusOfOne(const EncodedMutation& mutation) {
    const MutateResponse response = Mutate(RequestOf({mutation}));
    EXPECT_EQ(response.verdict, Verdict::kDone);
    return response.statuses.size() == 1 ? response.statuses[0] : absl::InternalError("none");
  }

  ScanRequest ScanOf(const RowRange& range, uint64_t row_limit = 0) const {
    return {.server = "server-1", .table_id = kTableId, .range = range, .row_limit = row_limit};
  }
  static std::string ShowRange(const RowRange& range) {
    std::string text = absl::StrCat("[", range.begin(), ",", range.end().value_or(""), ")");
    while (text.find('\0') != text.npos) text.replace(text.find('\0'), 1, "+");
    return text;
  }
  // "a b | [b+,)": the rows, once for each cell, and the rest; "superseded".
  std::string Scan(const ScanRequest& request) {
    const absl::StatusOr<ScanResponse> response = service_.Scan(request);
    EXPECT_OK(response);
    if (!response.ok()) return "error";
    if (response->superseded) return "superseded";
    EXPECT_OK(response->status);
    std::string text;
    CellBlockReader cells(response->cells);
    while (cells.Next()) absl::StrAppend(&text, std::string(cells.cell().row), " ");
    EXPECT_TRUE(cells.ok());
    return text + (response->rest.has_value() ? "| " + ShowRange(*response->rest) : "|");
  }
  std::string ScanBack(const RowRange& range, uint64_t row_limit = 0) {
    ScanRequest request = ScanOf(range, row_limit);
    request.reverse = true;
    return Scan(request);
  }

  QuotaControl quotas_{[this] { return now_; }};
  int64_t now_ = 1'000'000'000;
  DataPath path_{server_.get(), nullptr, nullptr, &quotas_, DataPath::Writes::kLogged};
  DataServer service_{&path_};
  uint64_t number_ = 0;
};

// --- Whose request it is ---

TEST_F(DataServerTest, ARequestForAnotherServerIsNotCarriedOut) {
  const std::string set = SetOf();
  MutateRequest request = RequestOf({{"a", set}});
  request.server = "server-2";
  EXPECT_EQ(Mutate(request).verdict, Verdict::kOtherServer);
  ScanRequest scan = ScanOf(RowRange::All());
  scan.server = "server-2";
  EXPECT_EQ(Scan(scan), "superseded");
  EXPECT_TRUE(tablet_->Version()->groups()[0].active->empty());
}

TEST_F(DataServerTest, AServerThatHasNotBegunHasNoNameUnlessItNeedsNoLog) {
  const std::unique_ptr<TabletServer> other = MakeServer();
  other->mutable_environment()->server = "server-2";
  const std::string set = SetOf();
  MutateRequest request = RequestOf({{"a", set}});
  request.server = "server-2";
  const DataPath logged(other.get(), nullptr, nullptr, nullptr, DataPath::Writes::kLogged);
  EXPECT_EQ(DataServer(&logged).Mutate(request)->verdict, Verdict::kOtherServer);
  const DataPath in_memory(other.get(), nullptr, nullptr, nullptr, DataPath::Writes::kInMemory);
  EXPECT_EQ(DataServer(&in_memory).Mutate(request)->verdict, Verdict::kMoved);
  const DataPath refused(other.get(), nullptr, nullptr, nullptr, DataPath::Writes::kRefused);
  EXPECT_STATUS(kFailedPrecondition, "read-only", DataServer(&refused).Mutate(request));
}

TEST_F(DataServerTest, AServerThatHasLostItsLockCarriesNothingOut) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LocalLockService> locks,
                       LocalLockService::Open(&file_system_, "/locks", &clock_));
  const std::unique_ptr<TabletServer> other = MakeServer();
  ASSERT_OK(other->Start("server-2", "/log2", locks.get(), absl::InfiniteDuration()));
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Tablet> tablet,
                       Tablet::Open(other->environment(), tablet_->Layout(), {}));
  other->AddTablet(tablet);
  const DataPath path(other.get(), nullptr, nullptr, nullptr, DataPath::Writes::kLogged);
  DataServer service(&path);
  const std::string set = SetOf();
  MutateRequest request = RequestOf({{"a", set}});
  request.server = "server-2";
  ScanRequest scan = ScanOf(RowRange::All());
  scan.server = "server-2";
  EXPECT_EQ(service.Mutate(request)->verdict, Verdict::kDone);
  EXPECT_FALSE(service.Scan(scan)->superseded);
  other->state().Abandon();
  request.id.number = ++number_;
  EXPECT_EQ(service.Mutate(request)->verdict, Verdict::kMoved);
  EXPECT_TRUE(service.Scan(scan)->superseded);
}

TEST_F(DataServerTest, RowsThatAreNotInOneTabletOfTheServerHaveMoved) {
  const std::string set = SetOf();
  EXPECT_EQ(Mutate(RequestOf({{"a", set}, {"c", set}})).verdict, Verdict::kDone);
  server_->SplitTablet(tablet_, "b", [](const Tablet::Halves&) {});
  EXPECT_EQ(Mutate(RequestOf({{"a", set}, {"b", set}})).verdict, Verdict::kMoved);
  EXPECT_EQ(Mutate(RequestOf({{"b", set}, {"c", set}})).verdict, Verdict::kDone);
  MutateRequest other_table = RequestOf({{"a", set}});
  other_table.table_id = kOtherTableId;
  EXPECT_EQ(Mutate(other_table).verdict, Verdict::kMoved);
}

// --- What is wrong with a request ---

TEST_F(DataServerTest, AMutationKeepsWithinTheLimitsOfRowMutation) {
  const std::string set = SetOf();
  EXPECT_STATUS(kInvalidArgument, "and one has 0", StatusOfOne({"", set}));
  const std::string row(RowMutation::kMaxRowSize, 'r');
  EXPECT_OK(StatusOfOne({row, set}));
  EXPECT_STATUS(kInvalidArgument, "1 to 65536 bytes", StatusOfOne({row + "r", set}));
  const std::string qualifier(RowMutation::kMaxQualifierSize, 'q');
  EXPECT_OK(StatusOfOne({"row", SetOf("v", qualifier)}));
  EXPECT_STATUS(kInvalidArgument, "beyond the limits",
                StatusOfOne({"row", SetOf("v", qualifier + "q")}));
  EXPECT_STATUS(kInvalidArgument, "not well formed", StatusOfOne({"row", "\xff"}));
  EXPECT_STATUS(kInvalidArgument, "no operations", StatusOfOne({"row", ""}));
}

// The table is not on this server, which is found out after the check.
TEST_F(DataServerTest, AMutationHasAMillionOperationsAtMost) {
  std::string operations;
  AppendOperation(&operations, MutationOperation::DeleteRow());
  ASSERT_EQ(operations.size(), 1u);
  operations.resize(RowMutation::kMaxOperations, operations[0]);
  MutateRequest request = RequestOf({{"row", operations}});
  request.table_id = kOtherTableId;
  EXPECT_EQ(Mutate(request).verdict, Verdict::kMoved);
  operations.push_back(operations[0]);
  request = RequestOf({{"row", operations}});
  request.table_id = kOtherTableId;
  const MutateResponse response = Mutate(request);
  ASSERT_EQ(response.statuses.size(), 1u);
  EXPECT_STATUS(kInvalidArgument, "beyond the limits", response.statuses[0]);
}

// Of memory that nobody touches.
TEST_F(DataServerTest, AValueAndAMutationHaveASizeAtMost) {
  constexpr size_t kBytes = size_t{2} << 30;
  void* const mapped = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  char* const memory = static_cast<char*>(mapped);
  const auto set_of = [&](uint64_t value_size) {
    std::string head(
        "\x81\x01"
        "f\x01q",
        5);
    AppendVarint64(&head, value_size);
    std::copy(head.begin(), head.end(), memory);
    return std::string_view(memory, head.size() + value_size);
  };
  const auto verdict = [&](std::string_view operations) {
    MutateRequest request = RequestOf({{"row", operations}});
    request.table_id = kOtherTableId;
    const MutateResponse response = Mutate(request);
    return response.verdict == Verdict::kMoved ? absl::OkStatus() : response.statuses.at(0);
  };
  EXPECT_OK(verdict(set_of(RowMutation::kMaxValueSize)));
  EXPECT_STATUS(kInvalidArgument, "beyond the limits",
                verdict(set_of(RowMutation::kMaxValueSize + 1)));
  const size_t most = RowMutation::kMaxSize - 3;
  set_of(0);
  EXPECT_STATUS(kInvalidArgument, "not well formed", verdict({memory, most}));
  EXPECT_STATUS(kInvalidArgument, "must be at most", verdict({memory, most + 1}));
  ::munmap(mapped, kBytes);
}

TEST_F(DataServerTest, ARowOfMetadataHasTheIdOfATableBeforeIt) {
  const std::string set = SetOf();
  const std::string row(RowMutation::kMaxRowSize + kMostIdBytes, 'r');
  MutateRequest request = RequestOf({{row, set}});
  request.table_id = kMetadataTableId;
  EXPECT_EQ(Mutate(request).verdict, Verdict::kMoved);  // it is not on this server
  const std::string longer = row + "r";
  request = RequestOf({{longer, set}});
  request.table_id = kMetadataTableId;
  const MutateResponse response = Mutate(request);
  ASSERT_EQ(response.statuses.size(), 1u);
  EXPECT_STATUS(kInvalidArgument, "row key", response.statuses[0]);
}

TEST_F(DataServerTest, ABadMutationFailsAlone) {
  const std::string set = SetOf();
  const MutateResponse response = Mutate(RequestOf({{"", set}, {"a", set}, {"b", "\xff"}}));
  ASSERT_EQ(response.statuses.size(), 3u);
  EXPECT_STATUS(kInvalidArgument, "row key", response.statuses[0]);
  EXPECT_OK(response.statuses[1]);
  EXPECT_STATUS(kInvalidArgument, "not well formed", response.statuses[2]);
  EXPECT_EQ(Scan(ScanOf(RowRange::All())), "a |");
}

TEST_F(DataServerTest, ACellWithoutATimestampTakesTheServersTime) {
  for (int i = 0; i < 3; ++i) EXPECT_OK(StatusOfOne({"a", SetOf()}));
  EXPECT_EQ(Scan(ScanOf(RowRange::All())), "a a a |");
}

TEST_F(DataServerTest, APreconditionIsOfOneMutation) {
  const std::string set = SetOf();
  MutateRequest request = RequestOf({{"a", set}, {"b", set}});
  request.unchanged_since = server_->visible();
  for (const absl::Status& status : Mutate(request).statuses) {
    EXPECT_STATUS(kInvalidArgument, "for one mutation, and there are 2", status);
  }
  request = RequestOf({{"a", set}});
  request.unchanged_since = server_->visible();
  request.is_batch = true;
  EXPECT_STATUS(kInvalidArgument, "and there are 1", Mutate(request).statuses.at(0));
}

TEST_F(DataServerTest, APreconditionThatDoesNotHoldIsAConflict) {
  const std::string set = SetOf();
  ASSERT_OK(server_->TrackWrites({}));
  const SequenceNumber before = server_->visible();
  MutateRequest request = RequestOf({{"a", set}});
  request.unchanged_since = before;
  EXPECT_EQ(Mutate(request).verdict, Verdict::kDone);
  request = RequestOf({{"a", set}});
  request.unchanged_since = before;
  EXPECT_EQ(Mutate(request).verdict, Verdict::kConflict);
  request = RequestOf({{"a", set}});
  request.unchanged_since = server_->visible();
  EXPECT_EQ(Mutate(request).verdict, Verdict::kDone);
}

// --- Quotas ---

TEST_F(DataServerTest, AQuotaIsOfTheMutationsThatAreRight) {
  QuotaSet set_of_quotas;
  set_of_quotas.SetTable(kTableId, "t", {.requests_per_second = 4, .bytes_per_second = 1000});
  quotas_.Use(set_of_quotas);
  const std::string set = SetOf();
  EXPECT_OK(Mutate(RequestOf({{"a", set}, {"", set}, {"b", set}, {"c", "\xff"}})).statuses.at(2));
  EXPECT_OK(Mutate(RequestOf({{"a", set}, {"b", set}})).statuses.at(1));
  const MutateResponse refused = Mutate(RequestOf({{"a", set}, {"", set}}));
  EXPECT_STATUS(kResourceExhausted, "4 requests a second of table t", refused.statuses.at(0));
  EXPECT_STATUS(kInvalidArgument, "row key", refused.statuses.at(1));
  now_ += 1'000'000'000;
  const std::string large = SetOf(std::string(990, 'v'));
  EXPECT_OK(StatusOfOne({"a", large}));
  EXPECT_STATUS(kResourceExhausted, "1000 bytes a second", StatusOfOne({"a", large}));
}

TEST_F(DataServerTest, AReadTakesWhatItReturnsOfAQuota) {
  ASSERT_OK(Write("a", std::string(1500, 'v')));
  QuotaSet set_of_quotas;
  set_of_quotas.SetTable(kTableId, "t", {.bytes_per_second = 1000});
  quotas_.Use(set_of_quotas);
  EXPECT_EQ(Scan(ScanOf(RowRange::All())), "a |");
  const absl::StatusOr<ScanResponse> refused = service_.Scan(ScanOf(RowRange::All()));
  ASSERT_OK(refused);
  EXPECT_STATUS(kResourceExhausted, "1000 bytes a second of table t", refused->status);
  EXPECT_TRUE(refused->cells.empty());
}

// --- Where a response ends ---

TEST_F(DataServerTest, AnEmptyRangeAndABadFilterAreInvalid) {
  EXPECT_STATUS(kInvalidArgument, "empty", service_.Scan(ScanOf(RowRange::RightOpen("b", "b"))));
  ScanRequest request = ScanOf(RowRange::All());
  request.filter = "\xff";
  EXPECT_STATUS(kInvalidArgument, "", service_.Scan(request));
}

TEST_F(DataServerTest, AResponseEndsAtItsLimitOfRows) {
  for (const std::string_view row : {"a", "b", "c"}) ASSERT_OK(Write(row));
  EXPECT_EQ(Scan(ScanOf(RowRange::All())), "a b c |");
  EXPECT_EQ(Scan(ScanOf(RowRange::All(), 2)), "a b | [b+,)");
  EXPECT_EQ(Scan(ScanOf(RowRange::All(), 3)), "a b c | [c+,)");
  EXPECT_EQ(Scan(ScanOf(RowRange::All(), 4)), "a b c |");
  EXPECT_EQ(Scan(ScanOf(RowRange::Closed("a", "b"), 2)), "a b |");
  EXPECT_EQ(Scan(ScanOf(RowRange::Single("b"), 1)), "b |");
  EXPECT_EQ(Scan(ScanOf(RowRange::Single("x"), 1)), "|");
  EXPECT_EQ(ScanBack(RowRange::All(), 2), "c b | [,b)");
  EXPECT_EQ(ScanBack(RowRange::StartingAt("b"), 2), "c b |");
  EXPECT_EQ(ScanBack(RowRange::StartingAt("a1"), 2), "c b | [a1,b)");
}

TEST_F(DataServerTest, AResponseEndsWithTheRowThatReachesItsBytes) {
  for (const std::string_view row : {"a", "b", "c"}) ASSERT_OK(Write(row, std::string(100, 'v')));
  ScanRequest request = ScanOf(RowRange::All());
  request.max_bytes = 150;
  EXPECT_EQ(Scan(request), "a b | [b+,)");
  request.max_bytes = 0;  // taken for 1
  EXPECT_EQ(Scan(request), "a | [a+,)");
  // Exactly the bytes of the first row.
  request.max_bytes = service_.Scan(request)->cells.size();
  EXPECT_EQ(Scan(request), "a | [a+,)");
  ++request.max_bytes;
  EXPECT_EQ(Scan(request), "a b | [b+,)");
}

TEST_F(DataServerTest, AResponseEndsWithItsTablet) {
  for (const std::string_view row : {"a", "c"}) ASSERT_OK(Write(row));
  server_->SplitTablet(tablet_, "b", [](const Tablet::Halves&) {});
  EXPECT_EQ(Scan(ScanOf(RowRange::All())), "a | [b,)");
  EXPECT_EQ(Scan(ScanOf(RowRange::RightOpen("", "b"))), "a |");
  EXPECT_EQ(Scan(ScanOf(RowRange::RightOpen("", "b1"))), "a | [b,b1)");
  EXPECT_EQ(Scan(ScanOf(RowRange::StartingAt("b"))), "c |");
  EXPECT_EQ(ScanBack(RowRange::All()), "c | [,b)");
  EXPECT_EQ(ScanBack(RowRange::StartingAt("b")), "c |");
  EXPECT_EQ(ScanBack(RowRange::StartingAt("a1")), "c | [a1,b)");
  EXPECT_EQ(ScanBack(RowRange::RightOpen("", "b")), "a |");
  ScanRequest other_table = ScanOf(RowRange::All());
  other_table.table_id = kOtherTableId;
  EXPECT_EQ(Scan(other_table), "superseded");
}

TEST_F(DataServerTest, AFilterThatNeedsTheRowEndsResponsesInTheSamePlaces) {
  for (const std::string_view row : {"a", "b", "c"}) ASSERT_OK(Write(row));
  const Filter twice = Filter::Interleave(Filter(), Filter::ApplyLabel("l"));
  const std::string encoded = EncodeFilter(twice).value();
  ScanRequest request = ScanOf(RowRange::All(), 2);
  request.filter = encoded;
  EXPECT_EQ(Scan(request), "a a b b | [b+,)");
  request.row_limit = 0;
  EXPECT_EQ(Scan(request), "a a b b c c |");
  const ScanResponse response = *service_.Scan(request);
  CellBlockReader labelled(response.cells);
  ASSERT_TRUE(labelled.Next());
  EXPECT_EQ(labelled.cell().label, "");
  EXPECT_TRUE(labelled.is_new_row());
  ASSERT_TRUE(labelled.Next());
  EXPECT_EQ(labelled.cell().label, "l");
  EXPECT_FALSE(labelled.is_new_row());
}

TEST_F(DataServerTest, AReadIsOfItsSequenceNumber) {
  ASSERT_OK(Write("a"));
  ScanRequest earlier = ScanOf(RowRange::All());
  earlier.sequence = server_->visible();
  ASSERT_LT(*earlier.sequence, kTableId);
  EXPECT_EQ(Scan(earlier), "|") << "before the table was created, which is when it got its id";
  while (server_->visible() < kTableId) ASSERT_OK(Write("a"));
  const std::string rows = Scan(ScanOf(RowRange::All()));
  const SequenceNumber before = server_->visible();
  ASSERT_OK(Write("b"));
  ScanRequest request = ScanOf(RowRange::All());
  EXPECT_EQ(service_.Scan(request)->sequence, server_->visible());
  request.sequence = before;
  EXPECT_EQ(Scan(request), rows);
  EXPECT_EQ(service_.Scan(request)->sequence, before);
}

}  // namespace
}  // namespace bigtable
