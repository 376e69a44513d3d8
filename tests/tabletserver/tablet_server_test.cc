// The way of a write through a tablet server, when errors come and go.
#include "tabletserver/tablet_server.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

#include "base/steady_time.h"
#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class TabletServerTest : public ServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(AddTablet());
    ASSERT_OK(server_->Start("server-1", "/log"));
  }
  static void AwaitFlushed(const Tablet& tablet) {
    for (int i = 0; i < 20000 && tablet.HasImmutable(0); ++i) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_FALSE(tablet.HasImmutable(0));
  }
};

// Takes so many steps together.
class AFewAtATime final : public TabletStore {
 public:
  AFewAtATime(TabletStore* base, size_t most) : base_(base), most_(most) {}
  bool TakesTogether(absl::Span<const TabletStep> steps) const override {
    return steps.size() <= most_;
  }
  absl::Status Commit(absl::Span<const TabletStep> steps) override {
    EXPECT_LE(steps.size(), most_);
    ++commits;
    if (steps.size() > most_by_now) return absl::FailedPreconditionError("in two tablets by now");
    if (meanwhile) meanwhile();
    return status.ok() ? base_->Commit(steps) : status;
  }
  bool IsInDoubt(const absl::Status&) const override { return is_in_doubt; }
  int commits = 0;
  size_t most_by_now = SIZE_MAX;
  absl::Status status;
  bool is_in_doubt = true;
  std::function<void()> meanwhile;

 private:
  TabletStore* const base_;
  const size_t most_;
};

TEST_F(TabletServerTest, AWriteIsAcknowledgedOnlyIfItWasAppliedWhateverErrorsComeAndGo) {
  std::atomic<bool> done{false};
  std::thread errors([&] {
    while (!done) {
      server_->write_error().Set(absl::UnavailableError("for a moment"));
      server_->BeginResume();
      EXPECT_OK(background_.FlushNow(server_.get()));
      EXPECT_OK(server_->FinishResume());
    }
  });
  uint64_t acknowledged = 0;
  const SteadyTime begin = SteadyTime::Now();
  const auto is_time = [&](absl::Duration most) { return SteadyTime::Now() - begin > most; };
  // On a busy machine the moments without an error are few.
  while (!is_time(absl::Milliseconds(300)) || (acknowledged == 0 && !is_time(absl::Seconds(30)))) {
    for (int i = 0; i < 1000; ++i) acknowledged += Write("row").ok() ? 1 : 0;
  }
  done = true;
  errors.join();
  EXPECT_GT(acknowledged, 0u);
  EXPECT_EQ(server_->writer().rows_written(), acknowledged);
}

TEST_F(TabletServerTest, ABatchThatTheLogHasNoRoomForLeavesNothingAndStopsNobody) {
  ASSERT_OK(Write("before"));
  ASSERT_OK(server_->log().Maintain());
  file_system_.set_max_total_bytes(file_system_.total_bytes() + 1000);
  std::string large, small;
  AppendOperation(&large, {.family = "f", .qualifier = "q", .value = std::string(100 << 10, 'v')});
  AppendOperation(&small, {.family = "f", .qualifier = "q", .value = "v"});
  EXPECT_STATUS(kResourceExhausted, "no room in the log of server server-1",
                Apply(kTableId, {{"a", small}, {"b", large}}));
  EXPECT_OK(Apply(kTableId, {{"c", small}, {"d", small}}));
  EXPECT_OK(server_->write_error().status());
  EXPECT_EQ(server_->writer().rows_written(), 3u);
  file_system_.set_max_total_bytes(InMemoryFileSystem::kUnlimited);
  EXPECT_OK(Apply(kTableId, {{"a", small}, {"b", large}}));
  EXPECT_EQ(server_->writer().rows_written(), 5u);
}

TEST_F(TabletServerTest, TheLogIsSyncedOnlyForOlderMutationsThatAreStillNeeded) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  const auto flush = [&](Tablet* tablet) {
    server_->rotation().RotateAll(tablet);
    EXPECT_OK(background_.FlushNow(server_.get()));
    return server_->log().statistics().syncs;
  };
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  EXPECT_EQ(flush(tablet_.get()), 0u);  // the other tablet's is younger
  ASSERT_OK(Write("row"));
  EXPECT_EQ(flush(tablet_.get()), 1u);
  EXPECT_EQ(flush(other.get()), 1u);  // nothing else is left
}

