#include "server/data/spare_mutations.h"

#include <cstddef>
#include <string>

#include "gtest/gtest.h"

namespace bigtable::server {
namespace {

// Fills mutations of so many bytes, and returns where the first of them is in memory.
const RowMutation* Fill(size_t count, size_t bytes) {
  SpareMutations mutations;
  for (size_t i = 0; i < count; ++i) {
    mutations.At(i)->Reset("r").Set("f:q", Timestamp(1), std::string(bytes, 'v'));
    mutations.CheckSize(i);
  }
  return mutations.data();
}

TEST(SpareMutationsTest, AThreadKeepsTheMemoryOfAFewSmallOnes) {
  const RowMutation* const first = Fill(100, 1000);
  EXPECT_EQ(Fill(128, 4000), first);
  EXPECT_EQ(Fill(1, 10), first);
  // One that is larger, too many, or one that was larger and is small again.
  for (const auto& spoil : {+[] { Fill(1, 5000); }, +[] { Fill(129, 10); },
                            +[] {
                              SpareMutations mutations;
                              mutations.At(0)->Reset("r").Set("f:q", std::string(1 << 20, 'v'));
                              mutations.CheckSize(0);
                              mutations.At(0)->Reset("r").Set("f:q", "v");
                              mutations.CheckSize(0);
                            }}) {
    Fill(100, 1000);
    spoil();
    SpareMutations mutations;
    EXPECT_EQ(mutations.data(), nullptr);
  }
}

}  // namespace
}  // namespace bigtable::server
