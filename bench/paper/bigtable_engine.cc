#include "bigtable_engine.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "common/strings.h"
#include "common/workload.h"
#include "engine.h"

namespace bench {
namespace {

constexpr std::string_view kTable = "paper";
constexpr std::string_view kColumn = "f:q";
constexpr std::string_view kGroup = "default";

bigtable::LocalityGroup Group(const OpenOptions& options) {
  return PaperGroup(options.purpose == Purpose::kReadsFromMemory);
}

// The peers keep only the newest value of a key, and so does this table.
bigtable::TableSchema Schema(const OpenOptions& options, const Spread& spread) {
  bigtable::TableSchema schema;
  schema.locality_groups[std::string(kGroup)] = Group(options);
  schema.families["f"] = {.gc = bigtable::GcRule::MaxVersions(1)};
  if (spread.tablets != 0) schema.split.tablet_size = 0;
  if (options.keeps_changes) schema.changes.retention = absl::Hours(24);
  return schema;
}

bigtable::ReadOptions ToReadOptions(Checking checking) {
  bigtable::ReadOptions options;
  options.verify_checksums = checking == Checking::kEveryRead;
  return options;
}

class BigtableReader final : public Reader {
 public:
  BigtableReader(bigtable::Table* table, Checking checking)
      : table_(table), options_(ToReadOptions(checking)), row_(bigtable::Row()) {}

  absl::Status Read(std::string_view key) override {
    row_ = table_->ReadRow(key, filter_, options_);
    if (!row_.ok()) return row_.status();
    if (row_->empty()) return absl::NotFoundError(ToAbsl(key));
    value_ = row_->cells().front().value;
    return absl::OkStatus();
  }

 private:
  bigtable::Table* const table_;
  const bigtable::Filter filter_;
  const bigtable::ReadOptions options_;
  absl::StatusOr<bigtable::Row> row_;
};

class BigtableCursor final : public Cursor {
 public:
  BigtableCursor(bigtable::Table* table, Checking checking)
      : rows_(table->ReadRows(bigtable::RowRange::All(), ToReadOptions(checking))) {}

  bool Next() override {
    if (!rows_.Next()) return false;
    key_ = rows_.row().key();
    value_ = rows_.row().cells().front().value;
    return true;
  }
  absl::Status status() const override { return rows_.status(); }

 private:
  bigtable::RowReader rows_;
};

class BigtableFollower final : public Follower {
 public:
  explicit BigtableFollower(std::unique_ptr<bigtable::Database> database)
      : database_(std::move(database)) {}

  absl::Status Refresh() override { return database_->Refresh(); }
  absl::StatusOr<std::string> Read(std::string_view key) override {
    const absl::StatusOr<bigtable::Table*> table = database_->OpenTable(kTable);
    if (!table.ok()) return table.status();
    return (*table)->Get(key, kColumn);
  }

 private:
  const std::unique_ptr<bigtable::Database> database_;
};

class BigtableReplica final : public Replica {
 public:
  explicit BigtableReplica(std::unique_ptr<bigtable::Follower> follower)
      : follower_(std::move(follower)) {}

  absl::Status CatchUp() override { return follower_->CatchUp(); }
  absl::Duration Lag() override { return follower_->Statistics().lag; }

 private:
  const std::unique_ptr<bigtable::Follower> follower_;
};

class BigtableWrites final : public Loader {
 public:
  BigtableWrites(bigtable::Database* database, bigtable::Table* table)
      : database_(database), table_(table) {}

  absl::Status Add(std::string_view key, std::string_view value) override {
    mutations_.emplace_back(key).Set(kColumn, value);
    return mutations_.size() < kRowsOfLoad ? absl::OkStatus() : Apply();
  }
  absl::Status Finish() override {
    if (absl::Status s = Apply(); !s.ok()) return s;
    return database_->Flush(kTable);
  }

