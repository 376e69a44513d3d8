// A table of text.
#ifndef BIGTABLE_BENCH_COMMON_TABLE_H_
#define BIGTABLE_BENCH_COMMON_TABLE_H_

#include <string>
#include <utility>
#include <vector>

namespace bench {

// In Markdown, with its columns aligned, so that it is read as it is and pasted into a page.
class Table {
 public:
  explicit Table(std::vector<std::string> header) { Add(std::move(header)); }

  // A line with a cell for each column, in UTF-8.
  void Add(std::vector<std::string> cells) { lines_.push_back(std::move(cells)); }
  std::string Text() const;

 private:
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMMON_TABLE_H_
