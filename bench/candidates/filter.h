// A filter of an SSTable, engine's or not, to be measured and tested beside the others: "may the
// file contain this row?" A new kind is a class and a line in registry.cc.
//
// Only measurements call filters through this interface. The engine's own are adapted to it
// (engine_filters.h); the engine calls them directly.
#ifndef BIGTABLE_BENCH_CANDIDATES_FILTER_H_
#define BIGTABLE_BENCH_CANDIDATES_FILTER_H_

#include <cstddef>
#include <string_view>

namespace candidates {

// First Add for each key, then Finish once, then the others. One thread at a time.
class Filter {
 public:
  virtual ~Filter() = default;

  // `key`: a row prefix (base/entry_key.h), as the engine's filters hash it. Keys ascend.
  virtual void Add(std::string_view key) = 0;
  virtual void Finish() = 0;

  // False is certain.
  virtual bool MayContain(std::string_view key) const = 0;
  // Of the finished filter.
  virtual size_t memory() const = 0;
  // The share of other keys for which MayContain is true according to theory, 0 to 1.
  virtual double ExpectedRate() const = 0;
};

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_FILTER_H_
