// Measurements of sensors, kept by rules: each point for a day, and their sums by the hour for a
// year. The row is the sensor and the hour, "boiler#2001-09-09T01": rows stay small, a range of
// time of a sensor is a range of rows, and the writes of many sensors go to many places of the
// table, which they would not if the time came first.
#include <cstdlib>
#include <iostream>
#include <string>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/testing/manual_clock.h"

namespace {

using bigtable::Filter;
using bigtable::Timestamp;

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

std::string RowOf(const std::string& sensor, absl::Time time) {
  return sensor + "#" + absl::FormatTime("%Y-%m-%dT%H", time, absl::UTCTimeZone());
}

// One write, which reads nothing: the families of the hour add, compare and count by themselves.
void Measure(bigtable::Table* table, const std::string& sensor, absl::Time time, int64_t value) {
  const Timestamp hour = Timestamp::FromTime(absl::UnixEpoch() +
                                             absl::Floor(time - absl::UnixEpoch(), absl::Hours(1)));
  Check(table->Apply(bigtable::RowMutation(RowOf(sensor, time))
                         .Set("point:", Timestamp::FromTime(time), bigtable::EncodeBigEndian(value))
                         .AddToCell("sum:points", hour, 1)
                         .AddToCell("sum:value", hour, value)
                         .AddToCell("min:value", hour, value)
                         .AddToCell("max:value", hour, value)));
}

// Prints the cells, and returns their number.
int Print(bigtable::RowReader rows) {
  int count = 0;
  for (const bigtable::Row& row : rows) {
    for (const bigtable::Cell& cell : row.cells()) {
      std::cout << absl::FormatTime("%H:%M ", cell.timestamp.ToTime(), absl::UTCTimeZone())
                << cell.family << ":" << cell.qualifier << " "
                << Value(bigtable::DecodeBigEndian(cell.value)) << "\n";
      ++count;
    }
  }
  Check(rows.status());
  return count;
}

}  // namespace

int main() {
  const absl::Time start = absl::FromUnixSeconds(1'000'000'800);  // two o'clock
  bigtable::ManualClock clock(start);
  bigtable::InMemoryFileSystem memory;
  const auto database =
      Value(bigtable::Database::Open("/series", {.file_system = &memory, .clock = &clock}));

  // Points are not merged: a file is dropped unread when the last of its points has expired.
  const auto year = bigtable::GcRule::MaxAge(absl::Hours(24 * 365));
  bigtable::TableSchema schema;
  schema.locality_groups["points"] = {.compaction = bigtable::CompactionStyle::kFifo};
  schema.families["point"] = {.locality_group = "points",
                              .gc = bigtable::GcRule::MaxAge(absl::Hours(24))};
  schema.families["sum"] = {.gc = year, .value_type = bigtable::ValueType::kInt64Sum};
  schema.families["min"] = {.gc = year, .value_type = bigtable::ValueType::kInt64Min};
  schema.families["max"] = {.gc = year, .value_type = bigtable::ValueType::kInt64Max};
  bigtable::Table* const table = Value(database->OpenOrCreateTable("series", schema));
  for (int minute = 0; minute < 180; ++minute) {
    clock.Set(start + absl::Minutes(minute));
    Measure(table, "boiler", clock.Now(), 60 + minute % 7);
    Measure(table, "pump", clock.Now(), 20);
  }

  // The last five: the newest row is the last one, and in a row the newest cell is the first.
  const auto boiler = bigtable::RowRange::Prefix("boiler#");
  const int last =
      Print(table->ReadRows(boiler, Filter::Family("point"), {.reverse = true, .cell_limit = 5}));
  // A range of time: the rows of its hours, of which the filter passes the points of these minutes.
  const absl::Time from = start + absl::Minutes(58), to = start + absl::Minutes(63);
  const auto hours = bigtable::RowRange::Closed(RowOf("boiler", from), RowOf("boiler", to));
  const auto minutes = Filter::TimestampRange(Timestamp::FromTime(from), Timestamp::FromTime(to));
  const int range = Print(table->ReadRows(hours, Filter::Chain(Filter::Family("point"), minutes)));
  // Two days later there are only the hours, for reads at once and on disk with a compaction.
  clock.Advance(absl::Hours(48));
  const int kept = Print(table->ReadRows(boiler));
  return last == 5 && range == 5 && kept == 3 * 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
