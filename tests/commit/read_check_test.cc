// What counts as written since a read.
#include "commit/read_check.h"

#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "bigtable/row_range.h"

#include "cache/scan_cache.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

class ReadCheckTest : public StartedServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    ASSERT_OK(server_->TrackWrites({}));
  }
  bool IsWritten(std::string_view row, SequenceNumber since) const {
    return MayBeWrittenSince(*tablet_, row, since);
  }
  bool AreWritten(const RowRange& rows, SequenceNumber since) const {
    return MayBeWrittenSince(*tablet_, rows, since);
  }
  void Flush() {
    server_->rotation().RotateAll(tablet_.get());
    ASSERT_OK(background_.FlushNow(server_.get()));
  }
};

TEST_F(ReadCheckTest, WithoutNotesEverythingMayBeWritten) {
  ASSERT_OK(Write("b"));
  server_->mutable_environment()->last_writes = nullptr;
  EXPECT_TRUE(IsWritten("a", server_->visible()));
  EXPECT_TRUE(AreWritten(RowRange::Single("a"), server_->visible()));
}

TEST_F(ReadCheckTest, ARowIsWrittenSinceAnEarlierRead) {
  const SequenceNumber before = server_->visible();
  ASSERT_OK(Write("b"));
  const SequenceNumber after = server_->visible();
  EXPECT_TRUE(IsWritten("b", before));
  EXPECT_FALSE(IsWritten("b", after));
  EXPECT_FALSE(IsWritten("a", before));
  EXPECT_TRUE(IsWritten("a", before - 1));  // notes began later
}

// Wherever the writes are by now.
TEST_F(ReadCheckTest, ARangeIsWrittenIfOneOfItsRowsIs) {
  ASSERT_OK(Write("d"));
  const SequenceNumber before = server_->visible();
  ASSERT_OK(Write("b"));
  const SequenceNumber after = server_->visible();
  const auto check = [&] {
    EXPECT_TRUE(AreWritten(RowRange::All(), before));
    EXPECT_TRUE(AreWritten(RowRange::Closed("b", "b"), before));
    EXPECT_TRUE(AreWritten(RowRange::RightOpen("a", "c"), before));
    EXPECT_FALSE(AreWritten(RowRange::All(), after));
    EXPECT_FALSE(AreWritten(RowRange::RightOpen("a", "b"), before));
    EXPECT_TRUE(AreWritten(RowRange::All(), before - 2));  // notes began later
  };
  check();
  EXPECT_FALSE(AreWritten(RowRange::StartingAt("c"), before));
  server_->rotation().RotateAll(tablet_.get());
  ASSERT_TRUE(tablet_->HasImmutable(0));
  check();
  EXPECT_FALSE(AreWritten(RowRange::StartingAt("c"), before));
  ASSERT_NO_FATAL_FAILURE(Flush());
  check();
  // Of a file only its newest entry is known.
  EXPECT_TRUE(AreWritten(RowRange::StartingAt("c"), before));
  EXPECT_FALSE(AreWritten(RowRange::StartingAt("e"), before));
}

// The version after an overwritten one, behind it in the order of keys, may be older.
TEST_F(ReadCheckTest, EachEntryOfTheRangeIsLookedAt) {
  ASSERT_OK(Write("b"));
  const SequenceNumber before = server_->visible();
  ASSERT_OK(Write("c"));
  EXPECT_TRUE(AreWritten(RowRange::All(), before));
  EXPECT_FALSE(AreWritten(RowRange::EndingAt("b"), before));
}

}  // namespace
}  // namespace bigtable
