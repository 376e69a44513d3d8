// A random database to be damaged: several tables whose groups have different filters and
// compression, on several servers, with access lists, SSTables of several runs, and a log with
// mutations that were not flushed. It is made once. Damaged copies of its file system are compared
// with the writes. One thread at a time.
#ifndef BIGTABLE_TESTS_CLIENT_DAMAGED_DATABASE_H_
#define BIGTABLE_TESTS_CLIENT_DAMAGED_DATABASE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "model/model_names.h"
#include "model/model_schemas.h"
#include "support/expect_status.h"
#include "support/model.h"
#include "support/random.h"
#include "support/test_clock.h"

namespace bigtable {

class DamagedDatabase {
 public:
  using Rows = std::map<std::string, std::vector<ModelCell>>;  // only rows with cells
  using Tables = std::map<std::string, Rows>;

  static constexpr const char* kList = "list";  // an access list
  static constexpr int kRows = 24;

  explicit DamagedDatabase(uint64_t seed) : random_(seed), clock_(1000) { Make(); }

  const InMemoryFileSystem& disk() const { return *disk_; }
  DatabaseOptions Options(FileSystem* file_system) {
    DatabaseOptions options = options_;
    options.file_system = file_system;
    options.clock = &clock_;
    return options;
  }
  static std::string RowName(uint64_t i) { return absl::StrFormat("row%02d", i); }

  const std::map<std::string, TableSchema>& schemas() const { return schemas_; }
  // All acknowledged writes.
  const Tables& all() const { return all_; }
  // Whether `found` is a state in which the log of one server ends early because up to `damaged` of
  // its records are damaged. A record contains the position to which the log was synced before it,
  // so a missing synced record is noticed as long as a record after it is intact.
  bool IsPrefix(const Tables& found, size_t damaged) const {
    for (int server = 0; server < options_.tablet_servers; ++server) {
      std::vector<bool> is_synced;  // for each record
      for (const Write& write : writes_) {
        if (write.server == server && !write.is_flushed) is_synced.push_back(write.is_synced);
      }
      for (size_t count = is_synced.size(); count-- > 0;) {  // the number of records that are left
        if (is_synced[count] && is_synced.size() - count - 1 >= damaged) break;
        if (Play(server, count) == found) return true;
      }
    }
    return false;
  }

 private:
  struct Write {
    std::string table;
    ModelMutation mutation;
    bool is_flushed = false;
    bool is_synced = false;
    int server = -1;  // the server of a write after the last move of tablets
  };

