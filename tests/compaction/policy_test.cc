// Which runs are merged next: testdata/policy.txt.
//
//   pick SIZE...      runs from new to old; 3x10 is three of size 10

#include "compaction/policy.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/text_driven.h"

namespace bigtable {
namespace {

std::string Pick(const TextCommand& command) {
  if (command.name != "pick") return "unknown command";
  std::vector<RunSummary> runs;
  for (const std::string& word : command.words()) {
    const size_t x = word.find('x');
    const uint64_t count = x == std::string::npos ? 1 : std::stoull(word);
    const uint64_t bytes = std::stoull(x == std::string::npos ? word : word.substr(x + 1));
    runs.insert(runs.end(), count, RunSummary{.bytes = bytes});
  }
  const std::optional<CompactionPick> pick = SizeTieredPolicy().Pick(runs);
  if (!pick.has_value()) return "nothing\n";
  return absl::StrCat("runs ", pick->first, " to ", pick->first + pick->count - 1, " of ",
                      runs.size(), pick->count == runs.size() ? ": major" : "", "\n");
}

TEST(PolicyTest, SizeTieredMergesRunsOfSimilarSize) {
  RunTextFile(BIGTABLE_TESTDATA "/policy.txt", Pick);
}

}  // namespace
}  // namespace bigtable
