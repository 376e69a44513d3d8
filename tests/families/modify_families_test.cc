// Several changes of families in one step: all of them or none.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/faulty_file_system.h"

#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

// What Show returns for a sum of 65.
constexpr const char* kSum = "f:q@1=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x41";

class ModifyFamiliesTest : public DatabaseFixture {
 protected:
  void SetUp() override {
    DatabaseOptions options = Options();
    faulty_ = std::make_unique<FaultyFileSystem>(file_system_.get());
    options.file_system = faulty_.get();
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(kPath, options);
    ASSERT_OK(opened);
    database_ = *std::move(opened);
    TableSchema schema;
    schema.locality_groups["other"] = {};
    schema.families["f"] = {};
    schema.families["g"] = {};
    schema.families["o"] = {.locality_group = "other"};
    table_ = CreateTable("t", schema);
  }
  void TearDown() override {
    if (faulty_ != nullptr) faulty_->ReleaseCalls();
    database_.reset();
  }
  absl::Status Modify(const std::vector<FamilyChange>& changes) {
    return database_->ModifyFamilies("t", changes);
  }
  TableSchema Schema() { return database_->GetSchema("t").value(); }
  std::string Read() { return Show(table_->ReadRow("r")); }

  // Calls `during` while the new schema is being written.
  void ModifyWhile(const std::vector<FamilyChange>& changes, const std::function<void()>& during) {
    faulty_->StallCalls({{FileCall::kSyncDirectory}, "/schema"});
    absl::Status modified;
    std::thread modifier([&] { modified = Modify(changes); });
    EXPECT_TRUE(faulty_->WaitUntilStalled(1));
    during();
    faulty_->ReleaseCalls();
    modifier.join();
    EXPECT_OK(modified);
  }

  std::unique_ptr<FaultyFileSystem> faulty_;
  Table* table_ = nullptr;
};

TEST_F(ModifyFamiliesTest, ChangesAreMadeInOrderEachOfWhatTheOnesBeforeItHaveLeft) {
  ASSERT_OK(Modify({FamilyChange::Add("h", {.gc = GcRule::MaxVersions(1)}),
                    FamilyChange::Update("h", {.gc = GcRule::MaxVersions(2)}),
                    FamilyChange::Update("f", {.gc = GcRule::MaxVersions(3)}),
                    FamilyChange::Add("i", {}), FamilyChange::Drop("i"), FamilyChange::Drop("g"),
                    FamilyChange::Add("a", {.value_type = ValueType::kInt64Sum})}));

  const TableSchema schema = Schema();
  std::string names;
  for (const auto& [name, family] : schema.families) names += name + " ";
  EXPECT_EQ(names, "a f h o ");
  EXPECT_EQ(schema.families.at("h").gc, GcRule::MaxVersions(2));
  EXPECT_EQ(schema.families.at("f").gc, GcRule::MaxVersions(3));
  EXPECT_EQ(schema.families.at("a").value_type, ValueType::kInt64Sum);
}

TEST_F(ModifyFamiliesTest, AnErrorInTheLastChangeChangesNothing) {
  Set(table_, "r", "f:q", 1, "v");
  const TableSchema before = Schema();
  const auto expect_refused = [&](absl::StatusCode code, const char* names,
                                  const FamilyChange& last) {
    const absl::Status refused = Modify({FamilyChange::Drop("f"), FamilyChange::Add("f", {}),
                                         FamilyChange::Update("g", {.gc = GcRule::MaxVersions(1)}),
                                         FamilyChange::Add("h", {}), last});
    EXPECT_TRUE(IsStatus(code, refused, names));
    EXPECT_EQ(Schema(), before) << names;
    EXPECT_EQ(Read(), "f:q@1=v") << names;
  };
  using enum absl::StatusCode;
  expect_refused(kAlreadyExists, "h", FamilyChange::Add("h", {}));
  expect_refused(kNotFound, "missing", FamilyChange::Drop("missing"));
  expect_refused(kNotFound, "missing", FamilyChange::Update("missing", {}));
  expect_refused(kNotFound, "nowhere", FamilyChange::Add("i", {.locality_group = "nowhere"}));
  expect_refused(kNotFound, "no-list", FamilyChange::Update("g", {.access_list = "no-list"}));
  expect_refused(kInvalidArgument, "1 to 64", FamilyChange::Add("a:b", {}));
  expect_refused(kInvalidArgument, "cannot change to hold",
                 FamilyChange::Update("g", {.value_type = ValueType::kInt64Sum}));
  expect_refused(kInvalidArgument, "unknown",
                 FamilyChange::Add("i", {.value_operator = "unknown"}));
  Set(table_, "r", "f:q", 2, "w");
  EXPECT_EQ(Read(), "f:q@2=w f:q@1=v");
}

TEST_F(ModifyFamiliesTest, AMissingTableIsNotFoundAndAnEmptyListChangesNothing) {
  const TableSchema before = Schema();
  EXPECT_STATUS(kNotFound, "nothing", database_->ModifyFamilies("nothing", {}));
  EXPECT_OK(Modify({}));
  EXPECT_EQ(Schema(), before);
}

