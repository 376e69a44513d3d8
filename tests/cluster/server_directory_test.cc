// The servers that have files or logs, and the rule that no two servers ever have the same name.
#include "cluster/server_directory.h"

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/status.h"
#include "commitlog/commit_log.h"
#include "lockservice/local_lock_service.h"
#include "recovery/server_record.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ServerDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(file_system_.CreateDirectory("/db"));
    ASSERT_OK(file_system_.CreateDirectory(directory_.logs()));
    ASSERT_OK(file_system_.SyncDirectory("/db"));
    ASSERT_OK(file_system_.SyncDirectory("/"));
    ASSERT_OK(Open());
  }
  // Reads the directory as a new process would.
  absl::Status Open() {
    servers_.reset();
    session_.reset();
    BT_ASSIGN_OR_RETURN(lock_service_,
                        LocalLockService::Open(&file_system_, "/db/lockservice", &clock_));
    BT_ASSIGN_OR_RETURN(session_, lock_service_->OpenSession({}));
    servers_ = std::make_unique<ServerDirectory>(&file_system_, session_.get(), directory_);
    return servers_->Load();
  }
  void CreateLog(const std::string& name) {
    ASSERT_OK(
        CommitLog::Create(&file_system_, directory_.log_of(name), {.segment_size = 64 << 10}));
  }
  std::string AddServer(ServerRole role) {
    const std::string name = ServerDirectory::NameOf(role, servers_->last_number() + 1);
    CreateLog(name);
    EXPECT_OK(session_->Write(ServerRecord::FileOf(name), ""));
    EXPECT_OK(Open());
    return name;
  }

  static ServerRecord EndAt(SequenceNumber last) { return {.is_fenced = true, .last = last}; }
  static ServerRecord Flushed(SequenceNumber flushed) {
    return {.is_fenced = true, .flushed = flushed};
  }

  const DatabaseDirectory directory_{"/db"};
  InMemoryFileSystem file_system_;
  TestClock clock_{1000};
  std::unique_ptr<LocalLockService> lock_service_;
  std::unique_ptr<LockSession> session_;
  std::unique_ptr<ServerDirectory> servers_;
};

TEST_F(ServerDirectoryTest, ANewDirectoryHasNoServers) {
  EXPECT_THAT(servers_->Servers(ServerRole::kMetadata), IsEmpty());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), IsEmpty());
}

TEST_F(ServerDirectoryTest, ServersAreFoundAgainByRoleFromOldToNew) {
  for (int i = 0; i < 11; ++i) AddServer(i % 4 == 0 ? ServerRole::kMetadata : ServerRole::kUser);
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kMetadata),
              ElementsAre("metadata-1", "metadata-5", "metadata-9"));
  EXPECT_THAT(servers_->Servers(ServerRole::kUser),
              ElementsAre("server-2", "server-3", "server-4", "server-6", "server-7", "server-8",
                          "server-10", "server-11"));
}

TEST_F(ServerDirectoryTest, LastNumberIsTheLargestOfServersAndLogs) {
  EXPECT_EQ(servers_->last_number(), 0u);
  ASSERT_OK(session_->Write("servers/metadata-2", ""));
  ASSERT_OK(Open());
  EXPECT_EQ(servers_->last_number(), 2u);
  CreateLog("server-41");  // its server was not added, or was removed already
  ASSERT_OK(Open());
  EXPECT_EQ(servers_->last_number(), 41u);
}

TEST_F(ServerDirectoryTest, ARemovedServerAndItsLogAreGone) {
  const std::string first = AddServer(ServerRole::kUser), second = AddServer(ServerRole::kUser);
  ASSERT_OK(servers_->Remove(first));
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), ElementsAre(second));
  EXPECT_FALSE(file_system_.FileExists(directory_.log_of(first)));
  EXPECT_TRUE(file_system_.FileExists(directory_.log_of(second)));
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), ElementsAre(second));
}

