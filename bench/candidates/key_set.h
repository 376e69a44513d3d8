// The keys on which candidates are compared.
#ifndef BIGTABLE_BENCH_CANDIDATES_KEY_SET_H_
#define BIGTABLE_BENCH_CANDIDATES_KEY_SET_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"

#include "base/entry_key.h"

namespace candidates {

// A way to make rows of numbers, in whose order they ascend. Rows with even numbers exist; between
// any two of them there is one that does not.
struct KeySet {
  std::string_view name;
  std::string (*row)(uint64_t number);

  // What a filter is asked for.
  std::string RowPrefix(uint64_t number) const { return bigtable::RowPrefix(row(number)); }
  // The key of the row's only entry, as an index has it.
  std::string EntryKey(uint64_t number) const {
    std::string key = RowPrefix(number);
    bigtable::AppendColumn(&key, "f", "q");
    bigtable::AppendTrailer(&key, 1, {number + 1, 0}, bigtable::EntryKind::kCell);
    return key;
  }
};

inline constexpr KeySet kKeySets[] = {
    {"digits", [](uint64_t number) { return absl::StrFormat("%016d", number); }},
    // A hundred pages of each site, so that most keys differ late from their neighbours.
    {"urls",
     [](uint64_t number) {
       constexpr uint64_t kPages = 200;
       return absl::StrFormat("com.site%08d.www/archive/2006/page%03d.html", number / kPages,
                              number % kPages);
     }},
};

// Keys one after the other in memory, so that a measurement that goes through them in their order
// waits for what it measures, not for them.
class KeyList {
 public:
  void Add(std::string_view key) {
    bytes_ += key;
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  template <typename Visit>
  void ForEach(Visit visit) const {
    size_t begin = 0;
    for (const size_t end : ends_) {
      visit(std::string_view(bytes_).substr(begin, end - begin));
      begin = end;
    }
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_KEY_SET_H_
