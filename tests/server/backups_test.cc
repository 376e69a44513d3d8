// The backup calls of the admin API.
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "server/admin/backup_text.h"
#include "server/admin_fixture.h"

namespace bigtable::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kCluster = "projects/p/instances/default/clusters/default-c1";

class BackupsTest : public AdminFixture {
 protected:
  void SetUp() override {
    AdminFixture::SetUp();
    Call(&TableStub::CreateTable,
         "parent: 'projects/p/instances/default' table_id: 't' table { column_families { key: 'f' "
         "value { gc_rule { max_num_versions: 3 } } } }");
    Write("t", "r", "before");
  }
  void TearDown() override {
    faulty_.ReleaseCalls();
    AdminFixture::TearDown();
  }
  FileSystem* file_system_for_backups() override { return &faulty_; }

  void Write(std::string_view table, std::string_view row, std::string_view value) {
    Table* const opened = database_->OpenTable(table).value();
    ASSERT_TRUE(opened->Apply(RowMutation(row).Set("f:q", Timestamp(1000), value)).ok());
  }
  std::string Read(std::string_view table, std::string_view row) {
    const auto opened = database_->OpenTable(table);
    if (!opened.ok()) return std::string(opened.status().message());
    const auto cell = (*opened)->Get(row, "f:q");
    return cell.ok() ? *cell : std::string(cell.status().message());
  }
  static std::string NameOf(std::string_view id) {
    return absl::StrCat(kCluster, "/backups/", ToAbsl(id));
  }
  // In some hours, as text of a Timestamp.
  static std::string In(int hours) {
    return absl::StrCat("{ seconds: ", absl::ToUnixSeconds(absl::Now()) + 3600 * hours, " }");
  }
  static std::string CreateRequest(std::string_view id, std::string_view table = "t",
                                   int hours = 5) {
    return absl::StrCat("parent: '", kCluster, "' backup_id: '", ToAbsl(id),
                        "' backup { source_table: 'projects/p/instances/default/tables/",
                        ToAbsl(table), "' expire_time ", In(hours), " }");
  }
  static std::string RestoreRequest(std::string_view table, std::string_view backup) {
    return absl::StrCat("parent: 'projects/p/instances/default' table_id: '", ToAbsl(table),
                        "' backup: '", NameOf(backup), "'");
  }
  longrunning::Operation WaitFor(const longrunning::Operation& operation) {
    const auto waited = operations_->Wait(operation.name(), std::chrono::seconds(60));
    EXPECT_TRUE(waited.ok() && waited->done());
    return waited.value_or(operation);
  }
  template <typename Request>
  longrunning::Operation Run(Method<TableStub, Request, longrunning::Operation> method,
                             const std::string& request) {
    return WaitFor(Call(method, request));
  }
  void Create(std::string_view id, int hours = 5) {
    const auto done = Run(&TableStub::CreateBackup, CreateRequest(id, "t", hours));
    ASSERT_TRUE(done.has_response()) << Show(done);
  }
  std::vector<std::string> Listed(const std::string& request) {
    std::vector<std::string> names;
    const auto listed = Call(&TableStub::ListBackups, request);
    for (const auto& backup : listed.backups()) {
      names.push_back(backup.name().substr(backup.name().rfind('/') + 1) +
                      (backup.state() == admin::Backup::CREATING ? " (creating)" : ""));
    }
    return names;
  }
  std::vector<std::string> Listed() { return Listed(absl::StrCat("parent: '", kCluster, "'")); }

  InMemoryFileSystem disk_;
  FaultyFileSystem faulty_{&disk_};
};

using Strings = std::vector<std::string>;

