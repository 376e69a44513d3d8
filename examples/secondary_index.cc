// A table of people and an index of them by city, in a table of its own. A person and the index are
// changed by one batch, so the index never has a row too many or one too few: not for a reader, and
// not after a crash. The database is in memory; with a path and without `file_system` it would be
// on disk, and nothing else would change.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

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

struct Tables {
  bigtable::Database* database;
  bigtable::Table* people;   // name -> info:city
  bigtable::Table* by_city;  // city/name
};

std::string IndexRow(std::string_view city, std::string_view name) {
  return std::string(city) + "/" + std::string(name);
}

// Reads where the person lived and moves them, as a transaction: two moves at the same time leave
// one row in the index.
void Move(const Tables& tables, const std::string& name, const std::string& city) {
  Check(tables.database->RunTransaction([&](bigtable::Transaction* transaction) -> absl::Status {
    const bigtable::Row person =
        Value(transaction->ReadRow(tables.people, name, bigtable::Filter::Column("info", "city")));
    if (!person.empty()) {
      const std::string old = IndexRow(person.cells()[0].value, name);
      Check(transaction->Apply(tables.by_city, bigtable::RowMutation(old).DeleteRow()));
    }
    Check(transaction->Apply(tables.by_city,
                             bigtable::RowMutation(IndexRow(city, name)).Set("info:", "")));
    return transaction->Apply(tables.people, bigtable::RowMutation(name).Set("info:city", city));
  }));
}

std::vector<std::string> PeopleIn(const Tables& tables, const std::string& city) {
  std::vector<std::string> names;
  bigtable::RowReader rows = tables.by_city->ReadRows(bigtable::RowRange::Prefix(city + "/"));
  for (const bigtable::Row& row : rows) {
    names.emplace_back(row.key().substr(city.size() + 1));
  }
  Check(rows.status());
  return names;
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem memory;
  bigtable::DatabaseOptions options;
  options.file_system = &memory;
  const std::unique_ptr<bigtable::Database> database =
      Value(bigtable::Database::Open("/people", options));
  bigtable::TableSchema schema;
  schema.families["info"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  const Tables tables = {database.get(), Value(database->OpenOrCreateTable("people", schema)),
                         Value(database->OpenOrCreateTable("by_city", schema))};

  // New people need no transaction: nothing is read, and a batch is enough.
  bigtable::WriteBatch batch;
  for (const char* const name : {"ann", "bob", "eve"}) {
    batch.Apply(tables.people, bigtable::RowMutation(name).Set("info:city", "rome"));
    batch.Apply(tables.by_city, bigtable::RowMutation(IndexRow("rome", name)).Set("info:", ""));
  }
  Check(database->Apply(batch));
  Move(tables, "bob", "oslo");
  Move(tables, "dan", "oslo");

  for (const char* const city : {"oslo", "rome"}) {
    std::cout << city << ":";
    for (const std::string& name : PeopleIn(tables, city)) std::cout << " " << name;
    std::cout << "\n";
  }
  const bool is_right = PeopleIn(tables, "oslo") == std::vector<std::string>{"bob", "dan"} &&
                        PeopleIn(tables, "rome") == std::vector<std::string>{"ann", "eve"};
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
