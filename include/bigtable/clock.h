// The time by which timestamps are assigned and old cells expire. A program may use its own
// (DatabaseOptions::clock).
#ifndef BIGTABLE_CLOCK_H_
#define BIGTABLE_CLOCK_H_

#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// Thread-safe. May jump; the timestamps that a server assigns increase nevertheless.
class BIGTABLE_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  // The present time.
  virtual absl::Time Now() = 0;

  // The machine's clock. Never destroyed.
  static Clock* System();
};

}  // namespace bigtable

#endif  // BIGTABLE_CLOCK_H_
