// The opening of a database: it removes leftovers, and reports missing or damaged files as errors
// that name them. It never opens a part of a database.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "lockservice/small_files.h"
#include "metadata/metadata_format.h"
#include "metadata/root_tablet.h"
#include "support/database_fixture.h"
#include "support/database_peer.h"
#include "support/read_mode.h"

namespace bigtable {
namespace {

class OpeningTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Open());
    TableSchema schema;
    schema.locality_groups["default"].compaction =
        CompactionStyle::kNone;  // files are not rewritten
    schema.families["f"] = {};
    Table* const table = CreateTable("t", schema);
    Set(table, "row", "f:q", 1, "flushed");
    ASSERT_OK(database_->Flush("t"));
    Set(table, "row", "f:q", 2, "logged");
  }
  void Close() {
    ASSERT_OK(database_->Close());
    database_.reset();
  }
  void ExpectWhole() { EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), kWhole); }
  // Opening again, for writing and read-only, must fail with this error.
  void ExpectRefused(absl::StatusCode code, std::string_view part) {
    for (const bool read_only : {true, false}) {
      DatabaseOptions options = Options();
      options.read_only = read_only;
      const absl::Status status = Database::Open(kPath, options).status();
      EXPECT_TRUE(IsStatus(code, status, part)) << (read_only ? "read-only" : "");
    }
  }
  std::vector<std::string> Files(std::string_view part) {
    std::vector<std::string> files;
    for (const std::string& file : file_system_->AllFiles()) {
      if (file.find(part) != std::string::npos) files.push_back(file);
    }
    return files;
  }
  void Damage(const std::string& path) {
    std::string bytes = file_system_->Contents(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    file_system_->SetContents(path, bytes);
  }

  // The second copy of a file of METADATA or of the lock service.
  static std::string CopyOf(const std::string& path) {
    const bool is_sstable = path.starts_with("/db/sst/");
    return "/db/copies/" + path.substr(is_sstable ? 8 : 4);
  }
  // With its copy, if it has one: then the file cannot be read any more.
  void DamageBoth(const std::string& path) {
    Damage(path);
    if (file_system_->FileExists(CopyOf(path))) Damage(CopyOf(path));
  }

  // The tables that have rows in METADATA of a closed database.
  std::vector<uint64_t> TablesOfMetadata() {
    DatabaseOptions options = Options();
    options.read_only = true;
    const absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(kPath, options);
    EXPECT_OK(database);
    absl::StatusOr<std::vector<uint64_t>> tables = DatabasePeer(database->get()).TablesOfMetadata();
    EXPECT_OK(tables);
    return tables.value_or(std::vector<uint64_t>());
  }

  static constexpr const char* kWhole = "f:q@2=logged f:q@1=flushed";
};

// --- Leftovers ---

TEST_F(OpeningTest, SSTablesThatNoTabletNamesAreSwept) {
  ASSERT_NO_FATAL_FAILURE(Close());
  const std::vector<std::string> before = Files("/sst/");
  file_system_->SetContents("/db/sst/00000099.sst", "what a crash left");
  file_system_->SetContents("/db/sst/notes.txt", "not ours");
  Open();
  EXPECT_EQ(file_system_->Contents("/db/sst/00000099.sst"), "");
  EXPECT_FALSE(file_system_->FileExists("/db/sst/00000099.sst"));
  EXPECT_TRUE(file_system_->FileExists("/db/sst/notes.txt"));
  for (const std::string& file : before) EXPECT_TRUE(file_system_->FileExists(file)) << file;
  ExpectWhole();
}

