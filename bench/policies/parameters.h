// Parameters in the name of a policy, as in "fluid(K=2/Z=1)": so that a shared object can make any
// of them when it is asked for, and a sweep can vary them (bench/compaction/plugin.h).
#ifndef BIGTABLE_BENCH_POLICIES_PARAMETERS_H_
#define BIGTABLE_BENCH_POLICIES_PARAMETERS_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace policies {

class Parameters {
 public:
  // InvalidArgument unless it is NAME, or NAME(KEY=NUMBER/KEY=NUMBER...) with whole numbers.
  static absl::StatusOr<Parameters> Parse(std::string_view text);

  const std::string& name() const { return name_; }
  // The number of this key, or `otherwise` if it is not given. One that is out of bounds is an
  // error of Finish().
  int Take(const std::string& key, int otherwise, int least, int most);
  // InvalidArgument: a number is out of its bounds, or a key was not taken.
  absl::Status Finish() const;

 private:
  std::string name_;
  std::map<std::string, int> numbers_;  // that were not taken
  absl::Status status_;
};

}  // namespace policies

#endif  // BIGTABLE_BENCH_POLICIES_PARAMETERS_H_
