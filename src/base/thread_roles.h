// What only some thread may do at a time, without a lock: Clang checks that it is done nowhere
// else. At run time a role is nothing.
//
// A function that only a thread with the role may call requires it (ABSL_EXCLUSIVE_LOCKS_REQUIRED),
// and a field that only such a thread uses is guarded by it (ABSL_GUARDED_BY). Where a thread gets
// the role, the function that it calls there says so (ABSL_ASSERT_EXCLUSIVE_LOCK), and asserts it
// where that can be seen; or it takes the role with Assume(), whose argument says why no other
// thread has it.
//
// A role is one for all servers: that a thread has it at the right one is not checked.
#ifndef BIGTABLE_BASE_THREAD_ROLES_H_
#define BIGTABLE_BASE_THREAD_ROLES_H_

#include "absl/base/thread_annotations.h"

namespace bigtable {

class ABSL_LOCKABLE ThreadRole {
 public:
  constexpr ThreadRole() = default;
  ThreadRole(const ThreadRole&) = delete;
  ThreadRole& operator=(const ThreadRole&) = delete;

  constexpr void Assume(const char* /*why*/) const ABSL_ASSERT_EXCLUSIVE_LOCK() {}
};

// Writes at a server: to its log, its memtables, and its visible sequence number. The leader of the
// server's group commit has it, and a thread that has a turn in its queue (commit/group_commit.h);
// and a thread that alone knows a log, a memtable or a tablet, because it has just made it, or
// because nothing is written to it any more.
inline ThreadRole server_writer;

// Commits a group of batches (commit/batch_writer.h).
inline ThreadRole batch_leader;

}  // namespace bigtable

#endif  // BIGTABLE_BASE_THREAD_ROLES_H_
