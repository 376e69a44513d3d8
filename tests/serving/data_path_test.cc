// What is checked of a write before it is logged, and what then happens to it.
#include "serving/data_path.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"

#include "admission/access_list_store.h"
#include "cache/budget_access.h"
#include "lockservice/local_lock_service.h"
#include "metadata/metadata_format.h"
#include "support/expect_status.h"
#include "support/server_fixture.h"

namespace bigtable {
namespace {

// The tablet has the families "f" and, with an access list and an owner, "g".
class DataPathTest : public StartedServerFixture {
 protected:
  using Writes = DataPath::Writes;

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(StartedServerFixture::SetUp());
    ASSERT_OK_AND_ASSIGN(locks_, LocalLockService::Open(&file_system_, "/locks", &clock_));
    ASSERT_OK_AND_ASSIGN(session_,
                         locks_->OpenSession({.owner = "test", .lease = absl::InfiniteDuration()}));
    ASSERT_OK(AccessListStore(session_.get())
                  .Write("list", {.readers = {"alice", "bob"}, .writers = {"alice"}}));
    access_ = std::make_unique<AccessControl>(session_.get());
    TableLayout layout = *tablet_->Layout();
    layout.AddFamily("g", 0, {.access_list = "list", .owner = "ann"}, 0);
    server_->SetLayout(tablet_.get(), std::make_shared<const TableLayout>(layout));
    quotas_.SetStorage([this] { return stored_; });
  }
  static std::string SetIn(std::string_view family) {
    std::string operations;
    AppendOperation(&operations, {.family = family, .qualifier = "q", .value = "v"});
    return operations;
  }
  DataPath Path(Writes writes = Writes::kLogged, WriteController* controller = nullptr) {
    return DataPath(server_.get(), controller, access_.get(), &quotas_, writes);
  }
  // One row for each family.
  std::vector<absl::Status> Apply(const DataPath& path, const std::vector<std::string>& families,
                                  WriteRequest write = {}) {
    std::vector<std::string> rows, operations;
    for (size_t i = 0; i < families.size(); ++i) {
      rows.push_back("row" + std::to_string(i));
      operations.push_back(SetIn(families[i]));
    }
    std::vector<EncodedMutation> mutations;
    for (size_t i = 0; i < families.size(); ++i) mutations.push_back({rows[i], operations[i]});
    write.tablet = tablet_.get();
    write.mutations = mutations;
    std::vector<absl::Status> statuses(families.size());
    write.statuses = absl::MakeSpan(statuses);
    EXPECT_TRUE(path.Apply(&write));
    return statuses;
  }
  uint64_t Entries() const { return tablet_->Version()->groups()[0].active->entries(); }

  std::unique_ptr<LocalLockService> locks_;
  std::unique_ptr<LockSession> session_;
  std::unique_ptr<AccessControl> access_;
  StoredBytes stored_;
  QuotaControl quotas_;
};

TEST_F(DataPathTest, WritesInMemoryAreNotLogged) {
  const DataPath path = Path(Writes::kInMemory);
  const auto statuses = Apply(path, {"f", "x", "g"});
  EXPECT_OK(statuses[0]);
  EXPECT_STATUS(kNotFound, "\"x\"", statuses[1]);
  EXPECT_OK(statuses[2]);
  EXPECT_EQ(Entries(), 2u);
  EXPECT_EQ(server_->log().statistics().records, 0u);
  EXPECT_EQ(tablet_->Version()->groups()[0].active->last_sequence(), server_->visible());
}

TEST_F(DataPathTest, ACallerWritesOnlyWhereTheListSays) {
  const DataPath path = Path();
  const auto as_bob = Apply(path, {"g", "f"}, {.caller = "bob"});
  EXPECT_STATUS(kPermissionDenied, "caller \"bob\" may not write column family \"g\"", as_bob[0]);
  EXPECT_OK(as_bob[1]);
  EXPECT_EQ(Entries(), 1u);
  EXPECT_STATUS(kPermissionDenied, "", Apply(path, {"g"}, {.caller = "bob"})[0]);
  EXPECT_EQ(Entries(), 1u);
  EXPECT_OK(Apply(path, {"g"}, {.caller = "alice"})[0]);
  EXPECT_OK(Apply(path, {"g"})[0]);  // the program itself
  EXPECT_EQ(Entries(), 3u);
}

TEST_F(DataPathTest, ABatchFailsWithTheFirstErrorOfItsMutations) {
  const DataPath path = Path();
  for (const absl::Status& status :
       Apply(path, {"f", "x", "g"}, {.is_batch = true, .caller = "bob"})) {
    EXPECT_STATUS(kNotFound, "\"x\"", status);
  }
  for (const absl::Status& status : Apply(path, {"f", "g"}, {.is_batch = true, .caller = "bob"})) {
    EXPECT_STATUS(kPermissionDenied, "", status);
  }
  EXPECT_EQ(Entries(), 0u);
  SequenceNumber committed = 0;
  for (const absl::Status& status :
       Apply(path, {"f", "g"}, {.is_batch = true, .committed = &committed})) {
    EXPECT_OK(status);
  }
  EXPECT_EQ(Entries(), 2u);
  EXPECT_EQ(committed, server_->visible());
}

TEST_F(DataPathTest, StorageIsTakenOfTheQuotas) {
  QuotaSet quotas;
  quotas.SetCaller("ann", {.storage_bytes = 10});
  quotas_.Use(quotas);
  stored_.owners["ann"] = 11;
  quotas_.MarkChanged();
  const DataPath path = Path();
  const auto statuses = Apply(path, {"f", "g", "x"});
  EXPECT_OK(statuses[0]);
  EXPECT_STATUS(kResourceExhausted, "caller \"ann\"", statuses[1]);
  EXPECT_STATUS(kNotFound, "\"x\"", statuses[2]);
  for (const absl::Status& status : Apply(path, {"f", "g"}, {.is_batch = true})) {
    EXPECT_STATUS(kResourceExhausted, "caller \"ann\"", status);
  }
  EXPECT_EQ(Entries(), 1u);
  stored_.owners["ann"] = 0;
  quotas_.MarkChanged();
  EXPECT_OK(Apply(path, {"g"})[0]);
}

TEST_F(DataPathTest, AWriteThatIsNotAdmittedIsNotMade) {
  WriteController controller(budget_.get(), server_.get(), &background_);
  BudgetAccess::AddHolder(*budget_, &controller);
  const DataPath path = Path(Writes::kLogged, &controller);
  EXPECT_OK(Apply(path, {"f"})[0]);
  server_->rotation().RotateAll(tablet_.get());  // there is something to flush
  background_.SetServers({server_.get()});
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, kLimit);
  for (const absl::Status& status :
       Apply(path, {"f", "g"}, {.limits = {.deadline = Deadline::In(absl::Milliseconds(20))}})) {
    EXPECT_STATUS(kDeadlineExceeded, "held back", status);
  }
  EXPECT_EQ(Entries(), 0u);
  BudgetAccess::Charge(*budget_, MemoryBudget::Use::kMemtables, -static_cast<int64_t>(kLimit));
  BudgetAccess::RemoveHolder(*budget_, &controller);
}

