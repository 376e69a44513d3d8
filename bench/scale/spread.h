// A table over so many servers and tablets, as an engine of its own: so the rounds of ../paper take
// all of them in turn, and what a machine does in a bad minute is not all of one figure.
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
// Nothing if that is not the name of one.
std::optional<EngineKind> SpreadEngine(std::string_view name);

}  // namespace bench

#endif  // BIGTABLE_BENCH_SCALE_SPREAD_H_