TEST_F(BackupsTest, ATableIsBackedUpAndRestored) {
  const longrunning::Operation begun = Call(&TableStub::CreateBackup, CreateRequest("b"));
  EXPECT_THAT(begun.name(), StartsWith(absl::StrCat("operations/", NameOf("b"), "/operations/")));
  const longrunning::Operation done = WaitFor(begun);
  admin::Backup backup;
  ASSERT_TRUE(done.response().UnpackTo(&backup));
  EXPECT_EQ(backup.name(), NameOf("b"));
  EXPECT_EQ(backup.source_table(), "projects/p/instances/default/tables/t");
  EXPECT_EQ(backup.state(), admin::Backup::READY);
  EXPECT_EQ(backup.backup_type(), admin::Backup::STANDARD);
  EXPECT_GT(backup.size_bytes(), 0);
  EXPECT_GT(backup.expire_time().seconds(), backup.end_time().seconds());
  admin::CreateBackupMetadata metadata;
  ASSERT_TRUE(done.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.name(), NameOf("b"));
  EXPECT_EQ(metadata.source_table(), backup.source_table());
  EXPECT_GE(metadata.end_time().seconds(), metadata.start_time().seconds());
  EXPECT_EQ(Show(Call(&TableStub::GetBackup, "name: '" + NameOf("b") + "'")), Show(backup));
  EXPECT_EQ(Listed(), Strings{"b"});
  EXPECT_EQ(Listed("parent: 'projects/p/instances/default/clusters/-'"), Strings{"b"});

  Write("t", "r", "after");
  const auto restored = Run(&TableStub::RestoreTable, RestoreRequest("again", "b"));
  admin::Table table;
  ASSERT_TRUE(restored.response().UnpackTo(&table)) << Show(restored);
  EXPECT_EQ(table.name(), "projects/p/instances/default/tables/again");
  EXPECT_EQ(table.column_families().at("f").gc_rule().max_num_versions(), 3);
  admin::RestoreTableMetadata of_restore;
  ASSERT_TRUE(restored.metadata().UnpackTo(&of_restore));
  EXPECT_EQ(of_restore.source_type(), admin::BACKUP);
  EXPECT_EQ(of_restore.backup_info().backup(), NameOf("b"));
  EXPECT_EQ(of_restore.backup_info().source_table(), backup.source_table());
  EXPECT_EQ(of_restore.progress().progress_percent(), 100);
  EXPECT_EQ(Read("again", "r"), "before");
  EXPECT_EQ(Read("t", "r"), "after");
  EXPECT_THAT(Error(&TableStub::RestoreTable, RestoreRequest("again", "b")),
              "ALREADY_EXISTS: Table already exists: projects/p/instances/default/tables/again");
  // Into another instance, after its table was deleted.
  Call(&TableStub::DeleteTable, "name: 'projects/p/instances/default/tables/t'");
  const auto elsewhere =
      Run(&TableStub::RestoreTable, absl::StrCat("parent: 'projects/p/instances/other' table_id: "
                                                 "'t' backup: '",
                                                 NameOf("b"), "'"));
  ASSERT_TRUE(elsewhere.has_response()) << Show(elsewhere);
  EXPECT_EQ(Read("p..other..t", "r"), "before");
}

TEST_F(BackupsTest, ABadRequestIsRefused) {
  Create("b");
  const auto create = [this](std::string_view request) {
    return Error(&TableStub::CreateBackup, request);
  };
  EXPECT_EQ(create(CreateRequest("b")), "ALREADY_EXISTS: Backup already exists: " + NameOf("b"));
  EXPECT_THAT(create(CreateRequest("-b")), HasSubstr("the id of a backup must be"));
  EXPECT_THAT(create(CreateRequest(std::string(51, 'b'))), HasSubstr("the id of a backup must be"));
  EXPECT_EQ(create(CreateRequest("c", "none")),
            "NOT_FOUND: Table not found: projects/p/instances/default/tables/none");
  EXPECT_THAT(create(CreateRequest("c", "t", -1)),
              StartsWith("INVALID_ARGUMENT: expire_time must be later than now"));
  const std::string source = "source_table: 'projects/p/instances/default/tables/t'";
  const std::string parent = absl::StrCat("parent: '", kCluster, "' backup_id: 'c' ");
  EXPECT_EQ(create(parent + "backup {" + source + "}"),
            "INVALID_ARGUMENT: a backup must have an expire_time");
  EXPECT_THAT(create(parent + "backup {" + source + " backup_type: HOT expire_time" + In(1) + "}"),
              StartsWith("UNIMPLEMENTED: this server has no hot backups"));
  EXPECT_THAT(
      create("parent: 'projects/p/instances/default/clusters/none' backup_id: 'c' backup {" +
             source + "expire_time" + In(1) + "}"),
      StartsWith("NOT_FOUND: Cluster not found"));
  Call(&TableStub::CreateTable, "parent: 'projects/p/instances/other' table_id: 't'");
  EXPECT_THAT(
      create("parent: 'projects/p/instances/other/clusters/other-c1' backup_id: 'c' backup {" +
             source + "expire_time" + In(1) + "}"),
      StartsWith("INVALID_ARGUMENT: the source_table of a backup must be of the instance"));
  const std::string missing = "NOT_FOUND: Backup not found: " + NameOf("none");
  EXPECT_EQ(Error(&TableStub::GetBackup, "name: '" + NameOf("none") + "'"), missing);
  EXPECT_EQ(Error(&TableStub::DeleteBackup, "name: '" + NameOf("none") + "'"), missing);
  EXPECT_EQ(Error(&TableStub::RestoreTable, RestoreRequest("a", "none")), missing);
  EXPECT_THAT(Error(&TableStub::GetBackup, "name: 'b'"), StartsWith("INVALID_ARGUMENT: "));
  EXPECT_THAT(Error(&TableStub::RestoreTable, RestoreRequest("..", "b")),
              StartsWith("INVALID_ARGUMENT: "));
  EXPECT_THAT(
      Error(&TableStub::RestoreTable, "parent: 'projects/p/instances/default' table_id: 'a'"),
      StartsWith("INVALID_ARGUMENT: RestoreTable must have a backup"));
  EXPECT_THAT(Error(&TableStub::ListBackups, absl::StrCat("parent: '", kCluster, "' filter: 'a'")),
              StartsWith("UNIMPLEMENTED: "));
  EXPECT_THAT(Error(&TableStub::ListBackups, "parent: 'projects/p/instances/none/clusters/-'"),
              StartsWith("NOT_FOUND: "));
  EXPECT_EQ(Listed(), Strings{"b"});
}

