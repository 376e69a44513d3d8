// Personalised search as in section 8.3 of the paper: a row for each user, a column family for each
// kind of action, and the time of the action as the timestamp of its cell. Rules keep each kind of
// action as long as it is of use. A pass over all histories writes a profile of each user, which is
// read while the user searches. The database is in memory; with a path and without `file_system` it
// would be on disk, and nothing else would change.
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>

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

// The cell of an action: its kind is the family, its subject the qualifier.
void Note(bigtable::Table* table, std::string_view user, const std::string& action, absl::Time when,
          std::string_view details) {
  Check(table->Apply(
      bigtable::RowMutation(user).Set(action, bigtable::Timestamp::FromTime(when), details)));
}

// The step that the paper does by MapReduce: the topic that each user asked for most often.
void WriteProfiles(bigtable::Table* table) {
  bigtable::RowReader users =
      table->ReadRows(bigtable::RowRange::All(), bigtable::Filter::Family("query"));
  for (const bigtable::Row& user : users) {
    std::map<std::string_view, int> topics;
    for (const bigtable::Cell& query : user.cells()) ++topics[query.qualifier];
    auto favourite = topics.begin();
    for (auto topic = topics.begin(); topic != topics.end(); ++topic) {
      if (topic->second > favourite->second) favourite = topic;
    }
    Check(
        table->Apply(bigtable::RowMutation(user.key()).Set("profile:favourite", favourite->first)));
  }
  Check(users.status());
}

}  // namespace

int main() {
  const absl::Time monday = absl::FromUnixSeconds(1'000'000'000);
  bigtable::ManualClock clock(monday);
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  options.clock = &clock;
  const auto database = Value(bigtable::Database::Open("/history", options));

  bigtable::TableSchema schema;
  schema.families["query"] = {.gc = bigtable::GcRule::MaxAge(absl::Hours(24 * 30))};
  schema.families["click"] = {.gc = bigtable::GcRule::MaxAge(absl::Hours(24 * 7))};
  schema.families["profile"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  bigtable::Table* const table = Value(database->OpenOrCreateTable("history", schema));

  Note(table, "ann", "query:jazz", monday, "jazz clubs near me");
  Note(table, "ann", "click:jazz", monday, "http://bluenote.example");
  Note(table, "ann", "query:jazz", monday + absl::Hours(1), "jazz piano");
  Note(table, "ann", "query:weather", monday + absl::Hours(2), "rain today");
  Note(table, "bob", "query:weather", monday, "snow");
  clock.Set(monday + absl::Hours(3));
  WriteProfiles(table);

  for (const std::string user : {"ann", "bob"}) {
    std::cout << user << " likes " << Value(table->Get(user, "profile:favourite")) << "\n";
  }
  // Ten days later the clicks have expired, for reads at once and on disk with a compaction; the
  // queries and the profile have not.
  clock.Advance(absl::Hours(24 * 10));
  const bigtable::Row ann = Value(table->ReadRow("ann"));
  for (const bigtable::Cell& cell : ann.cells()) {
    std::cout << cell.family << ":" << cell.qualifier << " " << cell.value << "\n";
  }
  return ann.cells().size() == 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
