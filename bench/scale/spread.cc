#include "spread.h"

#include <vector>

#include "absl/strings/numbers.h"

#include "common/strings.h"

namespace bench {

std::string SpreadName(const Spread& spread) { return Concat(spread.servers, "x", spread.tablets); }

std::optional<EngineKind> SpreadEngine(std::string_view name) {
  const std::vector<std::string> numbers = Split(name, 'x');
  Spread spread;
  if (numbers.size() != 2 || !absl::SimpleAtoi(numbers[0], &spread.servers) ||
      !absl::SimpleAtoi(numbers[1], &spread.tablets)) {
    return std::nullopt;
  }
  EngineKind engine = BigtableEngine(spread);
  engine.name = std::string(name);
  return engine;
}

}  // namespace bench