TEST_F(BackupsTest, ListsAreInPages) {
  for (const char* const id : {"c", "a", "b"}) Create(id);
  const std::string parent = absl::StrCat("parent: '", kCluster, "' ");
  EXPECT_EQ(Listed(), (Strings{"a", "b", "c"}));
  EXPECT_EQ(Listed(parent + "page_size: 2"), (Strings{"a", "b"}));
  const auto page = Call(&TableStub::ListBackups, parent + "page_size: 2");
  EXPECT_EQ(Listed(parent + "page_size: 2 page_token: '" + page.next_page_token() + "'"),
            Strings{"c"});
}

TEST_F(BackupsTest, ABackupIsKeptUntilItExpiresOrIsDeleted) {
  Create("a");
  Create("b");
  const std::string update = "backup { name: '" + NameOf("a") + "' expire_time ";
  const auto updated =
      Call(&TableStub::UpdateBackup, update + In(9) + "} update_mask { paths: 'expire_time' }");
  EXPECT_GT(updated.expire_time().seconds(), absl::ToUnixSeconds(absl::Now()) + 8 * 3600);
  EXPECT_EQ(Show(Call(&TableStub::GetBackup, "name: '" + NameOf("a") + "'")), Show(updated));
  EXPECT_THAT(
      Error(&TableStub::UpdateBackup, update + In(-1) + "} update_mask { paths: 'expire_time' }"),
      StartsWith("INVALID_ARGUMENT: expire_time must be later than now"));
  EXPECT_THAT(
      Error(&TableStub::UpdateBackup, update + In(1) + "} update_mask { paths: 'source_table' }"),
      StartsWith("INVALID_ARGUMENT: "));
  // In the engine, time passes faster.
  const auto infos = backups_->List().value();
  ASSERT_TRUE(backups_->Update(infos[0].id, {.expire_time = absl::Now()}).ok());
  EXPECT_EQ(Listed(), Strings{"b"});
  EXPECT_THAT(Error(&TableStub::GetBackup, "name: '" + NameOf("a") + "'"), StartsWith("NOT_FOUND"));
  // Which is the name of another one then.
  Create("a");
  EXPECT_EQ(Listed(), (Strings{"a", "b"}));
  // The next server deletes what has expired.
  Close();
  Open();
  for (int i = 0; i < 1000 && backups_->List()->size() > 2; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(backups_->List()->size(), 2u);
  EXPECT_EQ(Listed(), (Strings{"a", "b"}));
  Call(&TableStub::DeleteBackup, "name: '" + NameOf("a") + "'");
  Call(&TableStub::DeleteBackup, "name: '" + NameOf("b") + "'");
  EXPECT_EQ(Listed(), Strings{});
  EXPECT_TRUE(backups_->List()->empty());
}

TEST_F(BackupsTest, ACopyIsABackupOfItsOwn) {
  Create("a");
  const std::string copy = absl::StrCat("parent: '", kCluster, "' backup_id: 'b' source_backup: '",
                                        NameOf("a"), "' expire_time ", In(9));
  const auto done = Run(&TableStub::CopyBackup, copy);
  admin::Backup backup;
  ASSERT_TRUE(done.response().UnpackTo(&backup)) << Show(done);
  EXPECT_EQ(backup.source_backup(), NameOf("a"));
  EXPECT_EQ(backup.source_table(), "projects/p/instances/default/tables/t");
  admin::CopyBackupMetadata metadata;
  ASSERT_TRUE(done.metadata().UnpackTo(&metadata));
  EXPECT_EQ(metadata.name(), NameOf("b"));
  EXPECT_EQ(metadata.source_backup_info().backup(), NameOf("a"));
  EXPECT_EQ(metadata.progress().progress_percent(), 100);
  EXPECT_THAT(Error(&TableStub::CopyBackup, copy), StartsWith("ALREADY_EXISTS: "));
  Call(&TableStub::DeleteBackup, "name: '" + NameOf("a") + "'");
  EXPECT_TRUE(Run(&TableStub::RestoreTable, RestoreRequest("again", "b")).has_response());
  EXPECT_EQ(Read("again", "r"), "before");
  EXPECT_EQ(Listed(), Strings{"b"});
}

// The disk of the backups stands still, so one operation runs and the others wait.
TEST_F(BackupsTest, OperationsWaitForOneAnotherAndNotTooMany) {
  Create("first");
  faulty_.StallCalls({.kinds = {FileCall::kNewWritableFile}});
  Write("t", "r", "later");
  const auto running = Call(&TableStub::CreateBackup, CreateRequest("running"));
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  EXPECT_EQ(Call(&TableStub::GetBackup, "name: '" + NameOf("running") + "'").state(),
            admin::Backup::CREATING);
  EXPECT_THAT(Error(&TableStub::DeleteBackup, "name: '" + NameOf("running") + "'"),
              StartsWith("FAILED_PRECONDITION: "));
  EXPECT_EQ(Listed(), (Strings{"first", "running (creating)"}));
  EXPECT_THAT(Error(&TableStub::CreateBackup, CreateRequest("running")),
              StartsWith("ALREADY_EXISTS: "));
  std::vector<longrunning::Operation> waiting;
  for (size_t i = 0; i < OperationThread::kMostWaiting; ++i) {
    waiting.push_back(
        Call(&TableStub::RestoreTable, RestoreRequest(absl::StrCat("r", i), "first")));
  }
  EXPECT_THAT(Error(&TableStub::RestoreTable, RestoreRequest("more", "first")),
              StartsWith("RESOURCE_EXHAUSTED: 16 operations are waiting already"));
  EXPECT_THAT(Error(&TableStub::CreateBackup, CreateRequest("more")),
              StartsWith("RESOURCE_EXHAUSTED: "));
  EXPECT_FALSE(operations_->Get(running.name())->done());
  // Waiting for one does not take longer than it is asked to.
  EXPECT_FALSE(Call(&OperationsStub::WaitOperation,
                    "name: '" + waiting[0].name() + "' timeout { nanos: 1000000 }")
                   .done());
  EXPECT_EQ(Error(&OperationsStub::CancelOperation, "name: '" + waiting[1].name() + "'"), "OK");
  faulty_.ReleaseCalls();
  EXPECT_TRUE(WaitFor(running).has_response());
  for (size_t i = 0; i < waiting.size(); ++i) {
    const longrunning::Operation done = WaitFor(waiting[i]);
    EXPECT_EQ(done.has_response(), i != 1) << Show(done);
    EXPECT_EQ(Read(absl::StrCat("r", i), "r") == "before", i != 1);
  }
  EXPECT_EQ(WaitFor(waiting[1]).error().code(), grpc::StatusCode::CANCELLED);
  // Names of what was refused are free.
  Create("more");
  EXPECT_EQ(Listed(), (Strings{"first", "more", "running"}));
}

TEST_F(BackupsTest, AnErrorOfTheDiskIsTheOperationsAndItCanBeTriedAgain) {
  faulty_.FailCalls({.kinds = {FileCall::kNewWritableFile}}, absl::UnavailableError("no disk"));
  const auto failed = Run(&TableStub::CreateBackup, CreateRequest("b"));
  EXPECT_EQ(failed.error().code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(failed.error().message(), HasSubstr("no disk"));
  EXPECT_EQ(Listed(), Strings{});
  faulty_.ClearFaults();
  Create("b");
  EXPECT_EQ(Listed(), Strings{"b"});
}

TEST_F(BackupsTest, TheEndOfTheServerEndsItsOperations) {
  faulty_.StallCalls({.kinds = {FileCall::kNewWritableFile}});
  const auto running = Call(&TableStub::CreateBackup, CreateRequest("a"));
  const auto waiting = Call(&TableStub::CreateBackup, CreateRequest("b"));
  ASSERT_TRUE(faulty_.WaitUntilStalled(1));
  std::thread releasing([&] {
    absl::SleepFor(absl::Milliseconds(50));
    faulty_.ReleaseCalls();
  });
  Close();
  releasing.join();
  for (const auto& operation : {running, waiting}) {
    const auto ended = operations_->Get(operation.name());
    ASSERT_TRUE(ended.ok() && ended->done());
    EXPECT_EQ(ended->error().code(), grpc::StatusCode::CANCELLED) << Show(*ended);
  }
  Open();
  EXPECT_EQ(Listed(), Strings{});
}

TEST_F(BackupsTest, BackupsSurviveTheServerAndItsTables) {
  Create("b");
  Close();
  file_system_ = std::make_unique<InMemoryFileSystem>();  // the database is lost
  Open();
  Call(&TableStub::CreateTable, "parent: 'projects/p/instances/default' table_id: 'other'");
  EXPECT_EQ(Listed(), Strings{"b"});
  EXPECT_TRUE(Run(&TableStub::RestoreTable, RestoreRequest("t", "b")).has_response());
  EXPECT_EQ(Read("t", "r"), "before");
}

TEST_F(BackupsTest, WhatHasBackupsIsNotDeleted) {
  Create("b");
  EXPECT_THAT(Error(&InstanceStub::DeleteInstance, "name: 'projects/p/instances/default'"),
              HasSubstr("it has backups, such as " + NameOf("b")));
  Call(&TableStub::DeleteBackup, "name: '" + NameOf("b") + "'");
  EXPECT_EQ(Error(&InstanceStub::DeleteInstance, "name: 'projects/p/instances/default'"), "OK");
}

TEST_F(BackupsTest, AServerWithoutBackupsSaysSo) {
  Close();
  has_backups_ = false;
  Open();
  const std::string none =
      "FAILED_PRECONDITION: this server keeps no backups: it runs without --backups";
  EXPECT_EQ(Error(&TableStub::CreateBackup, CreateRequest("b")), none);
  EXPECT_EQ(Error(&TableStub::ListBackups, absl::StrCat("parent: '", kCluster, "'")), none);
  EXPECT_EQ(Error(&TableStub::GetBackup, "name: '" + NameOf("b") + "'"), none);
  EXPECT_EQ(Error(&TableStub::RestoreTable, RestoreRequest("a", "b")), none);
}

TEST(BackupTextTest, NamesAreReadAsTheyWereWritten) {
  admin::Backup backup;
  backup.set_name("projects/backups/instances/a of b /clusters/c/backups/b.1");
  backup.set_source_table("projects/tables/instances/a of b /tables/t-1");
  BackupInfo info{.description = DescriptionOf(backup)};
  ASSERT_TRUE(BackupOf(info).has_value());
  EXPECT_EQ(BackupOf(info)->name(), backup.name());
  EXPECT_EQ(BackupOf(info)->source_table(), backup.source_table());
  EXPECT_EQ(BackupOf(info)->source_backup(), "");
  backup.set_source_backup("projects/a of b/instances/i /clusters/c/backups/b.0");
  info.description = DescriptionOf(backup);
  EXPECT_EQ(BackupOf(info)->source_table(), backup.source_table());
  EXPECT_EQ(BackupOf(info)->source_backup(), backup.source_backup());
  for (const char* const other : {"", "nightly", "projects/p/instances/i/clusters/c/backups/b",
                                  "projects/p/instances/i/clusters/c/backups/b of t"}) {
    EXPECT_FALSE(BackupOf({.description = other}).has_value()) << other;
  }
}

}  // namespace
}  // namespace bigtable::server
