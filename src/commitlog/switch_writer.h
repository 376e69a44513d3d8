// Writes the beginning of the segment in which a commit log continues after a stall: a switch
// record and copies of the records at risk in the slow file. The switch record states the log
// offset from which the copies replace the slow file (log_format.h).
//
// Threads: the thread in LogCalls::SwitchFile, which has taken the segment. What it reads of the
// slow file is in memory, and does not change.
//
// The switch record is written after all copies that it covers. So what a crash leaves, of a switch
// from segment n to n + 1:
//
//  * Before the switch record: n + 1 may hold copies, but has no record at its beginning. n has no
//    end record, and contains everything that was acknowledged: the log ends in n. If the copies
//    cannot be written this is final, and n + 1.log is replaced.
//  * Switch record written: the log continues from its offset in n in n + 1, which contains
//    everything from there on. The bytes of n after that offset are ignored: they may be torn,
//    missing, unreadable or complete, and written before, or much later by the stalled call.
//  * The machine crashes before n + 1 is synced. Switch record lost: the log ends in n, where no
//    record after the offset was acknowledged as synced. Copies torn: the log ends there, for the
//    same reason.
//  * Switch record lost or damaged after n + 1 was synced: later records of n + 1, or STATE, show
//    it.
#ifndef BIGTABLE_COMMITLOG_SWITCH_WRITER_H_
#define BIGTABLE_COMMITLOG_SWITCH_WRITER_H_

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "base/ref_counted.h"
#include "base/sequence.h"
#include "commitlog/call_times.h"
#include "commitlog/log_format.h"
#include "commitlog/log_segment.h"

namespace bigtable {

struct SwitchPlan {
  uint64_t from = 0;                 // the log offset in the switch record
  std::vector<SegmentPiece> pieces;  // the records from there on
  uint64_t synced = 0;               // the log is known to be synced up to this log offset
};

class SwitchWriter {
 public:
  // `to` has room for the records of the plan and an end record. `times` outlives this.
  SwitchWriter(SwitchPlan plan, Ref<LogSegment> to, CallTimes* times)
      : plan_(std::move(plan)), to_(std::move(to)), times_(times) {}
  SwitchWriter(const SwitchWriter&) = delete;
  SwitchWriter& operator=(const SwitchWriter&) = delete;

  // Copies the records at risk, after the space for the switch record. The log's own records are
  // not copied.
  absl::Status WriteCopies();
  // Then writes the switch record. `last` is the last sequence number of the log. After an error it
  // is unknown in which of the two files recovery would continue.
  absl::Status WriteSwitchRecord(SequenceNumber last);

  uint64_t from() const { return plan_.from; }
  const Ref<LogSegment>& to() const { return to_; }
  uint64_t end() const { return end_; }                     // the position after the copies
  SequenceNumber first_sequence() const { return first_; }  // of the copies, 0 if there are none

 private:
  absl::Status CopyRecords(const SegmentPiece& piece);
  // Does nothing if the segment is mapped.
  absl::Status Write(uint64_t position, uint64_t size);

  const SwitchPlan plan_;
  const Ref<LogSegment> to_;
  CallTimes* const times_;
  uint64_t end_ = kSwitchRecordSize;
  SequenceNumber first_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMITLOG_SWITCH_WRITER_H_
