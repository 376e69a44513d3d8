// A progress bar on stderr: on a terminal a line that is redrawn, elsewhere a line for each tenth
// of the work.
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
  // Clears the terminal's line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Reports this progress towards the totals.
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
