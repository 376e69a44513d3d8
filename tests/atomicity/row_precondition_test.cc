// The precondition of a write, that its row has not been written since a read sequence: when it
// fails, when it must not, and what a repeated request gets.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "schema/mutation_format.h"
#include "support/remote_fixture.h"

namespace bigtable {
namespace {

using Verdict = MutateResponse::Verdict;

class RowPreconditionTest : public RemoteFixture {
 protected:
  // One tablet of "t" on one server.
  void SetUp() override {
    OpenRemotely(1, {});
    table_ = CreateStillTable();
    ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), "0")));
    server_ = peer_->Servers()[0];
    service_ = network_->To(HostOf(server_));
    table_id_ = server_->tablets().All()[0]->table_id();
    // The server notes its writes from its first precondition on.
    EXPECT_EQ(WriteSince(ReadSequence("r"), "r", "none"), Verdict::kConflict);
  }

  SequenceNumber ReadSequence(std::string_view row) {
    ScanRequest request;
    request.server = server_->name();
    request.table_id = table_id_;
    request.range = RowRange::Single(row);
    const absl::StatusOr<ScanResponse> response = service_->Scan(request);
    EXPECT_OK(response);
    return response.ok() ? response->sequence : 0;
  }
  MutateResponse Write(SequenceNumber since, std::string_view row, std::string_view value,
                       uint64_t number) {
    const RowMutation mutation = RowMutation(row).Set("f:q", Timestamp(1), value);
    MutateRequest request;
    request.server = server_->name();
    request.table_id = table_id_;
    request.id = {.client = 99, .slot = 0, .number = number};
    request.unchanged_since = since;
    request.mutations = {{mutation.row(), EncodedMutation::Of(mutation).operations}};
    absl::StatusOr<MutateResponse> response = service_->Mutate(request);
    EXPECT_OK(response);
    return response.ok() ? *response : MutateResponse();
  }
  Verdict WriteSince(SequenceNumber since, std::string_view row, std::string_view value) {
    const MutateResponse response = Write(since, row, value, ++requests_);
    for (const absl::Status& status : response.statuses) EXPECT_OK(status);
    return response.verdict;
  }

  Table* table_ = nullptr;
  TabletServer* server_ = nullptr;
  DataService* service_ = nullptr;
  uint64_t table_id_ = 0;
  uint64_t requests_ = 0;
};

TEST_F(RowPreconditionTest, ARowThatWasWrittenSinceIsAConflict) {
  const SequenceNumber since = ReadSequence("r");
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:other", Timestamp(1), "x")));
  EXPECT_EQ(WriteSince(since, "r", "1"), Verdict::kConflict);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:other@1=x f:q@1=0");
  ASSERT_OK(table_->Apply(RowMutation("another").Set("f:q", "x")));
  EXPECT_EQ(WriteSince(ReadSequence("r"), "r", "1"), Verdict::kDone);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:other@1=x f:q@1=1");
}

TEST_F(RowPreconditionTest, AConflictIsNotLogged) {
  const SequenceNumber since = ReadSequence("r");
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), "1")));
  const uint64_t records = server_->log().statistics().records;
  const uint64_t rows = server_->writer().rows_written();
  EXPECT_EQ(WriteSince(since, "r", "2"), Verdict::kConflict);
  EXPECT_EQ(server_->log().statistics().records, records);
  EXPECT_EQ(server_->writer().rows_written(), rows);
}

TEST_F(RowPreconditionTest, ARepeatedRequestGetsTheFirstResponse) {
  const SequenceNumber since = ReadSequence("r");
  EXPECT_EQ(Write(since, "r", "1", 50).verdict, Verdict::kDone);
  EXPECT_EQ(Write(since, "r", "1", 50).verdict, Verdict::kDone);
  ASSERT_OK(table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), "2")));
  EXPECT_EQ(Write(since, "r", "1", 50).verdict, Verdict::kDone);
  EXPECT_EQ(Write(since, "r", "1", 51).verdict, Verdict::kConflict);
  EXPECT_EQ(Write(since, "r", "1", 51).verdict, Verdict::kConflict);
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=2");
}

// The second one is not noted when the third is checked, if all are in one group.
TEST_F(RowPreconditionTest, OfConcurrentWritesWithOnePreconditionOneIsApplied) {
  for (int round = 0; round < 20; ++round) {
    const SequenceNumber since = ReadSequence("r");
    std::atomic<int> applied{0};
    std::vector<std::thread> threads;
    server_->writer().queue()->RunExclusive([&] {
      for (uint32_t i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
          const RowMutation mutation = RowMutation("r").Set("f:q", Timestamp(1), Cat(round, i));
          MutateRequest request;
          request.server = server_->name();
          request.table_id = table_id_;
          request.id = {.client = 99, .slot = i + 1, .number = static_cast<uint64_t>(round) + 1};
          request.unchanged_since = since;
          request.mutations = {{mutation.row(), EncodedMutation::Of(mutation).operations}};
          const absl::StatusOr<MutateResponse> response = service_->Mutate(request);
          ASSERT_OK(response);
          if (response->verdict == Verdict::kDone) ++applied;
        });
      }
      absl::SleepFor(absl::Milliseconds(5));
    });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(applied, 1);
  }
}

// Nothing is known of writes before: by another server, or by an earlier opening.
TEST_F(RowPreconditionTest, ReadsFromBeforeALoadOrAChangeOfTheSchemaAreConflicts) {
  SequenceNumber since = ReadSequence("r");
  ASSERT_OK(database_->AddFamily("t", "g", {}));
  EXPECT_EQ(WriteSince(since, "r", "1"), Verdict::kConflict);
  since = ReadSequence("r");
  EXPECT_EQ(WriteSince(since, "r", "1"), Verdict::kDone);
  since = ReadSequence("r");
  server_->AdvanceVisible(0);  // as for a tablet that is loaded
  EXPECT_EQ(WriteSince(since, "r", "2"), Verdict::kConflict);
  EXPECT_EQ(WriteSince(ReadSequence("r"), "r", "2"), Verdict::kDone);
  EXPECT_EQ(WriteSince(ReadSequence("r") - 1, "r", "3"), Verdict::kConflict);
}

TEST_F(RowPreconditionTest, APreconditionIsForOneMutation) {
  const RowMutation mutation = RowMutation("r").Set("f:q", Timestamp(1), "v");
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  MutateRequest request;
  request.server = server_->name();
  request.table_id = table_id_;
  request.unchanged_since = ReadSequence("r");
  for (const bool is_batch : {false, true}) {
    request.id = {.client = 98, .slot = 0, .number = is_batch ? 2u : 1u};
    request.is_batch = is_batch;
    request.mutations.assign(is_batch ? 1 : 2, encoded);
    ASSERT_OK_AND_ASSIGN(const MutateResponse response, service_->Mutate(request));
    for (const absl::Status& status : response.statuses) {
      EXPECT_STATUS(kInvalidArgument, "a precondition is for one mutation", status);
    }
    EXPECT_EQ(response.statuses.size(), is_batch ? 1u : 2u);
  }
  EXPECT_EQ(Show(table_->ReadRow("r")), "f:q@1=0");
}

}  // namespace
}  // namespace bigtable
