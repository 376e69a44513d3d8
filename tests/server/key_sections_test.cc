// Which of a table's samples SampleRowKeys returns.
#include "server/data/key_sections.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace bigtable::server {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Rows "r100", "r101" and so on, each `part` bytes after the one before, and the end.
std::vector<RowKeySample> Parts(int parts, uint64_t part) {
  std::vector<RowKeySample> samples;
  for (int i = 1; i < parts; ++i) {
    samples.push_back({absl::StrCat("r", 100 + i), static_cast<uint64_t>(i) * part});
  }
  samples.push_back({"", static_cast<uint64_t>(parts) * part});
  return samples;
}
const std::vector<TabletInfo> kOneTablet = {{.rows = RowRange::All()}};

TEST(KeySectionsTest, ASmallTableIsOneSection) {
  EXPECT_EQ(SectionsOf(Parts(230, kMiB / 230), kOneTablet), Parts(1, 230 * (kMiB / 230)));
  EXPECT_EQ(SectionsOf({{"", 0}}, kOneTablet), (std::vector<RowKeySample>{{"", 0}}));
}

TEST(KeySectionsTest, SectionsAreFewAndOfAboutEqualSize) {
  const std::vector<RowKeySample> twenty = SectionsOf(Parts(200, kMiB / 10), kOneTablet);
  EXPECT_EQ(twenty.size(), 5u);
  const std::vector<RowKeySample> large = SectionsOf(Parts(256, 100 * kMiB), kOneTablet);
  EXPECT_LE(large.size(), kMostSections);
  EXPECT_GE(large.size(), kMostSections / 2);
  for (size_t i = 1; i < large.size(); ++i) {
    const uint64_t section = large[i].offset_bytes - large[i - 1].offset_bytes;
    EXPECT_GE(section, 100 * kMiB) << i;
    EXPECT_LE(section, 400 * kMiB) << i;
  }
  EXPECT_EQ(large.back(), (RowKeySample{"", 25'600 * kMiB}));
}

TEST(KeySectionsTest, EachTabletBeginsWithOne) {
  const std::vector<TabletInfo> tablets = {{.rows = RowRange::RightOpen("", "r110")},
                                           {.rows = RowRange::RightOpen("r110", "r111")},
                                           {.rows = RowRange::StartingAt("r111")}};
  EXPECT_EQ(SectionsOf(Parts(100, 100), tablets),
            (std::vector<RowKeySample>{{"r110", 1000}, {"r111", 1100}, {"", 10'000}}));
  // Tablets without bytes.
  const std::vector<RowKeySample> empty = {{"r110", 0}, {"r111", 0}, {"", 0}};
  EXPECT_EQ(SectionsOf(empty, tablets), empty);
}

}  // namespace
}  // namespace bigtable::server
