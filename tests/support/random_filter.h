// A filter of any kind, over an alphabet so small that most filters pass something.
#ifndef BIGTABLE_TESTS_SUPPORT_RANDOM_FILTER_H_
#define BIGTABLE_TESTS_SUPPORT_RANDOM_FILTER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/timestamp.h"

#include "support/model_filter.h"
#include "support/random.h"

namespace bigtable {

// What a filter names, chosen anew each time.
struct FilterAlphabet {
  std::function<std::string()> family;
  std::function<std::string()> text;  // of a qualifier or value
  int64_t max_timestamp = 6;
};

class RandomFilters {
 public:
  RandomFilters(Random* random, FilterAlphabet alphabet)
      : random_(random), alphabet_(std::move(alphabet)) {}

  ModelFilter Next() {
    ModelFilter filter;
    do {
      filter = Make(0, /*may_sink=*/true, /*may_label=*/true);
    } while (Copies(filter) > 1000);  // an error
    return filter;
  }

 private:
  using Kind = ModelFilter::Kind;
  static constexpr int kMostDepth = 3;

  // At most so many of a cell are in the result.
  static int64_t Copies(const ModelFilter& filter) {
    int64_t copies = filter.kind == Kind::kInterleave ? 0 : 1;
    for (const ModelFilter& part : filter.filters) {
      if (filter.kind == Kind::kChain) copies *= Copies(part);
      if (filter.kind == Kind::kInterleave) copies += Copies(part);
      if (filter.kind == Kind::kCondition) copies = std::max(copies, Copies(part));
    }
    return copies;
  }

  // A valid one: Filter::status() says where sinks and labels may be.
  ModelFilter Make(int depth, bool may_sink, bool may_label) {
    ModelFilter filter;
    filter.kind = RandomKind(depth);
    if ((filter.kind == Kind::kSink && !may_sink) ||
        (filter.kind == Kind::kApplyLabel && !may_label)) {
      filter.kind = Kind::kPassAll;
    }
    filter.n = random_->Between(1, 4);
    filter.probability = random_->OneIn(2) ? 0.5 : 0.9;
    filter.family = alphabet_.family();
    filter.begin = alphabet_.text();
    filter.end = alphabet_.text();
    if (filter.end <= filter.begin) filter.end.clear();  // an empty range is an error
    if (filter.kind == Kind::kApplyLabel) filter.begin = random_->OneIn(2) ? "l" : "label-2";
    filter.from_micros = random_->Between(0, alphabet_.max_timestamp);
    filter.to_micros =
        random_->OneIn(2) ? filter.from_micros + random_->Between(1, 6) : Timestamp::Max().micros();
    filter.regex = random_->Below(ModelRegexes().size());
    AddParts(&filter, depth, may_sink, may_label);
    return filter;
  }

  Kind RandomKind(int depth) {
    constexpr auto kKinds = static_cast<uint64_t>(Kind::kSink) + 1;
    if (depth < kMostDepth && random_->OneIn(3)) {
      constexpr Kind kTrees[] = {Kind::kChain, Kind::kInterleave, Kind::kCondition};
      return kTrees[random_->Below(3)];
    }
    for (;;) {
      const auto kind = static_cast<Kind>(random_->Below(kKinds));
      const bool is_tree =
          kind == Kind::kChain || kind == Kind::kInterleave || kind == Kind::kCondition;
      if (!is_tree || depth < kMostDepth) return kind;
    }
  }

  void AddParts(ModelFilter* filter, int depth, bool may_sink, bool may_label) {
    if (filter->kind == Kind::kCondition) {
      for (int i = 0; i < 3; ++i) filter->filters.push_back(Make(depth + 1, false, may_label));
    } else if (filter->kind == Kind::kInterleave) {
      for (int64_t i = random_->Between(1, 3); i > 0; --i) {
        filter->filters.push_back(Make(depth + 1, may_sink, may_label));
      }
    } else if (filter->kind == Kind::kChain) {
      const int64_t parts = random_->Between(1, 3);
      const int64_t labelled = random_->Between(0, 2);  // the one part that may have a label
      for (int64_t i = 0; i < parts; ++i) {
        filter->filters.push_back(Make(depth + 1, may_sink, may_label && i == labelled));
      }
    }
  }

  Random* const random_;
  const FilterAlphabet alphabet_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_RANDOM_FILTER_H_
