// Calls of the file system that fail, power losses, and lost sessions, each at every step of a
// workload: a file is the old one or the new one, a result that was read stays, and no generation
// is used twice.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/strings.h"
#include "lockservice/local_lock_service.h"
#include "support/expect_status.h"
#include "support/losing_lock_service.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

using Contents = std::optional<std::string>;  // of a file; nullopt: there is no file

std::unique_ptr<LocalLockService> OpenService(FileSystem* file_system, Clock* clock) {
  absl::StatusOr<std::unique_ptr<LocalLockService>> opened =
      LocalLockService::Open(file_system, "/ls", clock);
  if (!opened.ok()) {
    EXPECT_TRUE(absl::IsUnavailable(opened.status())) << opened.status();
    opened = LocalLockService::Open(file_system, "/ls", clock);  // the fault has passed
    EXPECT_OK(opened);
  }
  return *std::move(opened);
}

std::unique_ptr<LockSession> OpenSession(LocalLockService* service) {
  return service->OpenSession({.lease = absl::InfiniteDuration()}).value();
}

// The possible states of files, given the results of the calls.
class Expectation {
 public:
  void Wrote(const std::string& name, const std::string& contents,
             const absl::StatusOr<Generation>& result) {
    if (result.ok()) {
      EXPECT_GT(*result, most_);
      Saw(name, contents, *result);
      possible_[name] = {contents};
    } else {
      EXPECT_TRUE(absl::IsUnavailable(result.status())) << result.status();
      Possible(name).insert(contents);
    }
  }
  void Removed(const std::string& name, const absl::Status& result) {
    if (result.ok() || absl::IsNotFound(result)) {
      if (!result.ok()) {
        EXPECT_TRUE(Possible(name).contains(std::nullopt));
      }
      possible_[name] = {std::nullopt};
    } else {
      EXPECT_TRUE(absl::IsUnavailable(result)) << result;
      Possible(name).insert(std::nullopt);
    }
  }
  // A result that was read once is read from then on.
  void Read(const std::string& name, const absl::StatusOr<LockServiceFile>& result) {
    if (absl::IsUnavailable(result.status())) return;
    Contents contents;
    if (result.ok()) {
      contents = result->contents;
      Saw(name, *contents, result->generation);
    } else {
      EXPECT_TRUE(absl::IsNotFound(result.status())) << result.status();
    }
    EXPECT_TRUE(Possible(name).contains(contents))
        << name << " is " << contents.value_or("missing");
    possible_[name] = {contents};
  }
  // A generation that was assigned, or that is on disk, identifies one content.
  void Saw(const std::string& name, const std::string& contents, Generation generation) {
    const std::string thing = name + "=" + contents;
    EXPECT_EQ(things_.emplace(generation, thing).first->second, thing) << generation;
    most_ = std::max(most_, generation);
  }
  Generation most() const { return most_; }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, _] : possible_) names.push_back(name);
    return names;
  }
  std::set<Contents>& Possible(const std::string& name) {
    return possible_.emplace(name, std::set<Contents>{std::nullopt}).first->second;
  }

 private:
  std::map<std::string, std::set<Contents>> possible_;
  std::map<Generation, std::string> things_;
  Generation most_ = 0;
};

struct Step {
  std::string name;
  Contents contents;  // to be written; nullopt: the file is removed
};

const std::vector<Step>& Work() {
  static const auto* const kWork = new std::vector<Step>{{"schema/web", "first"},
                                                         {"schema/web", "second"},
                                                         {"root", std::string(1500, 'r')},
                                                         {"schema/web", {}},
                                                         {"schema/web", "third"},
                                                         {"deep/er/still", "x"},
                                                         {"root", {}},
                                                         {"root", "again"},
                                                         {"deep/er/still", {}}};
  return *kWork;
}

void Make(const Step& step, LockSession* session, Expectation* expected) {
  if (step.contents.has_value()) {
    expected->Wrote(step.name, *step.contents, session->Write(step.name, *step.contents));
  } else {
    expected->Removed(step.name, session->Remove(step.name));
  }
}

// A new process finds the expected files, and new generations are above all earlier ones.
void ExpectFound(FileSystem* found, Expectation expected) {
  TestClock clock;
  const auto service = OpenService(found, &clock);
  const auto session = OpenSession(service.get());
  for (const std::string& name : expected.names()) expected.Read(name, session->Read(name));
  const Generation before = expected.most();
  ASSERT_OK_AND_ASSIGN(const Generation next, session->Write("next", "x"));
  EXPECT_GT(next, before);
  ASSERT_OK_AND_ASSIGN(const auto lock, session->TryLock("next", LockMode::kExclusive));
  EXPECT_GT(lock->generation, next);
}

