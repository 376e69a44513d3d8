// A moment of a database that can be read later.
#ifndef BIGTABLE_SNAPSHOT_H_
#define BIGTABLE_SNAPSHOT_H_

#include <cstdint>

namespace bigtable {

// Taken with Database::TakeSnapshot, passed in ReadOptions. While it lives, compactions keep what
// it sees: hold it no longer than needed. Thread-safe. Reads with a snapshot of another database
// are InvalidArgument.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // The last mutation that it sees.
  uint64_t sequence() const { return sequence_; }

 protected:
  explicit Snapshot(uint64_t sequence) : sequence_(sequence) {}

 private:
  const uint64_t sequence_;
};

}  // namespace bigtable

#endif  // BIGTABLE_SNAPSHOT_H_
