#include "bench/candidates/bloom_rates.h"

#include <cmath>

namespace candidates {

double BloomRate(double bits, int probes) { return std::pow(1 - std::exp(-probes / bits), probes); }

double LinesBloomRate(double bits, int probes, int line_bits) {
  const double mean = line_bits / bits;                                 // keys of a line
  const int most = static_cast<int>(mean + 12 * std::sqrt(mean) + 12);  // more have no weight
  double rate = 0;
  double weight = std::exp(-mean);  // of the lines with `keys` keys
  for (int keys = 0; keys <= most; ++keys) {
    const double clear = std::pow(1 - 1.0 / line_bits, probes * keys);
    rate += weight * std::pow(1 - clear, probes);
    weight *= mean / (keys + 1);
  }
  return rate;
}

}  // namespace candidates
