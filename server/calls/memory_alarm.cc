#include "server/calls/memory_alarm.h"

#include <algorithm>
#include <malloc.h>

#include "server/calls/process_memory.h"

namespace bigtable::server {
namespace {

// After an alarm, the next comes when the process has grown by this part of what may be received.
// Between the first alarm and the bound of the process are 8 such steps or more: 16 with growing
// windows, 32 with 64 MB.
constexpr uint64_t kSteps = 8;

}  // namespace

MemoryAlarm::MemoryAlarm(const RequestLimits& limits)
    : alarm_(limits.alarm), receiving_(limits.receiving) {
  Looks();
}

void MemoryAlarm::Reset() {
  const std::lock_guard<std::mutex> lock(mutex_);
  least_ = 0;
  last_alarm_ = 0;
  Looks();
}

bool MemoryAlarm::Rings() {
  if (alarm_ == 0) return false;
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  Looks();
  uint64_t resident = ResidentMemory();
  if (least_ == 0 || resident < least_) least_ = resident;
  last_alarm_ = std::min(last_alarm_, resident);
  if (!IsTooLarge(resident)) return false;
  malloc_trim(0);
  resident = ResidentMemory();
  if (!IsTooLarge(resident)) return false;
  last_alarm_ = resident;
  return true;
}

bool MemoryAlarm::IsTooLarge(uint64_t resident) const {
  return resident > alarm_ && resident > least_ + receiving_ &&
         (last_alarm_ == 0 || resident > last_alarm_ + receiving_ / kSteps);
}

}  // namespace bigtable::server
