#include "target.h"

namespace bench {

absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const Overview& recording,
                                                   const TargetOptions& options) {
#ifdef BENCH_HAVE_ROCKSDB
  if (options.policy.is_rocksdb) return OpenRocksDBTarget(recording, options);
#endif
  return OpenBigtableTarget(recording, options);
}

}  // namespace bench
