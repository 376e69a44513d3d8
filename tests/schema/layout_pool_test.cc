#include "schema/layout_pool.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

#include "support/expect_status.h"

namespace bigtable {
namespace {

TableLayout LayoutOf(uint64_t id, std::string_view family) {
  TableSchema schema;
  schema.families[std::string(family)] = {};
  absl::StatusOr<TableLayout> layout = MakeTableLayout("t", id, schema);
  EXPECT_OK(layout);
  return *std::move(layout);
}

TEST(LayoutPoolTest, EqualLayoutsAreSharedAsLongAsOneIsReferredTo) {
  LayoutPool pool;
  const std::shared_ptr<const TableLayout> first = pool.Share(LayoutOf(1, "f"));
  EXPECT_EQ(pool.Share(LayoutOf(1, "f")), first);
  const std::shared_ptr<const TableLayout> changed = pool.Share(LayoutOf(1, "g"));
  EXPECT_NE(changed, first);
  EXPECT_TRUE(*changed == LayoutOf(1, "g"));
  EXPECT_TRUE(*first == LayoutOf(1, "f"));
  EXPECT_EQ(pool.Share(LayoutOf(1, "g")), changed);
  EXPECT_NE(pool.Share(LayoutOf(2, "g")), changed);

  std::weak_ptr<const TableLayout> expired_layout = pool.Share(LayoutOf(3, "f"));
  EXPECT_TRUE(expired_layout.expired());
}

}  // namespace
}  // namespace bigtable
