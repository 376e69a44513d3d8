// A random program has the same answers from an embedded database and from a connected one.
// three_ways/ compares Google's emulator with both.
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "bigtable/bigtable.h"

#include "remote/random_program.h"
#include "remote/served_fixture.h"
#include "support/seeds.h"

namespace bigtable::remote {
namespace {

class RandomTest : public RemoteTest {
 protected:
  void SetUp() override {
    RemoteTest::SetUp();
    auto opened = Database::Open(directory_.path() + "/embedded");
    ASSERT_TRUE(opened.ok()) << opened.status();
    embedded_ = *std::move(opened);
  }
  std::unique_ptr<Database> embedded_;
};

TEST_F(RandomTest, EmbeddedAndConnectedDatabasesAnswerAlike) {
  int number = 0;
  ForEachSeed(3, [&](uint64_t seed) {
    const std::string name = "t" + std::to_string(++number);
    RandomProgram local(embedded_.get(), name, seed, RandomProgram::Dialect::kEngine);
    RandomProgram remote(database_.get(), name, seed, RandomProgram::Dialect::kEngine);
    ASSERT_EQ(remote.CreateTable(), local.CreateTable());
    for (int step = 0; step < 800; ++step) {
      const std::string expected = local.Step();
      ASSERT_EQ(remote.Step(), expected) << "step " << step;
    }
    EXPECT_TRUE(embedded_->DeleteTable(name).ok());
    EXPECT_TRUE(database_->DeleteTable(name).ok());
  });
}

}  // namespace
}  // namespace bigtable::remote
