// The workloads of bench/compaction: what they draw, that the rows which they say exist are those
// of a replay, and that a seed is all that their operations depend on.
#include "compaction/workloads/workloads.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/workloads/zipf.h"

namespace bench {
namespace {

using StepKind = Operation::Kind;

constexpr uint64_t kWorkloadRows = 1000;

std::vector<Operation> AllOperations(const std::string& name, const WorkloadOptions& options) {
  const std::unique_ptr<Workload> workload = MakeWorkload(name, options);
  std::vector<Operation> operations;
  while (operations.size() < workload->operations()) operations.push_back(workload->Next());
  return operations;
}

using Recorded = std::vector<std::tuple<int, uint64_t, uint64_t>>;

// The operations, in a form that can be compared.
Recorded RecordedOperations(const std::string& name, const WorkloadOptions& options) {
  Recorded recorded;
  for (const Operation& operation : AllOperations(name, options)) {
    recorded.emplace_back(static_cast<int>(operation.kind), operation.row, operation.scanned_rows);
  }
  return recorded;
}

double Share(const std::vector<Operation>& operations, StepKind kind) {
  const auto count = std::count_if(operations.begin(), operations.end(),
                                   [kind](const Operation& o) { return o.kind == kind; });
  return static_cast<double>(count) / static_cast<double>(operations.size());
}

// The rows of a table, each with the number of the operation that wrote it last.
class ReplayedRows {
 public:
  explicit ReplayedRows(const Workload& workload) : lifetime_(workload.lifetime()) {
    for (const uint32_t row : workload.Preparation()) Write(row);
  }

  // Fails if the operation needs a row that does not exist.
  void Do(const Operation& operation) {
    const bool exists = written_.contains(operation.row);
    switch (operation.kind) {
      case StepKind::kWrite:
        Write(operation.row);
        break;
      case StepKind::kDelete:
        EXPECT_TRUE(exists) << operation.row << " is deleted";
        written_.erase(operation.row);
        break;
      case StepKind::kReadModifyWrite:
        EXPECT_TRUE(exists) << operation.row << " is read and written";
        Write(operation.row);
        break;
      case StepKind::kRead:
      case StepKind::kScan:
        EXPECT_TRUE(exists) << operation.row << " is read";
        break;
    }
    ++time_;
    if (!lifetime_.has_value() || time_ <= *lifetime_) return;
    const auto expired = row_at_.find(time_ - *lifetime_ - 1);
    if (expired != row_at_.end()) written_.erase(expired->second);
  }

  uint64_t size() const { return written_.size(); }
  bool Has(uint64_t row) const { return written_.contains(row); }

 private:
  void Write(uint64_t row) {
    written_.insert(row);
    if (lifetime_.has_value()) row_at_[time_] = row;
  }

