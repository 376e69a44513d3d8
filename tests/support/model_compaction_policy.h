// A compaction policy that picks whatever the rules allow, for random tests: merges and pushes of
// any runs and files, up to three at a time, into files with options of their own, joins of files
// of one run, waits, reasons and states.
#ifndef BIGTABLE_TESTS_SUPPORT_MODEL_COMPACTION_POLICY_H_
#define BIGTABLE_TESTS_SUPPORT_MODEL_COMPACTION_POLICY_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/compaction_policy.h"

#include "support/random.h"

namespace bigtable {

// What it picks depends on the runs alone, and each pick leaves fewer runs or moves files to an
// older one, or joins files, so it comes to rest.
class ModelCompactionPolicy final : public CompactionPolicy {
 public:
  static constexpr const char* kName = "test.model";

  CompactionOutput FlushOutput(const GroupSummary& group) override {
    Random random(SeedOf(group));
    return RandomOutput(random);
  }
  int MostCompactions() const override { return 3; }
  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    CheckState(group.state);
    const size_t runs = group.runs.size();
    Random random(SeedOf(group));
    if (runs < kMostRuns && random.OneIn(3)) {
      if (std::optional<CompactionPick> join = SomeJoin(group, random)) return join;
    }
    if (runs < 2) return std::nullopt;
    if (runs < kMostRuns && random.OneIn(3)) {
      if (random.OneIn(2)) return std::nullopt;
      return CompactionPick{.kind = CompactionPick::Kind::kWait,
                            .delay = absl::Milliseconds(random.Between(1, 2000))};
    }
    CompactionPick pick;
    pick.first = random.Below(runs - 1);
    if (runs >= kMostRuns || random.OneIn(2)) {
      pick.count = 2 + random.Below(runs - 1 - pick.first);
      if (runs < kMostRuns && random.OneIn(2)) pick.files = SomeFiles(group, pick, random);
    } else {
      pick.kind = CompactionPick::Kind::kPush;
      pick.count = 2;
      const std::vector<FileSummary>& files = group.runs[pick.first].files;
      for (const FileSummary& file : files) {
        if (random.OneIn(2)) pick.files.push_back(file.number);
      }
      if (pick.files.empty()) pick.files.push_back(random.Pick(files).number);
    }
    if (runs < kMostRuns && random.OneIn(3)) TakeRows(group, random, &pick);
    pick.output = RandomOutput(random);
    pick.threads = static_cast<int>(random.Between(1, 4));
    if (random.OneIn(2)) pick.reason = "any";
    if (random.OneIn(2)) pick.state = NextState(group.state);
    return pick;
  }

 private:
  static constexpr size_t kMostRuns = 6;

  static uint64_t SeedOf(const GroupSummary& group) {
    uint64_t seed = 1;
    for (const RunSummary& run : group.runs) {
      for (const FileSummary& file : run.files) {
        seed = (seed * 31 + file.number) * 2 + (file.is_compacting ? 1 : 0);
      }
      seed = seed * 31;
    }
    return seed;
  }
  // Of the picked runs, at least one of them not in the oldest.
  static std::vector<uint64_t> SomeFiles(const GroupSummary& group, const CompactionPick& pick,
                                         Random& random) {
    std::vector<uint64_t> files;
    for (size_t i = pick.first; i < pick.first + pick.count; ++i) {
      for (const FileSummary& file : group.runs[i].files) {
        if (random.OneIn(3)) files.push_back(file.number);
      }
    }
    files.push_back(random.Pick(group.runs[pick.first].files).number);
    return files;
  }
  // Two files or more of a run that are next to each other.
  static std::optional<CompactionPick> SomeJoin(const GroupSummary& group, Random& random) {
    CompactionPick pick{.first = random.Below(group.runs.size()), .count = 1};
    const std::vector<FileSummary>& files = group.runs[pick.first].files;
    if (files.size() < 2) return std::nullopt;
    for (size_t i = random.Below(files.size() - 1); i < files.size() && !files[i].is_full; ++i) {
      if (pick.files.size() >= 2 && random.OneIn(3)) break;
      pick.files.push_back(files[i].number);
    }
    if (pick.files.size() < 2) return std::nullopt;
    pick.output = RandomOutput(random);
    return pick;
  }
  // Only rows of one file, which is in the newest of the picked runs.
  static void TakeRows(const GroupSummary& group, Random& random, CompactionPick* pick) {
    const FileSummary& file = random.Pick(group.runs[pick->first].files);
    const std::string first = RowOfKey(file.smallest_key);
    const std::string last = RowOfKey(file.largest_key);
    if (!pick->files.empty()) pick->files = {file.number};
    pick->rows = random.OneIn(3)   ? RowRange::StartingAt(last)
                 : random.OneIn(2) ? RowRange::EndingAt(first)
                                   : RowRange::RightOpen(first, last);
    if (pick->rows.empty()) pick->rows = RowRange::Single(first);
  }
  static CompactionOutput RandomOutput(Random& random) {
    CompactionOutput output;
    if (random.OneIn(3)) output.compression = static_cast<Compression>(random.Below(3));
    if (random.OneIn(3)) output.compression_level = static_cast<int>(random.Between(1, 4));
    if (random.OneIn(3)) output.block_size = size_t{1} << random.Between(10, 14);
    if (random.OneIn(3)) output.filter = static_cast<FilterKind>(random.Below(4));
    if (random.OneIn(3)) output.filter_bits = static_cast<int>(random.Between(1, 32));
    if (random.OneIn(3)) output.file_size = uint64_t{64} << 10;
    return output;
  }

  // A state is its number in so many bytes of a letter, so that one which is not its own is found.
  static std::string NextState(const std::string& state) {
    const size_t size = state.size() % 40 + 1;
    return std::string(size, static_cast<char>('a' + size % 26));
  }
  static void CheckState(const std::string& state) {
    const char letter = static_cast<char>('a' + state.size() % 26);
    if (std::count(state.begin(), state.end(), letter) !=
        static_cast<std::ptrdiff_t>(state.size())) {
      throw std::logic_error("the state is another one than was left: " + state);
    }
  }
};
inline const bool kModelCompactionPolicyIsRegistered =
    RegisterCompactionPolicy(ModelCompactionPolicy::kName, [](const LocalityGroup&) {
      return std::make_unique<ModelCompactionPolicy>();
    }).ok();

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_MODEL_COMPACTION_POLICY_H_