void ExpectFoundAfterPowerLoss(const InMemoryFileSystem& memory, const Expectation& expected) {
  for (uint64_t seed = 0; seed < 8 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(Cat("seed ", seed));
    const auto found =
        memory.CrashClone(seed, seed == 0 ? Unsynced::kEverything : Unsynced::kRandomPart);
    ExpectFound(found.get(), expected);
  }
}

// One call fails, once. After each step every file is read, by the writer and by another session;
// the results stay the same, even after a power loss.
TEST(LockServiceFaultsTest, EveryFileSystemCallFailsInTurn) {
  uint64_t faults = 0;
  for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                          FaultyFileSystem::Done::kAll}) {
    for (uint64_t call = 1; !HasFailure(); ++call) {
      SCOPED_TRACE(Cat("call ", call, ", done ", static_cast<int>(done)));
      TestClock clock;
      InMemoryFileSystem memory;
      FaultyFileSystem faulty(&memory);
      faulty.CountCalls();
      faulty.FailCall(call, absl::UnavailableError("disk"), FaultyFileSystem::Repeat::kOnce, done);
      Expectation expected;
      {
        const auto service = OpenService(&faulty, &clock);
        const auto writer = OpenSession(service.get()), reader = OpenSession(service.get());
        for (const Step& step : Work()) {
          Make(step, writer.get(), &expected);
          if (faulty.faults() > 0) ExpectFoundAfterPowerLoss(memory, expected);
          for (const std::string& name : expected.names()) {
            expected.Read(name, reader->Read(name));
            expected.Read(name, writer->Read(name));
            expected.Read(name, reader->Read(name));
          }
          ExpectFoundAfterPowerLoss(memory, expected);
        }
      }
      ExpectFound(&memory, expected);
      if (faulty.faults() == 0) break;
      ++faults;
    }
  }
  EXPECT_GT(faults, 150u);
}

// All calls fail from one call on, and the machine restarts with what is left.
TEST(LockServiceFaultsTest, PowerIsLostAtEveryFileSystemCall) {
  for (const auto done : {FaultyFileSystem::Done::kNothing, FaultyFileSystem::Done::kHalf,
                          FaultyFileSystem::Done::kAll}) {
    for (uint64_t call = 1; !HasFailure(); ++call) {
      SCOPED_TRACE(Cat("call ", call, ", done ", static_cast<int>(done)));
      TestClock clock;
      InMemoryFileSystem memory;
      FaultyFileSystem faulty(&memory);
      const auto service = OpenService(&faulty, &clock);
      const auto session = OpenSession(service.get());
      faulty.CountCalls();
      faulty.FailCall(call, absl::UnavailableError("power"), FaultyFileSystem::Repeat::kFromThenOn,
                      done);
      Expectation expected;
      for (const Step& step : Work()) {
        if (faulty.faults() == 0) Make(step, session.get(), &expected);
      }
      ExpectFoundAfterPowerLoss(memory, expected);
      if (faulty.faults() == 0) break;
    }
  }
}

// A process is killed during a write, the next process reads the result, and then power is lost:
// the result stays.
TEST(LockServiceFaultsTest, AnIncompleteWriteOfAnotherProcessIsDurableOnceItIsRead) {
  for (uint64_t call = 1; !HasFailure(); ++call) {
    SCOPED_TRACE(Cat("call ", call));
    TestClock clock;
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    Expectation expected;
    {
      const auto service = OpenService(&faulty, &clock);
      const auto session = OpenSession(service.get());
      faulty.CountCalls();
      faulty.FailCall(call, absl::UnavailableError("killed"),
                      FaultyFileSystem::Repeat::kFromThenOn);
      for (const Step& step : Work()) {
        if (faulty.faults() == 0) Make(step, session.get(), &expected);
      }
    }
    ExpectFound(&memory, expected);  // also writes, which does not affect the other files
    const auto service = OpenService(&memory, &clock);
    const auto session = OpenSession(service.get());
    for (const std::string& name : expected.names()) expected.Read(name, session->Read(name));
    ExpectFoundAfterPowerLoss(memory, expected);
    if (faulty.faults() == 0) break;
  }
}

