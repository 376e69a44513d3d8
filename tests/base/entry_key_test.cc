// Encoded keys are in the order of the data model, and invalid keys are recognized.
#include "base/entry_key.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"

namespace bigtable {
namespace {

using namespace std::string_literals;  // NOLINT: for texts with zero bytes

constexpr int64_t kLargestTimestamp = std::numeric_limits<int64_t>::max();

struct Entry {
  std::string row;
  std::string family;
  std::string qualifier;
  int64_t timestamp = 0;
  EntryVersion version = {};
  EntryKind kind = EntryKind::kCell;
  uint32_t group = 0;

  std::string Encode() const {
    std::string key = RowPrefix(row);
    switch (ScopeOf(kind)) {
      case EntryScope::kRow:
        AppendNoFamily(&key, group);
        break;
      case EntryScope::kFamily:
        AppendNoColumn(&key, family);
        break;
      case EntryScope::kColumn:
      case EntryScope::kTimestamp:
        AppendColumn(&key, family, qualifier);
    }
    AppendTrailer(&key, timestamp, version, kind);
    return key;
  }

  // The order of the data model, field by field: see the top of entry_key.h. The order of a row's
  // deletions for different groups does not matter.
  auto Order() const {
    const bool of_row = ScopeOf(kind) == EntryScope::kRow;
    const bool of_family = ScopeOf(kind) == EntryScope::kFamily;
    return std::tuple(row, of_row ? 0 : 1, of_row ? std::string() : family, of_family ? 0 : 1,
                      of_row || of_family ? std::string() : qualifier, HasTimestamp(kind) ? 1 : 0,
                      HasTimestamp(kind) ? kLargestTimestamp - timestamp : 0,
                      kMaxSequence - version.sequence, kMaxOrdinal - version.ordinal);
  }
};

// Texts that share prefixes, zeros, end marks and escapes.
std::string HostileText(Random& random, bool with_zero) {
  static const std::string kBytes =
      "\x00\x01\xff\xfe"
      "ab\x02\x80"s;
  std::string text;
  for (uint64_t n = random.Below(5); n > 0; --n) {
    const char c = random.Pick(kBytes);
    if (with_zero || c != '\0') text.push_back(c);
  }
  return text;
}

Entry RandomEntry(Random& random) {
  static const std::vector<int64_t> kTimestamps = {
      0, 1, 2, 255, 256, int64_t{1} << 32, kLargestTimestamp - 1, kLargestTimestamp};
  static const std::vector<SequenceNumber> kSequences = {0, 1, 255, 256, 65536, kMaxSequence};
  static const std::vector<uint32_t> kOrdinals = {0, 1, 255, 256, 65535, 65536, kMaxOrdinal};
  Entry entry;
  entry.row = HostileText(random, true);
  entry.family = HostileText(random, false) + "f";
  entry.qualifier = HostileText(random, true);
  entry.kind = static_cast<EntryKind>(1 + random.Below(kLastKind));
  if (HasTimestamp(entry.kind)) entry.timestamp = random.Pick(kTimestamps);
  entry.version = {random.Pick(kSequences), random.Pick(kOrdinals)};
  entry.group = static_cast<uint32_t>(random.Below(300));
  return entry;
}

// An entry that shares several fields with `other`.
Entry Neighbour(Random& random, const Entry& other) {
  const Entry fresh = RandomEntry(random);
  Entry entry = other;
  if (random.OneIn(4)) entry.row = fresh.row;
  if (random.OneIn(4)) entry.family = fresh.family;
  if (random.OneIn(4)) entry.qualifier = fresh.qualifier;
  if (random.OneIn(4)) entry.timestamp = fresh.timestamp;
  if (random.OneIn(4)) entry.version = fresh.version;
  if (random.OneIn(4)) {
    entry.kind = fresh.kind;
    entry.timestamp = fresh.timestamp;
  }
  return entry;
}

TEST(EntryKeyTest, TheWorkedExampleHasTheSpecifiedBytes) {
  const Entry entry{"r", "f", "q", 1, {2, 0}, EntryKind::kCell};
  EXPECT_EQ(entry.Encode(),
            "r\x00\x01"
            "f\x00"
            "q\x00\x01"
            "\xff\xff\xff\xff\xff\xff\xff\xfe"
            "\xff\xff\xff\xff\xff\xff\xfd\xff\xff\xff"
            "\x01"s);
}

TEST(EntryKeyTest, MemcmpOrdersKeysLikeTheDataModelRandom) {
  ForEachSeed(20, [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 5000; ++i) {
      const Entry a = RandomEntry(random);
      const Entry b = Neighbour(random, a);
      const auto order = a.Order() <=> b.Order();
      if (order == 0) continue;  // equal, or two entries that differ only in the kind
      if (a.kind == EntryKind::kDeleteRow && b.kind == a.kind && a.group != b.group) continue;
      const std::string ka = a.Encode(), kb = b.Encode();
      ASSERT_EQ(std::string_view(ka).compare(kb) < 0, order < 0)
          << DebugString(ka) << " and " << DebugString(kb);
    }
    Tally("cases", 5000);
  });
}

TEST(EntryKeyTest, EveryPartRoundTripsRandom) {
  ForEachSeed(5, [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 5000; ++i) {
      const Entry entry = RandomEntry(random);
      const std::string key = entry.Encode();
      ASSERT_TRUE(IsWellFormed(key)) << DebugString(key);
      std::string scratch;
      ASSERT_EQ(RowOf(key, &scratch), entry.row);
      ASSERT_EQ(KindOf(key), entry.kind);
      ASSERT_TRUE(VersionOf(key) == entry.version) << DebugString(key);
      const size_t row_size = RowPrefixSize(key);
      ASSERT_EQ(key.substr(0, row_size), RowPrefix(entry.row));
      if (entry.kind == EntryKind::kDeleteRow) {
        ASSERT_EQ(FamilyOf(key, row_size), "");
        ASSERT_EQ(GroupOfRowDeletion(key, row_size), entry.group);
        continue;
      }
      ASSERT_EQ(FamilyOf(key, row_size), entry.family);
      if (HasTimestamp(entry.kind)) {
        ASSERT_EQ(TimestampOf(key), entry.timestamp);
      }
      if (entry.kind == EntryKind::kDeleteFamily) continue;
      const std::string_view escaped = EscapedQualifierOf(key, row_size, entry.family.size());
      ASSERT_EQ(Unescape(escaped, &scratch), entry.qualifier);
    }
    Tally("cases", 5000);
  });
}

