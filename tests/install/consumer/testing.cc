// The smallest use of bigtable::testing: writes, loses power and opens again; has a write fail; and
// lets a cell expire.
#include <bigtable/bigtable.h>
#include <bigtable/testing/faulty_file_system.h>
#include <bigtable/testing/in_memory_file_system.h>
#include <bigtable/testing/manual_clock.h>
#include <iostream>
#include <memory>
#include <string_view>

namespace {

const bigtable::WriteOptions kSynced = {.durability = bigtable::Durability::kSync};

absl::StatusOr<std::unique_ptr<bigtable::Database>> Open(bigtable::FileSystem* file_system,
                                                         bigtable::Clock* clock) {
  bigtable::DatabaseOptions options;
  options.file_system = file_system;
  options.clock = clock;
  options.log_segment_size = 1 << 20;
  return bigtable::Database::Open("/db", options);
}

absl::Status ExpectValue(bigtable::Database* db, std::string_view expected) {
  absl::StatusOr<bigtable::Table*> table = db->OpenTable("t");
  if (!table.ok()) return table.status();
  const absl::StatusOr<bigtable::Row> row = (*table)->ReadRow("r");
  if (!row.ok()) return row.status();
  const std::string_view value = row->empty() ? "" : row->cells()[0].value;
  return value == expected ? absl::OkStatus() : absl::InternalError("another value was read");
}

absl::Status Run() {
  bigtable::InMemoryFileSystem memory;
  bigtable::FaultyFileSystem faulty(&memory);
  bigtable::ManualClock clock(absl::FromUnixSeconds(1'000'000));
  absl::StatusOr<std::unique_ptr<bigtable::Database>> db = Open(&faulty, &clock);
  if (!db.ok()) return db.status();
  bigtable::TableSchema schema;
  schema.families["f"] = {.gc = bigtable::GcRule::MaxAge(absl::Hours(1))};
  absl::Status status = (*db)->CreateTable("t", schema);
  if (!status.ok()) return status;
  absl::StatusOr<bigtable::Table*> table = (*db)->OpenTable("t");
  if (!table.ok()) return table.status();
  status = (*table)->Apply(bigtable::RowMutation("r").Set("f:", "v"), kSynced);
  if (!status.ok()) return status;

  const std::unique_ptr<bigtable::InMemoryFileSystem> after = memory.CrashClone(1);
  absl::StatusOr<std::unique_ptr<bigtable::Database>> reopened = Open(after.get(), &clock);
  if (!reopened.ok()) return reopened.status();
  status = ExpectValue(reopened->get(), "v");
  if (!status.ok()) return status;

  faulty.FailCalls({.kinds = {bigtable::FileCall::kLogSync}}, absl::UnavailableError("I/O error"));
  if ((*table)->Apply(bigtable::RowMutation("r").Set("f:", "w"), kSynced).ok()) {
    return absl::InternalError("a write was acknowledged that was not synced");
  }
  faulty.ClearFaults();

  clock.Advance(absl::Hours(2));
  return ExpectValue(reopened->get(), "");
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (!status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  std::cout << "found what was durable\n";
  return 0;
}
