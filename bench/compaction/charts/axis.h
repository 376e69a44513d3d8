// The range of an axis.
#ifndef BIGTABLE_BENCH_COMPACTION_CHARTS_AXIS_H_
#define BIGTABLE_BENCH_COMPACTION_CHARTS_AXIS_H_

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_format.h"

namespace bench {

// Collects the values of an axis, and is logarithmic if most of it would otherwise be flat.
class Axis {
 public:
  static constexpr double kFlat = 20;  // the greatest to the least positive value

  void Add(double value) {
    if (std::isnan(value) || value <= 0) return;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  bool is_empty() const { return most_ == 0; }
  bool is_logarithmic() const { return !is_empty() && most_ / least_ > kFlat; }

  double least() const { return least_; }
  double most() const { return most_; }

  // Commands for the axis `name`, which is x or y.
  std::string Script(char name) const {
    if (is_logarithmic()) {
      return absl::StrFormat("set logscale %c\nset %crange [%g:%g]\nset %ctics (%s)\n", name, name,
                             least_ / 1.3, most_ * 1.3, name, Tics());
    }
    return absl::StrFormat("unset logscale %c\nset %crange [0:%g]\nset %ctics autofreq\n", name,
                           name, is_empty() ? 1 : most_ * 1.08, name);
  }

 private:
  // Powers of ten; twice and five times of them, too, if there would be few otherwise.
  std::string Tics() const {
    constexpr double kManyDecades = 1000;
    const bool has_few = most_ / least_ < kManyDecades;
    std::string tics;
    for (double power = std::pow(10, std::floor(std::log10(least_ / 2))); power <= most_ * 2;
         power *= 10) {
      for (const double step : {1.0, 2.0, 5.0}) {
        if (step > 1 && !has_few) break;
        absl::StrAppendFormat(&tics, "%s%g", tics.empty() ? "" : ", ", step * power);
      }
    }
    return tics;
  }

  double least_ = std::numeric_limits<double>::infinity();  // of those above zero
  double most_ = 0;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_CHARTS_AXIS_H_
