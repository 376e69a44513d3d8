#include "backups.h"

#include <filesystem>
#include <memory>

#include "absl/time/clock.h"

#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "rows.h"

namespace bench {
namespace {

uint64_t BytesIn(const std::string& directory) {
  uint64_t bytes = 0;
  if (!std::filesystem::exists(directory)) return bytes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

absl::StatusOr<BackupsResult::Backup> Backup(Engine* engine, const std::string& directory) {
  const uint64_t before = BytesIn(directory);
  const absl::Time begin = absl::Now();
  if (absl::Status s = engine->Backup(directory); !s.ok()) return s;
  return BackupsResult::Backup{.time = absl::Now() - begin, .bytes = BytesIn(directory) - before};
}

}  // namespace

absl::StatusOr<BackupsResult> MeasureBackups(const BackupsOptions& options) {
  constexpr uint64_t kBackups = 10;
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "backups");
  if (!directory.ok()) return directory.status();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      options.engine.open({.directory = Concat(directory->path(), "/database"),
                           .purpose = Purpose::kWrites,
                           .memory_limit = options.memory_limit,
                           .rows = options.rows});
  if (!engine.ok()) return engine.status();
  const Values values;
  if (absl::Status s = WriteRows(engine->get(), options.rows, values); !s.ok()) return s;
  const std::string backups = Concat(directory->path(), "/backups");
  BackupsResult result;
  absl::StatusOr<BackupsResult::Backup> backup = Backup(engine->get(), backups);
  if (!backup.ok()) return backup.status();
  result.first = *backup;
  const uint64_t changed = options.rows / 100;
  for (uint64_t i = 1; i < kBackups; ++i) {
    const uint64_t first = options.rows / kBackups * i;
    for (uint64_t row = first; row < first + changed; ++row) {
      if (absl::Status s = (*engine)->Write(Key(row).view(), values.Of(row)); !s.ok()) return s;
    }
    backup = Backup(engine->get(), backups);
    if (!backup.ok()) return backup.status();
  }
  result.tenth = *backup;
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