// Of memtables that become full one by one, the log has older mutations of the others each time.
TEST_F(TabletServerTest, WhatIsFrozenTogetherIsWrittenOutWithoutASyncOfTheLog) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  for (int i = 0; i < 4000; ++i) {
    ASSERT_OK(Write(absl::StrCat("row", i), std::string(1000, 'v')));
    if (i % 50 == 0) {
      ASSERT_OK(Write(absl::StrCat("row", i), "v", kOtherTableId));
    }
    ASSERT_EQ(tablet_->HasImmutable(0), other->HasImmutable(0));
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  EXPECT_GT(tablet_->Version()->groups()[0].runs.front().files.size(), 1u);
  EXPECT_GT(other->FlushedThrough(0), 0u);
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
}

TEST_F(TabletServerTest, WhatIsWrittenAfterTheMomentNeedsNoSync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
  EXPECT_EQ(tablet_->FlushedThrough(0), 1u);
  EXPECT_EQ(other->FlushedThrough(0), 2u);
}

// The active memtable of a group that was rotated before the others has mutations that are older
// than theirs.
TEST_F(TabletServerTest, WhatWasFrozenAtDifferentMomentsNeedsASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateAll(other.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(TabletServerTest, OfManyTabletsOnlyTheFullMemtableIsFrozen) {
  // Before the others, so that the log is not too long for their sake.
  for (int i = 0; i < 80; ++i) ASSERT_OK(Write("row", std::string(10000, 'v')));
  std::vector<std::shared_ptr<Tablet>> others;
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 16; ++id) {
    others.push_back(AddOtherTablet(id));
    ASSERT_OK(Write("row", "v", id));
  }
  for (int i = 0; i < 200 && !tablet_->HasImmutable(0); ++i) {
    ASSERT_OK(Write(absl::StrCat("row", i), std::string(10000, 'v')));
  }
  EXPECT_TRUE(tablet_->HasImmutable(0));
  for (const std::shared_ptr<Tablet>& other : others) EXPECT_FALSE(other->HasImmutable(0));
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(TabletServerTest, ATabletThatIsRemovedMeanwhileIsLeftOut) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  MinorCompaction compaction(server_->environment(), server_->rotation().MemtablesToFlush());
  server_->RemoveTablet(other->id());
  ASSERT_OK(compaction.Run());
  EXPECT_OK(compaction.parts()[0].status);
  EXPECT_STATUS(kCancelled, "", compaction.parts()[1].status);
  EXPECT_EQ(tablet_->FlushedThrough(0), 1u);
  EXPECT_TRUE(other->HasImmutable(0));
}

TEST_F(TabletServerTest, AFileThatCannotBeWrittenLeavesNothingOfTheOthers) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kNewWritableFile}, "/2.sst"}, absl::UnavailableError("no file"));
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
}

TEST_F(TabletServerTest, WhatMetadataDoesNotTakeTogetherIsCommittedOneByOneAfterASync) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 1);
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(store.commits, 2);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);  // nothing else is left when the second comes
}

TEST_F(TabletServerTest, WhatMetadataTakesInPartsNeedsTheLogSyncedOnce) {
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t id = kTableId; id < kOtherTableId + 4; ++id) ASSERT_OK(Write("row", "v", id));
  }
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 2);
  store.meanwhile = [&] { ASSERT_OK(Write("row")); };  // which nobody needs in the log
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
  EXPECT_EQ(store.commits, 3);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(TabletServerTest, WhatMetadataDoesNotTakeTogetherAnyMoreIsCommittedInParts) {
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int round = 0; round < 2; ++round) {
    for (uint64_t id = kTableId; id < kOtherTableId + 4; ++id) ASSERT_OK(Write("row", "v", id));
  }
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 100);
  store.most_by_now = 2;
  server_->mutable_environment()->store = &store;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
  // 5, 3 and 2 of the five; 3 and 2 of the other three; the last one.
  EXPECT_EQ(store.commits, 6);
  EXPECT_EQ(server_->log().statistics().syncs, 1u);
}

