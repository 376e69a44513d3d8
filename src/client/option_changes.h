// Changes of options while a database is open: Database::SetOptions.
//
// A call reads and checks all values, with the checks of Database::Open, before it changes the
// first option. Then it passes them to the parts that use them, and notes each change in the info
// log. To make another option changeable: a field in LiveOptions (cluster/live_options.h), and a
// line in the table in option_changes.cc.
#ifndef BIGTABLE_CLIENT_OPTION_CHANGES_H_
#define BIGTABLE_CLIENT_OPTION_CHANGES_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"

#include "bigtable/options.h"

#include "base/mutex.h"
#include "cluster/cluster.h"
#include "cluster/environment.h"

namespace bigtable {

// Thread-safe. The caller holds no lock.
class OptionChanges {
 public:
  using Values = std::map<std::string, std::string>;

  // All values, or after an error none. InvalidArgument: see Database::SetOptions.
  absl::Status Set(Cluster* cluster, const Values& values) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same for this option, of which every value is valid.
  void SetCompactionRate(Cluster* cluster, uint64_t bytes_per_second) ABSL_LOCKS_EXCLUDED(mutex_);
  // The present value of each option that Set accepts.
  static Values Get(const ClusterEnvironment& environment);

 private:
  static void Apply(Cluster* cluster, const DatabaseOptions& options);

  Mutex mutex_;  // one change at a time
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_OPTION_CHANGES_H_