TEST_F(DataPathTest, ChecksAloneWriteNothing) {
  const DataPath path = Path();
  const TableLayout& layout = *tablet_->Layout();
  const auto check = [&](const std::string& family, const Caller& caller) {
    const std::string operations = SetIn(family);
    return path.CheckWrite(layout, {"row", operations}, caller, {});
  };
  EXPECT_OK(check("g", std::nullopt));
  EXPECT_OK(check("g", "alice"));
  EXPECT_STATUS(kPermissionDenied, "\"bob\"", check("g", "bob"));
  EXPECT_OK(check("f", "bob"));
  EXPECT_STATUS(kNotFound, "\"x\"", check("x", "bob"));

  EXPECT_OK(path.CheckRowDeletion(layout, std::nullopt, {}));
  EXPECT_OK(path.CheckRowDeletion(layout, "alice", {}));
  EXPECT_STATUS(kPermissionDenied, "\"g\"", path.CheckRowDeletion(layout, "bob", {}));

  const Filter of_f = Filter::Family("f"), of_x = Filter::Family("x");
  EXPECT_OK(path.CheckRead(layout, nullptr, "bob", {}));
  EXPECT_STATUS(kPermissionDenied, "caller \"carol\" may not read column family \"g\"",
                path.CheckRead(layout, nullptr, "carol", {}));
  EXPECT_OK(path.CheckRead(layout, FilterNode::Of(of_f), "carol", {}));
  EXPECT_OK(path.CheckRead(layout, nullptr, std::nullopt, {}));
  EXPECT_STATUS(kNotFound, "\"x\"", path.CheckRead(layout, FilterNode::Of(of_x), "bob", {}));
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(DataPathTest, ListsThatAreMissingOrDamagedPermitNothing) {
  const DataPath path = Path();
  ASSERT_OK(session_->Write(AccessListStore::FileOf("list"), "\x02"));
  EXPECT_STATUS(kFailedPrecondition, "access list \"list\"",
                Apply(path, {"g"}, {.caller = "alice"})[0]);
  ASSERT_OK(session_->Remove(AccessListStore::FileOf("list")));
  EXPECT_STATUS(kPermissionDenied, "is not there", Apply(path, {"g"}, {.caller = "alice"})[0]);
  ASSERT_OK(AccessListStore(session_.get()).Write("list", {.writers = {AccessList::kEverybody}}));
  EXPECT_OK(Apply(path, {"g"}, {.caller = "carol"})[0]);
  EXPECT_STATUS(kPermissionDenied, "as a reader",
                path.CheckRead(*tablet_->Layout(), nullptr, "carol", {}));
}

// METADATA is written by the program alone.
TEST_F(DataPathTest, NoCallerWritesMetadata) {
  TableLayout layout = *tablet_->Layout();
  layout.table_id = kMetadataTableId;
  const std::string operations = SetIn("f");
  const EncodedMutation mutation{"row", operations};
  EXPECT_OK(Path().CheckWrite(layout, mutation, std::nullopt, {}));
  EXPECT_STATUS(kPermissionDenied, "may not write METADATA",
                Path().CheckWrite(layout, mutation, "alice", {}));
}

}  // namespace
}  // namespace bigtable
