// Whatever is compacted, in whatever order: all reads that may still come, at the snapshots that
// are held and at the present, return what the history of the writes requires, and a major
// compaction leaves no unneeded entries.
//
// Rules change at any time. A compaction that began before a change and ends after it is equivalent
// to one that took place before: it reads only what was written before, and nothing else matters
// for it.
//
// A run is a memtable here, and the tablet's version has memtables in place of sorted runs. The
// expected result is that of the model (tests/support/model.h).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/read_modify_write.h"
#include "bigtable/schema.h"

#include "base/entry_key.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "compaction/collecting_cursor.h"
#include "compaction/merging_cursor.h"
#include "memtable/memtable_cursor.h"
#include "read/cell_cursor.h"
#include "schema/table_layout.h"
#include "support/entry_text.h"
#include "support/model.h"
#include "support/model_aggregates.h"
#include "support/random.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "tablet/tablet_version.h"

namespace bigtable {
namespace {

// The engine's kind of an operation.
EntryKind EntryKindOf(const ModelOperation& op) {
  switch (op.kind) {
    case ModelOperation::Kind::kSet:
      return EntryKind::kCell;
    case ModelOperation::Kind::kDeleteColumn:
      return EntryKind::kDeleteColumn;
    case ModelOperation::Kind::kDeleteCell:
      return EntryKind::kDeleteCell;
    case ModelOperation::Kind::kDeleteFamily:
      return EntryKind::kDeleteFamily;
    case ModelOperation::Kind::kDeleteRow:
      return EntryKind::kDeleteRow;
    case ModelOperation::Kind::kAddToCell:
      return EntryKind::kAddToCell;
    case ModelOperation::Kind::kMergeToCell:
      return EntryKind::kMergeToCell;
    case ModelOperation::Kind::kDeleteTimeRange:
      return EntryKind::kDeleteTimeRange;
  }
  return EntryKind::kCell;
}

Family ModelFamily(const FamilyLayout& layout) {
  return {
      .gc = layout.gc, .value_type = layout.value_type, .value_operator = layout.value_operator};
}

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    layout_.groups = {{.id = 0, .name = "default", .options = {}}};
    out_of_order_ = random_.OneIn(2);
    for (const char* name : {"a", "b", "c"}) {
      layout_.families.push_back({name, 0, RandomRule(), 0});
      FamilyLayout* const family = &layout_.families.back();
      if (!IsCombined(family->gc) && random_.OneIn(2)) ChooseAggregate(family);
    }
    one_column_ = random_.OneIn(2);
    rows_ = 1 + random_.Below(one_column_ ? 1 : 2);
    columns_ = 1 + random_.Below(one_column_ ? 1 : 2);
    timestamps_ = 1 + random_.Below(random_.OneIn(2) ? 25 : 8);
    changes_rules_ = random_.OneIn(2);
    now_ = 5 + random_.Below(20);
    runs_ = {NewTestMemtable()};
    for (const FamilyLayout& family : layout_.families) {
      model_.AddFamily(family.name, ModelFamily(family));
    }
  }

  // A history of one column, a:0 of r0.
  static History OfOneColumn(int64_t max_versions) {
    History history(0);
    FamilyLayout& family = history.layout_.families[0];
    family.gc = GcRule::MaxVersions(max_versions);
    family.SetValueType(ValueType::kBytes, "");
    history.model_.DropFamily(family.name);
    history.model_.AddFamily(family.name, ModelFamily(family));
    return history;
  }
  void Put(ModelOperation::Kind kind, int64_t timestamp) {
    ++last_;
    Store({"r0", {{.kind = kind, .family = "a", .qualifier = "0", .timestamp = timestamp}}});
  }