TEST(EntryKeyTest, EveryGroupOfARowDeletionRoundTripsAndSortsBeforeAllFamilies) {
  const std::string cell = Entry{"r", "\x01", ""}.Encode();
  for (const uint32_t group : {0u, 1u, 126u, 127u, 128u, 16383u, 1u << 31, UINT32_MAX}) {
    Entry entry{"r", "", "", 0, {7, 1}, EntryKind::kDeleteRow, group};
    const std::string key = entry.Encode();
    EXPECT_TRUE(IsWellFormed(key)) << group;
    EXPECT_EQ(GroupOfRowDeletion(key, RowPrefixSize(key)), group);
    EXPECT_LT(key, cell);
    EXPECT_GT(key, RowPrefix("r"));
  }
}

TEST(EntryKeyTest, NoTruncatedKeyIsWellFormed) {
  for (const Entry& entry :
       {Entry{"row", "fam", "qualifier", 77, {99, 3}, EntryKind::kCell},
        Entry{"a\0b"s, "f", "\0"s, 0, {kMaxSequence, kMaxOrdinal}, EntryKind::kShadow},
        Entry{"", "f", "", kLargestTimestamp, {1, 0}, EntryKind::kDeleteCell},
        Entry{"row", "fam", "q", 0, {5, 0}, EntryKind::kDeleteColumn},
        Entry{"row", "fam", "", 0, {5, 0}, EntryKind::kDeleteFamily},
        Entry{"row", "", "", 0, {5, 0}, EntryKind::kDeleteRow, 200}}) {
    const std::string key = entry.Encode();
    EXPECT_TRUE(IsWellFormed(key));
    for (size_t n = 0; n < key.size(); ++n) {
      EXPECT_FALSE(IsWellFormed(std::string_view(key).substr(0, n)))
          << DebugString(key) << " " << n;
      if (n + 1 < key.size()) {  // with the kind kept
        EXPECT_FALSE(IsWellFormed(key.substr(0, n) + key.back())) << DebugString(key) << " " << n;
      }
    }
  }
}

