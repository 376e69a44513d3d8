// The tablets of a server: which one has a row.
#include "commit/server_tablets.h"

#include <memory>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// A table that is split at "m", and another table.
class ServerTabletsTest : public StartedServerFixture {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    other_ = AddOtherTablet();
    server_->SplitTablet(tablet_, "m", [&](const Tablet::Halves& made) { halves_ = made; });
  }
  const ServerTablets& tablets() const { return server_->tablets(); }

  Tablet::Halves halves_;
  std::shared_ptr<Tablet> other_;
};

TEST_F(ServerTabletsTest, FindsTheTabletThatHasARow) {
  EXPECT_EQ(tablets().Find(kTableId, ""), halves_.left);
  EXPECT_EQ(tablets().Find(kTableId, "l"), halves_.left);
  EXPECT_EQ(tablets().Find(kTableId, "m"), halves_.right);
  EXPECT_EQ(tablets().Find(kOtherTableId, "m"), other_);
  EXPECT_EQ(tablets().Find(kOtherTableId + 1, "m"), nullptr);
}

TEST_F(ServerTabletsTest, FindsTheTabletThatHasTheLastRowsBeforeARow) {
  EXPECT_EQ(tablets().FindBefore(kTableId, "m"), halves_.left);
  EXPECT_EQ(tablets().FindBefore(kTableId, "n"), halves_.right);
  EXPECT_EQ(tablets().FindBefore(kTableId, std::nullopt), halves_.right);
  EXPECT_EQ(tablets().FindBefore(kTableId - 1, std::nullopt), nullptr);
}

TEST_F(ServerTabletsTest, FindsTheTabletsOfATableAndThatWithAnId) {
  EXPECT_EQ(tablets().Of(kTableId), (std::vector{halves_.left, halves_.right}));
  EXPECT_EQ(tablets().Of(kOtherTableId), std::vector{other_});
  EXPECT_TRUE(tablets().Of(kOtherTableId + 1).empty());
  EXPECT_EQ(tablets().Get(halves_.left->id()), halves_.left);
  EXPECT_EQ(tablets().Get({kTableId, "z"}), nullptr);
  EXPECT_EQ(tablets().size(), 3u);
}

TEST_F(ServerTabletsTest, HasNoTabletThatWasForgottenOrWhoseTableWasDeleted) {
  server_->ForgetTablet(*halves_.left);
  EXPECT_EQ(tablets().Find(kTableId, "a"), nullptr);
  EXPECT_FALSE(halves_.left->flags().removed());
  server_->RemoveTablet(halves_.right->id());
  EXPECT_EQ(tablets().Find(kTableId, "m"), nullptr);
  EXPECT_TRUE(halves_.right->flags().removed());
  EXPECT_EQ(tablets().All().size(), 1u);
}

TEST_F(ServerTabletsTest, ASupersededTabletDoesNotRemoveTheTabletWithItsId) {
  ASSERT_EQ(tablet_->id(), halves_.right->id());
  server_->ForgetTablet(*tablet_);
  EXPECT_EQ(tablets().Find(kTableId, "m"), halves_.right);
}

}  // namespace
}  // namespace bigtable
