// A cursor that is used for one read after another returns what a new cursor returns for each: no
// state of a read is left in the next, in whatever cell, row or error it was left. The new cursor
// has no shortcuts.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

#include "bigtable/filter.h"
#include "bigtable/row_range.h"

#include "base/strings.h"
#include "base/time_range.h"
#include "memtable/memtable_cursor.h"
#include "read/cell_cursor.h"
#include "read/filter_node.h"
#include "retention/aggregates.h"
#include "support/entry_text.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/test_sstables.h"

namespace bigtable {
namespace {

using std::string_view_literals::operator""sv;

const std::vector<std::string_view> kReadRows = {"a"sv,    "b"sv,       "b\0"sv,       "bb"sv,
                                                 "c\0d"sv, "damaged"sv, "e"sv,         "f"sv,
                                                 "g"sv,    "g\0"sv,     "h and more"sv};
const std::vector<std::string_view> kQualifiers = {"q"sv, "q\0x"sv, "r"sv};
// "gone" was dropped, "later" created anew, and "sum" is an aggregate.
const std::vector<std::string_view> kFamilies = {"gone"sv,  "later"sv, "one"sv,
                                                 "plain"sv, "sum"sv,   "two"sv};
constexpr SequenceNumber kLaterCreated = 100;

TableLayout Layout() {
  TableLayout layout;
  layout.groups.push_back({.id = layout.next_group_id++, .name = "default", .options = {}});
  layout.families.push_back({.name = "later", .gc = {}, .created = kLaterCreated});
  layout.families.push_back({.name = "one", .gc = GcRule::MaxVersions(1)});
  layout.families.push_back({.name = "plain", .gc = {}});
  layout.families.push_back({.name = "sum", .gc = {}});
  layout.families.back().SetValueType(ValueType::kInt64Sum, "");
  layout.families.push_back({.name = "two", .gc = GcRule::MaxVersions(2)});
  return layout;
}

TextEntry RandomEntry(Random* random, SequenceNumber sequence) {
  TextEntry entry;
  const std::string_view family = random->Pick(kFamilies);
  const int64_t timestamp = random->Between(1, 6);
  const EntryVersion version{sequence, 0};
  AppendRowPrefix(&entry.key, random->Pick(kReadRows));
  const uint64_t what = random->Below(20);
  if (what == 0) {
    AppendNoFamily(&entry.key, 0);
    AppendTrailer(&entry.key, 0, version, EntryKind::kDeleteRow);
  } else if (what == 1) {
    AppendNoColumn(&entry.key, family);
    AppendTrailer(&entry.key, 0, version, EntryKind::kDeleteFamily);
  } else {
    AppendColumn(&entry.key, family, random->Pick(kQualifiers));
    if (what == 2) {
      AppendTrailer(&entry.key, 0, version, EntryKind::kDeleteColumn);
    } else if (what == 3) {
      AppendTrailer(&entry.key, 0, version, EntryKind::kDeleteTimeRange);
      entry.value = EncodeTimeRange({timestamp, timestamp + random->Between(1, 3)});
    } else if (what == 4) {
      AppendTrailer(&entry.key, timestamp, version, EntryKind::kDeleteCell);
    } else {
      const bool is_sum = family == "sum";
      AppendTrailer(&entry.key, timestamp, version,
                    is_sum ? EntryKind::kAddToCell : EntryKind::kCell);
      entry.value = is_sum ? std::string(8, static_cast<char>(sequence)) : Cat("v", sequence);
    }
  }
  return entry;
}

// A run of one file, an immutable and an active memtable. Row "damaged" has an error.
std::unique_ptr<TabletVersion> RandomVersion(Random* random, TestSSTables* tables) {
  const uint64_t entries = 1 + random->Below(400);
  std::vector<Ref<Memtable>> parts;
  for (int part = 0; part < 3; ++part) parts.push_back(NewTestMemtable());
  for (uint64_t i = 0; i < entries; ++i) {
    const TextEntry entry = RandomEntry(random, i + 1);
    parts[3 * i / entries]->Add(entry.key, entry.value);
  }
  if (random->OneIn(2)) {
    std::string key;
    AppendRowPrefix(&key, "damaged");
    AppendColumn(&key, "plain", "");
    AppendTrailer(&key, 0, {entries + 1, 0}, EntryKind::kDeleteTimeRange);
    parts[2]->Add(key, "no range");
  }
  GroupVersion group{parts[2], {parts[1]}, {}};
  if (!parts[0]->empty()) {
    MemtableCursor cursor(parts[0].get());
    group.runs.push_back(SortedRun({tables->Open(tables->Write(&cursor, 1))}));
  }
  return std::make_unique<TabletVersion>(std::make_shared<const TableLayout>(Layout()),
                                         std::vector<GroupVersion>{std::move(group)},
                                         MakeRef<ReadLimit>());
}

Filter RandomFilterOf(Random* random) {
  switch (random->Below(6)) {
    case 0:
      return Filter::TimestampRange(Timestamp(random->Between(0, 3)), Timestamp(4));
    case 1:
      return Filter::Latest(1);
    case 2:
      return Filter::ColumnRange("plain", "q", "r");
    case 3:
      return Filter::CellsRowLimit(2);
    default:
      return Filter();
  }
}

// A cell, or why there is none.
std::string Show(const CellCursor& cells, bool found) {
  if (!cells.status().ok()) return std::string(cells.status().ToString());
  if (!found) return "no cell";
  return Cat(cells.is_new_row() ? "new row " : "", absl::CHexEscape(ToAbsl(cells.row())), "/",
             cells.family().name, ":", absl::CHexEscape(ToAbsl(cells.qualifier())), "@",
             cells.timestamp(), " ", absl::CHexEscape(ToAbsl(cells.value())));
}

class Reads {
 public:
  Reads(const TabletVersion* version, const ReadSpec* spec, Random* random)
      : version_(version), spec_(spec), random_(random), reused_(version, *spec) {}

