// A whole database on the encrypted file system: nothing of it is readable below, it survives
// crashes and failing calls, is opened, copied, backed up and loaded, and says what is missing.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/backup_engine.h"
#include "bigtable/bigtable.h"
#include "bigtable/sstable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "encryption/encrypted_fixture.h"
#include "support/numbered_writes.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/seeds.h"
#include "support/temp_directory.h"

namespace bigtable {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const WriteOptions kSynced = {.durability = Durability::kSync};

class EncryptedDatabaseTest : public EncryptedFixture {
 protected:
  DatabaseOptions OptionsOn(FileSystem* files) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 32 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 1;
    options.file_system = files;
    return options;
  }
  static TableSchema Schema() {
    TableSchema schema;
    schema.families["secretfamily"] = {.gc = GcRule::MaxVersions(1)};
    return schema;
  }
  static std::string Row(int i) { return absl::StrCat("secretrow", i); }
  // Opens the database, and writes `rows` rows to the table, which it creates if needed.
  std::unique_ptr<Database> OpenWithRows(FileSystem* files, int rows,
                                         std::string_view path = "/db") {
    auto database = Database::Open(path, OptionsOn(files));
    EXPECT_OK(database);
    if (!database.ok()) return nullptr;
    auto table = (*database)->OpenOrCreateTable("secrettable", Schema());
    EXPECT_OK(table);
    for (int i = 0; i < rows; ++i) {
      EXPECT_OK((*table)->Apply(
          RowMutation(Row(i)).Set("secretfamily:secretcolumn", absl::StrCat("secretvalue", i)),
          i % 10 == 0 ? kSynced : WriteOptions{}));
    }
    return *std::move(database);
  }
  static void ExpectRows(Database* database, int rows) {
    ASSERT_NE(database, nullptr);
    ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("secrettable"));
    RowReader reader = table->ReadRows(RowRange::All());
    int found = 0;
    for (const bigtable::Row& row : reader) {
      ++found;
      ASSERT_EQ(row.cells().size(), 1u);
      EXPECT_EQ(std::string(row.cells()[0].value),
                "secretvalue" + std::string(row.key().substr(9)));
    }
    EXPECT_OK(reader.status());
    EXPECT_EQ(found, rows);
  }
  void ExpectRows(FileSystem* files, int rows, std::string_view path = "/db") {
    auto database = Database::Open(path, OptionsOn(files));
    ASSERT_OK(database);
    ExpectRows(database->get(), rows);
  }
};

TEST_F(EncryptedDatabaseTest, NothingOfItIsReadableBelow) {
  auto database = OpenWithRows(&fs_, 300);
  const auto expect_nothing = [&] {
    size_t files = 0;
    for (const std::string& path : base_.AllFiles()) {
      const std::string bytes = base_.Contents(path);
      EXPECT_EQ(bytes.find("secret"), std::string::npos) << path;
      if (path != "/db/LOCK" && !bytes.empty()) {
        EXPECT_TRUE(bytes.starts_with("BTENCRYP")) << path;
        ++files;
      }
    }
    EXPECT_GE(files, 8u);
  };
  expect_nothing();  // in the logs
  ASSERT_OK(database->Flush("secrettable"));
  expect_nothing();
  ASSERT_OK(database->Compact("secrettable"));
  expect_nothing();
  ASSERT_OK(database->Checkpoint("/copy"));
  database.reset();
  expect_nothing();
  // It would be there without encryption.
  InMemoryFileSystem plain;
  OpenWithRows(&plain, 300).reset();
  bool is_found = false;
  for (const std::string& path : plain.AllFiles()) {
    is_found |= plain.Contents(path).find("secretrow") != std::string::npos;
  }
  EXPECT_TRUE(is_found);
}

TEST_F(EncryptedDatabaseTest, IsOpenedAgainAfterACloseACrashAndForReading) {
  OpenWithRows(&fs_, 500).reset();
  ExpectRows(&fs_, 500);
  auto database = OpenWithRows(&fs_, 700);
  const auto crashed = base_.CrashClone(1, Unsynced::kEverything);
  EncryptedFileSystem after(crashed.get(), &keys_);
  ExpectRows(&after, 700);
  ASSERT_OK(database->Close());
  DatabaseOptions reading = OptionsOn(&fs_);
  reading.read_only = true;
  ASSERT_OK_AND_ASSIGN(const auto read_only, Database::Open("/db", reading));
  ExpectRows(read_only.get(), 700);
}

