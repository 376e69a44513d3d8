// The long-term results of the policies: long series of flushes on a model of a locality group that
// has only keys, of one byte each. The tests check the number of runs, how often a key is
// rewritten, the space of hidden entries, and that compactions end.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "compaction/policies.h"
#include "support/random.h"
#include "support/seeds.h"

namespace bigtable {
namespace {

constexpr size_t kFlush = 16;  // keys of a flush of one memtable

class Simulation {
 public:
  // `overwrites`: keys may repeat. Otherwise no run is searched for them.
  explicit Simulation(CompactionPolicy* policy, bool overwrites = false, size_t file_keys = kFlush)
      : policy_(policy), overwrites_(overwrites), file_keys_(file_keys) {}

  // A flush of these keys, and then all compactions that the policy picks. All keys have the
  // timestamp `time`.
  void Flush(const std::set<std::string>& keys, int64_t time = 0, int64_t expired_before = 0) {
    flushed_ += keys.size();
    runs_.insert(runs_.begin(), Run());
    AddFiles({keys.begin(), keys.end()}, time, &runs_[0]);
    for (int picks = 0;; ++picks) {
      most_runs_ = std::max(most_runs_, runs_.size());
      const std::optional<CompactionPick> pick = policy_->Pick(Summarize(expired_before));
      if (!pick.has_value()) break;
      ASSERT_LT(picks, 1000) << "compactions do not end";
      Do(*pick);
      if (testing::Test::HasFailure()) return;
    }
  }

  size_t runs() const { return runs_.size(); }
  // The highest number of runs ever, counting one that was just written.
  size_t most_runs() const { return most_runs_; }
  // How often merges wrote a key, on average.
  double rewrites() const { return static_cast<double>(written_) / static_cast<double>(flushed_); }
  uint64_t written() const { return written_; }
  // The size of all runs relative to the size of the distinct keys.
  double space() const {
    std::set<std::string> distinct;
    size_t keys = 0;
    for (const Run& run : runs_) {
      for (const File& file : run) {
        keys += file.keys.size();
        distinct.insert(file.keys.begin(), file.keys.end());
      }
    }
    return static_cast<double>(keys) / static_cast<double>(distinct.size());
  }

 private:
  struct File {
    uint64_t number;
    std::vector<std::string> keys;
    int64_t time;

    const std::string& first() const { return keys.front(); }
    const std::string& last() const { return keys.back(); }
  };
  using Run = std::vector<File>;

  void AddFiles(const std::vector<std::string>& keys, int64_t time, Run* run) {
    for (size_t i = 0; i < keys.size(); i += file_keys_) {
      const auto begin = keys.begin() + static_cast<std::ptrdiff_t>(i);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(file_keys_, keys.size() - i));
      run->push_back({++last_number_, {begin, end}, time});
    }
    std::sort(run->begin(), run->end(),
              [](const File& a, const File& b) { return a.first() < b.first(); });
  }

  static bool Has(const Run& run, const std::string& key) {
    const auto file = std::lower_bound(run.begin(), run.end(), key,
                                       [](const File& f, const auto& k) { return f.last() < k; });
    return file != run.end() && std::binary_search(file->keys.begin(), file->keys.end(), key);
  }

  GroupSummary Summarize(int64_t expired_before) const {
    GroupSummary summary;
    summary.flush_size = kFlush;
    summary.expired_before = expired_before;
    for (size_t i = 0; i < runs_.size(); ++i) {
      RunSummary& run = summary.runs.emplace_back();
      for (const File& file : runs_[i]) {
        run.bytes += file.keys.size();
        for (size_t k = 0; overwrites_ && k < file.keys.size(); ++k) {
          run.garbage_bytes +=
              std::any_of(runs_.begin() + static_cast<std::ptrdiff_t>(i) + 1, runs_.end(),
                          [&](const Run& older) { return Has(older, file.keys[k]); })
                  ? 1
                  : 0;
        }
        run.files.push_back({.number = file.number,
                             .bytes = file.keys.size(),
                             .smallest_key = file.first(),
                             .largest_key = file.last(),
                             .max_timestamp = file.time});
      }
    }
    SetOverlaps(&summary);
    return summary;
  }

