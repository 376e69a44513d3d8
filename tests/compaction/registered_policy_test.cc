// Compaction policies by name (bigtable/compaction_policy.h): registration, the rules of picks, and
// tables whose schema names a policy of the test's own.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "compaction/pick_check.h"
#include "compaction/policies.h"
#include "support/database_fixture.h"
#include "support/expect_status.h"

namespace bigtable {
namespace {

using PickKind = CompactionPick::Kind;

// Merges the two oldest runs while there are `kRuns` or more. Records what it saw last.
class MergeOldestPolicy final : public CompactionPolicy {
 public:
  static constexpr size_t kRuns = 4;
  static inline std::atomic<int> picks = 0;
  static inline std::atomic<uint64_t> entries = 0, deletions = 0;
  static inline std::atomic<bool> in_order = true;  // sequence numbers fall from run to run

  std::optional<CompactionPick> Pick(const GroupSummary& group) override {
    entries = deletions = 0;
    uint64_t newer = UINT64_MAX;
    for (const RunSummary& run : group.runs) {
      for (const FileSummary& file : run.files) {
        entries += file.entries;
        deletions += file.deletions;
        if (file.max_sequence >= newer || file.smallest_key > file.largest_key) in_order = false;
        newer = file.min_sequence;
      }
    }
    if (group.runs.size() < kRuns) return std::nullopt;
    ++picks;
    return CompactionPick{.first = group.runs.size() - 2, .count = 2};
  }
};

// Picks whatever the test wants.
class GivenPickPolicy final : public CompactionPolicy {
 public:
  static inline std::atomic<int> calls = 0;

  std::optional<CompactionPick> Pick(const GroupSummary&) override {
    ++calls;
    return CompactionPick{.first = 5, .count = 100};
  }
};

template <typename Policy>
CompactionPolicyFactory FactoryOf() {
  return [](const LocalityGroup&) { return std::make_unique<Policy>(); };
}

class RegisteredPolicyTest : public DatabaseFixture {
 protected:
  ~RegisteredPolicyTest() override {
    ForgetPolicy("merge_oldest");
    ForgetPolicy("given_pick");
  }
  void OpenWith(std::string_view policy) {
    Open();
    TableSchema schema;
    schema.locality_groups["g"] = {.compaction_policy = std::string(policy)};
    schema.families["f"] = {.locality_group = "g"};
    table_ = CreateTable("t", schema);
  }
  size_t Runs() { return database_->Statistics().tables.at("t").at("g").sorted_runs; }
  void WriteRun(int n) {
    for (const char* row : {"a", "m", "z"}) Set(table_, row, "f:q", 1, absl::StrCat(row, n));
    ASSERT_OK(database_->Flush("t"));
  }
  void ExpectRows(int n) {
    for (const char* row : {"a", "m", "z"}) {
      EXPECT_EQ(Show(table_->ReadRow(row)), absl::StrCat("f:q@1=", row, n));
    }
  }

