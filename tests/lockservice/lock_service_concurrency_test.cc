// Many threads on one lock service: no read is stale, no increment is lost, no lock has two
// holders. Runs against every implementation.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "lock_service_fixture.h"

namespace bigtable {
namespace {

class LockServiceConcurrency : public LockServiceFixture {
 protected:
  template <typename Work>
  static void RunThreads(int n, Work work) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([&work, i] { work(i); });
    for (std::thread& thread : threads) thread.join();
  }
  static void RaiseTo(std::atomic<Generation>* most, Generation to) {
    Generation now = most->load();
    while (now < to && !most->compare_exchange_weak(now, to)) {
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, LockServiceConcurrency, testing::ValuesIn(AllLockServices()),
                         [](const auto& tested) { return tested.param.name; });

// `known` is a generation that a completed write or read returned: no read that begins later, in
// any session, returns less. Reading threads share sessions, so that fetches of one thread meet
// drops of others.
TEST_P(LockServiceConcurrency, NoReadIsOlderThanACompletedWriteOrAnotherRead) {
  constexpr int kWriters = 2, kReaders = 4, kWrites = 300;
  std::vector<std::unique_ptr<LockSession>> sessions;
  for (int i = 0; i < 4; ++i) sessions.push_back(Open());
  Put(sessions[0].get(), "f", "0");
  std::atomic<Generation> known{0};
  std::atomic<int> writing{kWriters};
  std::atomic<int> reading{0};
  std::atomic<uint64_t> stale{0};
  RunThreads(kWriters + kReaders, [&](int i) {
    LockSession* const session = sessions[static_cast<size_t>(i % 4)].get();
    if (i < kWriters) {
      while (reading < kReaders) std::this_thread::yield();
      for (int n = 0; n < kWrites; ++n) {
        const absl::StatusOr<Generation> written = session->Write("f", "x");
        if (written.ok()) RaiseTo(&known, *written);
      }
      --writing;
      return;
    }
    ++reading;
    while (writing > 0) {
      const Generation least = known;
      const absl::StatusOr<LockServiceFile> file = session->Read("f");
      if (!file.ok() || file->generation < least) {
        ++stale;
      } else {
        RaiseTo(&known, file->generation);
      }
    }
  });
  EXPECT_EQ(stale, 0u);
}

// The same with a file that is created and removed: that it does not exist is cached too.
TEST_P(LockServiceConcurrency, AFileIsFoundAfterItsCreationAndNotAfterItsRemoval) {
  constexpr int kRounds = 300;
  const auto writer = Open(), reader = Open();
  // The number of completed steps; odd steps create the file and even steps remove it. `begun`
  // counts a step before it is made. The file exists for certain if both are the same odd number.
  std::atomic<int> begun{0}, done{0};
  std::atomic<int> wrong{0};
  RunThreads(3, [&](int i) {
    if (i == 0) {
      for (int step = 1; step <= 2 * kRounds; ++step) {
        begun = step;
        if (step % 2 == 1) {
          if (!writer->Write("f", "x", kNoFile).ok()) ++wrong;
        } else {
          if (!writer->Remove("f").ok()) ++wrong;
        }
        done = step;
      }
      return;
    }
    while (done < 2 * kRounds) {
      const int before = done;
      const absl::StatusCode code = reader->Read("f").status().code();
      if (begun != before) continue;  // a step was running
      const bool there = before % 2 == 1;
      if (code != (there ? absl::StatusCode::kOk : absl::StatusCode::kNotFound)) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(LockServiceConcurrency, NoIncrementByCompareAndSwapIsLost) {
  constexpr int kThreads = 4, kIncrements = 50;
  const auto first = Open();
  Put(first.get(), "counter", "0");
  RunThreads(kThreads, [&](int) {
    const auto session = Open();
    for (int done = 0; done < kIncrements;) {
      const absl::StatusOr<LockServiceFile> file = session->Read("counter");
      ASSERT_OK(file);
      const int value = std::atoi(file->contents.c_str());
      const absl::StatusOr<Generation> written =
          session->Write("counter", std::to_string(value + 1), file->generation);
      if (written.ok()) {
        ++done;
      } else {
        ASSERT_TRUE(absl::IsAborted(written.status())) << written.status();
      }
    }
  });
  EXPECT_EQ(Get(first.get(), "counter"), std::to_string(kThreads * kIncrements));
}

TEST_P(LockServiceConcurrency, OneOfManyCreatesTheFile) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> created{0};
    RunThreads(kThreads, [&](int) {
      const auto session = Open();
      if (session->Write("f" + std::to_string(round), "x", kNoFile).ok()) ++created;
    });
    EXPECT_EQ(created, 1);
  }
}

// Holders lose their sessions at any time. A store that remembers the largest generation it has
// seen, like one without access to the lock service, never accepts anything from a holder that was
// followed by another; and no sequencer is valid while another holder's is.
TEST_P(LockServiceConcurrency, ALockHasOneHolderAlthoughSessionsAreLost) {
  constexpr int kThreads = 4, kAcquisitions = 60;
  const auto checker = Open("checker", absl::InfiniteDuration());
  Put(checker.get(), "lock", "");
  std::atomic<int> holders{0}, two_at_once{0}, wrong{0};
  std::atomic<Generation> largest{0};
  RunThreads(kThreads, [&](int i) {
    auto session = Open("worker", absl::InfiniteDuration());
    for (int n = 0; n < kAcquisitions;) {
      const auto got = session->TryLock("lock", LockMode::kExclusive);
      ASSERT_OK(got);
      if (!got->has_value()) {
        if (!session->WaitForEvents(absl::Seconds(60))) ++wrong;
        session->TakeEvents();
        continue;
      }
      ++n;
      if (++holders > 1) ++two_at_once;
      if ((*got)->generation <= largest) ++wrong;
      RaiseTo(&largest, (*got)->generation);
      if (!checker->CheckSequencer(**got).ok()) ++wrong;
      --holders;  // before the lock is released
      if ((n + i) % 3 != 0) {
        if (!session->Unlock("lock").ok()) ++wrong;
      } else {
        tested_->Expire(*session);
        if (session->alive()) ++wrong;
        session = Open("worker", absl::InfiniteDuration());
      }
      if (!absl::IsAborted(checker->CheckSequencer(**got))) ++wrong;
    }
  });
  EXPECT_EQ(two_at_once, 0);
  EXPECT_EQ(wrong, 0);
}

TEST_P(LockServiceConcurrency, AWaitingSessionIsWokenByAnotherSessionsWriteAndReadsIt) {
  const auto watcher = Open(), writer = Open();
  ASSERT_OK(watcher->WatchFile("f"));
  Generation seen = 0;
  for (int i = 0; i < 50; ++i) {
    std::thread thread([&] { Put(writer.get(), "f", std::to_string(i)); });
    EXPECT_TRUE(watcher->WaitForEvents(absl::Seconds(60)));
    for (const LockEvent& event : watcher->TakeEvents()) {
      ASSERT_OK_AND_ASSIGN(const LockServiceFile file, watcher->Read("f"));
      EXPECT_EQ(file.contents, std::to_string(i));
      EXPECT_EQ(file.generation, event.generation);
      EXPECT_GT(event.generation, seen);
      seen = event.generation;
    }
    thread.join();
  }
}

TEST_P(LockServiceConcurrency, AWaitingSessionIsWokenByItsLoss) {
  const auto session = Open();
  std::thread thread([&] { tested_->Expire(*session); });
  EXPECT_TRUE(session->WaitForEvents(absl::Seconds(60)));
  EXPECT_FALSE(session->alive());
  thread.join();
}

// Every call from many threads at a time, on sessions that end and are lost: for sanitizers, and
// for the state at the end.
TEST_P(LockServiceConcurrency, ConcurrentCallsLeaveEveryLockFree) {
  constexpr int kThreads = 4, kRounds = 60;
  RunThreads(kThreads, [&](int i) {
    for (int n = 0; n < kRounds; ++n) {
      const auto session = Open("all", absl::InfiniteDuration());
      const std::string name = "d/" + std::to_string((n + i) % 3);
      session->WatchFile(name).IgnoreError();
      session->WatchDirectory("d").IgnoreError();
      session->Write(name, "x").status().IgnoreError();
      const auto lock =
          session->TryLock(name, n % 2 == 0 ? LockMode::kShared : LockMode::kExclusive);
      if (lock.ok() && lock->has_value()) session->CheckSequencer(**lock).IgnoreError();
      session->Read(name).status().IgnoreError();
      session->List("d").status().IgnoreError();
      session->KeepAlive().IgnoreError();
      if (n % 5 == 0) session->Remove(name).IgnoreError();
      if (n % 7 == 0) tested_->Expire(*session);
      if (n % 3 == 0) session->Unlock(name).IgnoreError();
      session->CheckLock(name).IgnoreError();
      session->TakeEvents();
    }
  });
  const auto last = Open();
  for (const std::string name : {"d/0", "d/1", "d/2"}) {
    Put(last.get(), name, "");
    Acquire(last.get(), name);
  }
}

}  // namespace
}  // namespace bigtable
