#include "common/spread.h"

#include <cmath>
#include <limits>

namespace bench {

Spread SpreadOf(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (count == 0) return {kNone, kNone};
  const double mean = sum / count;
  if (count == 1) return {mean, kNone};
  double squares = 0;
  for (const double value : values) {
    if (!std::isnan(value)) squares += (value - mean) * (value - mean);
  }
  return {mean, std::sqrt(squares / (count - 1))};
}

}  // namespace bench
