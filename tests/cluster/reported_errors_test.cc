// Each call of the file system that the calling thread makes fails once, in turn. The call of the
// database that made it returns the error: what it has not done, it does not report as done. After
// Resume or another opening all is well.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "base/strings.h"
#include "recovery/server_record.h"
#include "support/database_peer.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// Calls of the file system whose errors a call of the database has to return. Others are retried or
// do no harm: of the info log, of the file OPTIONS, of spare segments of a log, and of removals.
struct Place {
  std::string_view path;
  std::vector<FileCall> kinds;
};

constexpr auto kCreateFile = FileCall::kNewWritableFile;
const std::vector<FileCall>& WritesOfFiles() {
  static const std::vector<FileCall> kKinds = {kCreateFile, FileCall::kAppend, FileCall::kSync,
                                               FileCall::kClose};
  return kKinds;
}

class ReportedErrorsTest : public TabletsFixture {
 protected:
  using Call = std::function<absl::Status()>;

  void TearDown() override { database_.reset(); }  // before its file system
  static DatabaseOptions OptionsOn(FileSystem* file_system) {
    DatabaseOptions options = TestOptions();
    options.memory_budget = 32 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = 2;
    options.durability = Durability::kSync;
    options.file_system = file_system;
    // By position a compaction reads ahead, and reads again by itself what it could not.
    options.read_mode = FileSystem::ReadMode::kMapped;
    return options;
  }
  void OpenOn(FileSystem* file_system) {
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, OptionsOn(file_system)));
  }
  void OpenNew() {
    database_.reset();
    faulty_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    faulty_ = std::make_unique<FaultyFileSystem>(
        file_system_.get(), FaultyFileSystem::Options{.hide_log_mappings = true});
    ASSERT_NO_FATAL_FAILURE(OpenOn(faulty_.get()));
  }
  // Table t has three tablets, with rows 0 to 14 in files and in memtables, and table u one row.
  void MakeTables() {
    Table* const table = CreateSplitTable("t", 3, 5);
    for (int i = 0; i < 2; ++i) {
      Fill(table, 0, 15);
      ASSERT_OK(database_->Flush("t"));
    }
    Fill(table, 0, 15);
    Fill(CreateSplitTable("u", 1, 1), 0, 1);
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  // Each call of the file system at these places fails once, in turn, if it is of the thread; with
  // a sanitizer every fourth. Returns how many there were.
  static constexpr int kStride = kSlow ? 4 : 1;
  int FailEachCall(const std::vector<Place>& places, const std::function<void()>& prepare,
                   const Call& call, const std::function<void(bool is_done)>& check,
                   std::thread::id thread = std::this_thread::get_id()) {
    int failed = 0;
    for (const Place& place : places) {
      for (uint64_t n = 1; !HasFatalFailure(); n += kStride) {
        SCOPED_TRACE(Cat("call ", n, " at ", place.path));
        prepare();
        faulty_->CountCalls({place.kinds, std::string(place.path), thread});
        faulty_->FailCall(n, absl::ResourceExhaustedError("a fault"));
        const absl::Status status = call();
        const bool is_hit = faulty_->faults() > 0;
        faulty_->ClearFaults();
        if (!is_hit) {
          EXPECT_OK(status);
          break;
        }
        ++failed;
        EXPECT_TRUE(!status.ok() || !database_->Statistics().background_error.ok());
        check(status.ok());
      }
    }
    return failed;
  }
  // A flush that was under way may report the fault after a first Resume.
  void ResumeUntil(const Call& call) {
    absl::Status status;
    for (int i = 0; i < 1000; ++i) {
      ASSERT_OK(database_->Resume());
      status = call();
      if (status.ok()) return;
      absl::SleepFor(absl::Milliseconds(1));
    }
    FAIL() << status;
  }
  // The call can be made again after Resume.
  void FailEachCallAndRepeat(const Call& call, int at_least) {
    const std::vector<Place> places = {
        {".sst", WritesOfFiles()},
        {".sst", {FileCall::kNewRandomAccessFile, FileCall::kRead}},
        {"/sst", {FileCall::kSyncDirectory}},
        {"/lockservice", WritesOfFiles()},
        {"/lockservice", {FileCall::kRenameFile, FileCall::kSyncDirectory}},
        {"/log/", {FileCall::kLogWrite, FileCall::kLogSync}},
    };
    const auto prepare = [this] {
      ASSERT_NO_FATAL_FAILURE(OpenNew());
      ASSERT_NO_FATAL_FAILURE(MakeTables());
    };
    const int failed = FailEachCall(places, prepare, call, [&](bool is_done) {
      if (!is_done) {
        ASSERT_NO_FATAL_FAILURE(ResumeUntil(call));
      }
      ASSERT_NO_FATAL_FAILURE(ResumeUntil([this] {
        return OpenTable("u")->Apply(RowMutation(RowOf(0)).Set("f:q", Timestamp(1), "w"));
      }));
      database_->Close().IgnoreError();  // that report may come now
    });
    EXPECT_GE(failed, at_least / kStride);
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
};

TEST_F(ReportedErrorsTest, Resume) {
  FailEachCallAndRepeat(
      [&] {
        for (TabletServer* server : DatabasePeer(database_.get()).Servers()) {
          server->write_error().Set(absl::InternalError("an error"));
        }
        return database_->Resume();
      },
      20);
}

TEST_F(ReportedErrorsTest, Compact) {
  FailEachCallAndRepeat([&] { return database_->Compact("t"); }, 20);
}

TEST_F(ReportedErrorsTest, SplitTablet) {
  FailEachCallAndRepeat([&] { return database_->SplitTablet("t", RowOf(12)); }, 2);
}

TEST_F(ReportedErrorsTest, MergeTablets) {
  FailEachCallAndRepeat([&] { return database_->MergeTablets("t", RowOf(5)); }, 2);
}

TEST_F(ReportedErrorsTest, MoveTablet) {
  FailEachCallAndRepeat(
      [&] { return database_->MoveTablet("t", RowOf(5), 1 - Tablets("t")[1].server); }, 1);
}

TEST_F(ReportedErrorsTest, DropRowRange) {
  FailEachCallAndRepeat(
      [&] { return OpenTable("t")->DropRowRange(RowRange::RightOpen(RowOf(5), RowOf(10))); }, 1);
}

TEST_F(ReportedErrorsTest, CreateTable) {
  FailEachCallAndRepeat([&] { return database_->CreateTable("new", StillSchema()); }, 5);
}

TEST_F(ReportedErrorsTest, DeleteTable) {
  FailEachCallAndRepeat(
      [&] {
        const absl::Status deleted = database_->DeleteTable("t");
        return absl::IsNotFound(deleted) ? absl::OkStatus() : deleted;  // upkeep finishes it
      },
      2);
}

TEST_F(ReportedErrorsTest, UpdateFamily) {
  FailEachCallAndRepeat(
      [&] { return database_->UpdateFamily("t", "f", {.gc = GcRule::MaxVersions(1)}); }, 5);
}

TEST_F(ReportedErrorsTest, SetTableQuota) {
  FailEachCallAndRepeat(
      [&] { return database_->SetTableQuota("t", {.requests_per_second = 1000}); }, 5);
}

TEST_F(ReportedErrorsTest, SetAccessList) {
  FailEachCallAndRepeat([&] { return database_->SetAccessList("list", {.readers = {"a"}}); }, 5);
}

TEST_F(ReportedErrorsTest, ApplyABatch) {
  FailEachCallAndRepeat(
      [&] {
        WriteBatch batch;
        for (const int row : {0, 5, 10}) {
          batch.Apply(OpenTable("t"), RowMutation(RowOf(row)).Set("f:q", Timestamp(2), "w"));
        }
        return database_->Apply(batch);
      },
      3);
}

using OpeningErrorsTest = ReportedErrorsTest;

// It has a thread of its own, and others have ended by then.
TEST_F(OpeningErrorsTest, AClosingThatFailsLosesNothing) {
  const std::vector<Place> places = {
      {".sst", WritesOfFiles()},
      {"/sst", {FileCall::kSyncDirectory}},
      {"/lockservice", WritesOfFiles()},
      {"/lockservice", {FileCall::kRenameFile, FileCall::kSyncDirectory, FileCall::kRemoveFile}},
      {"/log/", {FileCall::kLogWrite, FileCall::kLogSync}},
      {"/REMOVED", {kCreateFile, FileCall::kClose, FileCall::kRemoveFile}},
      {"/STATE", {FileCall::kRemoveFile}},
      {"/log/", {FileCall::kRemoveDirectory}},
  };
  const auto prepare = [this] {
    ASSERT_NO_FATAL_FAILURE(OpenNew());
    ASSERT_NO_FATAL_FAILURE(MakeTables());
  };
  const int failed = FailEachCall(
      places, prepare, [this] { return database_->Close(); },
      [this](bool) {
        database_.reset();
        ASSERT_NO_FATAL_FAILURE(OpenOn(file_system_.get()));
        ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 15));
        ASSERT_OK(database_->Close());
        database_.reset();
      },
      std::thread::id());
  EXPECT_GE(failed, 20 / kStride);
}

