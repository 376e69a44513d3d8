// A table over a number of servers and tablets, as an engine of its own. So the rounds of ../paper
// take all of them in turn, and a slow minute of the machine affects more than one figure.
#ifndef BIGTABLE_BENCH_SCALE_SPREAD_H_
#define BIGTABLE_BENCH_SCALE_SPREAD_H_

#include <optional>
#include <string>
#include <string_view>

#include "paper/bigtable_engine.h"
#include "paper/engine.h"

namespace bench {

// "4x1000": servers, tablets.
std::string SpreadName(const Spread& spread);
// nullopt if it is not such a name.
std::optional<EngineKind> SpreadEngine(std::string_view name);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_SPREAD_H_
