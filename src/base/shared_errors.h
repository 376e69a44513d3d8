// The errors of a batch, of which many are equal: equal ones share one text, instead of each having
// its own. One thread at a time.
#ifndef BIGTABLE_BASE_SHARED_ERRORS_H_
#define BIGTABLE_BASE_SHARED_ERRORS_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"

namespace bigtable {

class SharedErrors {
 public:
  // `status`, or an earlier error that equals it.
  absl::Status Share(absl::Status status) {
    if (status.ok()) [[likely]]
      return status;
    for (const absl::Status& earlier : errors_) {
      if (earlier == status) return earlier;
    }
    if (errors_.size() < kMost) errors_.push_back(status);
    return status;
  }

 private:
  // Each further error is compared with all of these.
  static constexpr size_t kMost = 16;

  std::vector<absl::Status> errors_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_SHARED_ERRORS_H_