TEST(LockServiceFaultsTest, AListIsCompleteOrAnError) {
  int errors = 0;
  for (uint64_t call = 1; !HasFailure(); ++call) {
    TestClock clock;
    InMemoryFileSystem memory;
    for (const std::string name : {"d/a", "d/b"}) {
      ASSERT_OK(SmallFiles(&memory, "/ls").Write(name, ""));
    }
    FaultyFileSystem faulty(&memory);
    const auto service = OpenService(&faulty, &clock);
    const auto session = OpenSession(service.get());
    faulty.CountCalls();
    faulty.FailCall(call, absl::UnavailableError("disk"));
    const auto names = session->List("d");
    if (names.ok()) {
      EXPECT_EQ(*names, (std::vector<std::string>{"a", "b"}));
    } else {
      EXPECT_STATUS(kUnavailable, "disk", names);
      ++errors;
    }
    if (faulty.faults() == 0) break;
    EXPECT_OK(session->List("d"));
  }
  EXPECT_GT(errors, 4);
}

// An acquisition either fails and leaves the lock free, or succeeds. A removal that fails may take
// the lock away.
TEST(LockServiceFaultsTest, EveryFileSystemCallFailsInTurnUnderLocks) {
  for (uint64_t call = 1; !HasFailure(); ++call) {
    SCOPED_TRACE(Cat("call ", call));
    TestClock clock;
    InMemoryFileSystem memory;
    FaultyFileSystem faulty(&memory);
    const auto service = OpenService(&faulty, &clock);
    const auto a = OpenSession(service.get()), b = OpenSession(service.get());
    ASSERT_OK(a->Write("f", ""));
    // Acquires locks until a range of generations must be reserved.
    faulty.CountCalls();
    faulty.FailCall(call, absl::UnavailableError("disk"));
    std::optional<LockSequencer> last;
    for (int i = 0; i < 1001; ++i) {
      const auto got = a->TryLock("f", LockMode::kExclusive);
      if (!got.ok()) {
        EXPECT_STATUS(kUnavailable, "disk", got);
        EXPECT_STATUS(kAborted, "f", a->CheckLock("f"));
        continue;
      }
      ASSERT_TRUE(got->has_value());
      if (last.has_value()) {
        ASSERT_GT((*got)->generation, last->generation);
      }
      last = **got;
      ASSERT_OK(b->CheckSequencer(*last));
      if (i < 1000) {
        ASSERT_OK(a->Unlock("f"));
      }
    }
    const absl::Status removed = b->Remove("f");
    const bool failed = faulty.faults() > 0;
    faulty.ClearFaults();
    const bool held = b->CheckSequencer(*last).ok();
    EXPECT_EQ(held, a->CheckLock("f").ok());
    if (removed.ok()) {
      EXPECT_FALSE(held);
      EXPECT_STATUS(kNotFound, "f", b->TryLock("f", LockMode::kExclusive));
    } else {
      EXPECT_STATUS(kUnavailable, "disk", removed);
      const absl::StatusOr<LockServiceFile> file = b->Read("f");
      const auto got = b->TryLock("f", LockMode::kExclusive);
      EXPECT_EQ(file.ok(), got.ok());
      EXPECT_TRUE(!got.ok() || got->has_value() != held);
      if (held) {
        EXPECT_OK(file);
      }
    }
    if (!failed) break;
    if (call > 20 && call < 1000) call = 1000;  // the calls in between are all alike
  }
}

TEST(LockServiceFaultsTest, OnAFullDiskWritesAreRefusedWithoutHarm) {
  TestClock clock;
  InMemoryFileSystem memory;
  const auto service = OpenService(&memory, &clock);
  const auto session = OpenSession(service.get());
  ASSERT_OK(session->Write("f", "old"));
  memory.set_max_total_bytes(memory.total_bytes());
  EXPECT_STATUS(kResourceExhausted, "/ls/f~", session->Write("f", "new"));
  EXPECT_EQ(session->Read("f")->contents, "old");
  memory.set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_OK(session->Write("f", "new"));
  EXPECT_EQ(session->Read("f")->contents, "new");
}

// A failed write may have taken effect: watchers must read again.
TEST(LockServiceFaultsTest, WatchersAreNotifiedOfAWriteThatFailedPartWay) {
  TestClock clock;
  InMemoryFileSystem memory;
  FaultyFileSystem faulty(&memory);
  const auto service = OpenService(&faulty, &clock);
  const auto writer = OpenSession(service.get()), watcher = OpenSession(service.get());
  ASSERT_OK(writer->Write("d/f", "older"));
  ASSERT_OK(writer->Write("d/f", "old"));  // now all directories are durable
  ASSERT_OK(watcher->WatchFile("d/f"));
  ASSERT_OK(watcher->Read("d/f"));
  faulty.CountCalls({{FileCall::kSyncDirectory}, ""});
  faulty.FailCall(1, absl::UnavailableError("disk"));
  EXPECT_STATUS(kUnavailable, "disk", writer->Write("d/f", "new"));
  const std::vector<LockEvent> expected = {{LockEventKind::kFileChanged, "d/f", 0}};
  EXPECT_TRUE(watcher->TakeEvents() == expected);
  EXPECT_EQ(watcher->Read("d/f")->contents, "new");
}

