// An index of users by city that the table keeps itself: an observer changes it with each write, so
// programs write to the users as if there were no index. Two threads move, add and delete users,
// while a reader compares users and index: neither is ever ahead of the other.
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

namespace {

using bigtable::Filter, bigtable::Row, bigtable::RowMutation, bigtable::RowRange, bigtable::Table;

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

const Filter kCity = Filter::Chain(Filter::Column("info", "city"), Filter::Latest(1));

// "oslo/bob", or "" for a user without a city.
std::string IndexRow(const Row& user, std::string_view name) {
  if (user.empty()) return "";
  return std::string(user.cells().front().value) + "/" + std::string(name);
}

// Keeps the table "by_city". It works for every mutation, because it asks what the row is without
// it and with it: a new city, a deleted column or row, or something that has nothing to do with it.
class CityIndex final : public bigtable::MutationObserver {
 public:
  absl::Status Before(const bigtable::ObservedMutation& mutation,
                      bigtable::ObserverContext* context) override {
    const absl::StatusOr<Row> before = context->ReadBefore(kCity);
    const absl::StatusOr<Row> after = context->ReadAfter(kCity);
    const absl::StatusOr<Table*> index = context->OpenTable("by_city");
    for (const absl::Status& status : {before.status(), after.status(), index.status()}) {
      if (!status.ok()) return status;  // the error of the write
    }
    const std::string old_row = IndexRow(*before, mutation.row());
    const std::string new_row = IndexRow(*after, mutation.row());
    if (old_row == new_row) return absl::OkStatus();
    absl::Status added;
    if (!old_row.empty()) added = context->Apply(*index, RowMutation(old_row).DeleteRow());
    if (!new_row.empty()) added.Update(context->Apply(*index, RowMutation(new_row).Set("f:", "")));
    return added;
  }
  bool ObservesCommits() const override { return false; }
};

// Whether users and index agree at one moment.
bool IsInStep(bigtable::Database* database, Table* users, Table* by_city) {
  const bigtable::ReadOptions now{.snapshot = Value(database->TakeSnapshot())};
  std::set<std::string> expected, actual;
  for (const Row& user : users->ReadRows(RowRange::All(), kCity, now)) {
    expected.insert(IndexRow(user, user.key()));
  }
  for (const Row& row : by_city->ReadRows(RowRange::All(), now)) actual.emplace(row.key());
  return expected == actual;
}

}  // namespace

int main() {
  Check(bigtable::RegisterMutationObserver("city_index", std::make_unique<CityIndex>()));
  bigtable::InMemoryFileSystem memory;
  const auto database = Value(bigtable::Database::Open("/users", {.file_system = &memory}));
  Table* const by_city = Value(database->OpenOrCreateTable("by_city", {.families = {{"f", {}}}}));
  Table* const users = Value(database->OpenOrCreateTable(
      "users", {.families = {{"info", {}}}, .observers = {"city_index"}}));

  std::atomic<int> writing{2};
  const auto write = [&](int first) {
    const char* const cities[] = {"oslo", "rome", "lima"};
    for (int i = first; i < first + 300; ++i) {
      RowMutation user("user" + std::to_string(i % 10));
      Check(users->Apply(i % 7 == 0 ? user.DeleteRow() : user.Set("info:city", cities[i % 3])));
    }
    --writing;
  };
  std::thread one(write, 0), other(write, 5);
  bool is_right = true;
  while (writing > 0) is_right &= IsInStep(database.get(), users, by_city);
  one.join();
  other.join();
  is_right &= IsInStep(database.get(), users, by_city);
  for (const Row& row : by_city->ReadRows(RowRange::All())) std::cout << row.key() << "\n";
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
