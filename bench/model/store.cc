#include "store.h"

#include <utility>

namespace bench {

std::vector<StoreKind> BuiltStores() {
  std::vector<StoreKind> stores = BigtableStores();
#ifdef BENCH_HAVE_ROCKSDB
  for (StoreKind& store : RocksDBStores()) stores.push_back(std::move(store));
#endif
  return stores;
}

}  // namespace bench