TEST_F(EncryptedDatabaseTest, LogsAreRecycledAndReadAfterACrash) {
  auto database = OpenWithRows(&fs_, 0);
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("secrettable"));
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_OK(table->Apply(RowMutation(Row(i)).Set("secretfamily:c", Timestamp(1),
                                                     std::string(2000, static_cast<char>(round)))));
    }
    ASSERT_OK(database->Flush("secrettable"));
  }
  uint64_t reused = 0;
  const DatabaseStatistics statistics = database->Statistics();
  for (const auto& [name, server] : statistics.servers) {
    reused += server.log_segments_reused;
  }
  EXPECT_GT(reused, 0u);
  for (int i = 0; i < 30; ++i) {
    ASSERT_OK(table->Apply(RowMutation(Row(i)).Set("secretfamily:c", Timestamp(1), "last")));
  }
  const auto crashed = base_.CrashClone(1, Unsynced::kEverything);
  EncryptedFileSystem after(crashed.get(), &keys_);
  ASSERT_OK_AND_ASSIGN(const auto recovered, Database::Open("/db", OptionsOn(&after)));
  ASSERT_OK_AND_ASSIGN(Table* const found, recovered->OpenTable("secrettable"));
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(*found->Get(Row(i), "secretfamily:c"), i < 30 ? "last" : std::string(2000, 7)) << i;
  }
}

// As tests/failures/power_loss_test.cc: a prefix of the writes is found, with every synced one.
TEST_F(EncryptedDatabaseTest, RandomPowerLossesKeepEverySyncedWriteAndAPrefix) {
  ForEachSeed(kSlow ? 3 : 12, [&](uint64_t seed) {
    Random random(seed);
    auto disk = std::make_unique<InMemoryFileSystem>();
    std::vector<std::unique_ptr<InMemoryFileSystem>> crashed;
    uint64_t promised = 0;
    uint64_t started = 0;
    for (int crash = 0; crash < 8; ++crash) {
      FaultyFileSystem below(disk.get(), {.hide_log_mappings = random.OneIn(2)});
      EncryptedFileSystem files(&below, &keys_);
      DatabaseOptions options = SmallOptions(random);
      options.file_system = &files;
      ASSERT_OK_AND_ASSIGN(const auto database, Database::Open("/db", options));
      ASSERT_OK_AND_ASSIGN(Table* const table,
                           database->OpenOrCreateTable(kNumberedTable, NumberedSchema()));
      ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> counts, CountNumberedWrites(table, 1));
      ASSERT_GE(counts[0], promised) << "a promised write is lost in crash " << crash;
      ASSERT_LE(counts[0], started) << "a write that was never made";
      uint64_t next = counts[0];
      uint64_t synced = next;
      for (uint64_t i = random.Below(300); i > 0; --i) {
        if (random.OneIn(100)) {
          ASSERT_OK(database->Flush(kNumberedTable));
          synced = next;
          continue;
        }
        const bool is_synced = random.OneIn(4);
        ASSERT_OK(table->Apply(NumberedWrite(0, next++), is_synced ? kSynced : WriteOptions{}));
        if (is_synced) synced = next;
      }
      const bool keeps_all = random.OneIn(4);
      promised = keeps_all ? next : synced;
      started = next;
      auto after = disk->CrashClone(random.Next(),
                                    keeps_all ? Unsynced::kEverything : Unsynced::kRandomPart);
      ASSERT_OK(database->Close());
      crashed.push_back(std::move(disk));  // in use until the end of the round
      disk = std::move(after);
    }
  });
}

TEST_F(EncryptedDatabaseTest, FailingCallsBelowLoseNothingThatWasSynced) {
  constexpr int kStep = 7;  // a sample: each call of a whole database would take minutes
  uint64_t faults = 0;
  for (uint64_t n = 1;; n += kStep) {
    InMemoryFileSystem disk;
    FaultyFileSystem below(&disk, {.hide_log_mappings = true});
    EncryptedFileSystem files(&below, &keys_);
    uint64_t acknowledged = 0;
    const auto work = [&]() -> absl::Status {
      auto database = Database::Open("/db", OptionsOn(&files));
      if (!database.ok()) return database.status();
      auto table = (*database)->OpenOrCreateTable(kNumberedTable, NumberedSchema());
      if (!table.ok()) return table.status();
      absl::Status status;
      for (uint64_t k = 0; k < 20 && status.ok(); ++k) {
        status = (*table)->Apply(NumberedWrite(0, k), kSynced);
        if (status.ok()) acknowledged = k + 1;
        if (status.ok() && k == 10) status = (*database)->Flush(kNumberedTable);
      }
      return status;
    };
    below.CountCalls();
    below.FailCall(n, absl::UnavailableError("I/O error"), FaultyFileSystem::Repeat::kOnce,
                   n % 2 == 0 ? FaultyFileSystem::Done::kHalf : FaultyFileSystem::Done::kNothing);
    work().IgnoreError();
    if (below.faults() == 0) break;
    ++faults;
    below.ClearFaults();
    ASSERT_OK_AND_ASSIGN(const auto database, Database::Open("/db", OptionsOn(&files)));
    ASSERT_OK_AND_ASSIGN(Table* const table,
                         database->OpenOrCreateTable(kNumberedTable, NumberedSchema()));
    ASSERT_OK_AND_ASSIGN(const std::vector<uint64_t> counts, CountNumberedWrites(table, 1));
    ASSERT_GE(counts[0], acknowledged) << n;
    ASSERT_LE(counts[0], 20u) << n;
  }
  EXPECT_GT(faults, 10u);
}