TEST_F(TabletServerTest, ADirectoryThatCannotBeSyncedLeavesNothing) {
  AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kSyncDirectory}, {}}, absl::UnavailableError("no directory"));
  EXPECT_STATUS(kUnavailable, "no directory", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_FALSE(file_system_.FileExists("/2.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_FALSE(server_->rotation().HasImmutable());
}

TEST_F(TabletServerTest, OfAFlushThatFailsOnlyWhatWasBegunIsCounted) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  faulty_.FailCalls({{FileCall::kNewWritableFile}, {}}, absl::UnavailableError("no file"));
  EXPECT_STATUS(kUnavailable, "no file", background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->Statistics().minor.failed, 1u);
  faulty_.ClearFaults();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(server_->Statistics().minor.failed, 1u);
  EXPECT_EQ(server_->Statistics().minor.finished, 2u);
}

TEST_F(TabletServerTest, OfManyTabletsTheLargestHalfIsFrozenWhenMemoryIsShort) {
  ASSERT_OK(Write("row"));
  std::vector<std::shared_ptr<Tablet>> others;
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 40; ++id) {
    others.push_back(AddOtherTablet(id));
    ASSERT_OK(Write("row", std::string(id % 2 == 0 ? 20000 : 10, 'v'), id));
  }
  server_->rotation().RotateLargest();
  const size_t immutable = server_->rotation().MemtablesToFlush().size();
  EXPECT_GE(immutable, 10u);
  EXPECT_LE(immutable, 20u);
  for (size_t i = 1; i < others.size(); i += 2) EXPECT_FALSE(others[i]->HasImmutable(0)) << i;
}

// The first may have been committed; the others' files are of no use.
TEST_F(TabletServerTest, OneByOneACommitThatFailsLeavesTheFilesThatMetadataMayKnow) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kUnavailable, "no METADATA", background_.FlushNow(server_.get()));
  EXPECT_TRUE(file_system_.FileExists("/1.sst"));
  EXPECT_FALSE(file_system_.FileExists("/2.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
}

TEST_F(TabletServerTest, WhatMetadataHasCertainlyNotTakenIsRemovedAndWrittenOutAgain) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 1);
  store.status = absl::ResourceExhaustedError("no room in METADATA's log");
  store.is_in_doubt = false;
  server_->mutable_environment()->store = &store;
  EXPECT_STATUS(kResourceExhausted, "no room", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  EXPECT_TRUE(background_.IsFlushFailing(server_.get()));
  store.status = absl::OkStatus();
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  AwaitFlushed(*tablet_);
  EXPECT_OK(server_->write_error().status());
  background_.Stop();
  EXPECT_FALSE(background_.IsFlushFailing(server_.get()));
}

TEST_F(TabletServerTest, AFlushThatMetadataMayHaveTakenStopsWritesUntilResume) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateEverything();
  AFewAtATime store(&root_, 1);
  store.status = absl::UnavailableError("no METADATA");
  server_->mutable_environment()->store = &store;
  EXPECT_OK(background_.Start({server_.get()}, 1, nullptr));
  for (int i = 0; i < 20000 && server_->write_error().status().ok(); ++i)
    absl::SleepFor(absl::Milliseconds(1));
  EXPECT_STATUS(kUnavailable, "no METADATA", server_->write_error().status());
  EXPECT_STATUS(kUnavailable, "no METADATA", Write("row"));
  EXPECT_EQ(store.commits, 1);  // it is not tried again
  store.status = absl::OkStatus();
  server_->BeginResume();
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->FinishResume());
  EXPECT_OK(Write("row"));
  background_.Stop();
}

TEST_F(TabletServerTest, AHalfHasTheFrozenMemtablesWithRowsOfIts) {
  const auto immutable_of = [](const std::shared_ptr<Tablet>& tablet) {
    return tablet->Version()->groups()[0].immutable.size();
  };
  const std::vector<std::vector<std::string>> memtables = {
      {"a", "c"}, {"m"}, {"l", "n"}, {"x"}, {"b"}};
  for (const std::vector<std::string>& rows : memtables) {
    for (const std::string& row : rows) ASSERT_OK(Write(row));
    server_->rotation().RotateAll(tablet_.get());
  }
  Tablet::Halves halves;
  server_->SplitTablet(tablet_, "m", [&](const Tablet::Halves& made) { halves = made; });
  EXPECT_EQ(immutable_of(tablet_), 5u);
  EXPECT_EQ(immutable_of(halves.left), 3u);   // a c, l n, b
  EXPECT_EQ(immutable_of(halves.right), 3u);  // m, l n, x
  ASSERT_OK(background_.FlushNow(server_.get()));
  const auto entries_of = [](const std::shared_ptr<Tablet>& tablet) {
    return tablet->Version()->groups()[0].runs.front().entries();
  };
  EXPECT_EQ(entries_of(halves.left), 4u);
  EXPECT_EQ(entries_of(halves.right), 3u);
}

