// Makes sequence numbers visible on several servers at once: those of a batch, or of ingested
// files. Thread-safe.
#ifndef BIGTABLE_COMMIT_JOINT_PUBLICATION_H_
#define BIGTABLE_COMMIT_JOINT_PUBLICATION_H_

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "base/thread_roles.h"
#include "commit/visible_sequence.h"

namespace bigtable {

class JointPublication {
 public:
  // A server, and its visible sequence number from here on.
  struct Part {
    VisibleSequence* visible = nullptr;
    SequenceNumber sequence = 0;
  };

  JointPublication() = default;
  JointPublication(const JointPublication&) = delete;
  JointPublication& operator=(const JointPublication&) = delete;

  // In a turn at each of the servers. A reader sees all of the numbers or none.
  void Publish(absl::Span<const Part> parts) ABSL_EXCLUSIVE_LOCKS_REQUIRED(server_writer) {
    MutexLock lock(&mutex_);
    const uint64_t turn = turn_.load(std::memory_order_relaxed) + 1;
    for (const Part& part : parts) part.visible->Prepare(part.sequence, &turn_, turn);
    turn_.store(turn, std::memory_order_release);
    for (const Part& part : parts) part.visible->Complete();
  }

 private:
  Mutex mutex_;  // nothing else is published meanwhile
  VisibleSequence::PublishedTurn turn_{0};
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_JOINT_PUBLICATION_H_
