// The simulator against the engine: the same policy and the same flushes, and what each writes.
#include "bench/policies/simulator.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "bench/policies/fluid.h"
#include "bench/policies/lethe.h"
#include "bench/policies/partial.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"
#include "support/random.h"

namespace policies {
namespace {

using bigtable::CompactionPick;
using bigtable::CompactionPolicy;
using bigtable::GroupSummary;
using MakePolicy = std::function<std::unique_ptr<CompactionPolicy>()>;

constexpr uint64_t kSmallFile = 64 << 10;

// Files of the size of a flush, so that levels have many.
class SmallFiles final : public CompactionPolicy {
 public:
  explicit SmallFiles(std::unique_ptr<CompactionPolicy> policy) : policy_(std::move(policy)) {}
  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    std::optional<CompactionPick> pick = policy_->Pick(group);
    if (pick.has_value()) pick->output.file_size = kSmallFile;
    return pick;
  }

 private:
  const std::unique_ptr<CompactionPolicy> policy_;
};

class SimulatorTest : public bigtable::DatabaseFixture {
 protected:
  static constexpr uint64_t kMemtable = 64 << 10;
  static constexpr uint64_t kRowsPerFlush = 52;  // a memtable, with values of 1000 bytes
  static constexpr uint64_t kFile = 1 << 20;

  ~SimulatorTest() override {
    database_.reset();
    bigtable::ForgetPolicy("laboratory");
  }

  struct Written {
    double flush_bytes = 0;
    double merge_bytes = 0;
    double mean_runs = 0;
    double bytes_per_row = 0;
  };

  // Flushes rows of `rows`, or new ones if that is 0.
  Written RunEngine(const MakePolicy& make, uint64_t rows, uint64_t flushes) {
    EXPECT_OK(bigtable::RegisterCompactionPolicy(
        "laboratory", [make](const bigtable::LocalityGroup&) { return make(); }));
    bigtable::DatabaseOptions options = Options();
    options.memtable_size = kMemtable;
    options.target_file_size = kFile;
    Open(options);
    bigtable::TableSchema schema;
    schema.split.tablet_size = 0;
    schema.locality_groups["g"] = {.compaction_policy = "laboratory"};
    schema.families["f"] = {.locality_group = "g", .gc = bigtable::GcRule::MaxVersions(1)};
    bigtable::Table* const table = CreateTable("t", schema);
    bigtable::Random random(1);
    Written written;
    for (uint64_t flush = 0; flush < flushes; ++flush) {
      for (uint64_t i = 0; i < kRowsPerFlush; ++i) {
        const uint64_t row = rows == 0 ? random.Next() : random.Below(rows);
        EXPECT_OK(table->Apply(bigtable::RowMutation(absl::StrFormat("%020u", row))
                                   .Set("f:q", std::string(1000, 'v'))));
      }
      EXPECT_OK(database_->Flush("t"));
      EXPECT_OK(database_->WaitUntilQuiet());
      written.mean_runs += static_cast<double>(Group().sorted_runs);
    }
    const bigtable::DatabaseStatistics statistics = database_->Statistics();
    written.flush_bytes = static_cast<double>(statistics.minor_compaction_bytes_written);
    written.merge_bytes = static_cast<double>(statistics.merging_compaction_bytes_written);
    written.mean_runs /= static_cast<double>(flushes);
    written.bytes_per_row =
        static_cast<double>(Group().file_bytes) / static_cast<double>(Group().entries);
    return written;
  }
  bigtable::LocalityGroupStatistics Group() {
    return database_->Statistics().tables.at("t").at("g");
  }

