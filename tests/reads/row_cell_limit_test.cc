// ReadOptions::cell_limit in reads of one row: with every kind of filter, from the scan cache, at
// snapshots, in transactions with writes of their own, and through messages.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/faulty_network.h"

namespace bigtable {
namespace {

class RowCellLimitTest : public DatabaseFixture {
 protected:
  void OpenHere(bool scan_cache = false) {
    DatabaseOptions options = Options();
    options.scan_cache = scan_cache;
    Open(options);
    TableSchema schema;
    schema.families["f"] = {};
    schema.families["g"] = {};
    ASSERT_OK(database_->CreateTable("t", schema));
    table_ = OpenTable("t");
    for (const int64_t timestamp : {1, 2, 3}) Set(table_, "r", "f:q", timestamp, "v");
    Set(table_, "r", "g:q", 1, "w");
  }
  void TearDown() override { database_.reset(); }
  std::string Read(int64_t cell_limit, const Filter& filter = {}) {
    return Show(table_->ReadRow("r", filter, {.cell_limit = cell_limit}));
  }
  // The same answers, wherever the row is read.
  void ExpectFirstCells() {
    EXPECT_EQ(Read(0), "f:q@3=v f:q@2=v f:q@1=v g:q@1=w");
    EXPECT_EQ(Read(1), "f:q@3=v");
    EXPECT_EQ(Read(3), "f:q@3=v f:q@2=v f:q@1=v");
    EXPECT_EQ(Read(4), Read(0));
    EXPECT_EQ(Read(9), Read(0));
    EXPECT_EQ(Read(1, Filter::Family("g")), "g:q@1=w");
    EXPECT_EQ(Read(2, Filter::Latest(1)), "f:q@3=v g:q@1=w");
    EXPECT_EQ(Read(1, Filter::TimestampRange(Timestamp(1), Timestamp(3))), "f:q@2=v");
    EXPECT_EQ(Read(3, Filter::Interleave(Filter::PassAll(), Filter::Latest(1))),
              "f:q@3=v f:q@3=v f:q@2=v");
    EXPECT_EQ(Read(1, Filter::Condition(Filter::Family("g"), Filter::Family("g"), Filter())),
              "g:q@1=w");
    EXPECT_STATUS(kInvalidArgument, "cell_limit must not be negative, and is -1",
                  table_->ReadRow("r", {}, {.cell_limit = -1}));
  }

  Table* table_ = nullptr;
};

TEST_F(RowCellLimitTest, ReturnsTheFirstCellsThatPassTheFilter) {
  OpenHere();
  ExpectFirstCells();
  ASSERT_OK(database_->Flush("t"));
  ExpectFirstCells();
}

TEST_F(RowCellLimitTest, TheScanCacheKeepsWholeRowsOnly) {
  OpenHere(/*scan_cache=*/true);
  ASSERT_OK(database_->Flush("t"));
  EXPECT_EQ(Read(1), "f:q@3=v");
  EXPECT_EQ(Read(0), "f:q@3=v f:q@2=v f:q@1=v g:q@1=w");
  ExpectFirstCells();
  EXPECT_GT(database_->Statistics().scan_cache_hits, 0u);
}

TEST_F(RowCellLimitTest, ASnapshotAndATransactionKeepIt) {
  OpenHere();
  ASSERT_OK_AND_ASSIGN(Transaction transaction, database_->BeginTransaction());
  ASSERT_OK_AND_ASSIGN(const auto snapshot, database_->TakeSnapshot());
  Set(table_, "r", "f:q", 9, "later");
  EXPECT_EQ(Show(table_->ReadRow("r", {}, {.snapshot = snapshot, .cell_limit = 2})),
            "f:q@3=v f:q@2=v");
  const auto read = [&](int64_t cell_limit, const Filter& filter = {}) {
    return Show(transaction.ReadRow(table_, "r", filter, {.cell_limit = cell_limit}));
  };
  EXPECT_EQ(read(2), "f:q@3=v f:q@2=v");
  ASSERT_OK(transaction.Apply(
      table_, RowMutation("r").Set("f:q", Timestamp(5), "own").DeleteCell("f:q", Timestamp(3))));
  EXPECT_EQ(read(2), "f:q@5=own f:q@2=v");
  EXPECT_EQ(read(1, Filter::Latest(1)), "f:q@5=own");
  EXPECT_EQ(read(3, Filter::Interleave(Filter::PassAll(), Filter::Latest(1))),
            "f:q@5=own f:q@5=own f:q@2=v");
  EXPECT_EQ(read(0), "f:q@5=own f:q@2=v f:q@1=v g:q@1=w");
}

TEST_F(RowCellLimitTest, ByMessages) {
  OpenHere();
  FaultyNetwork network(1, FaultyNetwork::Faults{});
  DatabasePeer(database_.get()).UseServices([&](ServerHost* host) { return network.To(host); });
  ExpectFirstCells();
  database_.reset();
}

}  // namespace
}  // namespace bigtable
