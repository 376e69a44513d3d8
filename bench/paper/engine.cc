#include "engine.h"

namespace bench {

std::vector<EngineKind> BuiltEngines() {
  std::vector<EngineKind> engines = {BigtableEngine()};
#ifdef BENCH_HAVE_ROCKSDB
  engines.push_back(RocksDBEngine());
#endif
#ifdef BENCH_HAVE_LEVELDB
  engines.push_back(LevelDBEngine());
#endif
  return engines;
}

}  // namespace bench