  // Removes the files for which `takes` returns true from the run.
  template <typename Takes>
  static Run Take(Run* run, const Takes& takes) {
    Run taken;
    std::copy_if(run->begin(), run->end(), std::back_inserter(taken), takes);
    std::erase_if(*run, takes);
    return taken;
  }
  // Merges the files into files that become a part of `run`.
  void Merge(const Run& files, Run* run) {
    std::set<std::string> keys;
    for (const File& file : files) keys.insert(file.keys.begin(), file.keys.end());
    written_ += keys.size();
    AddFiles({keys.begin(), keys.end()}, 0, run);
  }

  void Do(const CompactionPick& pick) {
    const auto is_named = [&](const File& file) {
      return std::count(pick.files.begin(), pick.files.end(), file.number) > 0;
    };
    switch (pick.kind) {
      case CompactionPick::Kind::kMerge: {
        ASSERT_GE(pick.count, 2u);
        ASSERT_LE(pick.first + pick.count, runs_.size());
        const auto first = runs_.begin() + static_cast<std::ptrdiff_t>(pick.first);
        Run all;
        for (auto run = first; run != first + static_cast<std::ptrdiff_t>(pick.count); ++run) {
          all.insert(all.end(), run->begin(), run->end());
        }
        runs_.erase(first + 1, first + static_cast<std::ptrdiff_t>(pick.count));
        first->clear();
        Merge(all, &*first);
        break;
      }
      case CompactionPick::Kind::kPush: {
        ASSERT_LT(pick.first + 1, runs_.size());
        Run& below = runs_[pick.first + 1];
        Run pushed = Take(&runs_[pick.first], is_named);
        ASSERT_EQ(pushed.size(), 1u);
        const Run overlapped = Take(&below, [&](const File& file) {
          return file.first() <= pushed[0].last() && pushed[0].first() <= file.last();
        });
        if (overlapped.empty()) {
          AddFiles(pushed[0].keys, pushed[0].time, &below);  // moved, not written
        } else {
          pushed.insert(pushed.end(), overlapped.begin(), overlapped.end());
          Merge(pushed, &below);
        }
        break;
      }
      case CompactionPick::Kind::kWait:
        FAIL() << "the engine's policies do not wait";
      case CompactionPick::Kind::kDrop: {
        size_t dropped = 0;
        for (Run& run : runs_) dropped += Take(&run, is_named).size();
        ASSERT_EQ(dropped, pick.files.size());
        ASSERT_GT(dropped, 0u);
        break;
      }
    }
    std::erase_if(runs_, [](const Run& run) { return run.empty(); });
  }

