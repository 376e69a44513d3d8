// The immutable memtables of a split tablet: what the halves share, and when they are flushed.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using SplitMemtablesTest = StartedServerFixture;

TEST_F(SplitMemtablesTest, AHalfHasTheImmutableMemtablesWithItsRows) {
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

// The memtables that a split has rotated wait: they are not flushed alone.
class SplitRotationTest : public StartedServerFixture {
 protected:
  // Both halves have rows, and another tablet has older mutations.
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
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
  // The number of immutable memtables of the halves and of the other tablet.
  std::string ShowImmutable() const {
    const auto immutable_of = [](const std::shared_ptr<Tablet>& tablet) {
      return tablet->Version()->groups()[0].immutable.size();
    };
    return Cat(immutable_of(halves_.left), " ", immutable_of(halves_.right), " ",
               immutable_of(other_));
  }
  void ExpectFlushed(uint64_t syncs) {
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

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWithTheNextFullMemtable) {
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "1 1 0");
  for (int i = 0; i < 200 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("b", std::string(10000, 'v')));
  }
  EXPECT_EQ(ShowImmutable(), "2 1 1");
  ExpectFlushed(0);
}

TEST_F(SplitRotationTest, RotatedMemtablesCountForTheSizeOfAMemtable) {
  // Not logged, so that the length of the log rotates nothing.
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
  ExpectFlushed(0);
}

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWhenMemoryIsShort) {
  server_->rotation().RotateAll(other_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(Write("c"));
  server_->SplitTablet(halves_.left, "b", [&](const Tablet::Halves& made) { halves_ = made; });
  EXPECT_EQ(ShowImmutable(), "0 1 0");  // and nothing is active
  EXPECT_OK(server_->rotation().RotateLargest({}));
  EXPECT_TRUE(server_->rotation().HasImmutable());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWhenTheLogIsTooLong) {
  server_->rotation().RotateEverything();
  ASSERT_OK(background_.FlushNow(server_.get()));
  ASSERT_OK(server_->log().Maintain());
  for (int i = 0; i < 70; ++i) ASSERT_OK(Write("c", std::string(10000, 'v')));
  server_->SplitTablet(halves_.left, "b", [&](const Tablet::Halves& made) { halves_ = made; });
  // Several tablets, so that no memtable is full, and all are in the newer half of the log.
  for (uint64_t id = kOtherTableId + 1; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  for (int i = 0; i < 45 && !server_->rotation().HasImmutable(); ++i) {
    ASSERT_OK(Write("row", std::string(10000, 'v'), kOtherTableId + 1 + i % 3));
  }
  EXPECT_TRUE(server_->rotation().HasImmutable());
  EXPECT_EQ(ShowImmutable(), "0 1 0");
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), 4u);
}

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWithARequestedFlush) {
  server_->rotation().RotateAll(other_.get());
  ExpectFlushed(0);
}

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWhenTheFlushOfAHalfIsRequested) {
  server_->rotation().RotateAll(halves_.left.get());
  ExpectFlushed(1);  // because of the other tablet's active memtable
}

TEST_F(SplitRotationTest, RotatedMemtablesAreFlushedWithAnAddedTablet) {
  other_->RotateAll(server_->visible());
  server_->AddTablet(other_);
  ExpectFlushed(0);
}

// If the memtables that the split has rotated were due too, their flush would sync the log, because
// older mutations are still active.
TEST_F(SplitRotationTest, OfATabletThatWasDueOnlyTheOlderMemtablesAreDue) {
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

// They are not forgotten when the older ones have been flushed.
TEST_F(SplitRotationTest, OfATabletThatWasDueTheNewerMemtablesAreFlushedWithTheNext) {
  server_->rotation().RotateEverything();
  ASSERT_OK(Write("x"));
  server_->SplitTablet(halves_.right, "y", [&](const Tablet::Halves& made) { halves_ = made; });
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "1 0 0");
  server_->rotation().RotateAll(other_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

TEST_F(SplitRotationTest, OfATabletThatWasFlushedMeanwhileTheNewerMemtablesAreFlushedWithTheNext) {
  server_->rotation().RotateAll(halves_.right.get());
  ASSERT_OK(background_.ClaimTablet(halves_.right.get(), {}));
  ASSERT_OK(background_.FlushClaimed(server_.get(), halves_.right));
  background_.ReleaseTablet(halves_.right.get());
  ASSERT_OK(background_.ClaimTablet(halves_.left.get(), {}));
  ASSERT_OK(background_.FlushClaimed(server_.get(), halves_.left));
  background_.ReleaseTablet(halves_.left.get());
  ASSERT_OK(Write("x"));
  server_->SplitTablet(halves_.right, "y", [&](const Tablet::Halves& made) { halves_ = made; });
  EXPECT_FALSE(server_->rotation().HasImmutable());
  EXPECT_EQ(ShowImmutable(), "1 0 0");
  server_->rotation().RotateAll(other_.get());
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

TEST_F(SplitRotationTest, TheLogHasTheMutationsOfASplitTablet) {
  EXPECT_TRUE(server_->rotation().HasLogged(kTableId));
}

TEST_F(SplitRotationTest, AHalfThatIsRemovedDoesNotWaitAnyMore) {
  server_->RemoveTablet(halves_.left->id());
  EXPECT_GT(server_->rotation().WaitingBytes(), 0u);
  server_->ForgetTablet(*halves_.right);
  EXPECT_EQ(server_->rotation().WaitingBytes(), 0u);
  server_->rotation().RotateEverything();
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), 1u);
}

TEST_F(SplitRotationTest, AHalfThatIsForgottenIsNotFlushed) {
  server_->rotation().RotateEverything();
  const size_t due = server_->rotation().MemtablesToFlush().size();
  server_->ForgetTablet(*halves_.right);
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), due - 1);
}

TEST_F(SplitRotationTest, ASplitTabletDoesNotReplaceItsHalf) {
  server_->rotation().RotateAll(halves_.right.get());
  server_->rotation().RotateAll(tablet_.get());  // it has the id of the right half
  ASSERT_OK(background_.FlushNow(server_.get()));
  EXPECT_EQ(ShowImmutable(), "0 0 0");
}

}  // namespace
}  // namespace bigtable
