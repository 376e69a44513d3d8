// Figures in a form for people.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_FORMAT_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace webtable {

std::string HumanCount(uint64_t n);              // 1,169
std::string HumanBytes(uint64_t bytes);          // 15.4 MiB
std::string HumanDuration(absl::Duration time);  // 2.31 s, 840 us
std::string HumanRate(double bytes_per_second);  // 6.7 MiB/s
std::string HumanTime(absl::Time time);          // 2026-01-31 12:34:56, local
// 1 page, 1,169 pages
std::string Plural(uint64_t n, std::string_view noun);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_FORMAT_H_