  void Step() {
    switch (random_.Below(changes_rules_ ? 13 : 12)) {
      case 0:
        snapshots_.insert(last_);
        break;
      case 1:
        if (!snapshots_.empty()) {
          snapshots_.erase(std::next(snapshots_.begin(),
                                     static_cast<ptrdiff_t>(random_.Below(snapshots_.size()))));
        }
        break;
      case 2:
        if (!runs_[0]->empty()) runs_.insert(runs_.begin(), NewTestMemtable());
        break;
      case 3:
      case 4:
        CompactSome();
        break;
      case 5:
        if (random_.OneIn(4)) {
          Recreate(&layout_.families[random_.Below(layout_.families.size())]);
        } else {
          now_ += random_.Below(random_.OneIn(2) ? 3 : 12);
        }
        break;
      case 12:
        ChangeRule(&layout_.families[random_.Below(one_column_ ? 1 : layout_.families.size())]);
        break;
      default:
        Mutate();
    }
  }
  // Merges the runs [first, first + count) into one.
  void Compact(size_t first, size_t count) {
    const bool major = first + count == runs_.size();
    MergingCursor input;
    std::vector<std::unique_ptr<MemtableCursor>> cursors;
    for (size_t i = first; i < first + count; ++i) {
      cursors.push_back(std::make_unique<MemtableCursor>(runs_[i].get()));
      input.Add(cursors.back().get());
    }
    Retention retention = layout_.RetentionOf(0, Now());
    retention.snapshots.assign(snapshots_.begin(), snapshots_.end());
    retention.present = last_;
    // Entries that are not read here were written later.
    retention.complete_through = last_;
    for (size_t i = 0; i < first; ++i) {
      if (const SequenceNumber s = runs_[i]->first_sequence(); s != 0) {
        retention.complete_through = std::min(retention.complete_through, s - 1);
      }
    }
    if (random_.OneIn(3) && count < runs_.size()) retention.complete_through = 0;  // unknown
    retention.held = random_.OneIn(10) && first > 0;
    const Ref<Memtable> output = NewTestMemtable();
    CollectingCursor entries(&input, &retention, major);
    std::string last_key;
    for (entries.SeekToFirst(); entries.valid(); entries.Next()) {
      ASSERT_TRUE(IsWellFormed(entries.key()));
      ASSERT_LT(last_key, entries.key()) << "out of order: " << DebugString(entries.key());
      last_key = entries.key();
      output->RecordSequence(VersionOf(entries.key()).sequence);
      output->Add(entries.key(), entries.value());
    }
    ASSERT_TRUE(entries.status().ok());
    absl::StrAppend(&script_, retention.held ? "held " : "", major ? "major" : "merging",
                    " compaction of runs ", first, " to ", first + count - 1,
                    "; the snapshots are");
    for (const SequenceNumber s : snapshots_) absl::StrAppend(&script_, " ", s);
    absl::StrAppend(&script_, ", the present ", last_, ", the time ", now_, ", complete through ",
                    retention.complete_through, "\n");
    Tally("compactions");
    runs_.erase(runs_.begin() + static_cast<ptrdiff_t>(first),
                runs_.begin() + static_cast<ptrdiff_t>(first + count));
    runs_.insert(runs_.begin() + static_cast<ptrdiff_t>(first), output);
  }
  void CompactAll() {
    snapshots_.clear();
    Compact(0, runs_.size());
    runs_.insert(runs_.begin(), NewTestMemtable());
  }

