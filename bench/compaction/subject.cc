#include "subject.h"

namespace bench {

absl::StatusOr<std::unique_ptr<Subject>> OpenSubject(const SubjectOptions& options) {
#ifdef BENCH_HAVE_ROCKSDB
  if (options.policy.is_rocksdb) return OpenRocksDBSubject(options);
#endif
  return OpenBigtableSubject(options);
}

}  // namespace bench
