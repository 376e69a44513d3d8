// Chooses cases that cover every pair of values of a table of dimensions: each two values of two
// dimensions that can be together are together in some case. A few hundred cases do what billions
// of combinations would. Plain values; one thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_
#define BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "support/random.h"

namespace bigtable {

class PairCover {
 public:
  using Choice = std::vector<size_t>;  // the number of a value for each dimension
  // A value of a dimension, by their numbers.
  struct Item {
    size_t dimension;
    size_t value;
    friend auto operator<=>(const Item&, const Item&) = default;
  };
  // Whether two values of different dimensions cannot be together.
  using Clash = std::function<bool(const Item&, const Item&)>;

  // `sizes`: how many values each dimension has.
  PairCover(std::vector<size_t> sizes, Clash clash)
      : sizes_(std::move(sizes)), clash_(std::move(clash)) {}

  // A random case that has these values; nullopt if none was found.
  std::optional<Choice> Draw(Random& random, const std::vector<Item>& with = {}) const {
    return Complete(random, with, nullptr);
  }

  // Cases with these values that cover all pairs of values of these dimensions; the values of the
  // others are random. A pair that no case can have is left out.
  std::vector<Choice> CoverPairs(Random& random, const std::vector<size_t>& dimensions,
                                 const std::vector<Item>& with = {}) const {
    Pairs left = PairsOf(dimensions);
    std::vector<Choice> cases;
    while (!left.empty()) {
      const auto [a, b] = *left.begin();
      std::vector<Item> chosen = with;
      chosen.push_back(a);
      chosen.push_back(b);
      const std::optional<Choice> found = Complete(random, chosen, &left);
      if (!found.has_value()) {
        left.erase(left.begin());
        continue;
      }
      for (const size_t i : dimensions) {
        for (const size_t j : dimensions) {
          if (i < j) left.erase({{i, (*found)[i]}, {j, (*found)[j]}});
        }
      }
      cases.push_back(*found);
    }
    return cases;
  }

 private:
  using Pairs = std::set<std::pair<Item, Item>>;

  Pairs PairsOf(const std::vector<size_t>& dimensions) const {
    Pairs pairs;
    for (const size_t i : dimensions) {
      for (const size_t j : dimensions) {
        if (j <= i) continue;
        for (size_t a = 0; a < sizes_[i]; ++a) {
          for (size_t b = 0; b < sizes_[j]; ++b) {
            if (!clash_({i, a}, {j, b})) pairs.insert({{i, a}, {j, b}});
          }
        }
      }
    }
    return pairs;
  }

  // Chooses the other values at random, in a random order of the dimensions; of several, the one
  // that covers most of `left`. Some dead ends are tried again.
  std::optional<Choice> Complete(Random& random, const std::vector<Item>& with,
                                 const Pairs* left) const {
    if (Clashes(with)) return std::nullopt;
    constexpr int kTries = 30;
    for (int i = 0; i < kTries; ++i) {
      std::vector<Item> chosen = with;
      if (TryToComplete(random, left, &chosen)) {
        Choice choice(sizes_.size());
        for (const Item& item : chosen) choice[item.dimension] = item.value;
        return choice;
      }
    }
    return std::nullopt;
  }
  bool Clashes(const std::vector<Item>& items) const {
    for (const Item& a : items) {
      for (const Item& b : items) {
        if (a.dimension != b.dimension && clash_(a, b)) return true;
      }
    }
    return false;
  }
  bool TryToComplete(Random& random, const Pairs* left, std::vector<Item>* chosen) const {
    std::vector<size_t> dimensions;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const bool is_given = std::any_of(chosen->begin(), chosen->end(),
                                        [i](const Item& item) { return item.dimension == i; });
      if (!is_given) dimensions.insert(dimensions.begin() + PlaceIn(random, dimensions), i);
    }
    for (const size_t dimension : dimensions) {
      std::optional<Item> best;
      size_t most = 0;
      const size_t first = random.Below(sizes_[dimension]);
      for (size_t k = 0; k < sizes_[dimension]; ++k) {
        const Item item{dimension, (first + k) % sizes_[dimension]};
        const bool is_possible = std::none_of(
            chosen->begin(), chosen->end(), [&](const Item& other) { return clash_(item, other); });
        if (!is_possible) continue;
        const size_t covered = left == nullptr ? 0 : CountCovered(item, *chosen, *left);
        if (best.has_value() && covered <= most) continue;
        best = item;
        most = covered;
      }
      if (!best.has_value()) return false;
      chosen->push_back(*best);
    }
    return true;
  }
  static std::ptrdiff_t PlaceIn(Random& random, const std::vector<size_t>& list) {
    return random.Between(0, static_cast<std::ptrdiff_t>(list.size()));
  }
  static size_t CountCovered(const Item& item, const std::vector<Item>& chosen, const Pairs& left) {
    return static_cast<size_t>(std::count_if(chosen.begin(), chosen.end(), [&](const Item& other) {
      return left.contains(item < other ? std::pair(item, other) : std::pair(other, item));
    }));
  }

  const std::vector<size_t> sizes_;
  const Clash clash_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_
