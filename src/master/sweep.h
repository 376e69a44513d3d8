// Removes garbage (the mark-and-sweep of section 6 of the paper): SSTables that no tablet names,
// now and again; at an opening also logs that no server needs, and what was sorted of them.
#ifndef BIGTABLE_MASTER_SWEEP_H_
#define BIGTABLE_MASTER_SWEEP_H_

#include <string_view>

#include "absl/status/status.h"

#include "master/master_context.h"

namespace bigtable {

// Thread-safe.
class Sweeper {
 public:
  explicit Sweeper(MasterContext* context) : context_(context) {}

  // Removes the SSTables that no tablet names, and none will: those of work that has failed, and
  // those that could not be removed when they became obsolete. Errors of METADATA's server, and of
  // files.
  absl::Status SweepFiles();
  // The same, with a warning in the info log instead of an error.
  void Sweep();
  // After an opening: what earlier processes have left.
  absl::Status SweepLeftovers();

 private:
  void NoteStray(std::string_view path);

  MasterContext* const context_;
};

}  // namespace bigtable

#endif  // BIGTABLE_MASTER_SWEEP_H_
