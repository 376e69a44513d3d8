#include "store.h"

#include <utility>

namespace bench {
namespace {

absl::Status NotItsWork() { return absl::UnimplementedError("the store does not do this work"); }

}  // namespace

absl::Status Store::Increment(uint64_t /*row*/) { return NotItsWork(); }
absl::Status Store::WriteBatch(std::span<const uint64_t> /*rows*/, std::string_view /*value*/) {
  return NotItsWork();
}
absl::Status Store::Transfer(uint64_t /*from*/, uint64_t /*to*/) { return NotItsWork(); }
absl::StatusOr<int64_t> Store::Number(uint64_t /*row*/) { return NotItsWork(); }
absl::StatusOr<std::string> Store::Value(uint64_t /*row*/) { return NotItsWork(); }

std::vector<StoreKind> BuiltStores(Work work) {
  std::vector<StoreKind> stores = BigtableStores();
#ifdef BENCH_HAVE_ROCKSDB
  for (StoreKind& store : RocksDBStores()) stores.push_back(std::move(store));
#endif
  std::erase_if(stores, [&](const StoreKind& store) { return store.work != work; });
  return stores;
}

}  // namespace bench