  // One read, perhaps not to its end.
  void Run() {
    const ScopedShortcuts off(ScopedShortcuts::kAll);
    CellCursor fresh(version_, *spec_);
    if (random_->OneIn(2)) {
      const std::string_view row = random_->Pick(kReadRows);
      fresh.ReadRow(RowProbe(*version_, row, spec_->filter == nullptr));
      reused_.ReadRow(RowProbe(*version_, row, spec_->filter == nullptr));
    } else {
      const RowRange rows = RandomRange();
      fresh.ReadRange(rows);
      reused_.ReadRange(rows);
    }
    bool found = false;
    for (uint64_t left = random_->Below(40); left > 0; --left) {
      const bool in_row = found && random_->OneIn(4);
      if (found && !in_row && random_->OneIn(8)) {
        fresh.SkipRow();
        reused_.SkipRow();
      }
      found = in_row ? fresh.NextInRow() : fresh.Next();
      const bool reused_found = in_row ? reused_.NextInRow() : reused_.Next();
      ASSERT_EQ(Show(reused_, reused_found), Show(fresh, found));
      if (!found && !in_row) return;
    }
  }

 private:
  RowRange RandomRange() {
    if (random_->OneIn(4)) return RowRange::All();
    std::string_view begin = random_->Pick(kReadRows);
    std::string_view end = random_->Pick(kReadRows);
    if (random_->OneIn(3)) return RowRange::StartingAt(begin);
    return RowRange::RightOpen(std::min(begin, end), std::max(begin, end));
  }

  const TabletVersion* const version_;
  const ReadSpec* const spec_;
  Random* const random_;
  CellCursor reused_;
};

TEST(RandomReusedCursorTest, ReadsWhatANewCursorReads) {
  ForEachSeed(kSlow ? 30 : 300, [](uint64_t seed) {
    Random random(seed);
    TestSSTables tables;
    const std::unique_ptr<TabletVersion> version = RandomVersion(&random, &tables);
    const Filter filter = RandomFilterOf(&random);
    ReadSpec spec;
    spec.filter = FilterNode::Of(filter);
    spec.reverse = random.OneIn(3);
    if (random.OneIn(4)) spec.sequence = 1 + random.Below(400);
    if (random.OneIn(4)) spec.limits.deadline = Deadline::In(absl::Hours(1));
    const ScopedShortcutsOn shortcuts;
    Reads reads(version.get(), &spec, &random);
    for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) reads.Run();
  });
}

}  // namespace
}  // namespace bigtable