// What a split has rotated is not written out by itself.
class SplitTest : public TabletServerTest {
 protected:
  // Halves with rows on both sides, and another tablet with older ones.
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(TabletServerTest::SetUp());
    other_ = AddOtherTablet();
    ASSERT_OK(Write("row", "v", kOtherTableId));
    ASSERT_OK(Write("a"));
    ASSERT_OK(Write("z"));
    ASSERT_OK(Write("row", "v", kOtherTableId));
    server_->SplitTablet(tablet_, "m", [&](const Tablet::Halves& made) { halves_ = made; });
    EXPECT_EQ(ShowImmutable(), "1 1 0");
    EXPECT_FALSE(server_->rotation().HasImmutable());
    EXPECT_GT(server_->rotation().WaitingBytes(), 0u);
  }
  // How many memtables are rotated of the halves and of the other tablet.
  std::string ShowImmutable() const {
    const auto immutable_of = [](const std::shared_ptr<Tablet>& tablet) {
      return tablet->Version()->groups()[0].immutable.size();
    };
    return Cat(immutable_of(halves_.left), " ", immutable_of(halves_.right), " ",
               immutable_of(other_));
  }
  void ExpectWrittenOut(uint64_t syncs) {
    EXPECT_TRUE(server_->rotation().HasImmutable());
    EXPECT_EQ(server_->rotation().WaitingBytes(), 0u);
    ASSERT_OK(background_.FlushNow(server_.get()));
    EXPECT_EQ(ShowImmutable(), "0 0 0");
    EXPECT_FALSE(server_->rotation().HasImmutable());
    EXPECT_EQ(server_->log().statistics().syncs, syncs);
    for (const std::shared_ptr<Tablet>& half : {halves_.left, halves_.right}) {
      EXPECT_EQ(half->Version()->groups()[0].runs.size(), 1u);
      EXPECT_GE(half->FlushedThrough(0), 3u);
    }
  }

  Tablet::Halves halves_;
  std::shared_ptr<Tablet> other_;
};

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWithTheNextFullMemtable) {
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "1 1 0");
  for (int i = 0; i < 200 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("b", std::string(10000, 'v')));
  }
  EXPECT_EQ(ShowImmutable(), "2 1 1");
  ExpectWrittenOut(0);
}

TEST_F(SplitTest, WhatItHasFrozenCountsForTheSizeOfAMemtable) {
  // Past the log, whose length must not be what counts.
  const std::string value(10000, 'v');
  std::string operations;
  AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = value});
  const auto write = [&](uint64_t table_id, int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(Apply(table_id, {{"b", operations}}, Durability::kNone));
    }
  };
  write(kTableId, 60);
  server_->SplitTablet(halves_.left, "b", [&](const Tablet::Halves& made) { halves_ = made; });
  EXPECT_FALSE(server_->rotation().HasImmutable());
  write(kOtherTableId, 15);
  EXPECT_FALSE(server_->rotation().HasImmutable());
  write(kOtherTableId, 40);
  ExpectWrittenOut(0);
}

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWhenMemoryIsShort) {
  server_->rotation().RotateAll(other_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(Write("c"));
  server_->SplitTablet(halves_.left, "b", [&](const Tablet::Halves& made) { halves_ = made; });
  EXPECT_EQ(ShowImmutable(), "0 1 0");  // and nothing is active
  server_->rotation().RotateLargest();
  EXPECT_TRUE(server_->rotation().HasImmutable());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWhenTheLogIsTooLong) {
  server_->rotation().RotateEverything();
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->log().Maintain());
  for (int i = 0; i < 70; ++i) ASSERT_OK(Write("c", std::string(10000, 'v')));
  server_->SplitTablet(halves_.left, "b", [&](const Tablet::Halves& made) { halves_ = made; });
  // Several tablets, so that none is full, and in the younger half of the log.
  for (uint64_t id = kOtherTableId + 1; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int i = 0; i < 45 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v'), kOtherTableId + 1 + i % 3));
  }
  EXPECT_TRUE(server_->rotation().HasImmutable());
  EXPECT_EQ(ShowImmutable(), "0 1 0");
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), 4u);
}

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWithWhateverIsAskedFor) {
  server_->rotation().RotateAll(other_.get());
  ExpectWrittenOut(0);
}

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWhenAHalfIsAskedFor) {
  server_->rotation().RotateAll(halves_.left.get());
  ExpectWrittenOut(1);  // for the other tablet's
}