  void Make() {
    auto disk = std::make_unique<InMemoryFileSystem>();
    options_.memory_budget = 16 << 20;
    options_.log_segment_size = 64 << 10;
    options_.target_file_size = 1 << 20;
    options_.tablet_servers = static_cast<int>(random_.Between(1, 3));
    options_.balance_interval = absl::InfiniteDuration();
    options_.read_mode =
        random_.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
    options_.scan_cache = random_.OneIn(4);
    ASSERT_OK_AND_ASSIGN(database_, Database::Open("/db", Options(disk.get())));
    ASSERT_OK(database_->SetAccessList(kList, {.readers = {"reader"}, .writers = {"writer"}}));
    CreateTables();
    for (int i = 0; i < 150 && !testing::Test::HasFatalFailure(); ++i) Step();
    NoteServers();
    const int64_t tail = random_.Between(0, 60);
    for (int64_t i = 0; i < tail && !testing::Test::HasFatalFailure(); ++i) {
      random_.OneIn(40) ? Flush(random_.Pick(names_)) : Apply();
    }
    all_ = Play(-1, 0);
    if (random_.OneIn(3)) {
      ASSERT_OK(database_->Close());
      for (Write& write : writes_) write.is_flushed = true;
    }
    disk_ = disk->CrashClone(random_.Next(), Unsynced::kEverything);
    database_.reset();
  }
  void CreateTables() {
    const int64_t count = random_.Between(1, 3);
    for (int64_t i = 0; i < count; ++i) {
      TableSchema schema;
      schema.split.tablet_size = 0;
      for (const char* const group : {"default", "second"}) {
        schema.locality_groups[group] = RandomLocalityGroup(random_);
        if (random_.OneIn(2)) schema.locality_groups[group].compaction = CompactionStyle::kNone;
      }
      schema.families["f"] = {};
      schema.families["g"] = {.locality_group = "second", .gc = GcRule::MaxVersions(2)};
      if (random_.OneIn(2)) {
        schema.families["h"] = {.locality_group = "second", .access_list = kList};
      }
      names_.push_back(Cat("t", i));
      ASSERT_OK(database_->CreateTable(names_.back(), schema));
      ASSERT_OK_AND_ASSIGN(schemas_[names_.back()], database_->GetSchema(names_.back()));
    }
  }
  void Step() {
    const std::string table = random_.Pick(names_);
    const std::string row = RowName(random_.Below(kRows));
    switch (random_.Below(60)) {
      case 0:
      case 1:
      case 2:
        return Flush(table);
      case 3:
        ASSERT_OK(database_->Compact(table));
        return;
      case 4: {
        const absl::Status split = database_->SplitTablet(table, row);
        ASSERT_TRUE(split.ok() || absl::IsAlreadyExists(split)) << split;
        return;
      }
      case 5:
        ASSERT_OK(database_->MoveTablet(
            table, row,
            static_cast<int>(random_.Below(static_cast<uint64_t>(options_.tablet_servers)))));
        return;
      default:
        return Apply();
    }
  }
  void Flush(const std::string& table) {
    ASSERT_OK(database_->Flush(table));
    for (Write& write : writes_) write.is_flushed |= write.table == table;
  }
  void Apply() {
    using Kind = ModelOperation::Kind;
    const std::string table = random_.Pick(names_);
    ModelMutation mutation{RowName(random_.Below(kRows)), {}};
    for (int64_t i = random_.Between(1, 3); i > 0; --i) {
      ModelOperation op;
      op.family = ExistingFamily(random_, ModelTable(schemas_.at(table)));
      op.qualifier = Cat("q", random_.Below(4));
      op.timestamp = ++timestamp_;
      if (random_.OneIn(10)) {
        op.kind = random_.OneIn(2) ? Kind::kDeleteColumn : Kind::kDeleteFamily;
      } else {
        const uint64_t size = random_.Below(300);
        op.value = Cat(random_.OneIn(2) ? random_.Bytes(size) : std::string(size, 'v'), timestamp_);
      }
      mutation.operations.push_back(std::move(op));
    }
    ASSERT_OK_AND_ASSIGN(Table* const engine, database_->OpenTable(table));
    WriteOptions options;
    const bool sync = random_.OneIn(5);
    if (sync) options.durability = Durability::kSync;
    ASSERT_OK(engine->Apply(mutation.Make(), options));
    const int server = ServerOf(table, mutation.row);
    writes_.push_back({table, std::move(mutation), false, sync, server});
  }
  // No tablet changes its server after this.
  void NoteServers() {
    for (const std::string& table : names_) {
      ASSERT_OK_AND_ASSIGN(tablets_[table], database_->ListTablets(table));
    }
    // Earlier writes may be in the log of a server that the tablet has left.
    for (const std::string& table : names_) Flush(table);
  }
  int ServerOf(const std::string& table, const std::string& row) const {
    const auto tablets = tablets_.find(table);
    if (tablets == tablets_.end()) return -1;
    for (const TabletInfo& tablet : tablets->second) {
      if (tablet.rows.Contains(row)) return tablet.server;
    }
    return -1;
  }

  // The result of all writes, but with only the first `count` unflushed writes on this server.
  Tables Play(int server, size_t count) const {
    std::map<std::string, ModelTable> models;
    for (const auto& [name, schema] : schemas_) models.emplace(name, ModelTable(schema));
    uint64_t sequence = 0;
    for (const Write& write : writes_) {
      if (!write.is_flushed && write.server == server) {
        if (count == 0) continue;
        --count;
      }
      models.at(write.table).Apply(++sequence, clock_.micros(), write.mutation);
    }
    return ReadModels(models, sequence);
  }
  Tables ReadModels(const std::map<std::string, ModelTable>& models, uint64_t sequence) const {
    Tables tables;
    for (const auto& [name, model] : models) {
      Rows& rows = tables[name];
      for (const std::string& row : model.RowKeys()) {
        std::vector<ModelCell> cells = model.Read(row, sequence, clock_.micros());
        if (!cells.empty()) rows[row] = std::move(cells);
      }
    }
    return tables;
  }

  Random random_;
  TestClock clock_;
  DatabaseOptions options_;
  std::vector<std::string> names_;
  std::map<std::string, TableSchema> schemas_;
  std::map<std::string, std::vector<TabletInfo>> tablets_;
  std::vector<Write> writes_;
  int64_t timestamp_ = 0;
  Tables all_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<InMemoryFileSystem> disk_;
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_DAMAGED_DATABASE_H_
