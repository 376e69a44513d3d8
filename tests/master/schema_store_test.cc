// The schemas of the tables are read back as they were written, or with an error.
#include "master/schema_store.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "lockservice/local_lock_service.h"
#include "support/expect_status.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

class SchemaStoreTest : public testing::Test {
 protected:
  static TableLayout Layout(std::string_view name, uint64_t id) {
    TableSchema schema;
    schema.locality_groups["text"] = {.compression = Compression::kZstdLongWindow,
                                      .compression_level = 7,
                                      .block_size = 4 << 10,
                                      .filter = FilterKind::kRowAndColumn,
                                      .filter_bits = 14,
                                      .in_memory = true};
    schema.families["anchor"] = {
        .locality_group = "text",
        .gc = GcRule::Union(GcRule::MaxVersions(3), GcRule::MaxAge(absl::Hours(24 * 7)))};
    schema.families["contents"] = {.gc = GcRule::MaxVersions(1)};
    schema.families["language"] = {};
    absl::StatusOr<TableLayout> layout = MakeTableLayout(name, id, schema);
    EXPECT_OK(layout);
    layout->families[1].created = kMaxSequence;
    return *layout;
  }

  InMemoryFileSystem file_system_;
  TestClock clock_{1000};
  const std::unique_ptr<LocalLockService> service_ =
      *LocalLockService::Open(&file_system_, "/ls", &clock_);
  const std::unique_ptr<LockSession> session_ = *service_->OpenSession({});
  SchemaStore store_{session_.get()};
};

TEST_F(SchemaStoreTest, SchemasAreReadInTheOrderOfTheirNames) {
  ASSERT_OK_AND_ASSIGN(std::vector<TableLayout> none, store_.ReadAll());
  EXPECT_TRUE(none.empty());
  ASSERT_OK(store_.Write(Layout("web", 2)));
  ASSERT_OK(store_.Write(Layout("users", 9)));
  ASSERT_OK(store_.Write(Layout("web", 7)));  // replaces
  ASSERT_OK_AND_ASSIGN(const std::vector<TableLayout> all, store_.ReadAll());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0] == Layout("users", 9));
  EXPECT_TRUE(all[1] == Layout("web", 7));
}

TEST_F(SchemaStoreTest, ARemovedSchemaIsGone) {
  ASSERT_OK(store_.Write(Layout("web", 2)));
  ASSERT_OK(store_.Remove("web"));
  ASSERT_OK_AND_ASSIGN(const std::vector<TableLayout> all, store_.ReadAll());
  EXPECT_TRUE(all.empty());
  EXPECT_STATUS(kNotFound, "web", store_.Remove("web"));
}

TEST_F(SchemaStoreTest, ADamagedSchemaIsAnError) {
  ASSERT_OK(store_.Write(Layout("users", 1)));
  ASSERT_OK(store_.Write(Layout("web", 2)));
  std::string bytes = file_system_.Contents("/ls/schema/web");
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  file_system_.SetContents("/ls/schema/web", bytes);
  EXPECT_STATUS(kDataLoss, "/ls/schema/web", store_.ReadAll());
}

TEST_F(SchemaStoreTest, EveryCutOrGrownSchemaIsDataLossThatNamesTheTable) {
  const std::string bytes = Layout("web", 2).Encode();
  for (size_t n = 0; n < bytes.size(); ++n) {
    ASSERT_OK(session_->Write("schema/web", bytes.substr(0, n)));
    EXPECT_STATUS(kDataLoss, "web", store_.ReadAll()) << n << " bytes";
  }
  ASSERT_OK(session_->Write("schema/web", bytes + '\0'));
  EXPECT_STATUS(kDataLoss, "web", store_.ReadAll());
}

TEST_F(SchemaStoreTest, ASchemaOfALaterVersionIsFailedPrecondition) {
  std::string bytes = Layout("web", 2).Encode();
  bytes[0] = 12;
  ASSERT_OK(session_->Write("schema/web", bytes));
  EXPECT_STATUS(kFailedPrecondition, "version 12", store_.ReadAll());
}

TEST_F(SchemaStoreTest, ASchemaOfVersion1HasTheDefaultRuleOfSplits) {
  TableLayout layout = Layout("web", 2);
  layout.split = {.tablet_size = 1 << 20, .merge_size = 3, .prefix_length = 4};
  std::string bytes = layout.Encode();
  bytes[0] = 1;
  // For each of three families, two counts of past rules (both zero) and the name of its access
  // list (empty); and the split rule: a size of three bytes, one of one byte, and a length of one
  // byte.
  bytes.resize(bytes.size() - 6 - 3 - 5);
  ASSERT_OK(session_->Write("schema/web", bytes));
  ASSERT_OK_AND_ASSIGN(const std::vector<TableLayout> read, store_.ReadAll());
  layout.split = {};
  EXPECT_TRUE(read == std::vector<TableLayout>{layout});
}

TEST_F(SchemaStoreTest, ASchemaOfAnotherTableIsDataLoss) {
  ASSERT_OK(session_->Write("schema/web", Layout("users", 2).Encode()));
  EXPECT_STATUS(kDataLoss, "is that of \"users\"", store_.ReadAll());
}

}  // namespace
}  // namespace bigtable