// --- Keys ---

TEST_F(EncryptedDatabaseTest, IsNotOpenedWithoutItsKey) {
  OpenWithRows(&fs_, 50).reset();
  KeyRing others(KeyOf("other"));
  EncryptedFileSystem files(&base_, &others);
  EXPECT_STATUS(kFailedPrecondition, "\"first\"", Database::Open("/db", OptionsOn(&files)));
  ExpectRows(&fs_, 50);
}

TEST_F(EncryptedDatabaseTest, ASchemaWithoutItsKeyIsAnErrorAndNotAMissingTable) {
  OpenWithRows(&fs_, 50).reset();
  keys_.Rotate(KeyOf("second", 's'));
  // The root and the logs are written under the new key now; the schema is not.
  OpenWithRows(&fs_, 60).reset();
  ASSERT_OK(keys_.Remove("first"));
  EXPECT_STATUS(kFailedPrecondition, "\"first\"", Database::Open("/db", OptionsOn(&fs_)));
  keys_.Add(KeyOf("first"));
  ExpectRows(&fs_, 60);
}

TEST_F(EncryptedDatabaseTest, ARewrittenDatabaseNeedsOnlyTheCurrentKey) {
  auto database = OpenWithRows(&fs_, 300);
  ASSERT_OK(database->Flush("secrettable"));
  database = nullptr;
  keys_.Rotate(KeyOf("second", 's'));
  ASSERT_OK(fs_.RewriteUnderCurrentKey("/db"));
  ASSERT_OK(keys_.Remove("first"));
  ExpectRows(&fs_, 300);
  EXPECT_EQ(fs_.KeysInUse("/db")->count("first"), 0u);
}

TEST_F(EncryptedDatabaseTest, APlainDatabaseIsRefusedAndAnEncryptedOneIsNoPlainOne) {
  OpenWithRows(&base_, 50).reset();
  EXPECT_STATUS(kFailedPrecondition, "not an encrypted file",
                Database::Open("/db", OptionsOn(&fs_)));
  ExpectRows(&base_, 50);
  OpenWithRows(&fs_, 50, "/encrypted").reset();
  EXPECT_FALSE(Database::Open("/encrypted", OptionsOn(&base_)).ok());
  ExpectRows(&fs_, 50, "/encrypted");
}

// --- Copies ---

TEST_F(EncryptedDatabaseTest, ACheckpointIsEncryptedToo) {
  auto database = OpenWithRows(&fs_, 300);
  ASSERT_OK(database->Flush("secrettable"));
  ASSERT_OK(database->Checkpoint("/copy"));
  database.reset();
  ExpectRows(&fs_, 300, "/copy");
  ExpectRows(&fs_, 300);
}

TEST_F(EncryptedDatabaseTest, ABackupIsEncryptedByItsOwnFileSystemAndRestoredOnAnother) {
  InMemoryFileSystem disk;
  KeyRing backup_keys(KeyOf("backup", 'b'));
  EncryptedFileSystem backup_files(&disk, &backup_keys);
  ASSERT_OK_AND_ASSIGN(const auto engine, BackupEngine::Open("/backups", &backup_files));
  auto database = OpenWithRows(&fs_, 300);
  ASSERT_OK_AND_ASSIGN(const BackupInfo backup, engine->Create(database.get()));
  ASSERT_OK(engine->Verify(backup.id));
  for (const std::string& path : disk.AllFiles()) {
    EXPECT_EQ(disk.Contents(path).find("secret"), std::string::npos) << path;
  }
  InMemoryFileSystem plain;
  ASSERT_OK(engine->Restore(backup.id, "/plain", {.file_system = &plain}));
  ExpectRows(&plain, 300, "/plain");
  // So a plain database becomes an encrypted one.
  ASSERT_OK(engine->Restore(backup.id, "/restored", {.file_system = &fs_}));
  ExpectRows(&fs_, 300, "/restored");
}