TEST_F(OpeningTest, ATableOfMetadataWithoutASchemaIsSweptWithItsSSTables) {
  ASSERT_NO_FATAL_FAILURE(Close());
  std::vector<std::string> of_table = Files("/sst/");
  of_table.resize(of_table.size() - 4);  // the last ones are METADATA's and its root's
  ASSERT_EQ(of_table.size(), 2u);
  EXPECT_EQ(TablesOfMetadata().size(), 1u);
  // As after an interrupted deletion.
  ASSERT_OK(SmallFiles(file_system_.get(), "/db/lockservice", "/db/copies/lockservice")
                .Remove("schema/t"));
  Open();
  EXPECT_STATUS(kNotFound, "there is no table \"t\"", database_->OpenTable("t"));
  ASSERT_NO_FATAL_FAILURE(Close());
  for (const std::string& file : of_table) EXPECT_FALSE(file_system_->FileExists(file)) << file;
  EXPECT_TRUE(TablesOfMetadata().empty());
  Open();
  // A new table of that name is empty.
  Table* const table = CreateTable("t", {"f"});
  EXPECT_EQ(Show(table->ReadRow("row")), "");
  Reopen();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("row")), "");
}

TEST_F(OpeningTest, LogsWithoutAServerAreSweptAndTheirNamesAreNotReused) {
  ASSERT_NO_FATAL_FAILURE(Close());
  file_system_->SetContents("/db/log/server-77/STATE.tmp", "what a crash left");
  Open();
  EXPECT_TRUE(Files("/log/server-77").empty());
  for (const std::string name : {"root-", "metadata-", "server-"}) {
    const std::vector<std::string> files = Files("servers/" + name);
    ASSERT_EQ(files.size(), 1u) << name;
    EXPECT_GT(std::stoi(files[0].substr(files[0].rfind('-') + 1)), 77) << name;
  }
  ExpectWhole();
}

TEST_F(OpeningTest, AClosedDatabaseHasNoServersAndNoLogs) {
  ASSERT_NO_FATAL_FAILURE(Close());
  EXPECT_TRUE(Files("/log/").empty());
  EXPECT_TRUE(Files("/servers/").empty());
}

TEST_F(OpeningTest, AnOpeningTakesOverFromServersThatDied) {
  for (int i = 0; i < 3; ++i) {
    Kill();
    ASSERT_NO_FATAL_FAILURE(Open());
    ExpectWhole();
    EXPECT_EQ(Files("/servers/").size(), 3u);
  }
}

// --- Missing files ---

TEST_F(OpeningTest, ALogWithoutAServerFileIsStillRead) {
  Kill();
  for (const std::string& file : Files("/servers/")) ASSERT_OK(file_system_->RemoveFile(file));
  ASSERT_NO_FATAL_FAILURE(Open());
  ExpectWhole();
}

TEST_F(OpeningTest, EveryMissingSSTableIsDataLossThatNamesIt) {
  ASSERT_NO_FATAL_FAILURE(Close());
  const std::vector<std::string> files = Files("/sst/");
  ASSERT_GE(files.size(), 3u);  // two of the table, and METADATA's
  for (const std::string& file : files) {
    const std::string bytes = file_system_->Contents(file);
    const bool has_copy = file_system_->FileExists(CopyOf(file));
    ASSERT_OK(file_system_->RemoveFile(file));
    if (has_copy) {
      ASSERT_OK(file_system_->RemoveFile(CopyOf(file)));
    }
    ExpectRefused(absl::StatusCode::kDataLoss, file);
    file_system_->SetContents(file, bytes);
  }
  Open();
  ExpectWhole();
}

TEST_F(OpeningTest, AnSSTableUnderAnotherNameIsDataLossThatNamesIt) {
  ASSERT_NO_FATAL_FAILURE(Close());
  const std::vector<std::string> files = Files("/sst/");
  ASSERT_GE(files.size(), 2u);
  file_system_->SetContents(files[0], file_system_->Contents(files[1]));
  ExpectRefused(absl::StatusCode::kDataLoss, files[0]);
}

