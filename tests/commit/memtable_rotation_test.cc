// Which memtables are rotated, and when.
#include "commit/memtable_rotation.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/scoped_shortcuts.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

using MemtableRotationTest = StartedServerFixture;

TEST_F(MemtableRotationTest, OfManyTabletsOnlyTheFullMemtableIsRotated) {
  // Written before the others, so that they do not need the beginning of the log.
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

// A flush of up to sixteen takes little longer than one of the full memtable alone.
TEST_F(MemtableRotationTest, AFullMemtableIsRotatedWithFifteenOthersAndNotWithMore) {
  for (const uint64_t others : {uint64_t{15}, uint64_t{16}}) {
    for (int i = 0; i < 80; ++i) ASSERT_OK(Write("row", std::string(10000, 'v')));
    while (server_->tablets().size() <= others) {
      AddOtherTablet(kOtherTableId + server_->tablets().size());
    }
    for (const std::shared_ptr<Tablet>& tablet : server_->tablets().All()) {
      ASSERT_OK(Write("row", "v", tablet->table_id()));
    }
    for (int i = 0; i < 200 && !tablet_->HasImmutable(0); ++i) {
      ASSERT_OK(Write(absl::StrCat("row", i), std::string(10000, 'v')));
    }
    EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), others == 15 ? 16u : 1u);
    server_->rotation().RotateEverything();
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
}

TEST_F(MemtableRotationTest, NothingIsRotatedForMemoryIfThereIsNothing) {
  EXPECT_OK(server_->rotation().RotateLargest({}));
  EXPECT_TRUE(server_->rotation().MemtablesToFlush().empty());
  EXPECT_FALSE(server_->rotation().HasImmutable());
}

TEST_F(MemtableRotationTest, OfManyTabletsTheLargestHalfIsRotatedWhenMemoryIsShort) {
  ASSERT_OK(Write("row"));
  std::vector<std::shared_ptr<Tablet>> others;
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 40; ++id) {
    others.push_back(AddOtherTablet(id));
    ASSERT_OK(Write("row", std::string(id % 2 == 0 ? 20000 : 10, 'v'), id));
  }
  EXPECT_OK(server_->rotation().RotateLargest({}));
  const size_t immutable = server_->rotation().MemtablesToFlush().size();
  EXPECT_GE(immutable, 10u);
  EXPECT_LE(immutable, 20u);
  for (size_t i = 1; i < others.size(); i += 2) EXPECT_FALSE(others[i]->HasImmutable(0)) << i;
}

// Readers that pin old memtables pin their log segments too. This must not make the server flush
// new memtables.
TEST_F(MemtableRotationTest, SegmentsThatReadersPinDoNotRotateMemtables) {
  const ScopedShortcutsOn on;  // memtables point into the log
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

TEST_F(MemtableRotationTest, ALogThatIsTooLongRotatesMemtablesThatNeedItsBeginning) {
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

// Each further rotation would make a small file, and the log is no shorter before the first flush.
TEST_F(MemtableRotationTest, WhileMemtablesAreFlushedForTheLogTheirTabletsAreNotRotatedAgain) {
  for (uint64_t id = kOtherTableId; id < kOtherTableId + 4; ++id) AddOtherTablet(id);
  ASSERT_OK(Write("row"));
  int writes = 0;
  const auto write = [&] {
    ASSERT_OK(Write("row", std::string(10000, 'v'), kOtherTableId + writes++ % 4));
  };
  while (writes < 200 && !server_->rotation().HasImmutable()) write();
  ASSERT_TRUE(tablet_->HasImmutable(0));
  ASSERT_OK(Write("row"));
  // From half of this on, the new memtables are in the older half of the log.
  for (int i = 2 * writes; i > 0; --i) write();
  for (const std::shared_ptr<Tablet>& tablet : server_->tablets().All()) {
    EXPECT_EQ(tablet->Version()->groups()[0].immutable.size(), 1u);
  }
}

// The thread that has stopped it flushes it.
TEST_F(MemtableRotationTest, TheMemtablesOfAStoppedTabletAreNotDue) {
  ASSERT_OK(Write("row"));
  ASSERT_OK(server_->StopTablet(tablet_.get(), {}));
  EXPECT_TRUE(tablet_->HasImmutable(0));
  EXPECT_TRUE(server_->rotation().MemtablesToFlush().empty());
  tablet_->flags().SetStopped(false);
  EXPECT_EQ(server_->rotation().MemtablesToFlush().size(), 1u);
}

// A compaction of any table erases the old bytes of the log if it has mutations of a deleted one.
TEST_F(MemtableRotationTest, TheLogHasMutationsOfADeletedTableUntilTheyAreErased) {
  AddOtherTablet();
  ASSERT_OK(Write("row"));
  EXPECT_FALSE(server_->rotation().HasLogged(kOtherTableId));
  server_->RemoveTablet(tablet_->id());
  EXPECT_TRUE(server_->rotation().HasLogged(kOtherTableId));
  server_->rotation().MarkErased(server_->visible());
  EXPECT_FALSE(server_->rotation().HasLogged(kOtherTableId));
}

}  // namespace
}  // namespace bigtable