TEST_F(OpeningErrorsTest, AnOpeningAfterACrashFailsOrIsWhole) {
  ASSERT_NO_FATAL_FAILURE(OpenNew());
  ASSERT_NO_FATAL_FAILURE(MakeTables());
  const std::unique_ptr<InMemoryFileSystem> crashed =
      file_system_->CrashClone(1, Unsynced::kEverything);
  std::unique_ptr<InMemoryFileSystem> found;
  const std::vector<Place> places = {
      {"/log", {FileCall::kListDirectory, FileCall::kReadFile, FileCall::kFileSize}},
      {"/log/", {FileCall::kNewRandomAccessFile, kCreateFile}},
      {"/log/", {FileCall::kLogWrite, FileCall::kLogSync}},
      {".sst", WritesOfFiles()},
      {"/sst", {FileCall::kSyncDirectory, FileCall::kListDirectory}},
      {"/lockservice", WritesOfFiles()},
      {"/lockservice", {FileCall::kRenameFile, FileCall::kSyncDirectory}},
      {"/LOCK", {FileCall::kLockFile}},
  };
  const auto prepare = [&] {
    database_.reset();
    found = crashed->CrashClone(1, Unsynced::kEverything);
    faulty_ = std::make_unique<FaultyFileSystem>(
        found.get(), FaultyFileSystem::Options{.hide_log_mappings = true});
  };
  const auto open = [&]() -> absl::Status {
    absl::StatusOr<std::unique_ptr<Database>> opened =
        Database::Open(kPath, OptionsOn(faulty_.get()));
    if (!opened.ok()) return opened.status();
    database_ = *std::move(opened);
    return absl::OkStatus();
  };
  const int failed = FailEachCall(places, prepare, open, [&](bool is_done) {
    ASSERT_OK(is_done ? database_->Resume() : open());
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, 15));
    ASSERT_OK(database_->Close());
    database_.reset();
  });
  EXPECT_GE(failed, 30 / kStride);
  database_.reset();
}

