// A progress bar on stderr: a line that is drawn again and again on a terminal, and a line for each
// tenth of the work elsewhere.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_PROGRESS_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_PROGRESS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace webtable {

// One thread at a time.
class Progress {
 public:
  Progress(uint64_t total_pages, uint64_t total_bytes, bool quiet);
  // Leaves the terminal's line clean.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // So much is done, of the totals.
  void Update(uint64_t pages, uint64_t bytes);

 private:
  std::string Line(uint64_t pages, uint64_t bytes, int percent) const;

  const uint64_t total_pages_;
  const uint64_t total_bytes_;
  const bool quiet_;
  const bool terminal_;
  const absl::Time start_;
  absl::Time last_drawn_ = absl::InfinitePast();
  int last_tenth_ = 0;
};

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_PROGRESS_H_