  Table* table_ = nullptr;
};

TEST_F(RegisteredPolicyTest, BuiltInPoliciesAreRegistered) {
  EXPECT_EQ(CompactionPolicyNames(),
            (std::vector<std::string>{"fifo", "leveled", "none", "size_tiered"}));
  GroupSummary group{.runs = std::vector<RunSummary>(3, {.bytes = 10}), .flush_size = 1};
  ASSERT_OK_AND_ASSIGN(auto policy, MakeCompactionPolicy("size_tiered"));
  EXPECT_EQ(policy->Pick(group), std::nullopt);
  ASSERT_OK_AND_ASSIGN(policy, MakeCompactionPolicy("size_tiered", {.compaction_factor = 3}));
  EXPECT_EQ(policy->Pick(group), (CompactionPick{.first = 0, .count = 3}));
}

TEST_F(RegisteredPolicyTest, ABadRegistrationIsRefused) {
  const CompactionPolicyFactory factory = FactoryOf<MergeOldestPolicy>();
  EXPECT_STATUS(kInvalidArgument, "\"a b\"", RegisterCompactionPolicy("a b", factory));
  EXPECT_STATUS(kInvalidArgument, "and is \"\"", RegisterCompactionPolicy("", factory));
  EXPECT_STATUS(kInvalidArgument, "null", RegisterCompactionPolicy("merge_oldest", nullptr));
  EXPECT_STATUS(kAlreadyExists, "leveled", RegisterCompactionPolicy("leveled", factory));
  ASSERT_OK(RegisterCompactionPolicy("merge_oldest", factory));
  EXPECT_STATUS(kAlreadyExists, "merge_oldest", RegisterCompactionPolicy("merge_oldest", factory));
}

TEST_F(RegisteredPolicyTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  ASSERT_OK(RegisterCompactionPolicy("merge_oldest", FactoryOf<MergeOldestPolicy>()));
  OpenWith("merge_oldest");
  TableSchema schema;
  schema.families["f"] = {};
  schema.locality_groups["default"].compaction_policy = "mine";
  const std::string_view known = "fifo, leveled, merge_oldest, none, size_tiered";
  const absl::Status created = database_->CreateTable("u", schema);
  EXPECT_TRUE(
      IsStatus(absl::StatusCode::kInvalidArgument, created, "\"default\"", "\"mine\"", known));
  EXPECT_STATUS(kInvalidArgument, known,
                database_->SetLocalityGroup("t", "g", {.compaction_policy = "mine"}));
  EXPECT_STATUS(kInvalidArgument, "compaction_policy",
                database_->SetLocalityGroup("t", "g", {.compaction_policy = "a b"}));
}

TEST_F(RegisteredPolicyTest, ThePolicyOfTheSchemaPicksAlsoAfterAReopening) {
  ASSERT_OK(RegisterCompactionPolicy("merge_oldest", FactoryOf<MergeOldestPolicy>()));
  MergeOldestPolicy::picks = 0;
  MergeOldestPolicy::in_order = true;
  OpenWith("merge_oldest");
  for (int n = 1; n <= 5; ++n) {
    WriteRun(n);
    ASSERT_OK(database_->WaitUntilQuiet());
  }
  EXPECT_EQ(Runs(), MergeOldestPolicy::kRuns - 1);
  EXPECT_GE(MergeOldestPolicy::picks, 2);  // a pick may be made again before it has taken effect

  Reopen();
  table_ = OpenTable("t");
  ASSERT_OK_AND_ASSIGN(const TableSchema schema, database_->GetSchema("t"));
  EXPECT_EQ(schema.locality_groups.at("g").compaction_policy, "merge_oldest");
  WriteRun(6);
  ASSERT_OK(table_->Apply(RowMutation("a").Delete("f:q")));
  ASSERT_OK(database_->Flush("t"));
  ASSERT_OK(database_->WaitUntilQuiet());
  EXPECT_LT(Runs(), MergeOldestPolicy::kRuns);
  EXPECT_GE(MergeOldestPolicy::picks, 3);
  EXPECT_GE(MergeOldestPolicy::entries, 7u);
  EXPECT_EQ(MergeOldestPolicy::deletions, 1u);
  EXPECT_TRUE(MergeOldestPolicy::in_order);
  EXPECT_EQ(Show(table_->ReadRow("a")), "");
  EXPECT_EQ(Show(table_->ReadRow("z")), "f:q@1=z6");
}

TEST_F(RegisteredPolicyTest, ADatabaseWhosePolicyIsNotRegisteredDoesNotOpen) {
  ASSERT_OK(RegisterCompactionPolicy("merge_oldest", FactoryOf<MergeOldestPolicy>()));
  OpenWith("merge_oldest");
  WriteRun(1);
  ASSERT_OK(database_->Close());
  database_.reset();
  ForgetPolicy("merge_oldest");
  const absl::Status opened = Database::Open(kPath, Options()).status();
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, opened, "table \"t\"",
                       "locality group \"g\"", "\"merge_oldest\"", "leveled"))
      << opened;

  // It compacts nothing if it is read-only.
  DatabaseOptions read_only = Options();
  read_only.read_only = true;
  Open(read_only);
  table_ = OpenTable("t");
  ExpectRows(1);
  ASSERT_OK(database_->Close());

  ASSERT_OK(RegisterCompactionPolicy("merge_oldest", FactoryOf<MergeOldestPolicy>()));
  Open();
  table_ = OpenTable("t");
  ExpectRows(1);
}