// ---- Lost sessions.

std::map<std::string, std::string> AllFiles(LockSession* session) {
  std::map<std::string, std::string> all;
  for (const std::string name : {"servers/1", "root", "acl"}) {
    const absl::StatusOr<LockServiceFile> file = session->Read(name);
    if (file.ok()) all[name] = file->contents;
  }
  return all;
}

// The calls of a tablet server to the lock service during its life, step by step.
class Life {
 public:
  explicit Life(LockSession* session) : session_(session) {}

  static int steps() { return 12; }
  absl::Status Make(int step) {
    switch (step) {
      case 0:
        return session_->Write("servers/1", "", kNoFile).status();
      case 1:
        return Keep(session_->TryLock("servers/1", LockMode::kExclusive));
      case 2:
        return session_->WatchFile("servers/1");
      case 3:
        return session_->Read("acl").status();
      case 4:
        return session_->Read("acl").status();
      case 5:
        return session_->Write("root", "location").status();
      case 6:
        return session_->KeepAlive();
      case 7:
        return session_->CheckLock("servers/1");
      case 8:
        return session_->CheckSequencer(*sequencer_);
      case 9:
        return session_->List("servers").status();
      case 10:
        return session_->Unlock("servers/1");
      default:
        return session_->Remove("servers/1");
    }
  }
  const std::optional<LockSequencer>& sequencer() const { return sequencer_; }

 private:
  absl::Status Keep(const absl::StatusOr<std::optional<LockSequencer>>& got) {
    if (got.ok()) sequencer_ = *got;
    return got.status();
  }

  LockSession* const session_;
  std::optional<LockSequencer> sequencer_;
};

TEST(LockServiceFaultsTest, ASessionIsLostAtEveryStep) {
  using When = LosingLockService::When;
  std::vector<std::map<std::string, std::string>> states;  // after that many steps
  for (int lost = 0; lost <= Life::steps(); ++lost) {      // 0: it is not lost
    for (const When when : {When::kBeforeCall, When::kBeforeReply}) {
      SCOPED_TRACE(Cat("call ", lost, when == When::kBeforeCall ? " before" : " after"));
      TestClock clock;
      InMemoryFileSystem memory;
      const auto service = OpenService(&memory, &clock);
      LosingLockService losing(service.get());
      const auto observer = OpenSession(service.get());
      ASSERT_OK(observer->Write("acl", "everybody"));
      const auto session = losing.OpenSession({.lease = absl::Seconds(10)}).value();
      losing.CountCalls();
      if (lost > 0) losing.LoseAtCall(static_cast<uint64_t>(lost), when);

      Life life(session.get());
      if (lost == 0) states.assign(1, AllFiles(observer.get()));
      for (int step = 0; step < Life::steps(); ++step) {
        if (step == 8 && !life.sequencer().has_value()) continue;
        const absl::Status status = life.Make(step);
        if (lost == 0 || step + 1 < lost) {
          EXPECT_OK(status);
        } else {
          EXPECT_STATUS(kFailedPrecondition, "is lost", status);
        }
        if (lost == 0) states.push_back(AllFiles(observer.get()));
      }
      if (lost == 0) break;

      // The files are as they were before the call, or after it, and no later step was done.
      const size_t done = static_cast<size_t>(when == When::kBeforeCall ? lost - 1 : lost);
      EXPECT_EQ(AllFiles(observer.get()), states[done]);
      EXPECT_FALSE(session->alive());
      if (life.sequencer().has_value()) {
        EXPECT_STATUS(kAborted, "servers/1", observer->CheckSequencer(*life.sequencer()));
      }
      const std::vector<LockEvent> events = session->TakeEvents();
      ASSERT_FALSE(events.empty());
      EXPECT_EQ(events.back().kind, LockEventKind::kSessionLost);
      EXPECT_EQ(service->Sessions().size(), 1u);
      // Like a master: the holder of the lock knows that the server does not hold it.
      if (states[done].contains("servers/1")) {
        ASSERT_OK_AND_ASSIGN(const auto got, observer->TryLock("servers/1", LockMode::kExclusive));
        EXPECT_TRUE(got.has_value());
        EXPECT_OK(observer->Remove("servers/1"));
      }
    }
  }
}

}  // namespace
}  // namespace bigtable
