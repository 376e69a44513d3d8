// What a stream that is over still holds of the database: nothing. Compactions that had to respect
// what a stream sees say so.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "support/capturing_sink.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

constexpr const char* kRemoving = "test-removing";

// Removes every cell.
class RemovingFilter final : public CompactionFilter {
 public:
  Decision Filter(const CompactedCell&, std::string*) const override { return Decision::kRemove; }
};

const absl::Status registered_removing =
    RegisterCompactionFilter(kRemoving, std::make_unique<RemovingFilter>());

// "t" has the rows a, b and c in two tablets; the cells of "u" disappear when it is compacted.
class StreamEndTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    ASSERT_OK(registered_removing);
    DatabaseOptions options = Options();
    options.log_sink = sink_;
    Open(options);
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK(database_->CreateTable("t", schema, {.split_rows = {"b"}}));
    t_ = OpenTable("t");
    for (const char* const row : {"a", "b", "c"}) {
      for (const char* const column : {"f:p", "f:q"}) Set(t_, row, column, 1, "v");
    }
    schema.families["f"] = {.compaction_filter = kRemoving};
    u_ = CreateTable("u", schema);
  }
  // The cells that compactions have not passed to their filters.
  uint64_t Unfiltered() {
    uint64_t cells = 0;
    for (const auto& [name, server] : database_->Statistics().servers) {
      cells += server.merging.cells_unfiltered;
    }
    return cells;
  }
  // Writes a cell to "u", and returns whether Compact passes it to the filter.
  bool IsFiltered() {
    Set(u_, "r", "f:q", 1, "v");
    EXPECT_OK(database_->Compact("u"));
    return Show(u_->ReadRow("r")).empty();
  }
  int Warnings() const {
    int found = 0;
    for (const CapturingSink::Message& message : sink_->messages()) {
      const bool is_one = message.severity == LogSeverity::kWarning &&
                          message.text.find("requested major compaction of table u") == 2 &&
                          message.text.find("to their compaction filters") != std::string::npos;
      if (is_one) ++found;
    }
    return found;
  }

  const std::shared_ptr<CapturingSink> sink_ = std::make_shared<CapturingSink>();
  Table* t_ = nullptr;
  Table* u_ = nullptr;
};

TEST_F(StreamEndTest, AStreamHoldsItsSnapshotUntilItsEnd) {
  for (const bool reverse : {false, true}) {
    RowReader reader = t_->ReadRows(RowRange::All(), {.reverse = reverse});
    EXPECT_FALSE(IsFiltered());
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(reader.Next());
    EXPECT_FALSE(IsFiltered());
    EXPECT_FALSE(reader.Next());
    EXPECT_TRUE(IsFiltered());
    EXPECT_OK(reader.status());
    EXPECT_FALSE(reader.Next());
    EXPECT_EQ(ShowKeys(t_->ResumeRows(reader.ResumeToken(), {}, {.reverse = reverse})), "");
  }
}

TEST_F(StreamEndTest, ALimitIsAnEnd) {
  RowReader rows = t_->ReadRows(RowRange::All(), {.row_limit = 2});
  RowReader cells = t_->ReadRows(RowRange::All(), {.cell_limit = 3});
  EXPECT_TRUE(rows.Next());
  EXPECT_TRUE(cells.Next());
  EXPECT_FALSE(IsFiltered());
  EXPECT_TRUE(rows.Next());
  EXPECT_TRUE(cells.Next());
  EXPECT_TRUE(IsFiltered());
  // The last row stays readable.
  EXPECT_EQ(Show(rows.row()), "f:p@1=v f:q@1=v");
  EXPECT_EQ(Show(cells.row()), "f:p@1=v");
  EXPECT_EQ(ShowKeys(t_->ResumeRows(rows.ResumeToken())), "c");
  EXPECT_EQ(ShowKeys(t_->ResumeRows(cells.ResumeToken())), "c");
  EXPECT_FALSE(rows.Next());
  EXPECT_FALSE(cells.Next());
  EXPECT_EQ(ShowKeys(t_->ResumeRows(rows.ResumeToken())), "c");
  EXPECT_OK(rows.status());
}

TEST_F(StreamEndTest, AnErrorIsAnEnd) {
  Cancellation cancellation;
  RowReader cancelled = t_->ReadRows(RowRange::All(), {.cancellation = &cancellation});
  ASSERT_TRUE(cancelled.Next());
  // It fails at its beginning, when it has its snapshot.
  RowReader unknown = t_->ReadRows(RowRange::All(), Filter::Family("unknown"));
  EXPECT_FALSE(IsFiltered());
  cancellation.Cancel();
  while (cancelled.Next()) {
  }
  EXPECT_TRUE(IsFiltered());
  EXPECT_STATUS(kCancelled, "", cancelled.status());
  EXPECT_STATUS(kNotFound, "unknown", unknown.status());
  EXPECT_EQ(ShowKeys(t_->ResumeRows(cancelled.ResumeToken())), "b c");
}

TEST_F(StreamEndTest, AScannerHoldsItsSnapshotUntilItFailsOrIsDestroyed) {
  {
    Scanner scanner(t_);
    ScanStream* const stream = scanner.FetchColumnFamily("f");
    for (; !stream->Done(); stream->Next()) {
    }
    EXPECT_FALSE(IsFiltered());
    // The same snapshot.
    Set(t_, "d", "f:q", 1, "later");
    scanner.SetRange(RowRange::StartingAt("c"));
    EXPECT_EQ(ShowStream(stream), "c/f:p@1=v c/f:q@1=v");

    scanner.SetRange(RowRange::All());
    EXPECT_FALSE(stream->Done());
    EXPECT_TRUE(scanner.FetchColumnFamily("unknown")->Done());
    EXPECT_TRUE(IsFiltered());
    EXPECT_STATUS(kNotFound, "unknown", scanner.status());
    EXPECT_EQ(stream->RowName(), "a");
    stream->Next();
    EXPECT_TRUE(stream->Done());
  }
  EXPECT_TRUE(IsFiltered());
}

TEST_F(StreamEndTest, ASnapshotOfTheOptionsIsGivenUpToo) {
  absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  RowReader reader = t_->ReadRows(RowRange::All(), {.snapshot = *std::move(snapshot)});
  EXPECT_FALSE(IsFiltered());
  while (reader.Next()) {
  }
  EXPECT_TRUE(IsFiltered());
}

TEST_F(StreamEndTest, ACompactionThatPassesCellsByItsFiltersSaysSo) {
  EXPECT_TRUE(IsFiltered());
  EXPECT_EQ(Unfiltered(), 0);
  EXPECT_EQ(Warnings(), 0);
  RowReader reader = t_->ReadRows(RowRange::All());
  EXPECT_FALSE(IsFiltered());
  const uint64_t beside_stream = Unfiltered();
  EXPECT_GT(beside_stream, 0);
  EXPECT_EQ(Warnings(), 1);
  while (reader.Next()) {
  }
  absl::StatusOr<std::shared_ptr<const Snapshot>> snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  EXPECT_FALSE(IsFiltered());
  const uint64_t beside_snapshot = Unfiltered();
  EXPECT_GT(beside_snapshot, beside_stream);
  EXPECT_EQ(Warnings(), 2);
  *snapshot = nullptr;
  EXPECT_TRUE(IsFiltered());
  EXPECT_EQ(Unfiltered(), beside_snapshot);
  EXPECT_EQ(Warnings(), 2);
}

}  // namespace
}  // namespace bigtable
