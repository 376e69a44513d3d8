#include "engine.h"

#include <utility>

#include "bigtable_engine.h"

namespace bench {

std::vector<EngineKind> BuiltEngines() {
  std::vector<EngineKind> engines = {BigtableEngine()};
#ifdef BENCH_HAVE_ROCKSDB
  engines.push_back(RocksDBEngine());
#endif
#ifdef BENCH_HAVE_LEVELDB
  engines.push_back(LevelDBEngine());
#endif
#ifdef BENCH_HAVE_LMDB
  engines.push_back(LmdbEngine());
#endif
  return engines;
}

std::optional<EngineKind> BuiltEngine(std::string_view name) {
  for (EngineKind& engine : BuiltEngines()) {
    if (engine.name == name) return std::move(engine);
  }
  return std::nullopt;
}

}  // namespace bench