TEST_F(OpeningTest, AMissingLogOfAServerThatDiedIsDataLossThatNamesIt) {
  for (const std::string kind : {"root-", "metadata-", "server-"}) {
    Kill();
    const std::vector<std::string> servers = Files("/servers/" + kind);
    ASSERT_EQ(servers.size(), 1u);
    const std::string log = "/db/log/" + servers[0].substr(servers[0].rfind('/') + 1);
    const std::unique_ptr<InMemoryFileSystem> sound =
        file_system_->CrashClone(1, Unsynced::kEverything);
    for (const std::string& file : Files(log)) ASSERT_OK(file_system_->RemoveFile(file));
    ExpectRefused(absl::StatusCode::kDataLoss, log);  // an empty directory
    ASSERT_OK(file_system_->RemoveDirectory(log));
    ExpectRefused(absl::StatusCode::kDataLoss, log);  // no directory
    file_system_ = sound->CrashClone(1, Unsynced::kEverything);
    Open();
    ExpectWhole();
  }
}

// The log itself does not contain the position to which it was synced, but METADATA does.
TEST_F(OpeningTest, ALogThatEndsBeforeItsSyncedPositionIsDataLossThatNamesIt) {
  // This mutation is not flushed, so the log must be synced before later mutations are flushed.
  Set(CreateTable("u", {"f"}), "row", "f:q", 1, "v");
  Set(OpenTable("t"), "other", "f:q", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Kill();
  bool found = false;
  for (const std::string& file : Files("/log/server-")) {
    if (!file.ends_with(".log")) continue;
    file_system_->SetContents(file, std::string(file_system_->Contents(file).size(), '\0'));
    found = true;
  }
  ASSERT_TRUE(found);
  ExpectRefused(absl::StatusCode::kDataLoss, "is known to have been durable");
}

TEST_F(OpeningTest, ATableWithoutARowInMetadataIsDataLoss) {
  ASSERT_NO_FATAL_FAILURE(Close());
  SmallFiles files(file_system_.get(), "/db/lockservice");
  TableSchema schema;
  schema.families["f"] = {};
  ASSERT_OK_AND_ASSIGN(const TableLayout layout, MakeTableLayout("u", 12345, schema));
  ASSERT_OK(files.Write("schema/u", layout.Encode()));
  ExpectRefused(absl::StatusCode::kDataLoss, "no row for table 12345");
}

TEST_F(OpeningTest, AMissingRootIsDataLossThatNamesItAndSweepsNothing) {
  ASSERT_NO_FATAL_FAILURE(Close());
  ASSERT_OK(file_system_->RemoveFile("/db/lockservice/root"));
  ASSERT_OK(file_system_->RemoveFile("/db/copies/lockservice/root"));
  const std::vector<std::string> before = file_system_->AllFiles();
  EXPECT_STATUS(kDataLoss, "/db/lockservice/root", Database::Open(kPath, Options()));
  EXPECT_EQ(file_system_->AllFiles(), before);
}

// A new database looks the same, except for its other files.
TEST_F(OpeningTest, ARootWithoutTabletsIsDataLossAndSweepsNothing) {
  ASSERT_NO_FATAL_FAILURE(Close());
  SmallFiles files(file_system_.get(), "/db/lockservice");
  ASSERT_OK(RootTablet(&files).Create());
  const std::vector<std::string> before = Files("/sst/");
  ExpectRefused(absl::StatusCode::kDataLoss, "no row for table 1");
  EXPECT_EQ(Files("/sst/"), before);
}

// --- Damaged files ---

TEST_F(OpeningTest, EveryDamagedSmallFileIsDataLossThatNamesIt) {
  Kill();
  const std::vector<std::string> files = Files("/db/lockservice/");
  // The root, a schema, three servers, the master, generations, the identity.
  ASSERT_EQ(files.size(), 8u);
  const std::unique_ptr<InMemoryFileSystem> sound =
      file_system_->CrashClone(1, Unsynced::kEverything);
  for (const std::string& file : files) {
    // A new copy each time: a refused opening may have taken over from METADATA's old server.
    file_system_ = sound->CrashClone(1, Unsynced::kEverything);
    DamageBoth(file);
    if (file.ends_with("/identity")) {
      // The database gets another one, and nothing is lost.
      Open();
      ExpectWhole();
      database_.reset();
      continue;
    }
    ExpectRefused(absl::StatusCode::kDataLoss, file);
  }
  file_system_ = sound->CrashClone(1, Unsynced::kEverything);
  Open();
  ExpectWhole();
}

TEST_F(OpeningTest, ARefusedOpeningLeavesEverythingForTheNext) {
  Kill();
  DamageBoth("/db/lockservice/schema/t");
  for (int i = 0; i < 3; ++i) ExpectRefused(absl::StatusCode::kDataLoss, "schema/t");
  DamageBoth("/db/lockservice/schema/t");  // the same bit again
  Open();
  ExpectWhole();
}

// --- Power loss during an opening ---

// Tablets are flushed one by one. Unsynced mutations of the dead process's log must not be found in
// part: a later mutation requires all earlier ones.
TEST(OpeningPowerLossTest, TakenOverMutationsAreAPrefix) {
  TestClock clock(1000);
  int with_all = 0, with_nothing = 0;
  bool failed = true;
  for (uint64_t call = 1; failed; ++call) {
    InMemoryFileSystem disk;
    const auto options = [&](FileSystem* file_system) {
      DatabaseOptions opened = TestOptions();
      opened.memory_budget = 16 << 20;
      opened.log_segment_size = 64 << 10;
      opened.tablet_servers = 1;
      opened.file_system = file_system;
      opened.clock = &clock;
      return opened;
    };
    FaultyFileSystem dying(&disk);
    absl::StatusOr<std::unique_ptr<Database>> database = Database::Open("/db", options(&dying));
    ASSERT_OK(database);
    TableSchema schema;
    schema.families["f"] = {};
    ASSERT_OK((*database)->CreateTable("t", schema, {.split_rows = {"b", "c"}}));
    ASSERT_OK_AND_ASSIGN(Table* const table, (*database)->OpenTable("t"));
    // The last tablet is loaded last.
    const std::vector<std::string> order = {"c", "b", "a"};
    for (const std::string& row : order) ASSERT_OK(table->Apply(RowMutation(row).Set("f:q", "v")));
    dying.FailCalls({}, absl::UnavailableError("the process is dead"));
    database->reset();

    FaultyFileSystem opening(&disk);
    opening.CountCalls();
    opening.FailCall(call, absl::UnavailableError("no power"),
                     FaultyFileSystem::Repeat::kFromThenOn);
    failed = !Database::Open("/db", options(&opening)).ok();
    const std::unique_ptr<InMemoryFileSystem> after = disk.CrashClone(call, Unsynced::kNothing);
    ASSERT_OK_AND_ASSIGN(const auto found, Database::Open("/db", options(after.get())));
    ASSERT_OK_AND_ASSIGN(Table* const rows, found->OpenTable("t"));
    std::string there;
    for (const std::string& row : order) {
      ASSERT_OK_AND_ASSIGN(const Row read, rows->ReadRow(row));
      there += read.empty() ? "-" : row;
    }
    EXPECT_THAT(there, testing::AnyOf("---", "c--", "cb-", "cba")) << "call " << call;
    with_all += there == "cba" ? 1 : 0;
    with_nothing += there == "---" ? 1 : 0;
  }
  // Some faults came before anything was flushed, and some after everything was.
  EXPECT_GT(with_all, 5);
  EXPECT_GT(with_nothing, 5);
}

// --- Concurrent openings ---

TEST_F(OpeningTest, AnOpeningForWritingExcludesAllOthers) {
  ExpectRefused(absl::StatusCode::kFailedPrecondition, "/db/LOCK");
  ASSERT_NO_FATAL_FAILURE(Close());
  Open();
  ExpectWhole();
}

TEST_F(OpeningTest, ReadOnlyOpeningsExcludeOnlyAWriter) {
  ASSERT_NO_FATAL_FAILURE(Close());
  DatabaseOptions options = Options();
  options.read_only = true;
  ASSERT_OK_AND_ASSIGN(auto first, Database::Open(kPath, options));
  ASSERT_OK_AND_ASSIGN(auto second, Database::Open(kPath, options));
  EXPECT_STATUS(kFailedPrecondition, "/db/LOCK", Database::Open(kPath, Options()));
  first.reset();
  second.reset();
  Open();
  ExpectWhole();
}

}  // namespace
}  // namespace bigtable
