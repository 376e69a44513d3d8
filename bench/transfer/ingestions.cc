#include "ingestions.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "absl/time/clock.h"

#include "common/strings.h"
#include "common/temporary_directory.h"
#include "common/workload.h"
#include "rows.h"

namespace bench {
absl::StatusOr<IngestionResult> MeasureIngestions(const IngestionOptions& options) {
  constexpr absl::Duration kPause = absl::Milliseconds(250);
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "ingest");
  if (!directory.ok()) return directory.status();
  absl::StatusOr<std::unique_ptr<Engine>> engine =
      options.engine.open({.directory = Concat(directory->path(), "/database"),
                           .purpose = Purpose::kReadsAndWrites,
                           .memory_limit = options.memory_limit,
                           .rows = 2 * options.rows});
  if (!engine.ok()) return engine.status();
  const Values values;
  if (absl::Status s = WriteRows(engine->get(), options.rows, values); !s.ok()) return s;

  std::vector<std::unique_ptr<Loader>> loaders;
  uint64_t next = options.rows;
  for (int i = 0; i < options.ingestions; ++i) {
    const std::string files = Concat(directory->path(), "/files", i);
    std::filesystem::create_directory(files);
    loaders.push_back((*engine)->NewLoader(Load::kFiles, files, /*threads=*/1));
    if (loaders.back() == nullptr) return absl::UnimplementedError("the engine ingests no files");
    for (uint64_t row = 0; row < options.file_rows; ++row, ++next) {
      if (absl::Status s = loaders.back()->Add(Key(next).view(), values.Of(next)); !s.ok()) {
        return s;
      }
    }
    if (absl::Status s = loaders.back()->Prepare(); !s.ok()) return s;
  }

  IngestionResult result;
  WritingClient client(engine->get(), {options.rows, options.writes_per_second}, &values);
  client.Start();
  absl::SleepFor(options.ingestions * kPause);
  absl::StatusOr<WriteTimes> times = client.Stop();
  if (!times.ok()) return times.status();
  result.without = *times;

  client.Start();
  absl::Status status;
  for (const std::unique_ptr<Loader>& loader : loaders) {
    const absl::Time begin = absl::Now();
    status = loader->Finish();
    if (!status.ok()) break;
    result.ingestions.push_back(absl::Now() - begin);
    absl::SleepFor(std::max(absl::ZeroDuration(), begin + kPause - absl::Now()));
  }
  times = client.Stop();
  if (!status.ok()) return status;
  if (!times.ok()) return times.status();
  result.beside = *times;
  std::sort(result.ingestions.begin(), result.ingestions.end());
  if (absl::Status s = CheckRows(engine->get(), next, values); !s.ok()) return s;
  if (absl::Status s = (*engine)->Close(); !s.ok()) return s;
  return result;
}

}  // namespace bench
