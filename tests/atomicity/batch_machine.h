// A database over several servers on a disk that may fail, and batches that are written to it.
#ifndef BIGTABLE_TESTS_CLIENT_BATCH_MACHINE_H_
#define BIGTABLE_TESTS_CLIENT_BATCH_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "support/database_peer.h"
#include "support/expect_status.h"
#include "support/read_mode.h"
#include "support/tally.h"

namespace bigtable {

// A row of each tablet.
struct BatchPlace {
  const char* table;
  const char* row;

  friend auto operator<=>(const BatchPlace&, const BatchPlace&) = default;
};
inline constexpr BatchPlace kBatchPlaces[] = {{"t", "a"}, {"t", "c"}, {"t", "e"},
                                              {"u", "a"}, {"u", "c"}, {"v", "a"}};
inline constexpr size_t kBatchPlaceCount = std::size(kBatchPlaces);

// A write to some places: number k writes a version with timestamp k + 1 to each of them.
struct BatchOperation {
  std::vector<size_t> places;
  bool is_acknowledged = false;
  bool is_promised = false;  // it survives power loss
};

// A database over a disk that may fail, and what was written to it.
class BatchMachine {
 public:
  BatchMachine(std::unique_ptr<InMemoryFileSystem> disk, bool maps_logs)
      : disk_(std::move(disk)), faulty_(disk_.get(), {.hide_log_mappings = !maps_logs}) {}

  absl::Status Start(int servers) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = MemoryBudget::kMinimum;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = servers;
    options.file_system = &faulty_;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    Tally("reopenings");
    for (const char* const name : {"t", "u", "v"}) {
      TableSchema schema;
      schema.families["f"] = {};
      schema.split.tablet_size = schema.split.merge_size = 0;
      CreateTableOptions create;
      if (name[0] != 'v') create.split_rows.push_back("b");
      if (name[0] == 't') create.split_rows.push_back("d");
      const absl::Status created = database_->CreateTable(name, schema, create);
      if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
      const absl::StatusOr<Table*> table = database_->OpenTable(name);
      if (!table.ok()) return table.status();
      tables_[name] = *table;
    }
    for (size_t place = 0; place < kBatchPlaceCount; ++place) {
      const auto tablets = database_->ListTablets(kBatchPlaces[place].table);
      if (!tablets.ok()) return tablets.status();
      for (const TabletInfo& tablet : *tablets) {
        if (tablet.rows.begin() <= kBatchPlaces[place].row) server_of_[place] = tablet.server;
      }
    }
    return absl::OkStatus();
  }

  absl::Status Apply(BatchOperation* operation, size_t number, Durability durability,
                     absl::Duration deadline = absl::InfiniteDuration()) {
    Tally("operations");
    WriteBatch batch;
    for (const size_t place : operation->places) {
      batch.Apply(tables_[kBatchPlaces[place].table],
                  RowMutation(kBatchPlaces[place].row)
                      .Set("f:q", Timestamp(static_cast<int64_t>(number) + 1), "x"));
    }
    // A lost server may not be replaced before a fault is over.
    const absl::Status status =
        database_->Apply(batch, {.durability = durability, .deadline = absl::Now() + deadline});
    operation->is_acknowledged = status.ok();
    operation->is_promised = status.ok() && durability == Durability::kSync;
    return status;
  }

  // The numbers of the writes that are in each place.
  std::vector<std::set<size_t>> Read() {
    std::vector<std::set<size_t>> found(kBatchPlaceCount);
    for (size_t place = 0; place < kBatchPlaceCount; ++place) {
      absl::StatusOr<Row> row = absl::UnknownError("not read");
      // The tablet of a lost server may be about to be loaded again, after what had kept it from
      // that is over: a log with parts of batches that could not be synced.
      for (int i = 0; i < 100 && !row.ok(); ++i) {
        if (i > 0) {
          database_->Resume().IgnoreError();
          absl::SleepFor(absl::Milliseconds(100));
        }
        row = tables_[kBatchPlaces[place].table]->ReadRow(kBatchPlaces[place].row);
      }
      EXPECT_OK(row);
      if (!row.ok()) continue;
      for (const Cell& cell : row->cells()) {
        found[place].insert(static_cast<size_t>(cell.timestamp.micros()) - 1);
      }
    }
    return found;
  }

  Database* database() { return database_.get(); }
  FaultyFileSystem& faults() { return faulty_; }
  InMemoryFileSystem& disk() { return *disk_; }
  int server_of(size_t place) const { return server_of_.at(place); }
  // A part of the paths of the log that has the writes to a place.
  std::string log_of(size_t place) const {
    const auto hosts = DatabasePeer(database_.get()).Hosts();
    return absl::StrCat("/", hosts[static_cast<size_t>(server_of(place))]->server()->name(), "/");
  }
  std::unique_ptr<InMemoryFileSystem> Crash(uint64_t seed, Unsynced survives) const {
    return disk_->CrashClone(seed, survives);
  }

 private:
  const std::unique_ptr<InMemoryFileSystem> disk_;
  FaultyFileSystem faulty_;
  std::unique_ptr<Database> database_;
  std::map<std::string, Table*> tables_;
  std::map<size_t, int> server_of_;
};

// All of each operation is in `found`, or none.
inline void ExpectWhole(const std::vector<BatchOperation>& operations,
                        const std::vector<std::set<size_t>>& found) {
  for (size_t k = 0; k < operations.size(); ++k) {
    size_t places = 0;
    for (const size_t place : operations[k].places) places += found[place].contains(k);
    EXPECT_TRUE(places == 0 || places == operations[k].places.size())
        << "operation " << k << " is in " << places << " of " << operations[k].places.size()
        << " places";
  }
}

// `group_of` numbers the groups of places whose acknowledged writes are found as a prefix. An
// operation that must be found: all acknowledged ones, or all promised ones.
template <typename GroupOf>
void ExpectPrefix(const std::vector<BatchOperation>& operations,
                  const std::vector<std::set<size_t>>& found, bool all, GroupOf group_of) {
  std::map<int, size_t> first_lost;
  for (size_t k = 0; k < operations.size(); ++k) {
    if (!operations[k].is_acknowledged) continue;
    for (const size_t place : operations[k].places) {
      const auto lost = first_lost.find(group_of(place));
      if (!found[place].contains(k)) {
        EXPECT_FALSE(all || operations[k].is_promised) << "operation " << k << " is lost";
        first_lost.emplace(group_of(place), k);
      } else if (lost != first_lost.end()) {
        ADD_FAILURE() << "operation " << k << " is there, and " << lost->second << " is not";
      }
    }
  }
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_BATCH_MACHINE_H_