  // Reads at every sequence number that may still be read.
  void Check() {
    std::set<SequenceNumber> sequences = snapshots_;
    sequences.insert(last_);
    for (const SequenceNumber sequence : sequences) {
      ASSERT_EQ(Read(sequence), Expected(sequence)) << "at " << sequence << ", after:\n"
                                                    << Rules() << script_ << "there are now:\n"
                                                    << EntriesText();
    }
  }
  // After a major compaction without snapshots only visible cells and ghosts are left.
  void CheckOnlyNeededEntriesAreLeft() {
    std::map<std::string, int64_t> ghosts;   // of a column
    std::map<std::string, int64_t> shadows;  // of a column
    std::string cells;
    MemtableCursor cursor(runs_.back().get());
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      const std::string_view key = cursor.key();
      if (IsCell(KindOf(key))) {
        absl::StrAppend(&cells, CellText(key, cursor.value()));
        continue;
      }
      const FamilyLayout* family =
          layout_.FindFamily(ToStd(ToAbsl(FamilyOf(key, RowPrefixSize(key)))));
      if (IsCombined(family->gc)) {
        // Cells that were collected by their age still count: up to the most versions. And each
        // cell may have a mark, and as many ghosts.
        const bool is_rest = KindOf(key) == EntryKind::kShadow;
        if (is_rest) {
          ASSERT_LE(++shadows[std::string(ColumnPrefix(key))], family->most_versions());
        }
        ASSERT_TRUE(is_rest || KindOf(key) == EntryKind::kGhost ||
                    KindOf(key) == EntryKind::kCountedOut)
            << DebugString(key) << "\n"
            << script_;
        continue;
      }
      ASSERT_EQ(KindOf(key), EntryKind::kGhost) << DebugString(key) << "\n" << script_;
      // Of n living cells, the i-th from new to old has i - 1 living ones and at most n - i ghosts
      // before it.
      const int64_t n = family->gc.max_versions().value_or(0);
      ASSERT_LE(++ghosts[std::string(ColumnPrefix(key))], n * (n - 1) / 2)
          << DebugString(key) << "\n"
          << script_;
    }
    ASSERT_EQ(cells, Expected(last_)) << Rules() << script_;
  }

 private:
  GcRule RandomRule() {
    const auto random_versions = [this] {
      return GcRule::MaxVersions(random_.Between(1, random_.OneIn(2) ? 6 : 3));
    };
    const auto random_age = [this] {
      return GcRule::MaxAge(absl::Microseconds(random_.Between(1, random_.OneIn(2) ? 9 : 25)));
    };
    GcRule rule;
    if (!random_.OneIn(3)) rule = random_versions();
    if (random_.OneIn(4)) rule = GcRule::Union(rule, random_age());
    for (int i = 0; i < 3 && random_.OneIn(3); ++i) {
      rule = GcRule::Union(rule, GcRule::Intersection(random_versions(), random_age()));
    }
    return rule;
  }
  // Whether it combines versions with an age.
  static bool IsCombined(const GcRule& rule) {
    return rule.steps().size() != (rule.max_versions() ? 1u : 0u) + (rule.max_age() ? 1u : 0u);
  }
  // The concatenation shows which contributions are in a cell, and in which order.
  void ChooseAggregate(FamilyLayout* family) {
    const bool is_sum = random_.OneIn(4);
    family->SetValueType(is_sum ? ValueType::kInt64Sum : ValueType::kBytes,
                         is_sum ? "" : kConcatenation);
  }
  // The family is dropped and created again, which takes a sequence number.
  void Recreate(FamilyLayout* family) {
    family->created = ++last_;
    family->past = {};
    if (!IsCombined(family->gc) && random_.OneIn(2)) ChooseAggregate(family);
    model_.DropFamily(family->name);
    model_.AddFamily(family->name, ModelFamily(*family));
    absl::StrAppend(&script_, family->name, " is created again at ", last_, "\n");
  }
  void ChangeRule(FamilyLayout* family) {
    const GcRule rule = RandomRule();
    if (rule == family->gc || (family->aggregate != nullptr && IsCombined(rule))) return;
    family->ChangeRule(rule, ++last_, Now());
    model_.UpdateFamily(family->name, ModelFamily(*family), last_, NowMicros());
    absl::StrAppend(&script_, "at ", last_, " the rules are\n", Rules());
  }
  int64_t NowMicros() const { return static_cast<int64_t>(now_); }
  absl::Time Now() const { return absl::FromUnixMicros(NowMicros()); }

  void CompactSome() {
    if (runs_[0]->empty()) {
      if (runs_.size() == 1) return;
    } else {
      runs_.insert(runs_.begin(), NewTestMemtable());  // merged memtables are immutable
    }
    const size_t first = 1 + random_.Below(runs_.size() - 1);
    Compact(first, 1 + random_.Below(runs_.size() - first));
  }
  void Mutate() {
    ++last_;
    if (!out_of_order_) ++now_;
    ModelMutation mutation{absl::StrCat("r", random_.Below(rows_)), {}};
    const uint64_t operations = random_.OneIn(3) ? 1 + random_.Below(4) : 1;
    for (uint32_t ordinal = 0; ordinal < operations; ++ordinal) {
      mutation.operations.push_back(RandomOperation(ordinal));
    }
    Store(mutation);
  }
  ModelOperation RandomOperation(uint32_t ordinal) {
    using Kind = ModelOperation::Kind;
    static constexpr Kind kKinds[] = {Kind::kSet,        Kind::kSet,          Kind::kSet,
                                      Kind::kSet,        Kind::kSet,          Kind::kDeleteCell,
                                      Kind::kDeleteCell, Kind::kDeleteColumn, Kind::kDeleteFamily,
                                      Kind::kDeleteRow};
    const size_t kinds = std::size(kKinds) - (one_column_ && !random_.OneIn(8) ? 3 : 0);
    ModelOperation op;
    op.kind = kKinds[random_.Below(kinds)];
    if (op.kind == Kind::kDeleteRow) return op;
    const FamilyLayout& family = layout_.families[random_.Below(one_column_ ? 1 : 3)];
    op.family = family.name;
    if (op.kind == Kind::kDeleteFamily) return op;
    op.qualifier = absl::StrCat(random_.Below(columns_));
    if (op.kind == Kind::kDeleteColumn && random_.OneIn(2)) return op;
    op.timestamp = static_cast<int64_t>(random_.Below(timestamps_));
    if (!out_of_order_) *op.timestamp += static_cast<int64_t>(last_);
    if (op.kind == Kind::kDeleteColumn) {
      op.kind = Kind::kDeleteTimeRange;
      op.end = *op.timestamp + random_.Between(1, static_cast<int64_t>(timestamps_));
      return op;
    }
    if (op.kind != Kind::kSet) return op;
    op.value = absl::StrCat("v", last_, ".", ordinal);
    if (family.aggregate == nullptr) return op;
    op.kind = random_.OneIn(2) ? Kind::kAddToCell : Kind::kMergeToCell;
    if (family.value_operator.empty()) op.value = EncodeBigEndian(static_cast<int64_t>(last_));
    return op;
  }
  // Applies the mutation at `last_`.
  void Store(const ModelMutation& mutation) {
    model_.Apply(last_, NowMicros(), mutation);
    runs_[0]->RecordSequence(last_);
    uint32_t ordinal = 0;
    for (const ModelOperation& op : mutation.operations) {
      std::string key = RowPrefix(mutation.row);
      if (op.kind == ModelOperation::Kind::kDeleteRow) {
        AppendNoFamily(&key, 0);
      } else if (op.kind == ModelOperation::Kind::kDeleteFamily) {
        AppendNoColumn(&key, op.family);
      } else {
        AppendColumn(&key, op.family, op.qualifier);
      }
      AppendTrailer(&key, op.timestamp.value_or(0), {last_, ordinal++}, EntryKindOf(op));
      const bool is_range = op.kind == ModelOperation::Kind::kDeleteTimeRange;
      const std::string range = is_range ? EncodeTimeRange({*op.timestamp, op.end}) : std::string();
      const std::string_view value = is_range ? std::string_view(range) : op.value.view();
      runs_[0]->Add(key, value);
      absl::StrAppend(&script_, EntryText(key, value), "\n");
    }
  }

  // The result of a read at `sequence`, a line for each cell.
  std::string Expected(SequenceNumber sequence) const {
    std::string out;
    for (const std::string& row : model_.RowKeys()) {
      for (const ModelCell& cell : model_.Read(row, sequence, NowMicros())) {
        absl::StrAppend(&out, Cat(row, "/", cell.family, ":", cell.qualifier, "@", cell.timestamp,
                                  "=", cell.value.view(), "\n"));
      }
    }
    return out;
  }
  std::string Read(SequenceNumber sequence) {
    // The memtables as the engine has them: the active one, the immutable ones from new to old, and
    // the runs.
    GroupVersion group{runs_[0], {runs_.begin() + 1, runs_.end()}, {}};
    const TabletVersion version(std::make_shared<const TableLayout>(layout_), {group},
                                MakeRef<ReadLimit>());
    ReadSpec spec;
    spec.sequence = sequence;
    spec.now = Now();
    CellCursor cells(&version, spec);
    cells.ReadRange(RowRange::All());
    std::string out;
    while (cells.Next()) {
      absl::StrAppend(&out, Cat(cells.row(), "/", cells.family().name, ":", cells.qualifier(), "@",
                                cells.timestamp(), "=", cells.value(), "\n"));
    }
    EXPECT_TRUE(cells.status().ok());
    return out;
  }
  static std::string CellText(std::string_view key, std::string_view value) {
    const std::string name = DebugString(key);
    return Cat(std::string_view(name).substr(0, name.find('#')), "=", value, "\n");
  }
  std::string Rules() const {
    std::string out;
    for (const FamilyLayout& family : layout_.families) {
      absl::StrAppend(&out, "family ", family.name, ", created ", family.created);
      if (family.aggregate != nullptr) {
        absl::StrAppend(&out, ", aggregates of ", ToAbsl(family.aggregate->what()));
      }
      for (const GcRule::Step& step : family.gc.steps()) {
        absl::StrAppend(&out, ", ", step.versions, " newer and ", absl::FormatDuration(step.age));
      }
      out += "\n";
    }
    return out;
  }
  std::string EntriesText() const {
    std::string out;
    for (size_t i = 0; i < runs_.size(); ++i) {
      absl::StrAppend(&out, "run ", i, ":\n");
      MemtableCursor cursor(runs_[i].get());
      cursor.SeekToFirst();
      out += RestText(&cursor);
    }
    return out;
  }

  Random random_;
  TableLayout layout_;
  bool one_column_ = false;  // a long history of a single column, mostly of single cells
  uint64_t rows_ = 1;
  uint64_t columns_ = 1;
  uint64_t timestamps_ = 1;
  bool changes_rules_ = false;
  bool out_of_order_ = true;  // timestamps are independent of the order of writes
  uint64_t now_ = 0;
  SequenceNumber last_ = 0;
  std::set<SequenceNumber> snapshots_;
  std::vector<Ref<Memtable>> runs_;  // from new to old; the first is written to
  ModelTable model_{TableSchema()};
  std::string script_;
};

