// Changes of options while a database is open: Database::SetOptions.
//
// A call reads and checks all values, with the checks of Database::Open, before it changes the
// first option. Then it passes them to the parts that use them, notes each change in the info log,
// and records the options in effect (options/options_file.h); an error of that goes to the info
// log. The options are in the table of options/option_table.h.
#ifndef BIGTABLE_OPTIONS_OPTION_CHANGES_H_
#define BIGTABLE_OPTIONS_OPTION_CHANGES_H_

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
  // Records the options of a database that was opened.
  void RecordOpening(Cluster* cluster) ABSL_LOCKS_EXCLUDED(mutex_);
  // The present value of each option that Set accepts.
  static Values Get(const ClusterEnvironment& environment);

 private:
  void Apply(Cluster* cluster, const DatabaseOptions& options)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record(Cluster* cluster) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;  // one change at a time, and one write of the file
};

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_OPTION_CHANGES_H_