// The process may die between the note and the removal.
TEST_F(ServerDirectoryTest, ALogThatIsNotedToBeDoneIsNotNeededAndRemovedLater) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(servers_->Fence(name));
  ASSERT_OK(servers_->RecordDone(name));  // its last mutation was not noted: the whole log counts
  ASSERT_OK_AND_ASSIGN(ServerRecord record, servers_->RecordOf(name));
  EXPECT_FALSE(record.is_done);
  ASSERT_OK(servers_->Record(name, EndAt(7)));
  ASSERT_OK(servers_->RecordDone(name));
  ASSERT_OK(servers_->RecordDone(name));
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), ElementsAre(name));
  ASSERT_OK_AND_ASSIGN(record, servers_->RecordOf(name));
  EXPECT_TRUE(record.is_done);
  EXPECT_TRUE(file_system_.FileExists(directory_.log_of(name)));
  ASSERT_OK(servers_->Remove(name));
  EXPECT_FALSE(file_system_.FileExists(directory_.log_of(name)));
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), IsEmpty());
}

TEST_F(ServerDirectoryTest, OnlyLogsWithoutAFileAndWithoutALiveServerAreSwept) {
  const std::string user = AddServer(ServerRole::kUser),
                    metadata = AddServer(ServerRole::kMetadata);
  CreateLog("server-41");
  CreateLog("server-42");  // its server is about to write its file
  for (const std::string name : {"lost+found", "server-", "server-07", "server-7.bak"}) {
    ASSERT_OK(file_system_.CreateDirectory(directory_.logs() + "/" + name));  // not the database's
  }
  ASSERT_OK(Open());
  std::vector<std::string> others;
  ASSERT_OK(
      servers_->SweepLogs([](std::string_view name) { return name == "server-42"; }, &others));
  ASSERT_OK_AND_ASSIGN(auto logs, file_system_.ListDirectory(directory_.logs()));
  EXPECT_THAT(others, ElementsAre("lost+found", "server-", "server-07", "server-7.bak"));
  for (const std::string& name : others) std::erase(logs, name);
  EXPECT_THAT(logs, ElementsAre(metadata, user, "server-42"));
}

// The server's file is written last and removed first, so while it exists, so does the log that it
// requires.
TEST_F(ServerDirectoryTest, AfterAPowerLossAServerWithAFileHasItsLog) {
  const std::string name = AddServer(ServerRole::kUser);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto found = file_system_.CrashClone(seed);
    ASSERT_OK_AND_ASSIGN(const auto service,
                         LocalLockService::Open(found.get(), "/db/lockservice", &clock_));
    ASSERT_OK_AND_ASSIGN(const auto session, service->OpenSession({}));
    ServerDirectory servers(found.get(), session.get(), directory_);
    ASSERT_OK(servers.Load());
    ASSERT_THAT(servers.Servers(ServerRole::kUser), ElementsAre(name));
    ASSERT_TRUE(found->FileExists(directory_.log_of(name)));
  }
  ASSERT_OK(servers_->Remove(name));
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto found = file_system_.CrashClone(seed);
    ASSERT_OK_AND_ASSIGN(const auto service,
                         LocalLockService::Open(found.get(), "/db/lockservice", &clock_));
    ASSERT_OK_AND_ASSIGN(const auto session, service->OpenSession({}));
    ServerDirectory servers(found.get(), session.get(), directory_);
    ASSERT_OK(servers.Load());
    ASSERT_THAT(servers.Servers(ServerRole::kUser), IsEmpty());
  }
}

TEST_F(ServerDirectoryTest, AServerThatHasItsLockIsNotFenced) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(Open());
  ASSERT_OK_AND_ASSIGN(auto server, lock_service_->OpenSession({}));
  ASSERT_OK_AND_ASSIGN(const auto lock,
                       server->TryLock(ServerRecord::FileOf(name), LockMode::kExclusive));
  ASSERT_TRUE(lock.has_value());
  EXPECT_STATUS(kUnavailable, name, servers_->Fence(name));
  server.reset();
  EXPECT_OK(servers_->Fence(name));
  EXPECT_OK(servers_->Fence(name));  // again
  ASSERT_OK_AND_ASSIGN(const LockServiceFile file, session_->Read(ServerRecord::FileOf(name)));
  EXPECT_EQ(file.contents, "fenced");
  EXPECT_OK(servers_->Fence("server-41"));  // has only a log, if anything
}