TEST_F(RegisteredPolicyTest, ABadPickIsRefusedAndTheDatabaseGoesOn) {
  ASSERT_OK(RegisterCompactionPolicy("given_pick", FactoryOf<GivenPickPolicy>()));
  OpenWith("given_pick");
  WriteRun(1);
  WriteRun(2);
  const absl::Status quiet = database_->WaitUntilQuiet();
  EXPECT_TRUE(IsStatus(absl::StatusCode::kFailedPrecondition, quiet, "\"given_pick\"",
                       "table \"t\"", "locality group \"g\"", "a merge of 100 runs from run 5"))
      << quiet;
  const std::vector<FailingWork> failing = database_->Statistics().failing_work;
  ASSERT_EQ(failing.size(), 1u);
  EXPECT_EQ(failing[0].kind, FailingWork::Kind::kCompaction);
  EXPECT_EQ(failing[0].table, "t");
  EXPECT_EQ(failing[0].locality_group, "g");
  EXPECT_EQ(Runs(), 2u);
  ExpectRows(2);

  WriteRun(3);
  ExpectRows(3);
  ASSERT_OK(database_->Compact("t"));  // does not ask the policy
  EXPECT_EQ(Runs(), 1u);
  ExpectRows(3);
  ASSERT_OK(database_->SetLocalityGroup("t", "g", {}));
  // A pick of before may be refused just after Resume.
  absl::Status after = absl::UnknownError("not resumed");
  for (int tries = 0; tries < 10 && !after.ok(); ++tries) {
    ASSERT_OK(database_->Resume());
    after = database_->WaitUntilQuiet();
  }
  ASSERT_OK(after);
  EXPECT_TRUE(database_->Statistics().failing_work.empty());
}

TEST_F(RegisteredPolicyTest, PicksThatBreakARuleAreRefused) {
  const GroupSummary group{
      .runs = {{.bytes = 2, .files = {{.number = 1, .max_timestamp = 3}, {.number = 2}}},
               {.bytes = 1, .files = {{.number = 3, .max_timestamp = 90}}},
               {.bytes = 1, .files = {{.number = 4, .max_timestamp = 3}}}},
      .expired_before = 50};
  const std::vector<CompactionPick> good = {
      {.first = 0, .count = 3},
      {.first = 1, .count = 2},
      {.kind = PickKind::kPush, .first = 1, .files = {3}},
      {.kind = PickKind::kDrop, .files = {4, 1}},
  };
  for (const CompactionPick& pick : good) EXPECT_OK(CheckPick(group, pick));
  const std::vector<std::pair<CompactionPick, std::string_view>> bad = {
      {{.first = 0, .count = 0}, "a merge of no runs"},
      {{.first = 0, .count = 1}, "at least two of its files, and not 0"},
      {{.first = 0, .count = 4}, "only 3 runs"},
      {{.first = 2, .count = 2}, "only 3 runs"},
      {{.first = SIZE_MAX, .count = 2}, "only 3 runs"},
      {{.first = 1, .count = SIZE_MAX}, "only 3 runs"},
      {{.kind = PickKind::kPush, .first = 2, .files = {4}}, "only 3 runs"},
      {{.kind = PickKind::kPush, .first = 0, .files = {}}, "a push of no files"},
      {{.kind = PickKind::kPush, .first = 0, .files = {1, 9}}, "file 9, which is not in run 0"},
      {{.kind = PickKind::kPush, .first = 0, .files = {3}}, "not in run 0"},
      {{.kind = PickKind::kDrop}, "no files"},
      {{.kind = PickKind::kDrop, .files = {1, 3}}, "file 3, which has not expired"},
      {{.kind = PickKind::kDrop, .files = {9}}, "file 9, which has not expired"},
      {{.kind = static_cast<PickKind>(7)}, "unknown kind"},
  };
  for (const auto& [pick, message] : bad) {
    EXPECT_STATUS(kFailedPrecondition, message, CheckPick(group, pick));
  }
}

TEST_F(RegisteredPolicyTest, ExpiredFilesWithDeletionsStayWhileOlderRunsAreNotShown) {
  GroupSummary group{
      .runs = {{.files = {{.number = 1, .max_timestamp = 3, .has_wide_deletions = true}}}},
      .expired_before = 50};
  const CompactionPick drop{.kind = PickKind::kDrop, .files = {1}};
  EXPECT_OK(CheckPick(group, drop));
  group.reaches_oldest = false;
  EXPECT_STATUS(kFailedPrecondition, "file 1", CheckPick(group, drop));
}

}  // namespace
}  // namespace bigtable