// --- SSTables ---

absl::Status WriteSSTable(FileSystem* files, const std::string& path) {
  auto writer = SSTableWriter::Create(path, {.file_system = files});
  if (!writer.ok()) return writer.status();
  absl::Status status;
  for (int i = 0; i < 500 && status.ok(); ++i) {
    SSTableEntry entry;
    const std::string row = absl::StrCat("secretrow", 1000 + i);
    const std::string value = absl::StrCat("secretvalue", 1000 + i);
    entry.row = row;
    entry.family = "secretfamily";
    entry.qualifier = "q";
    entry.timestamp = Timestamp(1);
    entry.value = value;
    status = (*writer)->Add(entry);
  }
  return status.ok() ? (*writer)->Finish().status() : status;
}

TEST_F(EncryptedDatabaseTest, PlainSSTablesAreIngestedFromTheirFileSystemAndRefusedFromThis) {
  auto database = OpenWithRows(&fs_, 0);
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("secrettable"));
  ASSERT_OK(WriteSSTable(&base_, "/plain.sst"));
  const std::vector<std::string> files = {"/plain.sst"};
  EXPECT_STATUS(kFailedPrecondition, "not an encrypted file", table->Ingest(files));
  EXPECT_STATUS(kFailedPrecondition, "not an encrypted file",
                table->Ingest(files, {.moves_files = true}));
  ExpectRows(database.get(), 0);
  ASSERT_TRUE(base_.FileExists("/plain.sst"));
  ASSERT_OK_AND_ASSIGN(const IngestSummary summary, table->Ingest(files, {.file_system = &base_}));
  EXPECT_EQ(summary.copied, 1u);
  ExpectRows(database.get(), 500);
  for (const std::string& path : base_.AllFiles()) {
    if (path == "/plain.sst") continue;
    EXPECT_EQ(base_.Contents(path).find("secret"), std::string::npos) << path;
  }
}

TEST_F(EncryptedDatabaseTest, EncryptedSSTablesAreLinkedIn) {
  auto database = OpenWithRows(&fs_, 0);
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("secrettable"));
  ASSERT_OK(WriteSSTable(&fs_, "/encrypted.sst"));
  const std::vector<std::string> files = {"/encrypted.sst"};
  ASSERT_OK_AND_ASSIGN(const IngestSummary summary, table->Ingest(files, {.moves_files = true}));
  EXPECT_EQ(summary.linked, 1u);
  ExpectRows(database.get(), 500);
}

TEST_F(EncryptedDatabaseTest, AnSSTableIsReadAloneAndDamageIsDataLoss) {
  ASSERT_OK(WriteSSTable(&fs_, "/f.sst"));
  {
    ASSERT_OK_AND_ASSIGN(const auto reader, SSTableReader::Open("/f.sst", {.file_system = &fs_}));
    EXPECT_EQ(reader->info().entries, 500u);
    EXPECT_OK(reader->Verify());
  }
  std::string bytes = base_.Contents("/f.sst");
  bytes[1000] = static_cast<char>(bytes[1000] ^ 1);
  base_.SetContents("/f.sst", bytes);
  ASSERT_OK_AND_ASSIGN(const auto reader, SSTableReader::Open("/f.sst", {.file_system = &fs_}));
  EXPECT_STATUS(kDataLoss, "/f.sst at offset 256", reader->Verify());
}

// --- On a disk ---

TEST_F(EncryptedDatabaseTest, OnDiskItsDirectoryMayBeRenamedWhileItIsOpen) {
  const TempDirectory directory;
  EncryptedFileSystem files(FileSystem::Posix(), &keys_);
  const std::string path = directory.path() + "/db";
  auto database = OpenWithRows(&files, 200, path);
  ASSERT_OK(files.RenameFile(path, directory.path() + "/moved"));
  ASSERT_OK_AND_ASSIGN(Table* const table, database->OpenTable("secrettable"));
  ASSERT_OK(table->Apply(RowMutation(Row(200)).Set("secretfamily:secretcolumn", "secretvalue200"),
                         kSynced));
  ASSERT_OK(database->Flush("secrettable"));
  database.reset();
  ExpectRows(&files, 201, directory.path() + "/moved");
  for (const auto& [name, bytes] : directory.Contents()) {
    EXPECT_EQ(bytes.find("secret"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace bigtable