TEST(EntryKeyTest, UnknownOrMismatchedKindsAreRefused) {
  std::string key = Entry{"r", "f", "q", 1, {2, 0}}.Encode();
  for (int kind = 0; kind < 256; ++kind) {
    key.back() = static_cast<char>(kind);
    // A cell, a deletion of a cell, a ghost, a shadow, contributions and a mark have the same form;
    // the others have no timestamp.
    const bool has_timestamp = (kind >= 1 && kind <= 4) || (kind >= 8 && kind <= 10);
    EXPECT_EQ(IsWellFormed(key), has_timestamp) << kind;
  }
  std::string row = Entry{"r", "", "", 0, {2, 0}, EntryKind::kDeleteRow}.Encode();
  std::string family = Entry{"r", "f", "", 0, {2, 0}, EntryKind::kDeleteFamily}.Encode();
  std::string column = Entry{"r", "f", "", 0, {2, 0}, EntryKind::kDeleteColumn}.Encode();
  for (int kind = 0; kind < 256; ++kind) {
    row.back() = family.back() = column.back() = static_cast<char>(kind);
    EXPECT_EQ(IsWellFormed(row), kind == 7) << kind;
    EXPECT_EQ(IsWellFormed(family), kind == 6) << kind;
    EXPECT_EQ(IsWellFormed(column), kind == 5 || kind == 11) << kind;
  }
}

TEST(EntryKeyTest, InvalidEscapesTimestampsAndGroupsAreRefused) {
  std::string trailer;
  AppendTrailer(&trailer, 1, {2, 0}, EntryKind::kCell);
  EXPECT_TRUE(
      IsWellFormed("r\0\x01"
                   "f\0q\0\x01"s +
                   trailer));
  EXPECT_FALSE(
      IsWellFormed("r\0\x02"
                   "f\0q\0\x01"s +
                   trailer));  // an invalid escape
  EXPECT_FALSE(
      IsWellFormed("r\0\x01"
                   "f\0q\0\x02"s +
                   trailer));
  EXPECT_FALSE(
      IsWellFormed("r\0\x01"
                   "\0q\0\x01"s +
                   trailer));  // a cell without a family
  EXPECT_FALSE(
      IsWellFormed("r\0\x01"
                   "f\0q\0\x01x"s +
                   trailer));  // bytes after the end mark
  EXPECT_FALSE(
      IsWellFormed("r\0\x01"
                   "f\0q\0\x01\0\x01"s +
                   trailer));

  std::string negative =
      "r\0\x01"
      "f\0q\0\x01"s;
  AppendTrailer(&negative, -1, {2, 0}, EntryKind::kCell);
  EXPECT_FALSE(IsWellFormed(negative));

  std::string row_trailer;
  AppendTrailer(&row_trailer, 0, {2, 0}, EntryKind::kDeleteRow);
  EXPECT_TRUE(IsWellFormed("r\0\x01\0\x01\0\x01"s + row_trailer));
  EXPECT_FALSE(IsWellFormed("r\0\x01\0\0\x01"s + row_trailer));  // no group
  EXPECT_FALSE(IsWellFormed("r\0\x01\0\x01\x01\0\x01"s + row_trailer));
  EXPECT_FALSE(IsWellFormed("r\0\x01\0\x81\x80\x80\x80\x10\0\x01"s + row_trailer));  // 2^32 + 1
}

TEST(EntryKeyTest, AKeyThatIsTooLongIsRefused) {
  Entry entry{std::string(kMaxEntryKeySize, 'r'), "f", "q"};
  EXPECT_FALSE(IsWellFormed(entry.Encode()));
  entry.row.resize(kMaxEntryKeySize - 100);
  EXPECT_TRUE(IsWellFormed(entry.Encode()));
}

TEST(EntryKeyTest, RandomBytesNeverCrashTheCheckRandom) {
  ForEachSeed(5, [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 20000; ++i) {
      std::string key = RandomEntry(random).Encode();
      key[random.Below(key.size())] = static_cast<char>(random.Next());
      if (!IsWellFormed(key)) continue;
      // A key that passes can be parsed: the sanitizers check it.
      std::string scratch;
      const size_t row_size = RowPrefixSize(key);
      ASSERT_LE(row_size, key.size() - kTrailerSize);
      const size_t family_size = FamilyOf(key, row_size).size();
      ASSERT_LE(row_size + family_size + 1, key.size() - kTrailerSize);
      RowOf(key, &scratch);
      ASSERT_FALSE(DebugString(key).starts_with("malformed"));
    }
    Tally("cases", 20000);
  });
}

