// Implementations of LockService for tests, and what a test needs besides the interface. To test
// another implementation, add one more LockServiceInTest to AllLockServices.
#ifndef BIGTABLE_TESTS_LOCKSERVICE_LOCK_SERVICE_FIXTURE_H_
#define BIGTABLE_TESTS_LOCKSERVICE_LOCK_SERVICE_FIXTURE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "lockservice/local_lock_service.h"
#include "lockservice/lock_service.h"
#include "support/expect_status.h"
#include "support/losing_lock_service.h"
#include "support/temp_directory.h"
#include "support/test_clock.h"

namespace bigtable {

// For messages of failed tests.
inline void PrintTo(const LockEvent& event, std::ostream* out) {
  static constexpr const char* kNames[] = {"changed", "removed",  "directory", "lock lost",
                                           "free",    "jeopardy", "safe",      "lost"};
  *out << kNames[static_cast<int>(event.kind)] << " \"" << event.name << "\" " << event.generation;
}

class LockServiceInTest {
 public:
  virtual ~LockServiceInTest() = default;
  virtual LockService* service() = 0;
  // Advances the clock of leases, and makes the service check it.
  virtual void Advance(absl::Duration by) = 0;
  // Makes the session lost.
  virtual void Expire(const LockSession& session) = 0;
  // Stops the service, which must have no sessions, and starts it again.
  virtual void Restart() = 0;
};

class LocalLockServiceInTest : public LockServiceInTest {
 public:
  LocalLockServiceInTest(FileSystem* file_system, std::string directory)
      : file_system_(file_system), directory_(std::move(directory)) {
    LocalLockServiceInTest::Restart();
  }
  LockService* service() override { return local_.get(); }
  void Advance(absl::Duration by) override {
    clock_.Advance(by);
    local_->ExpireLapsedSessions();
  }
  void Expire(const LockSession& session) override {
    EXPECT_OK(local_->ExpireSession(session.id()));
  }
  void Restart() override {
    local_.reset();
    absl::StatusOr<std::unique_ptr<LocalLockService>> opened =
        LocalLockService::Open(file_system_, directory_, &clock_);
    EXPECT_OK(opened);
    if (opened.ok()) local_ = *std::move(opened);
  }
  LocalLockService* local() { return local_.get(); }

 private:
  TestClock clock_{1000};
  FileSystem* const file_system_;
  const std::string directory_;
  std::unique_ptr<LocalLockService> local_;
};

class InMemoryLockService final : public LockServiceInTest {
 public:
  LockService* service() override { return local_.service(); }
  void Advance(absl::Duration by) override { local_.Advance(by); }
  void Expire(const LockSession& session) override { local_.Expire(session); }
  void Restart() override { local_.Restart(); }

 private:
  InMemoryFileSystem file_system_;
  LocalLockServiceInTest local_{&file_system_, "/ls"};
};

class PosixLockService final : public LockServiceInTest {
 public:
  LockService* service() override { return local_.service(); }
  void Advance(absl::Duration by) override { local_.Advance(by); }
  void Expire(const LockSession& session) override { local_.Expire(session); }
  void Restart() override { local_.Restart(); }

 private:
  TempDirectory directory_{TempDirectory::Where::kMemory};
  LocalLockServiceInTest local_{FileSystem::Posix(), directory_.path() + "/ls"};
};

// While no session is lost, LosingLockService must behave like any lock service.
class LosingLockServiceInTest final : public LockServiceInTest {
 public:
  LosingLockServiceInTest() { MakeLosing(); }
  LockService* service() override { return losing_.get(); }
  void Advance(absl::Duration by) override { local_.Advance(by); }
  void Expire(const LockSession& session) override { local_.Expire(session); }
  void Restart() override {
    losing_.reset();
    local_.Restart();
    MakeLosing();
  }

 private:
  void MakeLosing() { losing_ = std::make_unique<LosingLockService>(local_.local()); }

  InMemoryFileSystem file_system_;
  LocalLockServiceInTest local_{&file_system_, "/ls"};
  std::unique_ptr<LosingLockService> losing_;
};

struct LockServiceImplementation {
  std::string name;
  std::function<std::unique_ptr<LockServiceInTest>()> make;
};

inline std::vector<LockServiceImplementation> AllLockServices() {
  return {{"InMemory", [] { return std::make_unique<InMemoryLockService>(); }},
          {"Posix", [] { return std::make_unique<PosixLockService>(); }},
          {"Losing", [] { return std::make_unique<LosingLockServiceInTest>(); }}};
}

class LockServiceFixture : public testing::TestWithParam<LockServiceImplementation> {
 protected:
  static constexpr absl::Duration kLease = absl::Seconds(10);

  std::unique_ptr<LockSession> Open(std::string owner = "test", absl::Duration lease = kLease) {
    absl::StatusOr<std::unique_ptr<LockSession>> session =
        tested_->service()->OpenSession({.owner = std::move(owner), .lease = lease});
    EXPECT_OK(session);
    return *std::move(session);
  }
  // The contents, or the code of the error.
  static std::string Get(LockSession* session, std::string_view name) {
    const absl::StatusOr<LockServiceFile> file = session->Read(name);
    return file.ok() ? file->contents : std::string(absl::StatusCodeToString(file.status().code()));
  }
  // The new generation; after an error, 0 and a test failure.
  static Generation Put(LockSession* session, std::string_view name, std::string_view contents) {
    const absl::StatusOr<Generation> generation = session->Write(name, contents);
    EXPECT_OK(generation);
    return generation.ok() ? *generation : 0;
  }
  static LockSequencer Acquire(LockSession* session, std::string_view name,
                               LockMode mode = LockMode::kExclusive) {
    const absl::StatusOr<std::optional<LockSequencer>> sequencer = session->TryLock(name, mode);
    EXPECT_OK(sequencer);
    EXPECT_TRUE(sequencer.ok() && sequencer->has_value()) << "the lock is held";
    return sequencer.ok() ? sequencer->value_or(LockSequencer()) : LockSequencer();
  }
  // Whether TryLock got nothing because others hold the lock.
  static bool IsHeldByOthers(LockSession* session, std::string_view name,
                             LockMode mode = LockMode::kExclusive) {
    const absl::StatusOr<std::optional<LockSequencer>> sequencer = session->TryLock(name, mode);
    EXPECT_OK(sequencer);
    return sequencer.ok() && !sequencer->has_value();
  }

  std::unique_ptr<LockServiceInTest> tested_ = GetParam().make();
};

// With two sessions, as the tests of the contract (src/lockservice/lock_service.h) need them.
class LockServiceContract : public LockServiceFixture {
 protected:
  std::unique_ptr<LockSession> a_ = Open("a");
  std::unique_ptr<LockSession> b_ = Open("b");
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_LOCKSERVICE_LOCK_SERVICE_FIXTURE_H_
