// Each call of the file system during the replacement of a lost server fails in turn: once, and the
// replacement is retried; or from then on until a power loss, and the next opening does it.
#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"

#include "bigtable/testing/faulty_file_system.h"

#include "support/database_peer.h"
#include "support/seeds.h"
#include "support/tablets_fixture.h"

namespace bigtable {
namespace {

// The parameter: the role of the lost server.
class ReplacementFaultTest : public TabletsFixture, public testing::WithParamInterface<ServerRole> {
 protected:
  static constexpr int kRows = 20;

  void TearDown() override { database_.reset(); }  // before its file system
  // Creates a table with data in SSTables and in the log. Then one server is lost, with a fault in
  // the call with this number of its replacement. Returns whether there was such a call.
  bool ReplaceWithFault(uint64_t call, FaultyFileSystem::Repeat repeat) {
    Table* const table = CreateSplitTable("t", 4, 5);
    Fill(table, 0, kRows, "v");
    EXPECT_OK(database_->Flush("t"));
    Fill(table, 0, kRows, "w");
    EXPECT_OK(database_->WaitUntilQuiet());
    DatabasePeer peer(database_.get());
    faulty_->CountCalls();
    faulty_->FailCall(call, absl::UnavailableError("a fault"), repeat);
    peer.Kill(peer.ServersOf(GetParam()).at(0));
    peer.ReplaceLostServers(GetParam());
    return faulty_->faults() > 0;
  }
  void OpenFaulty() {
    database_.reset();
    file_system_ = std::make_unique<InMemoryFileSystem>();
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    ASSERT_NO_FATAL_FAILURE(OpenOn(faulty_.get()));
  }
  void OpenOn(FileSystem* file_system) {
    DatabaseOptions options = WithServers(2);
    options.durability = Durability::kSync;
    options.file_system = file_system;
    ASSERT_OK_AND_ASSIGN(database_, Database::Open(kPath, options));
  }
  // Makes changes that need METADATA and its root tablet.
  void ChangeTablets() {
    ASSERT_OK(database_->SplitTablet("t", RowOf(12)));
    ASSERT_OK(database_->MergeTablets("t", RowOf(5)));
    ASSERT_OK(database_->Flush("t"));
    ASSERT_OK(database_->Compact("t"));
    CreateSplitTable("u", 5, 1);
    ASSERT_OK(database_->Flush("u"));
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
};
INSTANTIATE_TEST_SUITE_P(Roles, ReplacementFaultTest, testing::ValuesIn(kServerRoles),
                         [](const auto& instance) {
                           return std::string(NameOfRole(instance.param));
                         });

TEST_P(ReplacementFaultTest, OneCallMayFail) {
  for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; call += kSlow ? 4 : 1) {
    SCOPED_TRACE(Cat("call ", call));
    ASSERT_NO_FATAL_FAILURE(OpenFaulty());
    whole += ReplaceWithFault(call, FaultyFileSystem::Repeat::kOnce) ? 0 : 1;
    faulty_->ClearFaults();
    if (!database_->Statistics().background_error.ok()) {
      ASSERT_OK(database_->Resume());
    }
    DatabasePeer(database_.get()).ReplaceLostServers(GetParam());
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "w"));
    Fill(OpenTable("t"), 0, kRows, "x");
    ASSERT_NO_FATAL_FAILURE(ChangeTablets());
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "x"));
    ASSERT_OK(database_->Close());
    ASSERT_NO_FATAL_FAILURE(OpenOn(faulty_.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "x"));
    EXPECT_EQ(Tablets("t").size(), 4u);
    EXPECT_EQ(Tablets("u").size(), 5u);
    ASSERT_OK(database_->Close());
  }
}

TEST_P(ReplacementFaultTest, PowerMayBeLost) {
  for (uint64_t call = 1, whole = 0; whole < 3 && call < 200; call += kSlow ? 8 : 3) {
    SCOPED_TRACE(Cat("call ", call));
    ASSERT_NO_FATAL_FAILURE(OpenFaulty());
    whole += ReplaceWithFault(call, FaultyFileSystem::Repeat::kFromThenOn) ? 0 : 1;
    const auto found = file_system_->CrashClone(call, Unsynced::kRandomPart);
    database_.reset();
    ASSERT_NO_FATAL_FAILURE(OpenOn(found.get()));
    ASSERT_NO_FATAL_FAILURE(ExpectFilled(OpenTable("t"), 0, kRows, "w"));
    ASSERT_OK(database_->Close());
    database_.reset();
  }
}

}  // namespace
}  // namespace bigtable
