// Every call that reads is tried with every option, in every setting, from one table
// (crossing_table.h), and compared with the model: each pair of values is in some case, each pair
// of what decides what is read is with each call and on each way, and many larger combinations are
// drawn at random. In a build with the server, one of the ways is through it.
//
// A failure prints its case, and its seed. To reproduce it:
//
//   BIGTABLE_TEST_SEED=7 bigtable_crossings_test --gtest_filter='*Combinations*'
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/status.h"
#include "base/strings.h"
#include "crossings/crossed_content.h"
#include "crossings/crossed_database.h"
#include "crossings/crossing.h"
#include "crossings/crossing_calls.h"
#include "crossings/crossing_table.h"
#include "crossings/expected_answer.h"
#include "crossings/pair_cover.h"
#include "model/model_cursors.h"
#include "model/model_mutations.h"
#include "model/ways_random.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

// The cases of the table.
class CrossingCases {
 public:
  CrossingCases() : cover_(Sizes(), Clash, IsOfError) {}

  // Cases that have all pairs of values, and for each call and each way all pairs of what decides
  // what it reads; in as few places as that needs, one after the other.
  std::vector<Crossing> Cover(Random& random) const {
    std::vector<size_t> all, of_reads, of_places;
    for (size_t i = 0; i < CrossingTable().size(); ++i) {
      all.push_back(i);
      if (CrossingTable()[i].is_of_read) of_reads.push_back(i);
      if (CrossingTable()[i].is_of_place) of_places.push_back(i);
    }
    const auto places = PlacesOf(cover_.CoverPairs(random, of_places));
    std::vector<PairCover::Choice> choices = cover_.CoverPairs(random, all, {}, places);
    const auto used = PlacesOf(choices);
    for (const std::string_view name : {"call", "way"}) {
      const size_t dimension = NumberOf(name);
      for (size_t value = 0; value < CrossingTable()[dimension].values.size(); ++value) {
        const auto more = cover_.CoverPairs(random, of_reads, {{dimension, value}}, used);
        choices.insert(choices.end(), more.begin(), more.end());
      }
    }
    std::vector<Crossing> cases;
    for (const PairCover::Choice& choice : choices) cases.push_back(CaseOf(choice));
    std::stable_sort(cases.begin(), cases.end(),
                     [](const Crossing& a, const Crossing& b) { return a.place < b.place; });
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
      if (i == 0) place = PlaceOf(*choice);
    }
    return cases;
  }

 private:
  static size_t NumberOf(std::string_view name) {
    const auto found =
        std::find_if(CrossingTable().begin(), CrossingTable().end(),
                     [name](const CrossingDimension& dimension) { return dimension.name == name; });
    return static_cast<size_t>(found - CrossingTable().begin());
  }
  static std::vector<PairCover::Item> PlaceOf(const PairCover::Choice& choice) {
    std::vector<PairCover::Item> place;
    for (size_t i = 0; i < choice.size(); ++i) {
      if (CrossingTable()[i].is_of_place) place.push_back({i, choice[i]});
    }
    return place;
  }
  static std::vector<std::vector<PairCover::Item>> PlacesOf(
      const std::vector<PairCover::Choice>& choices) {
    std::set<std::vector<PairCover::Item>> places;
    for (const PairCover::Choice& choice : choices) places.insert(PlaceOf(choice));
    return {places.begin(), places.end()};
  }
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
  static bool IsOfError(const PairCover::Item& item) { return ValueOf(item).is_of_error; }
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

// Databases with one content, each made when a case needs it, and kept until another place.
class CrossedRun {
 public:
  CrossedRun(uint64_t seed, int64_t most, CrossedContent::Left left) : content_(seed, most, left) {}

  // False if the case has failed.
  bool Try(const Crossing& crossing) {
    if (const absl::Status made = MakeDatabase(crossing); !made.ok()) {
      return Fail(crossing, made.ToString());
    }
    const CrossedRows got = Call(crossing);
    if (crossing.writes) database_ = nullptr;
    if (crossing.error.has_value()) return CheckError(crossing, got);
    if (!got.ok()) return Fail(crossing, got.status().ToString());
    const std::vector<ModelRow> expected = ExpectedAnswer(&crossing, &content_).Get();
    if (*got == expected) return true;
    return Fail(crossing, Cat("got:\n", Describe(*got), "expected:\n", Describe(expected)));
  }
  size_t databases() const { return made_; }

 private:
  absl::Status MakeDatabase(const Crossing& crossing) {
    if (database_ != nullptr && place_ == crossing.place && !crossing.writes) {
      return absl::OkStatus();
    }
    database_ = nullptr;
    BT_ASSIGN_OR_RETURN(database_, CrossedDatabase::Make(crossing.place, content_));
    place_ = crossing.place;
    ++made_;
    return absl::OkStatus();
  }
  CrossedRows Call(const Crossing& crossing) {
    const ScopedShortcuts shortcuts(crossing.shortcuts ? 0 : ScopedShortcuts::kAll);
    return crossing.call(crossing, database_.get());
  }
  // A call that asks for no row need not be made.
  bool CheckError(const Crossing& crossing, const CrossedRows& got) const {
    if (got.status().code() == *crossing.error) return true;
    const auto is_asked = [&](const std::string& row) { return IsAsked(crossing, row); };
    const bool asks =
        std::any_of(CrossedContent::Rows().begin(), CrossedContent::Rows().end(), is_asked);
    if (got.ok() && got->empty() && !asks) return true;
    return Fail(crossing, Cat("got ", got.status().ToString(), ", and not ",
                              absl::StatusCodeToString(*crossing.error), "\n"));
  }
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
  Place place_;
  std::unique_ptr<CrossedDatabase> database_;  // null, or in place_ with the content
  size_t made_ = 0;
};

constexpr int64_t kFewMutations = 4;
constexpr int64_t kManyMutations = 12;
// A failure of one fault would be hundreds.
constexpr int kMostFailures = 3;

TEST(CrossingsTest, EachPairOfCallsOptionsAndSettingsReturnsWhatTheModelDoes) {
  Random random(1);
  const std::vector<Crossing> cases = CrossingCases().Cover(random);
  CrossedRun run(1, kFewMutations, CrossedContent::Left::kWhole);
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
  ForEachSeed(kSlow ? 4 : 12, [&](uint64_t seed) {
    Random random(seed);
    const uint64_t seed_of_content = random.Next();
    const int64_t most = random.OneIn(2) ? kFewMutations : kManyMutations;
    CrossedRun run(seed_of_content, most,
                   random.OneIn(2) ? CrossedContent::Left::kWhole : CrossedContent::Left::kAny);
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
