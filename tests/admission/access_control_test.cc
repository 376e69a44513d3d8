// Access lists are applied to each family of a call.
#include "admission/access_control.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "admission/access_list_store.h"
#include "lockservice/local_lock_service.h"
#include "schema/mutation_format.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

// A table whose families f0, f1, ... have access lists of their own, which permit "alice".
class AccessControlTest : public testing::Test {
 protected:
  static constexpr int kFamilies = 5;

  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(lock_service_, LocalLockService::Open(&file_system_, "/ls", &clock_));
    ASSERT_OK_AND_ASSIGN(session_, lock_service_->OpenSession({}));
    TableSchema schema;
    for (int i = 0; i < kFamilies; ++i) {
      schema.families[absl::StrCat("f", i)] = {.access_list = absl::StrCat("list", i)};
      WriteList(i, {.readers = {"alice"}, .writers = {"alice"}});
    }
    ASSERT_OK_AND_ASSIGN(layout_, MakeTableLayout("t", 5, schema));
    control_ = std::make_unique<AccessControl>(session_.get());
  }
  void WriteList(int i, const AccessList& list) {
    ASSERT_OK(AccessListStore(session_.get()).Write(absl::StrCat("list", i), list));
  }
  // One mutation of all families.
  absl::Status WriteAs(std::string_view caller) {
    std::string operations;
    for (int i = 0; i < kFamilies; ++i) {
      AppendOperation(&operations, {.family = layout_.families[i].name, .value = "v"});
    }
    const EncodedMutation mutation{"row", operations};
    absl::Status status;
    const CallLimits limits;
    AccessCheck check(control_.get(), caller, limits);
    const bool is_any = check.CheckWrites(layout_, {&mutation, 1}, {&status, 1});
    EXPECT_EQ(is_any, status.ok());
    return status;
  }

  InMemoryFileSystem file_system_;
  TestClock clock_{1000};
  std::unique_ptr<LocalLockService> lock_service_;
  std::unique_ptr<LockSession> session_;
  TableLayout layout_;
  std::unique_ptr<AccessControl> control_;
};

TEST_F(AccessControlTest, EachOfManyListsIsApplied) {
  EXPECT_OK(WriteAs("alice"));
  EXPECT_STATUS(kPermissionDenied, "\"bob\"", WriteAs("bob"));
  for (int i = 0; i < kFamilies; ++i) {
    WriteList(i, {.readers = {"alice"}, .writers = {}});
    EXPECT_STATUS(kPermissionDenied, absl::StrCat("list", i), WriteAs("alice"));
    WriteList(i, {.readers = {}, .writers = {"alice"}});
    EXPECT_OK(WriteAs("alice"));
  }
}

}  // namespace
}  // namespace bigtable
