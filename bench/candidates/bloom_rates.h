// What theory says of Bloom filters: the share of keys that were not added and that they do not
// exclude, 0 to 1. Pure functions.
#ifndef BIGTABLE_BENCH_CANDIDATES_BLOOM_RATES_H_
#define BIGTABLE_BENCH_CANDIDATES_BLOOM_RATES_H_

namespace candidates {

// Of one array of bits: (1 - e^(-probes / bits))^probes, with that many bits for each key.
double BloomRate(double bits, int probes);

// Of an array of lines, each a Bloom filter of `line_bits` for the keys whose hash selects it: at
// most a few hundred of them. How
// many keys a line has follows Poisson's distribution, and the full ones cost more than the empty
// ones gain (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA
// 2007).
double LinesBloomRate(double bits, int probes, int line_bits);

}  // namespace candidates

#endif  // BIGTABLE_BENCH_CANDIDATES_BLOOM_RATES_H_