 private:
  absl::Status Apply() {
    for (const absl::Status& s :
         table_->ApplyBatch(mutations_, {.durability = bigtable::Durability::kNone})) {
      if (!s.ok()) return s;
    }
    mutations_.clear();
    return absl::OkStatus();
  }

  bigtable::Database* const database_;
  bigtable::Table* const table_;
  std::vector<bigtable::RowMutation> mutations_;
};

class BigtableFiles final : public Loader {
 public:
  BigtableFiles(bigtable::Table* table, absl::StatusOr<std::unique_ptr<bigtable::SSTableSorter>> s)
      : table_(table), sorter_(std::move(s)) {}

  absl::Status Add(std::string_view key, std::string_view value) override {
    if (!sorter_.ok()) return sorter_.status();
    return (*sorter_)->Add(key, kColumn, bigtable::Timestamp(1), value);
  }
  absl::Status Prepare() override {
    if (!sorter_.ok()) return sorter_.status();
    absl::StatusOr<std::vector<std::string>> files = (*sorter_)->Finish();
    if (!files.ok()) return files.status();
    files_ = *std::move(files);
    is_prepared_ = true;
    return absl::OkStatus();
  }
  absl::Status Finish() override {
    if (!is_prepared_) {
      if (absl::Status s = Prepare(); !s.ok()) return s;
    }
    // As RocksDB's default, which does not verify either.
    return table_->Ingest(files_, {.moves_files = true, .verifies = false}).status();
  }

 private:
  bigtable::Table* const table_;
  absl::StatusOr<std::unique_ptr<bigtable::SSTableSorter>> sorter_;
  std::vector<std::string> files_;
  bool is_prepared_ = false;
};

class Bigtable final : public Engine {
 public:
  static absl::StatusOr<std::unique_ptr<Engine>> Open(const OpenOptions& options,
                                                      const Spread& spread) {
    auto engine = absl::WrapUnique(new Bigtable(options, spread));
    if (absl::Status s = engine->OpenDatabase(); !s.ok()) return s;
    if (absl::Status s = engine->ApplySchema(); !s.ok()) return s;
    return engine;
  }

  absl::Status Write(std::string_view key, std::string_view value) override {
    bigtable::RowMutation mutation(key);
    mutation.Set(kColumn, value);
    return table_->Apply(mutation);
  }
  std::unique_ptr<Reader> NewReader(Checking checking) override {
    return std::make_unique<BigtableReader>(table_, checking);
  }
  std::unique_ptr<Cursor> NewCursor(Checking checking) override {
    return std::make_unique<BigtableCursor>(table_, checking);
  }
  absl::StatusOr<absl::Time> WaitUntilQuiet() override {
    if (absl::Status s = database_->WaitUntilQuiet(); !s.ok()) return s;
    return absl::Now();
  }
  absl::Status Close() override { return database_->Close(); }
  absl::Status Checkpoint(const std::string& directory) override {
    return database_->Checkpoint(directory);
  }
  absl::StatusOr<std::unique_ptr<Follower>> Follow(const std::string& /*directory*/) override {
    bigtable::DatabaseOptions options;
    options.memory_budget = options_.memory_limit;
    options.follow = true;
    options.follow_interval = absl::InfiniteDuration();
    auto opened = bigtable::Database::Open(options_.directory, options);
    if (!opened.ok()) return opened.status();
    return std::make_unique<BigtableFollower>(*std::move(opened));
  }
  absl::Status Backup(const std::string& directory) override {
    absl::StatusOr<std::unique_ptr<bigtable::BackupEngine>> engine =
        bigtable::BackupEngine::Open(directory);
    if (!engine.ok()) return engine.status();
    return (*engine)->Create(database_.get()).status();
  }
  absl::StatusOr<uint64_t> CountChanges() override {
    bigtable::ChangeStream stream = table_->ReadChanges({.since = absl::InfinitePast()});
    uint64_t count = 0;
    while (stream.Next()) ++count;
    if (!stream.status().ok()) return stream.status();
    return count;
  }
  absl::StatusOr<std::unique_ptr<Replica>> Replicate(const std::string& directory) override {
    bigtable::FollowerOptions options;
    options.database.memory_budget = options_.memory_limit;
    auto opened = bigtable::Follower::Open(directory, database_.get(), options);
    if (!opened.ok()) return opened.status();
    return std::make_unique<BigtableReplica>(*std::move(opened));
  }
  std::unique_ptr<Loader> NewLoader(Load load, const std::string& directory, int threads) override {
    if (load == Load::kWrites) return std::make_unique<BigtableWrites>(database_.get(), table_);
    const bigtable::SSTableSorterOptions options = {.memory = options_.memory_limit,
                                                    .threads = threads};
    return std::make_unique<BigtableFiles>(
        table_, bigtable::SSTableSorter::Create(directory, Schema(options_, spread_), options));
  }
  // The log is written through a mapping.
  uint64_t MappedBytesWritten() override { return database_->Statistics().log_bytes_written; }

