#include "progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "format.h"

namespace webtable {

Progress::Progress(uint64_t total_pages, uint64_t total_bytes, bool quiet)
    : total_pages_(total_pages),
      total_bytes_(total_bytes),
      quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      start_(absl::Now()) {}

Progress::~Progress() {
  constexpr const char* kClearLine = "\r\033[K";
  if (!quiet_ && terminal_) std::fputs(kClearLine, stderr);
}

void Progress::Update(uint64_t pages, uint64_t bytes) {
  constexpr absl::Duration kRedraw = absl::Milliseconds(100);
  if (quiet_) return;
  const int percent = static_cast<int>(100 * (bytes + pages) / (total_bytes_ + total_pages_));
  if (terminal_) {
    const absl::Time now = absl::Now();
    if (now - last_drawn_ < kRedraw) return;
    last_drawn_ = now;
    absl::FPrintF(stderr, "\r%s\033[K", Line(pages, bytes, percent));
  } else if (percent / 10 > last_tenth_) {
    last_tenth_ = percent / 10;
    absl::FPrintF(stderr, "%s\n", Line(pages, bytes, percent));
  }
  std::fflush(stderr);
}

std::string Progress::Line(uint64_t pages, uint64_t bytes, int percent) const {
  constexpr int kBarWidth = 16;
  const int filled = kBarWidth * percent / 100;
  const absl::Duration elapsed = std::max(absl::Now() - start_, absl::Microseconds(1));
  const uint64_t done = std::max<uint64_t>(bytes, 1);
  const absl::Duration left =
      elapsed * (static_cast<double>(total_bytes_ - bytes) / static_cast<double>(done));
  const std::string bar = terminal_ ? absl::StrFormat("[%s%s] ", std::string(filled, '='),
                                                      std::string(kBarWidth - filled, ' '))
                                    : "";
  return absl::StrFormat("import %s%3d%%  %s/%s pages  %s  %s  ETA %d s", bar, percent,
                         HumanCount(pages), HumanCount(total_pages_), HumanBytes(bytes),
                         HumanRate(static_cast<double>(bytes) / absl::ToDoubleSeconds(elapsed)),
                         absl::ToInt64Seconds(absl::Ceil(left, absl::Seconds(1))));
}

}  // namespace webtable
