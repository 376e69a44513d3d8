#include "event_log.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace bench {
namespace {

std::string KindOf(bigtable::CompactionReason reason) {
  switch (reason) {
    case bigtable::CompactionReason::kPush:
      return "push";
    case bigtable::CompactionReason::kDrop:
      return "drop";
    case bigtable::CompactionReason::kMajor:
      return "major";
    case bigtable::CompactionReason::kMerge:
      break;
  }
  return "merge";
}

}  // namespace

void EventLog::OnMinorCompactionEnded(const bigtable::MinorCompactionEvent& event) {
  if (event.location.table == "METADATA") return;
  Add({.kind = "flush",
       .end = event.time,
       .seconds = absl::ToDoubleSeconds(event.duration),
       .inputs = event.memtables,
       .outputs = event.outputs.size(),
       .bytes_written = static_cast<double>(event.bytes_written)});
}

void EventLog::OnCompactionEnded(const bigtable::CompactionEvent& event) {
  if (event.location.table == "METADATA") return;
  Add({.kind = KindOf(event.reason),
       .end = event.time,
       .seconds = absl::ToDoubleSeconds(event.duration),
       .inputs = event.inputs.size() + event.dropped.size(),
       .outputs = event.outputs.size(),
       .moved = event.moved.size(),
       .bytes_read = static_cast<double>(event.bytes_read),
       .bytes_written = static_cast<double>(event.bytes_written),
       .is_major = event.is_major,
       .reason = event.policy_reason});
}

// A change of the reason ends one stall and begins another.
void EventLog::OnStallChanged(const bigtable::StallEvent& event) {
  if (event.before == bigtable::StallReason::kNone) return;
  Add({.kind = "stall",
       .end = event.time,
       .seconds = absl::ToDoubleSeconds(event.lasted),
       .delay_us = absl::ToDoubleMicroseconds(event.delay)});
}

std::vector<Event> EventLog::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

void EventLog::Add(Event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
}

std::string EventCsvHeader() {
  return "workload,style,factor,seed,repeat,event,begin_seconds,end_seconds,inputs,outputs,moved,"
         "bytes_read,"
         "bytes_written,major,delay_us,reason\n";
}

std::string EventCsvLine(std::string_view workload, const Policy& policy, const Repeat& repeat,
                         absl::Time begin, const Event& event) {
  const double end = absl::ToDoubleSeconds(event.end - begin);
  // A comma would end the field.
  std::string reason = event.reason;
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c == ',' || c == '"' || c < ' '; }, ' ');
  return absl::StrFormat("%s,%s,%d,%d,%d,%s,%.6f,%.6f,%d,%d,%d,%.0f,%.0f,%d,%.3f,%s\n", workload,
                         policy.style, policy.factor, repeat.seed, repeat.number, event.kind,
                         end - event.seconds, end, event.inputs, event.outputs, event.moved,
                         event.bytes_read, event.bytes_written, event.is_major ? 1 : 0,
                         event.delay_us, reason);
}

}  // namespace bench
