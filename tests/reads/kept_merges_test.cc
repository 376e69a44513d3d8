// Reads keep what they have merged of a cell's contributions in the memtable, and later reads use
// it: each contribution is merged once, and the answers are those of a merge of all.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/shortcuts.h"
#include "support/database_fixture.h"
#include "support/random.h"
#include "support/scoped_kept_merges.h"
#include "support/scoped_shortcuts.h"

namespace bigtable {
namespace {

std::atomic<uint64_t> joins;

// Joins texts, which shows a wrong order and a contribution that is missing or counted twice; and
// counts how often.
class CountedJoin final : public AggregateOperator {
 public:
  absl::Status CheckInput(std::string_view) const override { return absl::OkStatus(); }
  absl::Status Merge(std::string_view older, std::string* state) const override {
    ++joins;
    state->insert(0, older);
    return absl::OkStatus();
  }
};

constexpr std::string_view kJoin = "counted-join";

class KeptMergesTest : public DatabaseFixture {
 protected:
  static void SetUpTestSuite() {
    const auto names = AggregateOperatorNames();
    if (std::find(names.begin(), names.end(), kJoin) != names.end()) return;
    ASSERT_OK(RegisterAggregateOperator(kJoin, std::make_unique<CountedJoin>()));
  }
  void SetUp() override {
    Open(WithoutScanCache());
    TableSchema schema;
    schema.families["join"] = {.value_operator = std::string(kJoin)};
    schema.families["sum"] = {.value_type = ValueType::kInt64Sum};
    table_ = CreateTable("t", schema);
  }
  // Which would have the whole row.
  DatabaseOptions WithoutScanCache() {
    DatabaseOptions options = Options();
    options.scan_cache = false;
    return options;
  }
  void Append(int n) {
    for (int i = 0; i < n; ++i) {
      const std::string text(1, static_cast<char>('a' + next_++ % 26));
      ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("join:q", Timestamp(0), text)));
      expected_ += text;
    }
  }
  std::string Read(std::shared_ptr<const Snapshot> snapshot = nullptr) {
    const absl::StatusOr<Row> row = table_->ReadRow("r", {}, {.snapshot = std::move(snapshot)});
    EXPECT_OK(row);
    return row.ok() && !row->empty() ? std::string(row->cells()[0].value) : std::string();
  }
  // How many contributions and kept merges a read merges with others.
  uint64_t JoinsOfRead() {
    joins = 0;
    EXPECT_EQ(Read(), expected_);
    return joins;
  }

  Table* table_ = nullptr;
  std::string expected_;
  int next_ = 0;
};

TEST_F(KeptMergesTest, EachContributionIsMergedOnce) {
  Append(2000);
  EXPECT_EQ(JoinsOfRead(), 1999u);
  EXPECT_EQ(JoinsOfRead(), 0u);
  Append(10);
  EXPECT_EQ(JoinsOfRead(), 10u);
  EXPECT_EQ(JoinsOfRead(), 10u);  // too few to be kept
  Append(100);
  EXPECT_EQ(JoinsOfRead(), 110u);
  EXPECT_EQ(JoinsOfRead(), 0u);
  {
    const ScopedShortcuts without(uint64_t{1} << static_cast<uint32_t>(Shortcut::kKeptMerges));
    EXPECT_EQ(JoinsOfRead(), 2109u);
  }
  EXPECT_EQ(JoinsOfRead(), 0u);
}