  CompactionPolicy* const policy_;
  const bool overwrites_;
  const size_t file_keys_;
  std::vector<Run> runs_;  // from new to old
  uint64_t last_number_ = 0;
  uint64_t flushed_ = 0;
  uint64_t written_ = 0;
  size_t most_runs_ = 0;
};

std::set<std::string> NewKeys(Random& random, size_t n = kFlush) {
  std::set<std::string> keys;
  while (keys.size() < n) keys.insert(random.Bytes(8));
  return keys;
}
// Some of `n` keys.
std::set<std::string> SomeKeys(Random& random, uint64_t n) {
  std::set<std::string> keys;
  while (keys.size() < kFlush) keys.insert(Random(random.Below(n)).Bytes(8));
  return keys;
}

// The number of size classes of runs, each `factor` times as large as the one before, up to all
// data.
double Sizes(size_t flushes, int factor) {
  return std::log(static_cast<double>(flushes)) / std::log(static_cast<double>(factor));
}

TEST(PolicySimulationTest, SizeTieredRewritesOnceForEachGrowthByItsWidth) {
  constexpr size_t kFlushes = kSlow ? 300 : 1000;
  for (const int width : {2, 3, 5, 10, 100}) {
    SCOPED_TRACE(width);
    SizeTieredPolicy policy(width);
    Simulation simulation(&policy);
    Random random(1);
    for (size_t i = 0; i < kFlushes; ++i) {
      ASSERT_NO_FATAL_FAILURE(simulation.Flush(NewKeys(random)));
    }
    const double sizes = Sizes(kFlushes, width);
    EXPECT_LE(simulation.rewrites(), sizes + 0.5);
    EXPECT_GE(simulation.rewrites(), sizes / 2);  // something was simulated
    // One more run was just written before they were merged.
    EXPECT_LE(simulation.most_runs(),
              std::min<size_t>(SizeTieredPolicy::kMaxRuns,
                               static_cast<size_t>((width - 1) * std::ceil(sizes))) +
                  1);
  }
}

TEST(PolicySimulationTest, SizeTieredLimitsHiddenEntriesToTheSpaceOfTheLiveOnes) {
  constexpr uint64_t kKeys = 40 * kFlush;
  for (const int width : {2, 5, 10}) {
    SCOPED_TRACE(width);
    SizeTieredPolicy policy(width);
    Simulation simulation(&policy, /*overwrites=*/true);
    Random random(1);
    for (size_t i = 0; i < 400; ++i) {
      ASSERT_NO_FATAL_FAILURE(simulation.Flush(SomeKeys(random, kKeys)));
      ASSERT_LE(simulation.space(), 2) << i;
    }
    EXPECT_LE(simulation.rewrites(), Sizes(40, width) + 0.5);
  }
}

TEST(PolicySimulationTest, LeveledHasARunForEachLevelAndRewritesHalfItsFanoutInEach) {
  constexpr size_t kFlushes = kSlow ? 300 : 1000;
  for (const int fanout : {2, 4, 10, 100}) {
    SCOPED_TRACE(fanout);
    LeveledPolicy policy(fanout);
    Simulation simulation(&policy);
    Random random(1);
    for (size_t i = 0; i < kFlushes; ++i) {
      ASSERT_NO_FATAL_FAILURE(simulation.Flush(NewKeys(random)));
    }
    const double levels = Sizes(kFlushes, fanout);
    EXPECT_LE(simulation.rewrites(), (fanout / 2 + 1) * levels);
    EXPECT_GE(simulation.rewrites(), levels);
    EXPECT_LE(simulation.most_runs(),
              LeveledPolicy::kMaxFresh + static_cast<size_t>(std::ceil(levels)));
  }
}

// Memtables that wait for one another are flushed together.
TEST(PolicySimulationTest, LeveledBoundsRunsOfWhateverSizeTheyCome) {
  constexpr int kFlushes = 150;
  for (const size_t file_keys : {kFlush, 16 * kFlush}) {
    for (const double size : {0.01, 0.5, 1.4, 1.9, 2.0, 2.1, 3.0, 5.0, 0.0}) {
      SCOPED_TRACE(size);
      LeveledPolicy policy(4);
      Simulation simulation(&policy, /*overwrites=*/false, file_keys);
      Random random(1);
      for (int i = 0; i < kFlushes; ++i) {
        // In the last round, flushes of different sizes.
        const double memtables =
            size != 0 ? size : 0.1 * static_cast<double>(random.Between(1, 50));
        const auto n = static_cast<size_t>(memtables * kFlush);
        ASSERT_NO_FATAL_FAILURE(simulation.Flush(NewKeys(random, std::max<size_t>(n, 1))));
      }
      EXPECT_LE(simulation.most_runs(), LeveledPolicy::kMaxFresh + 6);
      EXPECT_LE(simulation.rewrites(), 14);
    }
  }
}

TEST(PolicySimulationTest, LeveledLeavesHiddenEntriesLittleSpace) {
  constexpr uint64_t kKeys = 100 * kFlush;
  for (const int fanout : {4, 10}) {
    SCOPED_TRACE(fanout);
    LeveledPolicy policy(fanout);
    Simulation simulation(&policy, /*overwrites=*/true);
    Random random(1);
    for (size_t i = 0; i < 400; ++i) {
      ASSERT_NO_FATAL_FAILURE(simulation.Flush(SomeKeys(random, kKeys)));
      // Allows for the levels above and for fresh runs. Not checked while there is little data.
      if (i > 100) {
        ASSERT_LE(simulation.space(), 1.15 + 1.0 / fanout) << i;
      }
    }
  }
}

TEST(PolicySimulationTest, FifoKeepsUnexpiredFilesAndWritesNothing) {
  constexpr int64_t kAge = 50;
  FifoPolicy policy;
  Simulation simulation(&policy);
  Random random(1);
  for (int64_t time = 0; time < 1000; ++time) {
    ASSERT_NO_FATAL_FAILURE(simulation.Flush(NewKeys(random), time, time - kAge));
    ASSERT_EQ(simulation.runs(), static_cast<size_t>(std::min(time, kAge) + 1)) << time;
  }
  EXPECT_EQ(simulation.written(), 0u);
}

}  // namespace
}  // namespace bigtable
