// Statistics of web sites as in section 8.1 of the paper: the page views of each page, and the
// visitors of each site, by hour. The paper writes them by jobs that read the clicks of a day. Here
// each click is added to its counters at once: the families hold aggregates, so a click is a write
// that reads nothing, and threads do not wait for one another. The database is in memory; with a
// path and without `file_system` it would be on disk, and nothing else would change.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

constexpr int kThreads = 4;
constexpr int kClicks = 1000;  // of each thread

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::cerr << status << std::endl;
  std::exit(EXIT_FAILURE);
}

template <typename T>
T Value(absl::StatusOr<T> result) {
  Check(result.status());
  return *std::move(result);
}

// All clicks of an hour have one timestamp, so they are of one cell.
bigtable::Timestamp HourOf(absl::Time time) {
  return bigtable::Timestamp::FromTime(absl::UnixEpoch() +
                                       absl::Floor(time - absl::UnixEpoch(), absl::Hours(1)));
}

void Click(bigtable::Table* site, const std::string& page, std::string_view visitor,
           absl::Time time) {
  Check(site->Apply(bigtable::RowMutation("example.org")
                        .AddToCell("views:" + page, HourOf(time), 1)
                        .AddToCell("visitors:all", HourOf(time), visitor)));
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const auto database = Value(bigtable::Database::Open("/analytics", options));

  bigtable::TableSchema schema;
  schema.families["views"] = {.value_type = bigtable::ValueType::kInt64Sum};
  schema.families["visitors"] = {.value_type = bigtable::ValueType::kHyperLogLog};
  bigtable::Table* const sites = Value(database->OpenOrCreateTable("sites", schema));

  const absl::Time noon = absl::FromUnixSeconds(1'000'036'800);
  std::vector<std::thread> servers;
  for (int server = 0; server < kThreads; ++server) {
    servers.emplace_back([&] {
      for (int i = 0; i < kClicks; ++i) {
        const std::string visitor = "visitor " + std::to_string(i % 100);
        const absl::Time time = noon + i * absl::Hours(2) / kClicks;
        Click(sites, i % 4 == 0 ? "/index.html" : "/news.html", visitor, time);
      }
    });
  }
  for (std::thread& server : servers) server.join();

  // The newest hour comes first.
  int64_t views = 0;
  const bigtable::Row row = Value(sites->ReadRow("example.org"));
  for (const bigtable::Cell& cell : row.cells()) {
    std::cout << absl::FormatTime("%H:%M ", cell.timestamp.ToTime(), absl::UTCTimeZone());
    if (cell.family == "visitors") {
      std::cout << Value(bigtable::HyperLogLogEstimate(cell.value)) << " visitors\n";
    } else {
      views += Value(bigtable::DecodeBigEndian(cell.value));
      std::cout << Value(bigtable::DecodeBigEndian(cell.value)) << " views of " << cell.qualifier
                << "\n";
    }
  }
  return views == kThreads * kClicks ? EXIT_SUCCESS : EXIT_FAILURE;
}
