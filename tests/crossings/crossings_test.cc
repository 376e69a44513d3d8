// Every call that reads is tried with every option, in every setting, from one table
// (crossing_table.h), and compared with the model: each pair of values is in some case, each pair
// of what decides what is read is with each call, and many larger combinations are drawn at random.
//
// A failure prints its case, and its seed. To reproduce it:
//
//   BIGTABLE_TEST_SEED=7 bigtable_crossings_test --gtest_filter='*Combinations*'
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "client/model_cursors.h"
#include "client/model_mutations.h"
#include "client/ways_random.h"
#include "crossings/crossed_content.h"
#include "crossings/crossed_database.h"
#include "crossings/crossing.h"
#include "crossings/crossing_table.h"
#include "crossings/expected_answer.h"
#include "crossings/pair_cover.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

// The cases of the table.
class CrossingCases {
 public:
  CrossingCases() : cover_(Sizes(), Clash) {}

  // Cases that have all pairs of values; and for each call all pairs of what decides what it reads.
  std::vector<Crossing> Cover(Random& random) const {
    std::vector<size_t> all, of_reads;
    for (size_t i = 0; i < CrossingTable().size(); ++i) {
      all.push_back(i);
      if (CrossingTable()[i].is_of_read) of_reads.push_back(i);
    }
    std::vector<PairCover::Choice> choices = cover_.CoverPairs(random, all);
    for (size_t call = 0; call < CrossingTable()[0].values.size(); ++call) {
      const auto more = cover_.CoverPairs(random, of_reads, {{0, call}});
      choices.insert(choices.end(), more.begin(), more.end());
    }
    std::vector<Crossing> cases;
    for (const PairCover::Choice& choice : choices) cases.push_back(CaseOf(choice));
    return cases;
  }
  // Random cases, all of them in one random place.
  std::vector<Crossing> DrawInOnePlace(Random& random, int count) const {
    std::vector<PairCover::Item> place;
    std::vector<Crossing> cases;
    for (int i = 0; i < count; ++i) {
      const std::optional<PairCover::Choice> choice = cover_.Draw(random, place);
      if (!choice.has_value()) continue;
      cases.push_back(CaseOf(*choice));
      if (i > 0) continue;
      for (size_t k = 0; k < choice->size(); ++k) {
        if (CrossingTable()[k].is_of_place) place.push_back({k, (*choice)[k]});
      }
    }
    return cases;
  }

 private:
  static std::vector<size_t> Sizes() {
    std::vector<size_t> sizes;
    for (const CrossingDimension& dimension : CrossingTable()) {
      sizes.push_back(dimension.values.size());
    }
    return sizes;
  }
  static const CrossingValue& ValueOf(const PairCover::Item& item) {
    return CrossingTable()[item.dimension].values[item.value];
  }
  static bool Clash(const PairCover::Item& a, const PairCover::Item& b) {
    const CrossingValue& one = ValueOf(a);
    const CrossingValue& other = ValueOf(b);
    return (one.needs & other.lacks) != 0 || (other.needs & one.lacks) != 0;
  }
  static Crossing CaseOf(const PairCover::Choice& choice) {
    Crossing crossing;
    for (size_t i = 0; i < choice.size(); ++i) {
      const CrossingValue& value = ValueOf({i, choice[i]});
      value.set(&crossing);
      absl::StrAppend(&crossing.text, "  ", CrossingTable()[i].name, ": ", value.label, "\n");
    }
    return crossing;
  }

  const PairCover cover_;
};

std::string Describe(const std::vector<ModelRow>& rows) {
  std::string text;
  for (const ModelRow& row : rows) absl::StrAppend(&text, "    ", Describe(row), "\n");
  return text.empty() ? "    nothing\n" : text;
}

// The databases with one content, each made when a case needs it.
class CrossedRun {
 public:
  CrossedRun(uint64_t seed, int64_t most) : content_(seed, most) {}

  // False if the case has failed.
  bool Try(const Crossing& crossing) {
    std::unique_ptr<CrossedDatabase>& database = databases_[crossing.place];
    if (database == nullptr) {
      auto made = CrossedDatabase::Make(crossing.place, content_);
      if (!made.ok()) return Fail(crossing, made.status().ToString());
      database = *std::move(made);
    }
    const ScopedShortcuts shortcuts(crossing.shortcuts ? 0 : ScopedShortcuts::kAll);
    const CrossedRows got = crossing.call(crossing, database.get());
    if (!got.ok()) return Fail(crossing, got.status().ToString());
    const std::vector<ModelRow> expected = ExpectedAnswer(&crossing, &content_).Get();
    if (*got == expected) return true;
    return Fail(crossing, Cat("got:\n", Describe(*got), "expected:\n", Describe(expected)));
  }
  size_t databases() const { return databases_.size(); }

 private:
  bool Fail(const Crossing& crossing, const std::string& what) const {
    std::string writes;
    for (const ModelMutation& mutation : content_.mutations()) {
      absl::StrAppend(&writes, "  ", Describe(mutation), "\n");
    }
    for (const ModelMutation& mutation : crossing.own_writes) {
      absl::StrAppend(&writes, "  own: ", Describe(mutation), "\n");
    }
    ADD_FAILURE() << "case:\n" << crossing.text << "content:\n" << writes << what;
    return false;
  }

  const CrossedContent content_;
  std::map<Place, std::unique_ptr<CrossedDatabase>> databases_;
};

constexpr int64_t kFewMutations = 4;
constexpr int64_t kManyMutations = 12;
// A failure of one fault would be hundreds.
constexpr int kMostFailures = 3;

TEST(CrossingsTest, EachPairOfCallsOptionsAndSettingsReturnsWhatTheModelDoes) {
  Random random(1);
  const std::vector<Crossing> cases = CrossingCases().Cover(random);
  CrossedRun run(1, kFewMutations);
  int failures = 0;
  for (const Crossing& crossing : cases) {
    if (!run.Try(crossing) && ++failures == kMostFailures) break;
  }
  std::cout << cases.size() << " cases, " << run.databases() << " databases\n";
}

TEST(CrossingsTest, RandomCombinationsOverRandomContentsReturnWhatTheModelDoes) {
  // It takes longer to make a database than to read it.
  constexpr int kPlaces = 3;
  constexpr int kCasesInEach = 60;
  const CrossingCases cases;
  ForEachSeed(kSanitized ? 4 : 12, [&](uint64_t seed) {
    Random random(seed);
    CrossedRun run(random.Next(), random.OneIn(2) ? kFewMutations : kManyMutations);
    int failures = 0;
    for (int i = 0; i < kPlaces; ++i) {
      for (const Crossing& crossing : cases.DrawInOnePlace(random, kCasesInEach)) {
        Tally("crossings");
        if (!run.Try(crossing) && ++failures == kMostFailures) return;
      }
    }
  });
}

}  // namespace
}  // namespace bigtable
