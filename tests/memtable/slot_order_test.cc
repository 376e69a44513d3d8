#include "memtable/slot_order.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"

namespace bigtable {
namespace {

std::vector<size_t> InUse(SlotOrder order) {
  std::vector<size_t> slots;
  for (size_t i = 0; i < order.count(); ++i) slots.push_back(order.At(i));
  return slots;
}

TEST(SlotOrderTest, TheFirstSlotsAreUsedFirst) {
  EXPECT_EQ(SlotOrder().count(), 0u);
  EXPECT_EQ(InUse(SlotOrder(3)), (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(InUse(SlotOrder().WithInserted(0).WithInserted(0).WithInserted(1)),
            (std::vector<size_t>{1, 2, 0}));
}

// Compared with a vector of the slots in use; each slot is always at one position, in use or free.
TEST(SlotOrderTest, InsertionsAndCutsAnywhere) {
  Random random(1);
  SlotOrder order;
  std::vector<size_t> model;
  for (int i = 0; i < 20'000; ++i) {
    if (model.size() == SlotOrder::kSlots || (!model.empty() && random.OneIn(6))) {
      model.resize(random.Below(model.size() + 1));
      order = order.WithFirst(model.size());
    } else {
      const size_t position = random.Below(model.size() + 1);
      const size_t slot = order.At(order.count());
      ASSERT_EQ(std::count(model.begin(), model.end(), slot), 0);
      model.insert(model.begin() + static_cast<ptrdiff_t>(position), slot);
      order = order.WithInserted(position);
    }
    ASSERT_EQ(InUse(order), model);
    std::set<size_t> all;
    for (size_t position = 0; position < SlotOrder::kSlots; ++position) {
      all.insert(order.At(position));
    }
    ASSERT_EQ(all.size(), SlotOrder::kSlots);
  }
}

}  // namespace
}  // namespace bigtable