// Without it, parts of batches that were never acknowledged would be read.
TEST_F(OpeningErrorsTest, AServersRecordThatIsNotKnownEndsAnOpening) {
  ASSERT_NO_FATAL_FAILURE(OpenNew());
  LockSession* const session = DatabasePeer(database_.get()).session();
  ASSERT_OK_AND_ASSIGN(const auto servers, session->List(ServerRecord::kDirectory));
  const std::string server = servers.back();
  ASSERT_OK(session->Write(ServerRecord::FileOf(server), "void 1"));
  const auto crashed = file_system_->CrashClone(1, Unsynced::kEverything);
  EXPECT_STATUS(kDataLoss, "has unknown contents",
                Database::Open(kPath, OptionsOn(crashed.get())).status());
  // The numbers of void batches are not used again.
  ASSERT_OK(session->Write(ServerRecord::FileOf(server), "void 7 99999"));
  const auto later = file_system_->CrashClone(1, Unsynced::kEverything);
  // A file of an earlier version.
  ASSERT_OK(session->Write("void_batches", "7 9\n"));
  const auto earlier = file_system_->CrashClone(1, Unsynced::kEverything);
  EXPECT_STATUS(kFailedPrecondition, "lockservice/void_batches",
                Database::Open(kPath, OptionsOn(earlier.get())).status());
  for (const std::string_view part : {"/lockservice", "/copies/lockservice"}) {
    earlier->SetContents(Cat(kPath, part, "/void_batches"), "rubbish");
  }
  EXPECT_STATUS(kDataLoss, "lockservice/void_batches",
                Database::Open(kPath, OptionsOn(earlier.get())).status());
  database_.reset();
  ASSERT_NO_FATAL_FAILURE(OpenOn(later.get()));
  EXPECT_GT(DatabasePeer(database_.get()).cluster()->environment()->sequences.last(), 99999u);
  database_.reset();
}

}  // namespace
}  // namespace bigtable
