// Which calls run on the files of a commit log, and which of them still matter.
//
// A turn begins with the log, and with each switch to the other file. The switch abandons the calls
// that run: when one of them returns, its thread finds that a new turn has begun and changes
// nothing, whatever the result of its call. Within a turn there is at most one flush, of the
// appending thread, and at most one sync, of any thread. Nobody begins one while a switch runs. No
// other switch begins before the calls that the last one abandoned have returned.
//
//   flush or sync runs --BeginSwitch--> abandoned --EndAbandoned--> ended
//            |
//            +--EndFlush, EndSync--> ended, and its result counts
//
// Not thread-safe: under the log's lock (segment_chain.h).
#ifndef BIGTABLE_COMMITLOG_CALL_TURNS_H_
#define BIGTABLE_COMMITLOG_CALL_TURNS_H_

#include <cstdint>

#include "absl/base/macros.h"
#include "absl/status/status.h"

namespace bigtable {

class CallTurns {
 public:
  // A range of log offsets.
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  bool flushing() const { return flushing_; }
  bool syncing() const { return syncing_; }
  // Whether a switch runs. The thread in it is the appending thread.
  bool switching() const { return switching_; }
  // What is written, while flushing().
  const Range& flushed_range() const { return flushed_range_; }

  // The flush or sync that begins is of the turn that is returned.
  uint64_t BeginFlush(Range range) {
    ABSL_ASSERT(!flushing_ && !switching_ && "only the appending thread flushes");
    flushing_ = true;
    flushed_range_ = range;
    return turn_;
  }
  uint64_t BeginSync() {
    ABSL_ASSERT(!syncing_ && !switching_ && "within a turn there is one sync at a time");
    syncing_ = true;
    return turn_;
  }
  // Whether a call of this turn is abandoned. Then it ends with EndAbandoned.
  bool IsAbandoned(uint64_t turn) const { return turn != turn_; }
  void EndFlush() {
    ABSL_ASSERT(flushing_ && "a flush ends once");
    flushing_ = false;
  }
  void EndSync() {
    ABSL_ASSERT(syncing_ && "a sync ends once");
    syncing_ = false;
  }
  void EndAbandoned(const absl::Status& status) {
    ABSL_ASSERT(abandoned_ > 0 && "an abandoned call ends once");
    --abandoned_;
    stalled_status_.Update(status);
  }

  bool CanSwitch() const { return !switching_ && abandoned_ == 0; }
  void BeginSwitch() {
    ABSL_ASSERT(CanSwitch() && "only one call is left stalled at a time");
    ++turn_;
    abandoned_ = int{flushing_} + int{syncing_};
    stalled_status_ = absl::OkStatus();
    flushing_ = syncing_ = false;
    switching_ = true;
  }
  void EndSwitch() {
    ABSL_ASSERT(switching_ && "a switch ends once");
    switching_ = false;
  }
  // Abandoned calls that have not returned.
  int abandoned() const { return abandoned_; }
  // The first error of the calls that were abandoned last.
  const absl::Status& stalled_status() const { return stalled_status_; }

 private:
  uint64_t turn_ = 0;
  bool flushing_ = false;
  bool syncing_ = false;
  bool switching_ = false;
  Range flushed_range_;
  int abandoned_ = 0;
  absl::Status stalled_status_;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_CALL_TURNS_H_
