#include "quiet.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/strings.h"

namespace bench {

absl::StatusOr<bool> OtherThreadsAreBusy() {
  const std::string self = Concat(gettid());
  std::error_code error;
  for (std::filesystem::directory_iterator i("/proc/self/task", error), end; !error && i != end;
       i.increment(error)) {
    if (i->path().filename() == self) continue;
    std::ifstream file(i->path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;  // the thread has ended
    // "1234 (name) S ...", and the name may hold anything.
    const size_t name_end = line.rfind(") ");
    if (name_end == std::string::npos) return absl::InternalError(Concat("stat: ", line));
    const char state = line[name_end + 2];
    if (state == 'R' || state == 'D') return true;
  }
  if (error) return absl::InternalError(Concat("/proc/self/task: ", error.message()));
  return false;
}

absl::StatusOr<absl::Time> WaitUntilOtherThreadsRest() {
  constexpr absl::Duration kRest = absl::Milliseconds(300);
  constexpr absl::Duration kStep = absl::Milliseconds(5);
  absl::Time last_busy = absl::Now();
  while (absl::Now() - last_busy < kRest) {
    absl::StatusOr<bool> busy = OtherThreadsAreBusy();
    if (!busy.ok()) return busy.status();
    if (*busy) last_busy = absl::Now();
    absl::SleepFor(kStep);
  }
  return last_busy;
}

}  // namespace bench