// Each of the living cells has deleted ones of its own that count against it.
TEST(CompactionTest, EveryLivingCellKeepsTheGhostsThatCountAgainstIt) {
  constexpr auto kCell = ModelOperation::Kind::kSet;
  constexpr auto kDelete = ModelOperation::Kind::kDeleteCell;
  History history = History::OfOneColumn(4);
  history.Put(kCell, 20);
  for (const int64_t deleted : {21, 22, 23}) history.Put(kCell, deleted);
  for (const int64_t deleted : {21, 22, 23}) history.Put(kDelete, deleted);
  history.Put(kCell, 10);
  for (const int64_t deleted : {11, 12}) history.Put(kCell, deleted);
  for (const int64_t deleted : {11, 12}) history.Put(kDelete, deleted);
  history.Put(kCell, 1);
  history.Put(kCell, 2);
  history.Put(kDelete, 2);
  history.Check();
  history.CompactAll();
  history.Check();
  history.Put(kCell, 30);  // the fourth one after each of them
  history.Check();
}

TEST(RandomCompactionTest, ACompactionDoesNotChangeReads) {
  ForEachSeed(kSlow ? 300 : 3000, [](uint64_t seed) {
    History history(seed);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      history.Step();
      history.Check();
    }
    if (testing::Test::HasFailure()) return;
    history.CompactAll();
    history.Check();
    history.CheckOnlyNeededEntriesAreLeft();
    Tally("cases");
  });
}

}  // namespace
}  // namespace bigtable
