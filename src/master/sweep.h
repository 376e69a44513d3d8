// Removes garbage (the mark-and-sweep of section 6 of the paper): periodically, SSTables that no
// tablet names; at an opening also logs that no server needs, and sorted logs.
#ifndef BIGTABLE_MASTER_SWEEP_H_
#define BIGTABLE_MASTER_SWEEP_H_

#include <string_view>

#include "absl/status/status.h"

#include "base/call_limits.h"
#include "cluster/coordination.h"
#include "cluster/storage.h"
#include "master/master_context.h"

namespace bigtable {

// Thread-safe.
class Sweeper {
 public:
  // All outlive this.
  Sweeper(MasterContext* context, const ClusterStorage* storage,
          const ClusterCoordination* coordination)
      : context_(context), storage_(storage), coordination_(coordination) {}

  // Removes the SSTables that no tablet names or will name: those of failed work, and those that
  // could not be removed when they became obsolete. Errors of METADATA's server, of files, and of
  // the limits.
  absl::Status SweepFiles(const CallLimits& limits = {});
  // The same, with a warning in the info log instead of an error.
  void Sweep(const CallLimits& limits = {});
  // After an opening: removes the leftovers of earlier processes.
  absl::Status SweepLeftovers();

 private:
  void AddStray(std::string_view path);

  MasterContext* const context_;
  const ClusterStorage* const storage_;
  const ClusterCoordination* const coordination_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SWEEP_H_
