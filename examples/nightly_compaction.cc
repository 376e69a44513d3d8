// Sessions that expire one by one, at a time that their values have: no garbage collection rule
// knows it, so a compaction filter removes them. Compactions are kept slow while users are there;
// at night the limit is taken away, and everything that has expired goes.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"
#include "bigtable/testing/manual_clock.h"

namespace {

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

// A value is "SECONDS USER": when the session expires, and whose it is.
class Expiry final : public bigtable::CompactionFilter {
 public:
  Decision Filter(const bigtable::CompactedCell& cell, std::string* /*value*/) const override {
    int64_t expires = 0;
    const std::string text(cell.value.substr(0, cell.value.find(' ')));
    // What it does not understand, it keeps.
    if (!absl::SimpleAtoi(text, &expires)) return Decision::kKeep;
    return expires <= absl::ToUnixSeconds(cell.now) ? Decision::kRemove : Decision::kKeep;
  }
};

int CountRows(bigtable::Table* table) {
  int count = 0;
  bigtable::RowReader rows = table->ReadRows(bigtable::RowRange::All());
  for (const bigtable::Row& row : rows) count += row.empty() ? 0 : 1;
  Check(rows.status());
  return count;
}

}  // namespace

int main() {
  Check(bigtable::RegisterCompactionFilter("expiry", std::make_unique<Expiry>()));
  const absl::Time noon = absl::FromUnixSeconds(1'000'000'000);
  bigtable::ManualClock clock(noon);
  bigtable::InMemoryFileSystem memory;  // with a path and without it, the database is on disk
  const auto database =
      Value(bigtable::Database::Open("/sessions", {.file_system = &memory, .clock = &clock}));
  bigtable::TableSchema schema;
  schema.families["session"] = {.gc = bigtable::GcRule::MaxVersions(1),
                                .compaction_filter = "expiry"};
  bigtable::Table* const table = Value(database->OpenOrCreateTable("sessions", schema));

  // By day: compactions read and write at most ten megabytes a second, together.
  Check(database->SetOptions({{"compaction_rate", "10000000"}}));
  for (int i = 0; i < 1000; ++i) {
    // Half of them last for an hour, and the others for a day.
    const absl::Duration lasts = i % 2 == 0 ? absl::Hours(1) : absl::Hours(24);
    const std::string row = absl::StrCat("session-", i);
    Check(table->Apply(bigtable::RowMutation(row).Set(
        "session:", absl::StrCat(absl::ToUnixSeconds(noon + lasts), " user-", i % 10))));
  }
  const int by_day = CountRows(table);

  // At night: without a limit. Reads returned expired sessions until now; a reader that must not
  // see them checks the value, too.
  clock.Advance(absl::Hours(12));
  Check(database->SetOptions({{"compaction_rate", "0"}}));
  Check(database->Compact("sessions"));
  const int at_night = CountRows(table);
  std::cout << by_day << " sessions by day, " << at_night << " after the night's compaction\n";
  return by_day == 1000 && at_night == 500 ? EXIT_SUCCESS : EXIT_FAILURE;
}
