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

#include "background/background_work.h"
#include "base/info_log.h"
#include "base/mutex.h"
#include "cluster/directory.h"
#include "cluster/live_options.h"
#include "cluster/server_set.h"
#include "compaction/rate_limiter.h"

namespace bigtable {

// Thread-safe. The caller holds no lock.
class OptionChanges {
 public:
  using Values = std::map<std::string, std::string>;
  struct Parts {
    const DatabaseOptions* opened = nullptr;  // the options of the opening
    LiveOptions* live = nullptr;
    const DatabaseDirectory* directory = nullptr;  // of the file OPTIONS
    ServerSet* servers = nullptr;
    RateLimiter* compactions = nullptr;
    BackgroundWork* background = nullptr;
    InfoLog* info_log = nullptr;
  };

  // All outlive this.
  explicit OptionChanges(const Parts& parts) : parts_(parts) {}
  OptionChanges(const OptionChanges&) = delete;
  OptionChanges& operator=(const OptionChanges&) = delete;

  // All values, or after an error none. InvalidArgument: see Database::SetOptions.
  absl::Status Set(const Values& values) ABSL_LOCKS_EXCLUDED(mutex_);
  // The same for this option, of which every value is valid.
  void SetCompactionRate(uint64_t bytes_per_second) ABSL_LOCKS_EXCLUDED(mutex_);
  // Records the options of a database that was opened.
  void RecordOpening() ABSL_LOCKS_EXCLUDED(mutex_);
  // The present value of each option that Set accepts.
  Values Get() const;

 private:
  // The options of the opening, with the changes since.
  DatabaseOptions PresentOptions() const;
  void Apply(const DatabaseOptions& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Parts parts_;
  Mutex mutex_;  // one change at a time, and one write of the file
};

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_OPTION_CHANGES_H_