TEST(EntryKeyTest, UnescapeCopiesOnlyIfThereWereZeros) {
  std::string scratch = "untouched";
  const std::string plain = RowPrefix("plain\xff\x01");
  EXPECT_EQ(Unescape(plain, &scratch), "plain\xff\x01");
  EXPECT_EQ(Unescape(plain, &scratch).data(), plain.data());
  EXPECT_EQ(scratch, "untouched");
  const std::string zeros = RowPrefix("\0a\0\0\xff\0"s);
  EXPECT_EQ(zeros,
            "\0\xff"
            "a\0\xff\0\xff\xff\0\xff\0\x01"s);
  EXPECT_EQ(Unescape(zeros, &scratch), "\0a\0\0\xff\0"s);
  EXPECT_EQ(Unescape(RowPrefix(""), &scratch), "");
}

TEST(EntryKeyTest, ThePrefixSuccessorIsTheFirstKeyAfterThePrefix) {
  EXPECT_EQ(PrefixSuccessor("a"), "b");
  EXPECT_EQ(PrefixSuccessor("a\xff\xff"), "b");
  EXPECT_EQ(PrefixSuccessor("a\x7f"), "a\x80");
  EXPECT_EQ(PrefixSuccessor("a\0"s), "a\x01");
  EXPECT_EQ(PrefixSuccessor("\xff\xff"), "");
  EXPECT_EQ(PrefixSuccessor(""), "");
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string prefix = HostileText(random, true), text = HostileText(random, true);
    const std::string successor = PrefixSuccessor(prefix);
    if (successor.empty()) continue;
    EXPECT_GT(successor, prefix);
    EXPECT_EQ(text >= successor, text > prefix && !text.starts_with(prefix));
  }
}

TEST(EntryKeyTest, BehindARowIsNothingOfItAndAllOfTheNextRandom) {
  ForEachSeed(50, [](uint64_t seed) {
    Random random(seed);
    for (int i = 0; i < 500; ++i) {
      const Entry a = RandomEntry(random);
      Entry b = Neighbour(random, a);
      b.family.insert(0, "f");  // names begin with letters, digits and the like
      const std::string behind = BehindRow(a.Encode());
      EXPECT_EQ(behind, RowPrefix(a.row) + "\xff");
      EXPECT_EQ(b.Encode() < behind, b.row <= a.row) << DebugString(b.Encode());
      EXPECT_NE(b.Encode(), behind);
    }
  });
  EXPECT_EQ(BehindRow(""), "");
  EXPECT_EQ(BehindRow("a\0\xff"s), "");
  EXPECT_EQ(BehindRow("a\0\x01"s), "a\0\x01\xff"s);
}

TEST(EntryKeyTest, ATimestampTargetSortsBeforeCellsUpToItAndAfterNewerOnes) {
  std::string target = RowPrefix("r");
  AppendColumn(&target, "f", "q");
  AppendTimestamp(&target, 100);
  const auto cell = [](int64_t timestamp, SequenceNumber sequence) {
    return Entry{"r", "f", "q", timestamp, {sequence, 0}}.Encode();
  };
  EXPECT_LT(cell(101, 1), target);
  EXPECT_LT(target, cell(100, kMaxSequence));
  EXPECT_LT(target, cell(99, 1));
  EXPECT_LT((Entry{"r", "f", "q", 0, {1, 0}, EntryKind::kDeleteColumn}.Encode()), target);
}

TEST(EntryKeyTest, DebugStringIsReadable) {
  EXPECT_EQ(DebugString(Entry{"r\0"s, "f", "q", 5, {7, 1}}.Encode()), "r\\x00/f:q@5#7.1 cell");
  EXPECT_EQ(DebugString(Entry{"r", "f", "", 0, {7, 0}, EntryKind::kDeleteFamily}.Encode()),
            "r/f:#7.0 delete-family");
  EXPECT_EQ(DebugString(Entry{"r", "", "", 0, {7, 0}, EntryKind::kDeleteRow, 3}.Encode()),
            "r(group 3)#7.0 delete-row");
  EXPECT_EQ(DebugString("x"), "malformed \"x\"");
}

}  // namespace
}  // namespace bigtable
