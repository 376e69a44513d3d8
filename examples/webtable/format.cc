#include "format.h"

#include "absl/strings/str_format.h"

namespace webtable {
namespace {

// Three significant digits: 1.23, 12.3, 123.
std::string ThreeDigits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f", decimals, value);
}

}  // namespace

std::string HumanCount(uint64_t n) {
  std::string digits = std::to_string(n);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string HumanBytes(uint64_t bytes) {
  if (bytes < 1024) return absl::StrFormat("%d B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  const char* unit = "KiB";
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (value < 999.5) break;
    value /= 1024;
    unit = larger;
  }
  return ThreeDigits(value) + " " + unit;
}

std::string HumanDuration(absl::Duration time) {
  const double micros = absl::ToDoubleMicroseconds(time);
  if (micros < 999.5) return ThreeDigits(micros) + " us";
  if (micros < 999.5e3) return ThreeDigits(micros / 1e3) + " ms";
  if (micros < 120e6) return ThreeDigits(micros / 1e6) + " s";
  const int64_t seconds = absl::ToInt64Seconds(time);
  return absl::StrFormat("%d:%02d min", seconds / 60, seconds % 60);
}

std::string HumanRate(double bytes_per_second) {
  return HumanBytes(static_cast<uint64_t>(bytes_per_second)) + "/s";
}

std::string HumanTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", time, absl::LocalTimeZone());
}

std::string Plural(uint64_t n, std::string_view noun) {
  return absl::StrFormat("%s %s%s", HumanCount(n), noun, n == 1 ? "" : "s");
}

}  // namespace webtable