 private:
  Bigtable(const OpenOptions& options, const Spread& spread) : options_(options), spread_(spread) {}

  absl::Status OpenDatabase() {
    bigtable::DatabaseOptions options;
    options.memory_budget = options_.memory_limit;
    options.tablet_servers = spread_.servers;
    absl::StatusOr<std::unique_ptr<bigtable::Database>> database =
        bigtable::Database::Open(options_.directory, options);
    if (!database.ok()) return database.status();
    database_ = *std::move(database);
    absl::StatusOr<bigtable::Table*> table = database_->OpenTable(kTable);
    if (absl::IsNotFound(table.status())) {
      absl::Status s = database_->CreateTable(
          kTable, Schema(options_, spread_),
          {.split_rows = EvenSplitRows(options_.rows, std::max<uint64_t>(1, spread_.tablets))});
      if (!s.ok()) return s;
      table = database_->OpenTable(kTable);
    }
    if (!table.ok()) return table.status();
    table_ = *table;
    return spread_.tablets == 0 ? absl::OkStatus() : CheckTablets();
  }

  // The figures are not valid if the number of tablets differs.
  absl::Status CheckTablets() {
    absl::StatusOr<std::vector<bigtable::TabletInfo>> tablets = database_->ListTablets(kTable);
    if (!tablets.ok()) return tablets.status();
    if (tablets->size() == spread_.tablets) return absl::OkStatus();
    return absl::InternalError(
        Concat("there are ", tablets->size(), " tablets instead of ", spread_.tablets));
  }

  // Makes the table in-memory, or not, according to the purpose of this opening.
  absl::Status ApplySchema() {
    absl::StatusOr<bigtable::TableSchema> schema = database_->GetSchema(kTable);
    if (!schema.ok()) return schema.status();
    if (schema->locality_groups[std::string(kGroup)] == Group(options_)) return absl::OkStatus();
    if (absl::Status s = database_->SetLocalityGroup(kTable, kGroup, Group(options_)); !s.ok()) {
      return s;
    }
    if (absl::Status s = database_->Close(); !s.ok()) return s;
    return OpenDatabase();
  }

  const OpenOptions options_;
  const Spread spread_;
  std::unique_ptr<bigtable::Database> database_;
  bigtable::Table* table_ = nullptr;  // the database's
};

}  // namespace

bigtable::LocalityGroup PaperGroup(bool in_memory) {
  // Blocks as large as the peers': verifying every read costs by the block. For rows of a kilobyte,
  // a row index is worth its six bytes a row.
  return {.compression = bigtable::Compression::kNone,
          .block_size = 4096,
          .filter = bigtable::FilterKind::kRowIndex,
          .in_memory = in_memory};
}

EngineKind BigtableEngine(const Spread& spread) {
  return {"bigtable", BENCH_BIGTABLE_VERSION,
          [spread](const OpenOptions& options) { return Bigtable::Open(options, spread); }};
}

}  // namespace bench