TEST_F(ModifyFamiliesTest, AReplacedFamilyIsEmptyAndMayHoldOtherValuesElsewhere) {
  Set(table_, "r", "f:file", 1, "v");
  ASSERT_OK(database_->Flush("t"));
  Set(table_, "r", "f:memory", 1, "v");
  Set(table_, "r", "g:kept", 1, "v");

  ASSERT_OK(Modify(
      {FamilyChange::Drop("f"),
       FamilyChange::Add("f", {.locality_group = "other", .value_type = ValueType::kInt64Sum})}));

  EXPECT_EQ(Read(), "g:kept@1=v");
  ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("f:q", Timestamp(1), EncodeBigEndian(65))));
  const std::string with_sum = std::string(kSum) + " g:kept@1=v";
  EXPECT_EQ(Read(), with_sum);
  ASSERT_OK(database_->Compact("t"));
  EXPECT_EQ(Read(), with_sum);
  Kill();
  Open();
  EXPECT_EQ(Show(OpenTable("t")->ReadRow("r")), with_sum);
}

TEST_F(ModifyFamiliesTest, UntilTheStepIsMadeReadersSeeTheOldFamiliesAndWritersAreRefused) {
  Set(table_, "r", "f:q", 1, "old");
  const std::vector<FamilyChange> changes = {
      FamilyChange::Drop("f"), FamilyChange::Drop("g"), FamilyChange::Add("h", {}),
      FamilyChange::Add("f", {.locality_group = "other", .value_type = ValueType::kInt64Sum})};

  ModifyWhile(changes, [&] {
    EXPECT_EQ(Read(), "f:q@1=old");
    const absl::Status refused = table_->Apply(RowMutation("r").Set("f:q", Timestamp(2), "late"));
    EXPECT_TRUE(IsStatus(absl::StatusCode::kAborted, refused, "\"f\"", "made again"));
    Set(table_, "r", "g:q", 1, "w");
    EXPECT_STATUS(kNotFound, "h", table_->Apply(RowMutation("r").Set("h:q", Timestamp(1), "v")));
    EXPECT_EQ(Read(), "f:q@1=old g:q@1=w");
  });

  EXPECT_EQ(Read(), "");
  ASSERT_OK(table_->Apply(RowMutation("r").AddToCell("f:q", Timestamp(1), EncodeBigEndian(65))));
  EXPECT_EQ(Read(), kSum);
}

// A write whose number is taken before the step, and that is applied while it is made, is one of
// the old family.
TEST_F(ModifyFamiliesTest, ConcurrentWritesToTheOldFamilyAreNotInTheNewOne) {
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 3; ++i) {
    writers.emplace_back([&] {
      while (!stop) {
        const absl::Status status = table_->Apply(RowMutation("r").Set("f:q", Timestamp(1), "v"));
        if (status.ok()) ++written;
        // The family holds sums, or is being replaced.
        EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status) || absl::IsAborted(status))
            << status;
      }
    });
  }

  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(Modify(
        {FamilyChange::Drop("f"), FamilyChange::Add("f", {.value_type = ValueType::kInt64Sum})}));
    EXPECT_EQ(Read(), "") << i;
    ASSERT_OK(Modify({FamilyChange::Drop("f"), FamilyChange::Add("f", {})}));
    for (const int before = written; written == before;) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

TEST_F(ModifyFamiliesTest, AfterAStepThatFailsTheFamilyTakesWritesAgain) {
  Set(table_, "r", "f:q", 1, "v");
  faulty_->CountCalls({{FileCall::kSyncDirectory}, "/schema"});
  faulty_->FailCall(1, absl::UnavailableError("no sync"));

  EXPECT_STATUS(
      kUnavailable, "no sync",
      Modify({FamilyChange::Drop("f"), FamilyChange::Drop("g"), FamilyChange::Add("f", {})}));

  Set(table_, "r", "f:q", 2, "w");
  Set(table_, "r", "g:q", 1, "x");
  EXPECT_EQ(Read(), "f:q@2=w f:q@1=v g:q@1=x");
}

TEST_F(ModifyFamiliesTest, AfterAStepThatCannotBeTakenBackTheFamilyTakesWritesAgainOnceResumed) {
  Set(table_, "r", "f:q", 1, "v");
  faulty_->FailCalls({{FileCall::kSyncDirectory}, "/schema"}, absl::UnavailableError("no sync"));
  EXPECT_STATUS(kUnavailable, "no sync",
                Modify({FamilyChange::Drop("f"), FamilyChange::Add("f", {})}));
  EXPECT_FALSE(table_->Apply(RowMutation("r").Set("f:q", Timestamp(2), "w")).ok());

  faulty_->ClearFaults();
  ASSERT_OK(database_->Resume());

  Set(table_, "r", "f:q", 2, "w");
  EXPECT_EQ(Read(), "f:q@2=w f:q@1=v");
}

}  // namespace
}  // namespace bigtable