  const std::optional<uint64_t> lifetime_;
  std::set<uint64_t> written_;
  std::map<uint64_t, uint64_t> row_at_;  // by the number of the operation
  uint64_t time_ = 0;
};

class EachWorkloadTest : public testing::TestWithParam<std::string> {};

TEST_P(EachWorkloadTest, SaysWhichRowsExist) {
  // Not a multiple of the hundred blocks of wide_deletes.
  const std::unique_ptr<Workload> workload = MakeWorkload(GetParam(), {.rows = kWorkloadRows + 37});
  ReplayedRows replayed(*workload);
  ASSERT_EQ(workload->live_rows(), replayed.size());
  Random random(1);
  for (uint64_t i = 0; i < workload->operations(); ++i) {
    replayed.Do(workload->Next());
    ASSERT_EQ(workload->live_rows(), replayed.size()) << "after operation " << i;
    const uint64_t row = workload->DrawLiveRow(random);
    ASSERT_TRUE(replayed.Has(row)) << row << " after operation " << i;
    if (HasFailure()) return;
  }
}

TEST_P(EachWorkloadTest, DependsOnlyOnItsSeed) {
  const auto operations = [](uint64_t seed) {
    return RecordedOperations(GetParam(), {.rows = kWorkloadRows, .seed = seed});
  };
  const auto preparation = [](uint64_t seed) {
    return MakeWorkload(GetParam(), {.rows = kWorkloadRows, .seed = seed})->Preparation();
  };
  EXPECT_EQ(operations(7), operations(7));
  EXPECT_EQ(preparation(7), preparation(7));

  const std::set<std::string> not_random = {"load_sequential", "time_series", "sensors"};
  EXPECT_EQ(operations(7) == operations(8), not_random.contains(GetParam()));
  EXPECT_EQ(preparation(7) == preparation(8), preparation(7).empty());
}

INSTANTIATE_TEST_SUITE_P(All, EachWorkloadTest, testing::ValuesIn(WorkloadNames()),
                         [](const auto& test) { return test.param; });

// The operations of the published figures.
TEST(WorkloadsTest, DefaultSeedKeepsTheOperations) {
  const auto hash = [](const std::string& name) {
    uint64_t sum = 0;
    const std::vector<uint32_t> rows = MakeWorkload(name, {.rows = kWorkloadRows})->Preparation();
    for (const uint64_t row : rows) sum = Random::Mix(sum + row * 8);
    for (const auto& [kind, row, scanned] : RecordedOperations(name, {.rows = kWorkloadRows})) {
      sum = Random::Mix(sum + row * 8 + static_cast<uint64_t>(kind + 1));
    }
    return sum;
  };
  EXPECT_EQ(hash("load_random"), 0xa18310fb0ab8d966);
  EXPECT_EQ(hash("overwrite"), 0x281e090eb9098e03);
  EXPECT_EQ(hash("overwrite_zipf"), 0x4787e9a2d74d8f10);
  EXPECT_EQ(hash("read_mix"), 0x747dbd81876d6d21);
  EXPECT_EQ(hash("deletes"), 0x2cb825dd00e0d093);
  EXPECT_EQ(hash("sensors"), 0x7bd826234cf666d7);
}

TEST(WorkloadsTest, ZipfDrawsRanksInProportionToTheirWeights) {
  constexpr uint64_t kRanks = 100;
  constexpr uint64_t kDraws = 1'000'000;
  for (const double skew : {0.0, 0.5, 0.99, 2.0}) {
    // Half of the ranks do not exist yet.
    const Zipf zipf(2 * kRanks, skew);
    Random random(1);
    std::vector<uint64_t> drawn(2 * kRanks);
    for (uint64_t i = 0; i < kDraws; ++i) ++drawn[zipf.Draw(random, kRanks)];
    double sum = 0;
    for (uint64_t rank = 1; rank <= kRanks; ++rank) sum += std::pow(rank, -skew);
    for (uint64_t rank = 1; rank <= kRanks; ++rank) {
      const double expected = kDraws * std::pow(rank, -skew) / sum;
      // Five standard deviations.
      EXPECT_NEAR(static_cast<double>(drawn[rank - 1]), expected, 5 * std::sqrt(expected))
          << "rank " << rank << " at skew " << skew;
    }
    EXPECT_EQ(std::count(drawn.begin() + kRanks, drawn.end(), 0), kRanks);
  }
}

TEST(WorkloadsTest, SkewIsThatOfTheOptions) {
  const auto most_written = [](double skew) {
    std::map<uint64_t, uint64_t> writes;
    for (const Operation& operation :
         AllOperations("overwrite_zipf", {.rows = kWorkloadRows, .skew = skew})) {
      ++writes[operation.row];
    }
    uint64_t most = 0;
    for (const auto& [row, count] : writes) most = std::max(most, count);
    return most;
  };
  EXPECT_LT(most_written(0), 20u);      // of 3000, where 3 are expected
  EXPECT_GT(most_written(0.99), 300u);  // 0.13 of them
  EXPECT_GT(most_written(2), 1600u);    // 0.61 of them
}

TEST(WorkloadsTest, LatestPrefersNewRows) {
  const std::unique_ptr<Workload> workload = MakeWorkload("ycsb_d", {.rows = kWorkloadRows});
  std::map<uint64_t, uint64_t> index_of_row;  // in the order of insertion
  for (const uint64_t row : workload->Preparation()) {
    index_of_row.emplace(row, index_of_row.size());
  }
  double latest = 0;
  double tenth = 0;
  double reads = 0;
  for (uint64_t i = 0; i < workload->operations(); ++i) {
    const Operation operation = workload->Next();
    if (operation.kind == StepKind::kWrite) {
      index_of_row.emplace(operation.row, index_of_row.size());
      continue;
    }
    const uint64_t age = index_of_row.size() - 1 - index_of_row.at(operation.row);
    ++reads;
    if (age == 0) ++latest;
    if (age < kWorkloadRows / 10) ++tenth;
  }
  EXPECT_GT(index_of_row.size(), kWorkloadRows);
  EXPECT_NEAR(latest / reads, 0.13, 0.04);  // 1 of the sum of the weights, 7.7
  EXPECT_NEAR(tenth / reads, 0.68, 0.06);   // 5.3 of it
}

TEST(WorkloadsTest, YcsbHasItsShares) {
  const auto share = [](const std::string& name, StepKind kind) {
    return Share(AllOperations(name, {.rows = 10 * kWorkloadRows}), kind);
  };
  constexpr double kNear = 0.015;
  EXPECT_NEAR(share("ycsb_a", StepKind::kRead), 0.5, kNear);
  EXPECT_NEAR(share("ycsb_a", StepKind::kWrite), 0.5, kNear);
  EXPECT_NEAR(share("ycsb_b", StepKind::kRead), 0.95, kNear);
  EXPECT_NEAR(share("ycsb_b", StepKind::kWrite), 0.05, kNear);
  EXPECT_EQ(share("ycsb_c", StepKind::kRead), 1);
  EXPECT_NEAR(share("ycsb_d", StepKind::kRead), 0.95, kNear);
  EXPECT_NEAR(share("ycsb_d", StepKind::kWrite), 0.05, kNear);
  EXPECT_NEAR(share("ycsb_e", StepKind::kScan), 0.95, kNear);
  EXPECT_NEAR(share("ycsb_e", StepKind::kWrite), 0.05, kNear);
  EXPECT_NEAR(share("ycsb_f", StepKind::kRead), 0.5, kNear);
  EXPECT_NEAR(share("ycsb_f", StepKind::kReadModifyWrite), 0.5, kNear);
}

TEST(WorkloadsTest, ScansOfYcsbAreOfOneToAHundredRows) {
  std::vector<uint64_t> lengths;
  double sum = 0;
  for (const Operation& operation : AllOperations("ycsb_e", {.rows = 10 * kWorkloadRows})) {
    if (operation.kind != StepKind::kScan) continue;
    lengths.push_back(operation.scanned_rows);
    sum += static_cast<double>(operation.scanned_rows);
  }
  const auto [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  EXPECT_EQ(*least, 1u);
  EXPECT_EQ(*most, 100u);
  EXPECT_NEAR(sum / static_cast<double>(lengths.size()), 50.5, 1);
}

TEST(WorkloadsTest, WideDeletesAreOfAdjacentRows) {
  constexpr uint64_t kBlock = kWorkloadRows / 100;
  const std::vector<Operation> operations = AllOperations("wide_deletes", {.rows = kWorkloadRows});
  EXPECT_NEAR(Share(operations, StepKind::kDelete), 0.5, 0.02);
  for (size_t i = 0; i < operations.size(); i += kBlock) {
    EXPECT_EQ(operations[i].row % kBlock, 0u);
    for (size_t j = 1; j < kBlock; ++j) {
      EXPECT_EQ(operations[i + j].row, operations[i].row + j);
      EXPECT_EQ(operations[i + j].kind, operations[i].kind);
    }
  }
}

TEST(WorkloadsTest, PhasesFollowOneAnother) {
  std::vector<std::pair<StepKind, uint64_t>> phases;  // kinds and how many follow one another
  for (const Operation& operation : AllOperations("phases", {.rows = kWorkloadRows})) {
    if (phases.empty() || phases.back().first != operation.kind) {
      phases.emplace_back(operation.kind, 0);
    }
    ++phases.back().second;
  }
  const std::vector<std::pair<StepKind, uint64_t>> expected = {
      {StepKind::kWrite, 2 * kWorkloadRows},
      {StepKind::kRead, kWorkloadRows},
      {StepKind::kDelete, kWorkloadRows / 2},
      {StepKind::kWrite, kWorkloadRows / 2}};
  EXPECT_EQ(phases, expected);
}

}  // namespace
}  // namespace bench
