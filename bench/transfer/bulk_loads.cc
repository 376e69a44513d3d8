#include "bulk_loads.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/time/clock.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "rows.h"

namespace bench {
absl::StatusOr<BulkLoadResult> MeasureBulkLoad(const BulkLoadOptions& options) {
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "bulk");
  if (!directory.ok()) return directory.status();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      options.engine.open({.directory = Concat(directory->path(), "/database"),
                           .purpose = Purpose::kWrites,
                           .memory_limit = options.memory_limit,
                           .rows = options.rows});
  if (!engine.ok()) return engine.status();
  const std::string files = Concat(directory->path(), "/files");
  std::filesystem::create_directory(files);
  const Values values(options.value_size);
  const std::vector<uint32_t> order = Permutation(options.rows, 1);
  if (absl::Status s = SyncFileSystem(directory->path()); !s.ok()) return s;

  BulkLoadResult result;
  const absl::StatusOr<uint64_t> written = BytesWritten();
  const absl::StatusOr<absl::Duration> cpu = CpuTime();
  if (!written.ok()) return written.status();
  if (!cpu.ok()) return cpu.status();
  const absl::Time begin = absl::Now();
  std::unique_ptr<Loader> loader = (*engine)->NewLoader(options.load, files, options.threads);
  if (loader == nullptr) return absl::UnimplementedError("the engine does not have this way");
  for (const uint32_t row : order) {
    if (absl::Status s = loader->Add(Key(row).view(), values.Of(row)); !s.ok()) return s;
  }
  if (absl::Status s = loader->Finish(); !s.ok()) return s;
  result.time = absl::Now() - begin;
  absl::StatusOr<absl::Duration> cpu_now = CpuTime();
  if (!cpu_now.ok()) return cpu_now.status();
  result.cpu = *cpu_now - *cpu;
  loader.reset();
  const absl::StatusOr<absl::Time> quiet = (*engine)->WaitUntilQuiet();
  if (!quiet.ok()) return quiet.status();
  result.until_quiet = std::max(result.time, *quiet - begin);
  cpu_now = CpuTime();
  if (!cpu_now.ok()) return cpu_now.status();
  result.cpu_until_quiet = *cpu_now - *cpu;
  const absl::StatusOr<uint64_t> written_now = BytesWritten();
  if (!written_now.ok()) return written_now.status();
  result.bytes_written = *written_now - *written;
  if (absl::Status s = CheckRows(engine->get(), options.rows, values); !s.ok()) return s;
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
