#include "target.h"

namespace bench {

absl::StatusOr<Returned> Target::Do(const bigtable::RecordedCall& call) {
  if (ReadsOnly(call.kind)) return Read(call);
  if (absl::Status s = Write(call); !s.ok()) return s;
  return Returned{call.rows, call.cells};
}

absl::StatusOr<std::unique_ptr<Target>> OpenTarget(const Overview& recording,
                                                   const TargetOptions& options) {
#ifdef BENCH_HAVE_ROCKSDB
  if (options.policy.is_rocksdb) return OpenRocksDBTarget(recording, options);
#endif
  return OpenBigtableTarget(recording, options);
}

}  // namespace bench
