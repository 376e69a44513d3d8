// Chooses cases that cover every pair of values of a table of dimensions: each two values of two
// dimensions that can be together are together in some case. A few hundred cases do what billions
// of combinations would. Plain values; one thread at a time.
#ifndef BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_
#define BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
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

  // Whether a case with the value covers no pair but those of this value.
  using IsAlone = std::function<bool(const Item&)>;

  // `sizes`: how many values each dimension has.
  PairCover(std::vector<size_t> sizes, const Clash& clash, const IsAlone& is_alone)
      : sizes_(std::move(sizes)) {
    size_t items = 0;
    for (const size_t size : sizes_) {
      first_.push_back(items);
      items += size;
    }
    first_.push_back(items);
    clash_ = Pairs(items);
    const std::vector<Item> all = AllItems();
    for (const Item& a : all) {
      is_alone_.push_back(is_alone(a) ? 1 : 0);
      for (const Item& b : all) {
        if (a == b) continue;
        if (a.dimension == b.dimension || clash(a, b)) clash_.Add(NumberOf(a), NumberOf(b));
      }
    }
  }

  // A random case that has these values; nullopt if none was found.
  std::optional<Choice> Draw(Random& random, const std::vector<Item>& with = {}) const {
    return Complete(random, with, nullptr);
  }

  // Cases with the values `with` that cover all pairs of values of these dimensions; the values of
  // the others are random. A pair that no case can have is left out. Each case has all values of
  // one of `bases` where that is possible, so that few combinations of these occur.
  std::vector<Choice> CoverPairs(Random& random, const std::vector<size_t>& dimensions,
                                 const std::vector<Item>& with = {},
                                 const std::vector<std::vector<Item>>& bases = {}) const {
    Pairs left(first_.back());
    std::vector<std::pair<Item, Item>> pairs = PairsOf(dimensions);
    for (const auto& [a, b] : pairs) left.Add(NumberOf(a), NumberOf(b));
    std::vector<Choice> cases;
    for (const auto& [a, b] : pairs) {
      if (!left.Has(NumberOf(a), NumberOf(b))) continue;
      std::vector<Item> chosen = with;
      Add({a, b}, &chosen);
      const std::optional<Choice> found = CompleteOnBase(random, chosen, bases, &left);
      if (!found.has_value()) continue;
      RemoveCovered(*found, &left);
      cases.push_back(*found);
    }
    return cases;
  }

 private:
  static constexpr int kTries = 30;
  static constexpr int kTriesOfBase = 2;

  // A set of pairs of items, by their numbers.
  class Pairs {
   public:
    Pairs() = default;
    explicit Pairs(size_t items) : items_(items), has_(items * items) {}
    void Add(size_t a, size_t b) { has_[a * items_ + b] = has_[b * items_ + a] = true; }
    void Remove(size_t a, size_t b) { has_[a * items_ + b] = has_[b * items_ + a] = false; }
    bool Has(size_t a, size_t b) const { return has_[a * items_ + b]; }

   private:
    size_t items_ = 0;
    std::vector<char> has_;
  };

  size_t NumberOf(const Item& item) const { return first_[item.dimension] + item.value; }
  std::vector<Item> AllItems() const {
    std::vector<Item> items;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      for (size_t value = 0; value < sizes_[i]; ++value) items.push_back({i, value});
    }
    return items;
  }
  std::vector<std::pair<Item, Item>> PairsOf(const std::vector<size_t>& dimensions) const {
    std::vector<std::pair<Item, Item>> pairs;
    for (const size_t i : dimensions) {
      for (const size_t j : dimensions) {
        if (j <= i) continue;
        for (size_t a = 0; a < sizes_[i]; ++a) {
          for (size_t b = 0; b < sizes_[j]; ++b) {
            if (!Clashes({i, a}, {j, b})) pairs.push_back({{i, a}, {j, b}});
          }
        }
      }
    }
    return pairs;
  }

  bool IsAloneItem(const Item& item) const { return is_alone_[NumberOf(item)] != 0; }
  bool HasAlone(const std::vector<Item>& items) const {
    return std::any_of(items.begin(), items.end(),
                       [this](const Item& item) { return IsAloneItem(item); });
  }
  void RemoveCovered(const Choice& choice, Pairs* left) const {
    std::vector<Item> items;
    for (size_t i = 0; i < choice.size(); ++i) items.push_back({i, choice[i]});
    const bool is_whole = !HasAlone(items);
    for (const Item& a : items) {
      if (!is_whole && !IsAloneItem(a)) continue;
      for (const Item& b : items) left->Remove(NumberOf(a), NumberOf(b));
    }
  }

  static void Add(const std::vector<Item>& more, std::vector<Item>* items) {
    for (const Item& item : more) {
      if (std::find(items->begin(), items->end(), item) == items->end()) items->push_back(item);
    }
  }
  std::optional<Choice> CompleteOnBase(Random& random, const std::vector<Item>& with,
                                       const std::vector<std::vector<Item>>& bases,
                                       const Pairs* left) const {
    std::optional<Choice> without = Complete(random, with, left);
    if (!without.has_value() || bases.empty()) return without;
    const size_t first = random.Below(bases.size());
    for (size_t i = 0; i < bases.size(); ++i) {
      const std::vector<Item>& base = bases[(first + i) % bases.size()];
      if (HasAlone(base) && !HasAlone(with)) continue;
      std::vector<Item> chosen = with;
      Add(base, &chosen);
      std::optional<Choice> found = Complete(random, chosen, left, kTriesOfBase);
      if (found.has_value()) return found;
    }
    return without;
  }

  // Chooses the other values at random, in a random order of the dimensions; of several, the one
  // that covers most of `left`, and rarely one that is alone. Some dead ends are tried again.
  std::optional<Choice> Complete(Random& random, const std::vector<Item>& with, const Pairs* left,
                                 int tries = kTries) const {
    for (const Item& a : with) {
      for (const Item& b : with) {
        if (Clashes(a, b)) return std::nullopt;
      }
    }
    for (int i = 0; i < tries; ++i) {
      std::vector<Item> chosen = with;
      if (TryToComplete(random, left, &chosen)) {
        Choice choice(sizes_.size());
        for (const Item& item : chosen) choice[item.dimension] = item.value;
        return choice;
      }
    }
    return std::nullopt;
  }
  // Also two values of one dimension do.
  bool Clashes(const Item& a, const Item& b) const { return clash_.Has(NumberOf(a), NumberOf(b)); }
  bool TryToComplete(Random& random, const Pairs* left, std::vector<Item>* chosen) const {
    std::vector<size_t> dimensions;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const bool is_given = std::any_of(chosen->begin(), chosen->end(),
                                        [i](const Item& item) { return item.dimension == i; });
      if (!is_given) dimensions.insert(dimensions.begin() + PlaceIn(random, dimensions), i);
    }
    const bool takes_alone = left == nullptr && random.OneIn(8);
    for (const size_t dimension : dimensions) {
      std::optional<Item> best;
      size_t most = 0;
      const size_t first = random.Below(sizes_[dimension]);
      for (size_t k = 0; k < sizes_[dimension]; ++k) {
        const Item item{dimension, (first + k) % sizes_[dimension]};
        const bool is_possible =
            std::none_of(chosen->begin(), chosen->end(),
                         [&](const Item& other) { return Clashes(item, other); });
        if (!is_possible || (IsAloneItem(item) && !takes_alone)) continue;
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
  size_t CountCovered(const Item& item, const std::vector<Item>& chosen, const Pairs& left) const {
    return static_cast<size_t>(std::count_if(chosen.begin(), chosen.end(), [&](const Item& other) {
      return left.Has(NumberOf(item), NumberOf(other));
    }));
  }

  const std::vector<size_t> sizes_;
  std::vector<size_t> first_;  // the number of the first item of each dimension, and their count
  Pairs clash_;
  std::vector<char> is_alone_;  // by the numbers of items
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CROSSINGS_PAIR_COVER_H_