TEST_F(SplitTest, WhatItHasFrozenIsWrittenOutWithATabletThatComes) {
  other_->RotateAll(server_->visible());
  server_->AddTablet(other_);
  ExpectWrittenOut(0);
}

// If what the split has rotated were due, too, it could be written out only after a sync of the
// log, for the sake of what came before it and is still active.
TEST_F(SplitTest, OfATabletThatWasDueOnlyWhatWasDueIsDue) {
  server_->rotation().RotateEverything();
  ASSERT_OK(Write("a"));
  ASSERT_OK(Write("x"));
  server_->SplitTablet(halves_.right, "y", [&](const Tablet::Halves& made) { halves_ = made; });
  EXPECT_TRUE(server_->rotation().HasImmutable());
  EXPECT_GT(server_->rotation().WaitingBytes(), 0u);
  const uint64_t syncs = server_->log().statistics().syncs;
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "1 0 0");
  EXPECT_FALSE(server_->rotation().HasImmutable());
  EXPECT_EQ(server_->log().statistics().syncs, syncs);
  server_->rotation().RotateEverything();
  EXPECT_EQ(server_->rotation().WaitingBytes(), 0u);
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
  EXPECT_EQ(server_->log().statistics().syncs, syncs);
}

TEST_F(SplitTest, AHalfThatIsRemovedDoesNotWaitAnyMore) {
  server_->RemoveTablet(halves_.left->id());
  EXPECT_GT(server_->rotation().WaitingBytes(), 0u);
  server_->ForgetTablet(*halves_.right);
  EXPECT_EQ(server_->rotation().WaitingBytes(), 0u);
  server_->rotation().RotateEverything();
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), 1u);
}

TEST_F(SplitTest, ATabletThatWasSplitTakesNobodysPlace) {
  server_->rotation().RotateAll(halves_.right.get());
  server_->rotation().RotateAll(tablet_.get());  // which had its id
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

TEST_F(TabletServerTest, AServerThatHasEndedDoesNotResume) {
  ASSERT_OK(Write("row"));
  server_->write_error().Set(absl::InternalError("a fault"));
  server_->state().MarkEnded();
  const SequenceNumber visible = server_->visible();
  server_->AdvanceVisible(visible + 10);
  EXPECT_EQ(server_->visible(), visible);
  server_->BeginResume();
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_STATUS(kUnavailable, "has lost its lock", server_->FinishResume());
  EXPECT_STATUS(kInternal, "a fault", server_->write_error().status());
}

TEST_F(TabletServerTest, WhoeverHasClaimedATabletIsWaitedFor) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(background_.ClaimTablet(tablet_.get(), {}));
  std::atomic<bool> done{false};
  std::thread flush([&] {
    EXPECT_OK(background_.FlushNow(server_.get()));
    done = true;
  });
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_FALSE(done);
  background_.ReleaseTablet(tablet_.get());
  flush.join();
}

// With it, what is rotated needs nothing of the log.
TEST_F(TabletServerTest, AFlushWaitsALittleForAClaimedTablet) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(background_.ClaimTablet(other.get(), {}));
  EXPECT_OK(background_.Start({server_.get()}, 0, nullptr));
  server_->rotation().RotateEverything();
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  background_.ReleaseTablet(other.get());
  AwaitFlushed(*tablet_);
  AwaitFlushed(*other);
  EXPECT_EQ(server_->log().statistics().syncs, 0u);
}