  void ExpectSame(const MakePolicy& make, uint64_t rows, uint64_t flushes, uint64_t file_size) {
    const Written engine = RunEngine(make, rows, flushes);
    SimulatedWorkload workload;
    workload.rows = rows;
    workload.flushes = flushes;
    workload.rows_per_flush = kRowsPerFlush;
    workload.bytes_per_row = engine.bytes_per_row;
    workload.flush_size = kMemtable;
    workload.file_size = file_size;
    const std::unique_ptr<CompactionPolicy> policy = make();
    ASSERT_OK_AND_ASSIGN(const SimulationResult simulated, Simulate(workload, policy.get()));
    EXPECT_GT(engine.merge_bytes, engine.flush_bytes) << "compactions are compared";
    EXPECT_NEAR(simulated.flush_bytes, engine.flush_bytes, 0.02 * engine.flush_bytes);
    EXPECT_NEAR(simulated.merge_bytes, engine.merge_bytes, 0.02 * engine.merge_bytes);
    // A merge that comes one flush later is a run more for that time.
    EXPECT_NEAR(simulated.mean_runs, engine.mean_runs, 0.03 * engine.mean_runs);
  }
  static MakePolicy Of(const FluidShape& shape) {
    return [shape] { return std::make_unique<Fluid>(shape); };
  }
};

TEST_F(SimulatorTest, TieringOfNewRowsWritesWhatTheEngineWrites) {
  ExpectSame(Of(FluidShape::Tiering(4)), 0, 100, kFile);
}

TEST_F(SimulatorTest, LevelingOfNewRowsWritesWhatTheEngineWrites) {
  ExpectSame(Of(FluidShape::Leveling(4)), 0, 100, kFile);
}

TEST_F(SimulatorTest, LazyLevelingOfOverwrittenRowsWritesWhatTheEngineWrites) {
  ExpectSame(Of(FluidShape::LazyLeveling(4)), 3000, 240, kFile);
}

TEST_F(SimulatorTest, AFluidTreeOfOverwrittenRowsWritesWhatTheEngineWrites) {
  ExpectSame(Of(FluidShape{5, 2, 1}), 1500, 120, kFile);
}

TEST_F(SimulatorTest, TheEnginesSizeTieredPolicyWritesWhatTheEngineWrites) {
  ExpectSame(
      [] {
        return bigtable::MakeCompactionPolicy("size_tiered", {.compaction_factor = 4}).value();
      },
      1500, 120, kFile);
}

TEST_F(SimulatorTest, PartialLevelingWritesWhatTheEngineWrites) {
  ExpectSame(
      [] {
        return std::make_unique<SmallFiles>(
            std::make_unique<PartialLeveling>(4, FileChoice::kRoundRobin));
      },
      0, 100, kSmallFile);
}

// --- Without the engine ---

SimulatedWorkload Terabyte() {
  SimulatedWorkload workload;
  workload.flush_size = 64'000'000;
  workload.rows_per_flush = 64'000;
  workload.bytes_per_row = 1000;
  workload.flushes = 15'625;
  return workload;
}

// Of a tree of L levels of new rows, a row is written once a level by tiering, and in each about
// T / 2 times by leveling.
TEST(SimulationTest, WritesOfATerabyteGrowWithTheLevels) {
  Fluid tiering(FluidShape::Tiering(5));
  ASSERT_OK_AND_ASSIGN(const SimulationResult tiered, Simulate(Terabyte(), &tiering));
  EXPECT_NEAR(tiered.write_amplification, 1 + 6, 1);  // 5^6 flushes
  EXPECT_LE(tiered.most_runs, 4u * 7);
  Fluid leveling(FluidShape::Leveling(5));
  ASSERT_OK_AND_ASSIGN(const SimulationResult leveled, Simulate(Terabyte(), &leveling));
  EXPECT_GT(leveled.write_amplification, 2 * tiered.write_amplification);
  EXPECT_LE(leveled.most_runs, 7u);
  EXPECT_LT(leveled.mean_runs, tiered.mean_runs / 2);
}

// What Dostoevsky says of lazy leveling: the space of leveling, at writes near those of tiering.
TEST(SimulationTest, LazyLevelingHasTheSpaceOfLevelingForFewerWrites) {
  SimulatedWorkload workload = Terabyte();
  workload.flushes = 4'000;
  workload.rows = 32'000'000;
  workload.begins_full = true;
  const auto run = [&](const FluidShape& shape) {
    Fluid policy(shape);
    return Simulate(workload, &policy).value();
  };
  const SimulationResult tiering = run(FluidShape::Tiering(10));
  const SimulationResult leveling = run(FluidShape::Leveling(10));
  const SimulationResult lazy = run(FluidShape::LazyLeveling(10));
  EXPECT_LT(lazy.write_amplification, 0.8 * leveling.write_amplification);
  EXPECT_LT(tiering.write_amplification, lazy.write_amplification);
  EXPECT_LT(lazy.mean_space - 1, 1.5 * (leveling.mean_space - 1));
  EXPECT_GT(tiering.mean_space - 1, 5 * (lazy.mean_space - 1));
}

// What Lethe says: no deletion is older than its deadline, while least overlap leaves some for
// ever.
TEST(SimulationTest, LethesDeadlineIsKept) {
  SimulatedWorkload workload;
  workload.flush_size = 1'000'000;
  workload.rows_per_flush = 1'000;
  workload.bytes_per_row = 1000;
  workload.bytes_per_deletion = 50;
  workload.rows = 60'000;
  workload.begins_full = true;
  workload.deletions = 0.1;
  workload.flushes = 600;
  workload.file_size = 1'000'000;
  workload.time_per_flush = absl::Minutes(1);
  const absl::Duration deadline = absl::Hours(1);
  const auto leveling = [] {
    return std::make_unique<PartialLeveling>(10, FileChoice::kLeastOverlap);
  };
  ASSERT_OK_AND_ASSIGN(const SimulationResult without, Simulate(workload, leveling().get()));
  Lethe lethe(leveling(), deadline, 10);
  ASSERT_OK_AND_ASSIGN(const SimulationResult with, Simulate(workload, &lethe));
  EXPECT_GT(without.oldest_deletion, deadline);
  EXPECT_LE(with.oldest_deletion, deadline + workload.time_per_flush);
  EXPECT_GE(with.write_amplification, without.write_amplification);
}

TEST(SimulationTest, AnEmptyWorkloadAndABadPickAreErrors) {
  Fluid policy(FluidShape::Leveling(10));
  EXPECT_STATUS(kInvalidArgument, "needs flushes", Simulate({}, &policy).status());
  class Bad final : public CompactionPolicy {
   public:
    std::optional<CompactionPick> Pick(const GroupSummary&) override {
      return CompactionPick{.first = 7, .count = 2};
    }
  };
  Bad bad;
  EXPECT_STATUS(kFailedPrecondition, "of runs from 7 on", Simulate(Terabyte(), &bad).status());
}

}  // namespace
}  // namespace policies
