// A standby: a follower in a directory of its own has what the shop's database had a moment ago,
// and takes over when the process of that one has died. What was durable there is not missing, and
// a process that opens the old directory again is refused.
#include <cstdlib>
#include <iostream>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

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

int OrdersIn(bigtable::Table* table) {
  int count = 0;
  bigtable::RowReader rows = table->ReadRows(bigtable::RowRange::All());
  for ([[maybe_unused]] const bigtable::Row& row : rows) ++count;
  Check(rows.status());
  return count;
}

}  // namespace

int main() {
  bigtable::InMemoryFileSystem disk;
  const bigtable::DatabaseOptions options = {.durability = bigtable::Durability::kSync,
                                             .file_system = &disk};
  auto shop = Value(bigtable::Database::Open("/shop", options));
  auto* orders = Value(shop->OpenOrCreateTable(
      "orders", {.families = {{"item", {}}}, .changes = {.retention = absl::Hours(24)}}));
  const auto order = [](bigtable::Table* table, int number) {
    Check(
        table->Apply(bigtable::RowMutation("order" + std::to_string(number)).Set("item:", "shoe")));
  };
  for (int i = 100; i < 150; ++i) order(orders, i);

  // The standby is another process, which only reads the shop's directory.
  bigtable::DatabaseOptions beside = options;
  beside.follow = true;
  beside.follow_interval = absl::InfiniteDuration();  // the follower refreshes it
  auto source = Value(bigtable::Database::Open("/shop", beside));
  auto standby = Value(bigtable::Follower::Open("/standby", source.get(), {.database = options}));
  Check(standby->CatchUp());
  std::cout << OrdersIn(Value(standby->database()->OpenTable("orders"))) << " orders followed, lag "
            << standby->Statistics().lag << std::endl;

  // While the shop lives, nobody takes over.
  const bigtable::PromoteOptions fencing = {.fence_directory = "/shop", .file_system = &disk};
  if (standby->Promote(fencing).ok()) return EXIT_FAILURE;

  for (int i = 150; i < 200; ++i) order(orders, i);
  shop.reset();  // its process ends

  auto writer = Value(standby->Promote(fencing));
  auto* taken_over = Value(writer->OpenTable("orders"));
  order(taken_over, 200);
  std::cout << OrdersIn(taken_over) << " orders after the promotion" << std::endl;
  const absl::Status refused = bigtable::Database::Open("/shop", options).status();
  std::cout << refused.message() << std::endl;
  const bool is_right = OrdersIn(taken_over) == 101 && absl::IsFailedPrecondition(refused);
  Check(writer->Close());
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