// However often another one's memtables are written out meanwhile.
TEST_F(TabletServerTest, AFlushDoesNotWaitLongForAClaimedTablet) {
  const std::shared_ptr<Tablet> claimed = AddOtherTablet();
  ASSERT_OK(Write("row"));
  ASSERT_OK(Write("row", "v", kOtherTableId));
  const std::unique_ptr<TabletServer> busy = MakeServer();
  ASSERT_OK(busy->Start("server-2", "/log2"));
  ASSERT_OK_AND_ASSIGN(const std::shared_ptr<Tablet> busy_tablet,
                       Tablet::Open(busy->environment(), tablet_->Layout(), {}));
  busy->AddTablet(busy_tablet);
  ASSERT_OK(background_.ClaimTablet(claimed.get(), {}));
  EXPECT_OK(background_.Start({busy.get(), server_.get()}, 0, nullptr));
  server_->rotation().RotateEverything();
  const SteadyTime start = SteadyTime::Now();
  std::string operations;
  AppendOperation(&operations, {.family = "f", .qualifier = "q", .value = "v"});
  while (tablet_->HasImmutable(0) && SteadyTime::Now() < start + absl::Seconds(20)) {
    busy->writer().ApplyInMemory(busy_tablet.get(), {"row", operations});
    busy->rotation().RotateEverything();
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_FALSE(tablet_->HasImmutable(0));
  EXPECT_TRUE(claimed->HasImmutable(0));
  background_.ReleaseTablet(claimed.get());
  background_.Stop();
}

TEST_F(TabletServerTest, ABatchIsAppliedWholeOrNotAtAll) {
  std::string good, bad;
  AppendOperation(&good, {.family = "f", .qualifier = "q", .value = "v"});
  AppendOperation(&bad, {.family = "g", .qualifier = "q", .value = "v"});
  const auto apply = [&](const std::vector<EncodedMutation>& rows) {
    return Apply(kTableId, rows);
  };
  EXPECT_STATUS(kNotFound, "\"g\"", apply({{"a", good}, {"b", bad}}));
  EXPECT_TRUE(tablet_->Version()->groups()[0].active->empty());
  const uint64_t records = server_->log().statistics().records;
  ASSERT_OK(apply({{"a", good}, {"b", good}, {"c", good}}));
  EXPECT_EQ(server_->log().statistics().records, records + 1);
  EXPECT_EQ(tablet_->Version()->groups()[0].active->entries(), 3u);
  EXPECT_EQ(tablet_->Version()->groups()[0].active->first_sequence() + 2, server_->visible());
  Tablet::Halves halves;
  server_->SplitTablet(tablet_, "b", [&](const Tablet::Halves& made) { halves = made; });
  EXPECT_STATUS(kUnavailable, "not in one tablet", apply({{"a", good}, {"b", good}}));
}

TEST_F(TabletServerTest, ASyncThatFailsLeavesNothingOfWhatWasWrittenOut) {
  const std::shared_ptr<Tablet> other = AddOtherTablet();
  ASSERT_OK(Write("row", "v", kOtherTableId));
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kLogSync}, {}}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
}

TEST_F(TabletServerTest, AnSSTableThatCannotBeOpenedIsRemoved) {
  ASSERT_OK(Write("row"));
  server_->rotation().RotateAll(tablet_.get());
  faulty_.FailCalls({{FileCall::kNewRandomAccessFile}, {}}, absl::UnavailableError("no open"));
  EXPECT_STATUS(kUnavailable, "no open", background_.FlushNow(server_.get()));
  EXPECT_FALSE(file_system_.FileExists("/1.sst"));
}

// Readers that keep old memtables keep their log segments too, and this must not make the server
// write out what is new.
TEST_F(TabletServerTest, SegmentsThatReadersKeepDoNotFreezeMemtables) {
  const ScopedShortcutsOn on;  // memtables that refer to the log's bytes
  std::vector<Pin<TabletVersion>> kept;
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 6; ++j) ASSERT_OK(Write(absl::StrCat("row", j), std::string(10000, 'v')));
    kept.push_back(tablet_->Version());
    server_->rotation().RotateAll(tablet_.get());
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
  ASSERT_GT(server_->log().LiveBytes(), uint64_t{1} << 20);
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
    ASSERT_FALSE(server_->rotation().HasImmutable()) << i;
  }
}

TEST_F(TabletServerTest, ALogThatIsTooLongFreezesWhatNeedsItsBeginning) {
  ASSERT_OK(Write("row", "old"));
  // Memtables of other tablets would not be full either.
  for (int i = 0; i < 90 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
  }
  ASSERT_FALSE(server_->rotation().HasImmutable());
  for (int i = 0; i < 30 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v')));
  }
  EXPECT_TRUE(server_->rotation().HasImmutable());
}

}  // namespace
}  // namespace bigtable
