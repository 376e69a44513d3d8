// Encoding and decoding filters: the decoded filter passes the same cells.
#include "rpc/filter_format.h"

#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "base/strings.h"
#include "read/filter_node.h"
#include "support/expect_status.h"
#include "support/heap_peak.h"
#include "support/random.h"
#include "support/random_filter.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using namespace std::string_literals;

// All fields of a filter as text.
std::string Describe(const Filter& filter) {
  const FilterNode* const node = FilterNode::Of(filter);
  if (node == nullptr) return "everything";
  std::string text = Cat(static_cast<int>(node->kind), "(", Quoted(node->text), Quoted(node->begin),
                         Quoted(node->end), node->low, ",", node->high, ",", node->probability);
  if (node->regex != nullptr) text += Cat("/", Quoted(node->regex->pattern()));
  for (const Filter& part : node->parts) text += " " + Describe(part);
  return text + ")";
}

Filter RandomFilter(Random& random, int depth) {
  const std::string text = random.Bytes(random.Below(8));
  const Timestamp from(static_cast<int64_t>(random.Below(100)));
  switch (random.Below(depth > 0 ? 16 : 14)) {
    case 0:
      return Filter::PassAll();
    case 1:
      return Filter::BlockAll();
    case 2:
      return Filter::Latest(1 + static_cast<int64_t>(random.Next() >> 1) / 2);
    case 3:
      return Filter::Family(text);
    case 4:
      return Filter::FamilyRegex("f.*|g");
    case 5:
      return Filter::ColumnPrefix("f", text);
    case 6:
      return Filter::ColumnRange("f", "a", random.OneIn(2) ? "" : "b" + text);
    case 7:
      return Filter::Column("f", text);
    case 8:
      return Filter::ColumnRegex("\xff\\x00[^a]+");
    case 9:
      return Filter::TimestampRange(from, Timestamp(std::numeric_limits<int64_t>::max()));
    case 10:
      return Filter::RowKeysRegex("com\\..*");
    case 11:
      return Filter::ValueRegex(".*\n");
    case 12:
      return random.OneIn(2) ? Filter::CellsRowLimit(3) : Filter::CellsRowOffset(0);
    case 13:
      return Filter::StripValueTransformer();
    default: {
      std::vector<Filter> chain;
      for (uint64_t n = random.Below(5); n > 0; --n) {
        chain.push_back(RandomFilter(random, depth - 1));
      }
      return Filter::Chain(std::move(chain));
    }
  }
}

// RandomFilter has extreme arguments, RandomFilters all kinds.
Filter AnyFilter(Random& random) {
  if (random.OneIn(2)) return RandomFilter(random, 4);
  const auto text = [&random] { return random.Bytes(random.Below(8)); };
  return RandomFilters(&random, {[&] { return "f" + text(); }, text, 100}).Next().Make();
}

TEST(FilterFormatTest, FiltersAreDecodedAsTheyWereEncodedRandom) {
  ForEachSeed(500, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    const Filter filter = AnyFilter(random);
    ASSERT_OK_AND_ASSIGN(const std::string bytes, EncodeFilter(filter));
    ASSERT_OK_AND_ASSIGN(const Filter decoded, DecodeFilter(bytes));
    EXPECT_EQ(Describe(decoded), Describe(filter));
  });
}

TEST(FilterFormatTest, TheWorkedExampleIsTrue) {
  ASSERT_OK_AND_ASSIGN(const std::string bytes,
                       EncodeFilter(Filter::Chain(Filter::Family("f"), Filter::Latest(1))));
  EXPECT_EQ(bytes,
            "\x0d\x02\x03\x01"
            "f\x02\x01"s);
  ASSERT_OK_AND_ASSIGN(const std::string nothing, EncodeFilter(Filter()));
  EXPECT_EQ(nothing, "");
}

TEST(FilterFormatTest, TruncationsAreRefusedAndFlipsReadOrRefusedRandom) {
  ForEachSeed(50, [](uint64_t seed) {
    Tally("cases");
    Random random(seed);
    ASSERT_OK_AND_ASSIGN(const std::string bytes, EncodeFilter(AnyFilter(random)));
    for (size_t n = 1; n < bytes.size(); ++n) {
      const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(n));
      EXPECT_STATUS(kInvalidArgument, "", DecodeFilter({cut.data(), n}).status());
    }
    for (int i = 0; i < 500 && !bytes.empty(); ++i) {
      std::string flipped = bytes;
      for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
        flipped[random.Below(flipped.size())] = static_cast<char>(random.Next());
      }
      const auto decoded = DecodeFilter(flipped);
      if (decoded.ok()) {
        EXPECT_OK(decoded->status());
      } else {
        EXPECT_STATUS(kInvalidArgument, "", decoded.status());
      }
    }
  });
}

TEST(FilterFormatTest, AnErrorNamesTheReason) {
  EXPECT_STATUS(kInvalidArgument, "no filter with the code 127", DecodeFilter("\x7f").status());
  EXPECT_STATUS(kInvalidArgument, "cut short", DecodeFilter("\x03\x05g").status());
  EXPECT_STATUS(kInvalidArgument, "after the end of the filter", DecodeFilter("\x01\x01").status());
  EXPECT_STATUS(kInvalidArgument, "at least 1", DecodeFilter("\x02\x00"s).status());
  EXPECT_STATUS(kInvalidArgument, "bad regular expression", DecodeFilter("\x04\x01[").status());
  EXPECT_STATUS(kInvalidArgument, "at least 1", EncodeFilter(Filter::Latest(0)).status());
}

TEST(FilterFormatTest, DepthAndSizeAreLimited) {
  Filter deep = Filter::Latest(1);
  for (int i = 1; i < kMostFilterDepth; ++i) deep = Filter::Chain({deep});
  ASSERT_OK_AND_ASSIGN(const std::string deepest, EncodeFilter(deep));
  EXPECT_OK(DecodeFilter(deepest).status());
  EXPECT_STATUS(kInvalidArgument, "50 deep", EncodeFilter(Filter::Chain({deep})).status());
  EXPECT_STATUS(kInvalidArgument, "50 deep", DecodeFilter("\x0d\x01" + deepest).status());
  // Decoding stops at the limit, however deep the bytes nest.
  std::string bottomless;
  for (int i = 0; i < 1 << 20; ++i) bottomless += "\x0d\x01";
  EXPECT_STATUS(kInvalidArgument, "50 deep", DecodeFilter(bottomless).status());

  const std::vector<Filter> most(kMostFilterNodes - 1);
  ASSERT_OK_AND_ASSIGN(const std::string wide, EncodeFilter(Filter::Chain(most)));
  EXPECT_OK(DecodeFilter(wide).status());
  EXPECT_STATUS(kInvalidArgument, "at most 1000 parts",
                EncodeFilter(Filter::Chain({Filter::Chain(most)})).status());
}

// The expressions are small, and their programs are not.
TEST(FilterFormatTest, ProgramsAreRefusedBeforeAllAreInMemory) {
  ASSERT_OK_AND_ASSIGN(const std::string part,
                       EncodeFilter(Filter::ValueRegex("(abcdefghij){1000}")));
  std::string bytes = "\x12\xe7\x07";  // an Interleave of 999 filters
  for (int i = 0; i < 999; ++i) bytes += part;
  HeapPeak peak;
  EXPECT_TRUE(IsStatus(absl::StatusCode::kInvalidArgument, DecodeFilter(bytes).status(), "100000",
                       "(abcdefghij)"));
  EXPECT_LT(peak.Stop(), uint64_t{24} << 20);
}

}  // namespace
}  // namespace bigtable