TEST_F(ServerDirectoryTest, TheLastMutationOfAFencedServerIsNotedOnce) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(Open());
  const auto show = [&]() -> std::string {
    const absl::StatusOr<ServerRecord> record = servers_->RecordOf(name);
    if (!record.ok()) return record.status().ToString();
    if (record->is_done) return "nothing";
    return record->last == kMaxSequence ? "all" : Cat(record->last);
  };
  EXPECT_EQ(show(), "all");
  ASSERT_OK(servers_->Fence(name));
  EXPECT_EQ(show(), "all");
  ASSERT_OK(servers_->Record(name, EndAt(77)));
  EXPECT_EQ(show(), "77");
  ASSERT_OK(servers_->Record(name, EndAt(78)));  // a later master, with another number
  ASSERT_OK(servers_->Fence(name));
  EXPECT_EQ(show(), "77");
  ASSERT_OK(servers_->Record("server-41", EndAt(7)));  // has no file
  ASSERT_OK(servers_->Remove(name));
  EXPECT_FALSE(file_system_.FileExists(directory_.log_of(name)));
  EXPECT_STATUS(kNotFound, name, session_->Read(ServerRecord::FileOf(name)));
  for (const std::string_view contents : {"fenced 1x", "fenced ", "fenced9", "fenced -1",
                                          "fenced 1 x", "fenced 1 2 3", "fenced 1 "}) {
    const std::string other = AddServer(ServerRole::kUser);
    ASSERT_OK(session_->Write(ServerRecord::FileOf(other), contents));
    EXPECT_STATUS(kDataLoss, other, servers_->RecordOf(other));
    EXPECT_STATUS(kDataLoss, other, Open());
    ASSERT_OK(session_->Remove(ServerRecord::FileOf(other)));
  }
}

TEST_F(ServerDirectoryTest, WhatAFencedServerHasFlushedIsNotedBesideItsLastMutation) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(Open());
  const auto show = [&]() -> std::string {
    const absl::StatusOr<ServerRecord> record = servers_->RecordOf(name);
    if (!record.ok()) return record.status().ToString();
    const std::string last = record->last == kMaxSequence ? "all" : Cat(record->last);
    return Cat(last, ", ", record->flushed, " flushed");
  };
  ASSERT_OK(servers_->Fence(name));
  EXPECT_EQ(show(), "all, 0 flushed");
  ASSERT_OK(servers_->Record(name, Flushed(80)));
  EXPECT_EQ(show(), "all, 80 flushed");
  ASSERT_OK(servers_->Record(name, EndAt(77)));
  ASSERT_OK(servers_->Record(name, Flushed(79)));
  ASSERT_OK(servers_->Fence(name));
  EXPECT_EQ(show(), "77, 80 flushed");
  ASSERT_OK(servers_->Record("server-41", Flushed(7)));  // has no file
}

// Without its file, the whole log would be read.
TEST_F(ServerDirectoryTest, AfterTheLastIsRecordedTheLogIsRemovedBeforeTheFile) {
  for (int call = 0; call < 2; ++call) {
    const std::string name = AddServer(ServerRole::kUser);
    ASSERT_OK(Open());
    ASSERT_OK(servers_->Fence(name));
    ASSERT_OK(servers_->Record(name, EndAt(77)));
    FaultyFileSystem faulty(&file_system_);
    ServerDirectory cut_short(&faulty, session_.get(), directory_);
    ASSERT_OK(cut_short.Load());
    faulty.FailCalls({{call == 0 ? FileCall::kRemoveFile : FileCall::kRemoveDirectory}, "/log/"},
                     absl::UnavailableError("cut short"));
    EXPECT_FALSE(cut_short.Remove(name).ok());
    ServerDirectory next(&file_system_, session_.get(), directory_);
    ASSERT_OK(next.Load());
    EXPECT_TRUE(next.HasFile(name));
    ASSERT_OK_AND_ASSIGN(const ServerRecord record, next.RecordOf(name));
    EXPECT_TRUE(record.is_done);
    ASSERT_OK(next.Remove(name));
    EXPECT_FALSE(file_system_.FileExists(directory_.log_of(name)));
  }
}

