// A state of a database that can be read later.
#ifndef BIGTABLE_SNAPSHOT_H_
#define BIGTABLE_SNAPSHOT_H_

#include <cstdint>

#include "bigtable/export.h"

namespace bigtable {

// Taken with Database::TakeSnapshot, passed in ReadOptions. A read sees what was written before it
// was taken, and had not expired then (GcRule::MaxAge). While it lives, compactions preserve the
// data that it can see: hold it no longer than needed. Thread-safe. A read with a snapshot of
// another database returns InvalidArgument.
class BIGTABLE_EXPORT Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The sequence number of the last mutation that the snapshot can see.
  uint64_t sequence() const { return sequence_; }

 protected:
  explicit Snapshot(uint64_t sequence) : sequence_(sequence) {}

 private:
  const uint64_t sequence_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SNAPSHOT_H_