TEST_F(KeptMergesTest, StreamsAndReverseReadsUseThem) {
  Append(500);
  EXPECT_EQ(JoinsOfRead(), 499u);
  for (const bool reverse : {false, true}) {
    joins = 0;
    RowReader reader = table_->ReadRows(RowRange::All(), {.reverse = reverse});
    int rows = 0;
    for (const Row& row : reader) {
      ++rows;
      EXPECT_EQ(row.cells()[0].value, expected_);
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(rows, 1);
    EXPECT_EQ(joins, 0u) << reverse;
  }
}

TEST_F(KeptMergesTest, ASnapshotSeesWhatItSaw) {
  Append(300);
  auto snapshot = database_->TakeSnapshot();
  ASSERT_OK(snapshot);
  const std::string then = expected_;
  Append(300);
  EXPECT_EQ(JoinsOfRead(), 599u);
  EXPECT_EQ(Read(*snapshot), then);
  joins = 0;
  EXPECT_EQ(Read(*snapshot), then);
  EXPECT_EQ(joins, 0u);
  EXPECT_EQ(JoinsOfRead(), 0u);
}

TEST_F(KeptMergesTest, ADeletionBetweenContributionsCutsThem) {
  Append(300);
  EXPECT_EQ(Read(), expected_);
  ASSERT_OK(table_->Apply(RowMutation("r").Delete("join:q")));
  EXPECT_EQ(Read(), "");
  expected_.clear();
  Append(300);
  EXPECT_EQ(Read(), expected_);
  EXPECT_EQ(JoinsOfRead(), 0u);
  ASSERT_OK(table_->Apply(RowMutation("r").DeleteRow()));
  EXPECT_EQ(Read(), "");
}

TEST_F(KeptMergesTest, ContributionsOfImmutableMemtablesAndFilesAreMergedWithThem) {
  Append(300);
  ASSERT_OK(database_->Flush("t"));
  Append(300);
  EXPECT_EQ(JoinsOfRead(), 300u);
  EXPECT_EQ(JoinsOfRead(), 1u);
  Append(5);
  EXPECT_EQ(Read(), expected_);
  Reopen(WithoutScanCache());
  table_ = OpenTable("t");
  EXPECT_EQ(Read(), expected_);
  Append(100);
  Kill();
  Open(WithoutScanCache());
  table_ = OpenTable("t");
  EXPECT_EQ(Read(), expected_);
}

TEST_F(KeptMergesTest, AnswersAreTheSameWithoutThemAfterRandomWrites) {
  const ScopedKeptMerges few(2);
  Random random(7);
  std::vector<std::shared_ptr<const Snapshot>> snapshots = {nullptr};
  for (int step = 0; step < 300; ++step) {
    switch (random.Below(30)) {
      case 0:
        ASSERT_OK(table_->Apply(RowMutation("r").Delete("join:q")));
        break;
      case 1:
        ASSERT_OK(
            table_->Apply(RowMutation("r").DeleteTimeRange("join:q", Timestamp(0), Timestamp(1))));
        break;
      case 2:
        if (snapshots.size() > 4) snapshots.erase(snapshots.begin() + 1);
        snapshots.push_back(*database_->TakeSnapshot());
        break;
      case 3:
        ASSERT_OK(database_->Flush("t"));
        break;
      default: {
        RowMutation mutation("r");
        for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
          mutation.AddToCell("join:q", Timestamp(static_cast<int64_t>(random.Below(2))),
                             std::string(1, static_cast<char>('a' + random.Below(26))));
        }
        ASSERT_OK(table_->Apply(mutation));
      }
    }
    for (const auto& snapshot : snapshots) {
      const std::string with = Show(table_->ReadRow("r", {}, {.snapshot = snapshot}));
      const ScopedShortcuts without(uint64_t{1} << static_cast<uint32_t>(Shortcut::kKeptMerges));
      ASSERT_EQ(Show(table_->ReadRow("r", {}, {.snapshot = snapshot})), with) << "step " << step;
    }
  }
}

TEST_F(KeptMergesTest, ConcurrentReadersKeepThemWhileAThreadWrites) {
  const ScopedKeptMerges few(8);
  constexpr int kIncrements = 3000;
  std::atomic<int> written{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      int64_t last = 0;
      while (last < kIncrements) {
        const int64_t least = written.load();
        const absl::StatusOr<Row> row = table_->ReadRow("counter");
        ASSERT_OK(row);
        const int64_t sum = row->empty() ? 0 : DecodeBigEndian(row->cells()[0].value).value_or(-1);
        ASSERT_GE(sum, std::max(last, least));
        ASSERT_LE(sum, kIncrements);
        last = sum;
      }
    });
  }
  for (int i = 0; i < kIncrements; ++i) {
    ASSERT_OK(table_->Apply(RowMutation("counter").AddToCell("sum:n", Timestamp(0), int64_t{1})));
    ++written;
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace bigtable