TEST_F(ServerDirectoryTest, WhatIsNotedAlreadyIsNotWrittenAgain) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(servers_->Fence(name));
  const auto generation = [&] { return session_->Read(ServerRecord::FileOf(name))->generation; };
  const uint64_t fenced = generation();
  ASSERT_OK(servers_->Fence(name));
  ASSERT_OK(servers_->RecordDone(name));  // its whole log counts until the file is gone
  EXPECT_EQ(generation(), fenced);
  ASSERT_OK(servers_->Record(name, EndAt(77)));
  ASSERT_OK(servers_->Record(name, Flushed(70)));
  const uint64_t noted = generation();
  EXPECT_NE(noted, fenced);
  ASSERT_OK(servers_->Record(name, EndAt(77)));
  ASSERT_OK(servers_->Record(name, Flushed(70)));
  ASSERT_OK(servers_->Record(name, Flushed(69)));
  EXPECT_EQ(generation(), noted);
  ASSERT_OK(servers_->Record(name, EndAt(76)));
  EXPECT_NE(generation(), noted);
  ASSERT_OK(servers_->RecordDone(name));
  const uint64_t done = generation();
  ASSERT_OK(servers_->Record(name, EndAt(5)));  // nothing of it is needed any more
  ASSERT_OK(servers_->Record(name, Flushed(78)));
  EXPECT_EQ(generation(), done);
  ASSERT_OK_AND_ASSIGN(const ServerRecord record, servers_->RecordOf(name));
  EXPECT_TRUE(record.is_done);
}

TEST_F(ServerDirectoryTest, AStrayLogIsOfAServerWithoutAFileUntilItIsRemoved) {
  CreateLog("server-41");
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), ElementsAre("server-41"));
  EXPECT_FALSE(servers_->HasFile("server-41"));
  ASSERT_OK(servers_->Remove("server-41"));
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), IsEmpty());
  EXPECT_FALSE(file_system_.FileExists(directory_.log_of("server-41")));
}

// Each call of the file system fails in turn, of the lock service or of the logs.
TEST_F(ServerDirectoryTest, AnErrorOfAnyStepIsReturnedAndTheNextTrySucceeds) {
  using Step = std::function<absl::Status(ServerDirectory*, const std::string& name)>;
  const std::vector<FileCall> kinds = {
      FileCall::kNewWritableFile, FileCall::kAppend,         FileCall::kSync,
      FileCall::kClose,           FileCall::kRenameFile,     FileCall::kSyncDirectory,
      FileCall::kRemoveFile,      FileCall::kRemoveDirectory};
  const Step steps[] = {
      [](ServerDirectory* servers, const std::string& name) { return servers->Fence(name); },
      [](ServerDirectory* servers, const std::string& name) {
        return servers->Record(name, EndAt(77));
      },
      [](ServerDirectory* servers, const std::string& name) {
        return servers->Record(name, Flushed(70));
      },
      [](ServerDirectory* servers, const std::string& name) { return servers->RecordDone(name); },
      [](ServerDirectory* servers, const std::string& name) { return servers->Remove(name); },
      [](ServerDirectory* servers, const std::string&) {
        std::vector<std::string> others;
        return servers->SweepLogs([](std::string_view) { return false; }, &others);
      },
  };
  for (size_t last = 0; last < std::size(steps); ++last) {
    int failed = 0;
    for (uint64_t call = 1;; ++call) {
      SCOPED_TRACE(Cat("step ", last, ", call ", call));
      const std::string name = AddServer(ServerRole::kUser);
      CreateLog("server-9999");  // it is swept
      FaultyFileSystem faulty(&file_system_);
      ASSERT_OK_AND_ASSIGN(const auto service,
                           LocalLockService::Open(&faulty, "/db/lockservice", &clock_));
      ASSERT_OK_AND_ASSIGN(const auto session, service->OpenSession({}));
      ServerDirectory servers(&faulty, session.get(), directory_);
      ASSERT_OK(servers.Load());
      // Fenced, and with its last mutation noted before it is removed.
      for (size_t i = 0; i < last && i < 2; ++i) ASSERT_OK(steps[i](&servers, name));
      faulty.CountCalls({kinds, ""});
      faulty.FailCall(call, absl::UnavailableError("a fault"));
      const absl::Status status = steps[last](&servers, name);
      const bool is_hit = faulty.faults() > 0;
      faulty.ClearFaults();
      if (is_hit) {
        ++failed;
        EXPECT_STATUS(kUnavailable, "a fault", status);
        // What has not succeeded is not taken for done.
        EXPECT_TRUE(servers.HasFile(name) || file_system_.FileExists(directory_.log_of(name)));
        ASSERT_OK(steps[last](&servers, name));
      } else {
        ASSERT_OK(status);
      }
      ASSERT_OK(servers.Remove(name));
      EXPECT_FALSE(file_system_.FileExists(directory_.log_of(name)));
      ASSERT_OK(servers.Remove("server-9999"));
      ASSERT_OK(Open());
      EXPECT_THAT(servers_->Servers(ServerRole::kUser), IsEmpty());
      if (!is_hit) break;
    }
    EXPECT_GE(failed, 5);
  }
}

TEST_F(ServerDirectoryTest, AServerWhoseFileCannotBeReadIsAnError) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(servers_->Fence(name));
  FaultyFileSystem faulty(&file_system_);
  faulty.FailCalls({{FileCall::kListDirectory}, "/log"}, absl::UnavailableError("no list"));
  ServerDirectory servers(&faulty, session_.get(), directory_);
  EXPECT_STATUS(kUnavailable, "no list", servers.Load());
  std::vector<std::string> others;
  EXPECT_STATUS(kUnavailable, "no list",
                servers.SweepLogs([](std::string_view) { return false; }, &others));
  session_.reset();
  ASSERT_OK_AND_ASSIGN(session_,
                       lock_service_->OpenSession({.owner = "", .lease = absl::Seconds(1)}));
  clock_.Advance(absl::Seconds(2));
  lock_service_->ExpireLapsedSessions();
  ServerDirectory without_session(&file_system_, session_.get(), directory_);
  EXPECT_FALSE(without_session.Fence(name).ok());
  EXPECT_FALSE(without_session.Record(name, EndAt(5)).ok());
  EXPECT_FALSE(without_session.Record(name, Flushed(5)).ok());
  EXPECT_FALSE(without_session.RecordDone(name).ok());
  EXPECT_FALSE(without_session.Remove(name).ok());
  EXPECT_TRUE(file_system_.FileExists(directory_.log_of(name)));
}

TEST_F(ServerDirectoryTest, AFileThatIsDamagedMeanwhileIsAnErrorAndNotOverwritten) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(servers_->Fence(name));
  file_system_.SetContents("/db/lockservice/servers/" + name, "rubbish");
  EXPECT_STATUS(kDataLoss, name, servers_->Fence(name));
  EXPECT_STATUS(kDataLoss, name, servers_->Record(name, EndAt(5)));
  EXPECT_STATUS(kDataLoss, name, servers_->RecordOf(name));
  EXPECT_STATUS(kDataLoss, name, servers_->Remove(name));
  EXPECT_EQ(file_system_.Contents("/db/lockservice/servers/" + name), "rubbish");
}

TEST_F(ServerDirectoryTest, FilesOfNoServerAreIgnored) {
  const std::string name = AddServer(ServerRole::kUser);
  ASSERT_OK(session_->Write("servers/notes", ""));
  ASSERT_OK(session_->Write("servers/server-07", ""));
  ASSERT_OK(Open());
  EXPECT_THAT(servers_->Servers(ServerRole::kUser), ElementsAre(name));
  EXPECT_FALSE(servers_->HasFile("notes"));
  EXPECT_EQ(servers_->last_number(), *ServerDirectory::NumberOf(name));
}

TEST_F(ServerDirectoryTest, ADamagedServerFileIsAnError) {
  const std::string path = "/db/lockservice/servers/" + AddServer(ServerRole::kUser);
  file_system_.SetContents(path, "rubbish");
  EXPECT_STATUS(kDataLoss, path, Open());
}

}  // namespace
}  // namespace bigtable
