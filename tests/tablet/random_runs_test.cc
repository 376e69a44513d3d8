// Random changes of a tablet's runs do not change what reads return. The changes are minor
// compactions, merges of adjacent runs, pushes of single files, the picks of each policy, and
// reopening. Files are so small that rows and columns are split over them. The model
// (support/model.h) has the expected cells; METADATA is a TabletState. In half of the test's runs,
// rules change at any time, as the master changes them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/testing/in_memory_file_system.h"

#include "background/compaction_picker.h"
#include "background/compaction_plan.h"
#include "background/merging_compaction.h"
#include "background/minor_compaction.h"
#include "base/shortcuts.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "compaction/policies.h"
#include "read/cell_cursor.h"
#include "schema/mutation_format.h"
#include "support/entry_text.h"
#include "support/expect_status.h"
#include "support/model.h"
#include "support/model_compaction_policy.h"
#include "support/random.h"
#include "support/read_mode.h"
#include "support/scoped_merge_part.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/test_clock.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

class StateStore final : public TabletStore {
 public:
  bool TakesTogether(absl::Span<const TabletStep>) const override { return true; }
  absl::Status Commit(absl::Span<const TabletStep> steps) override {
    for (const TabletStep& step : steps) ApplyChange(step.change, &state);
    return absl::OkStatus();
  }
  TabletState state;
};

std::string OperationsOf(const ModelMutation& mutation) {
  using Kind = ModelOperation::Kind;
  static const std::map<Kind, EntryKind> kKinds = {
      {Kind::kSet, EntryKind::kCell},
      {Kind::kDeleteCell, EntryKind::kDeleteCell},
      {Kind::kDeleteColumn, EntryKind::kDeleteColumn},
      {Kind::kDeleteFamily, EntryKind::kDeleteFamily},
      {Kind::kDeleteRow, EntryKind::kDeleteRow},
      {Kind::kDeleteTimeRange, EntryKind::kDeleteTimeRange}};
  std::string out;
  for (const ModelOperation& op : mutation.operations) {
    const bool is_range = op.kind == Kind::kDeleteTimeRange;
    const std::string range = is_range ? EncodeTimeRange({*op.timestamp, op.end}) : std::string();
    AppendOperation(&out, {.kind = kKinds.at(op.kind),
                           .has_timestamp = op.timestamp.has_value() && !is_range,
                           .timestamp = op.timestamp.value_or(0),
                           .family = op.family,
                           .qualifier = op.qualifier,
                           .value = is_range ? std::string_view(range) : op.value.view()});
  }
  return out;
}

class RandomRuns {
 public:
  explicit RandomRuns(uint64_t seed) : random_(seed), model_(RandomSchema()) {
    changes_rules_ = random_.OneIn(2);
    environment_.file_system = &file_system_;
    environment_.clock = &clock_;
    environment_.budget = TestBudget();
    environment_.open_tables = &open_tables_;
    environment_.store = &store_;
    environment_.snapshots = &snapshots_;
    environment_.target_file_size = static_cast<uint64_t>(random_.Between(200, 3000));
    environment_.most_memtable_size = environment_.target_file_size;
    environment_.server = "server-1";
    environment_.file_numbers = &file_numbers_;
    environment_.path_of = [](uint64_t number) { return absl::StrCat("/", number, ".sst"); };
    environment_.visible = [this] { return sequences_.last(); };
    environment_.sync_log = [this](absl::Span<const ImmutableMemtables>) {
      return sequences_.last();
    };
    environment_.remove_file = [this](uint64_t number) {
      EXPECT_OK(file_system_.RemoveFile(environment_.path_of(number)));
    };
    absl::StatusOr<TableLayout> layout = MakeTableLayout("t", 1, model_.schema());
    EXPECT_OK(layout);
    layout_ = *std::move(layout);
    OpenTablet();
  }

  void Step() {
    switch (random_.Below(changes_rules_ ? 13 : 12)) {
      case 0:
      case 1:
        Flush();
        break;
      case 2:
        Compact(RandomMerge());
        break;
      case 3:
      case 4:
        Compact(RandomPush());
        break;
      case 5:
        Compact(Pick());
        break;
      case 6:
        clock_.Advance(absl::Microseconds(random_.Between(0, 400)));
        break;
      case 7:
        MoveSnapshots();
        break;
      case 8:
        if (random_.OneIn(3)) Reopen();
        break;
      case 9:
        BeginCompaction();
        break;
      case 10:
        EndCompaction();
        break;
      case 12:
        if (random_.OneIn(2)) ChangeRule();
        break;
      default:
        for (int64_t i = random_.Between(1, 12); i > 0; --i) Mutate();
    }
  }
  // Reads at every snapshot that is held.
  void Check() {
    std::vector<SnapshotList::Point> points = held_;
    points.push_back({sequences_.last(), clock_.Now()});
    for (const SnapshotList::Point& point : points) {
      ASSERT_EQ(Read(point), Expected(point)) << "at " << point.sequence << "\n" << script_;
    }
    CheckFiles();
  }
  void ReleaseSnapshots() {
    for (const SnapshotList::Point& point : held_) snapshots_.Release(point);
    held_.clear();
  }
  // The policy's pick, which must break no rule.
  std::optional<CompactionPick> Pick() {
    absl::StatusOr<std::optional<CompactionPlan>> plan =
        PickCompaction(tablet_.get(), 0, Reaches());
    EXPECT_OK(plan);
    if (!plan.ok() || !plan->has_value()) return std::nullopt;
    if ((*plan)->pick.kind == CompactionPick::Kind::kWait) return std::nullopt;
    return (*plan)->pick;
  }
  // Runs the policy's picks until there are none; fails if they do not end.
  void CompactUntilQuiet() {
    while (!running_.empty()) EndCompaction();
    for (int picks = 0; const auto pick = Pick(); ++picks) {
      ASSERT_LT(picks, 200) << script_;
      Compact(pick);
    }
  }
  // Ends those that run, too.
  void Reopen() {
    Flush();
    running_.clear();
    script_ += "reopen\n";
    const std::string runs = RunsText();
    OpenTablet();
    ASSERT_EQ(RunsText(), runs) << script_;
  }
  void CompactAll() {
    Flush();
    running_.clear();
    Compact(CompactionPick{.first = 0, .count = SIZE_MAX}, /*rewrite_all=*/true);
    ASSERT_LE(Runs().size(), 1u);
  }
  uint64_t bytes_moved() const { return bytes_moved_; }
  uint64_t bytes_dropped() const { return bytes_dropped_; }
  uint64_t most_running() const { return most_running_; }

 private:
  TableSchema RandomSchema() {
    LocalityGroup group;
    group.block_size = 1 << 10;
    group.filter =
        static_cast<FilterKind>(random_.Below(static_cast<uint64_t>(FilterKind::kRowIndex) + 1));
    group.compaction = static_cast<CompactionStyle>(
        random_.Below(static_cast<uint64_t>(kLastCompactionStyle) + 1));
    if (random_.OneIn(2)) group.compaction_factor = static_cast<int>(random_.Between(2, 4));
    if (random_.OneIn(3)) group.compaction_policy = ModelCompactionPolicy::kName;
    TableSchema schema;
    schema.locality_groups["default"] = group;
    const bool expires = group.compaction == CompactionStyle::kFifo || random_.OneIn(4);
    for (const char* name : {"f", "g"}) {
      GcRule rule;
      if (random_.OneIn(2)) rule = GcRule::MaxVersions(random_.Between(1, 3));
      if (expires) rule = GcRule::Union(rule, GcRule::MaxAge(absl::Milliseconds(1)));
      schema.families[name] = {.gc = rule};
    }
    rows_ = random_.OneIn(3) ? 3 : 30;
    deletes_ = random_.OneIn(4) ? 1 : 8;
    return schema;
  }
  void OpenTablet() {
    absl::StatusOr<std::unique_ptr<Tablet>> opened =
        Tablet::Open(&environment_, std::make_shared<const TableLayout>(layout_), store_.state);
    ASSERT_OK(opened);
    tablet_ = *std::move(opened);
  }
  void SetLayout() {
    tablet_->SetLayout(std::make_shared<const TableLayout>(layout_), sequences_.last());
  }
  // The rule is held, then the change gets its number, then it is set; other steps may come
  // between.
  void ChangeRule() {
    FamilyLayout& family = layout_.families[random_.Below(layout_.families.size())];
    GcRule rule;
    if (!random_.OneIn(3)) rule = GcRule::MaxVersions(random_.Between(1, 4));
    if (random_.OneIn(3)) {
      rule = GcRule::Union(rule, GcRule::MaxAge(absl::Microseconds(random_.Between(1000, 3000))));
    }
    if (random_.OneIn(3)) {
      const GcRule age = GcRule::MaxAge(absl::Microseconds(random_.Between(1000, 2000)));
      const GcRule versions = GcRule::MaxVersions(random_.Between(1, 4));
      rule = GcRule::Union(rule, GcRule::Intersection(versions, age));
    }
    if (rule == family.gc) return;
    family.held = true;
    SetLayout();
    DoSomething();
    family.ChangeRule(rule, sequences_.Take(1), clock_.Now());
    model_.UpdateFamily(family.name, {.gc = rule}, sequences_.last(), clock_.micros());
    absl::StrAppend(&script_, "at ", sequences_.last(), ", time ", clock_.micros(), ", family ",
                    family.name, " drops ", bigtable::Describe(rule), "\n");
    DoSomething();
    family.held = false;
    SetLayout();
  }
  void DoSomething() {
    if (random_.OneIn(2)) Mutate();
    if (random_.OneIn(3)) Flush();
    if (random_.OneIn(3)) Compact(random_.OneIn(2) ? RandomMerge() : Pick());
  }
  std::vector<SortedRun> Runs() const { return tablet_->Version()->groups()[0].runs; }
  std::string RunsText() const {
    std::string out;
    for (const SortedRun& run : Runs()) {
      out += "run:";
      for (const Ref<SSTable>& file : run.files) {
        absl::StrAppend(&out, " ", file->info().file_number);
      }
      out += "\n";
    }
    return out;
  }

  void Mutate() {
    using Kind = ModelOperation::Kind;
    ModelMutation mutation{.row = absl::StrCat("r", random_.Below(rows_)), .operations = {}};
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      ModelOperation op;
      if (random_.OneIn(deletes_)) op.kind = static_cast<Kind>(random_.Below(5));
      op.family = random_.OneIn(3) ? "g" : "f";
      op.qualifier = absl::StrCat(random_.Below(6));
      if (op.kind == Kind::kDeleteColumn && random_.OneIn(2)) op.kind = Kind::kDeleteTimeRange;
      if (op.kind == Kind::kSet || op.kind == Kind::kDeleteCell ||
          op.kind == Kind::kDeleteTimeRange) {
        op.timestamp = std::max<int64_t>(0, clock_.micros() - random_.Between(0, 5));
      }
      if (op.kind == Kind::kDeleteTimeRange) op.end = *op.timestamp + random_.Between(1, 5);
      if (op.kind == Kind::kSet) {
        op.value = absl::StrCat("v", sequences_.last(), std::string(random_.Below(100), 'x'));
      }
      mutation.operations.push_back(std::move(op));
    }
    const SequenceNumber sequence = sequences_.Take(1);
    tablet_->writer()->Apply(mutation.row, OperationsOf(mutation), sequence, clock_.micros(),
                             nullptr, 0);
    model_.Apply(sequence, clock_.micros(), mutation);
  }
  void Flush() {
    script_ += "flush\n";
    tablet_->Rotate(0, sequences_.last());
    ASSERT_OK(MinorCompaction(&environment_, ImmutableMemtablesOf(tablet_)).Run());
  }
  void MoveSnapshots() {
    if (held_.size() < 2 && random_.OneIn(2)) {
      held_.push_back(snapshots_.Take());
    } else {
      ReleaseSnapshots();
    }
  }

  std::optional<CompactionPick> RandomMerge() {
    const size_t runs = Runs().size();
    if (runs == 0) return std::nullopt;
    const size_t first = random_.Below(runs);
    return CompactionPick{
        .first = first, .count = 1 + random_.Below(runs - first), .rows = RandomRows()};
  }
  RowRange RandomRows() {
    if (!random_.OneIn(3)) return RowRange();
    const std::string begin = random_.OneIn(4) ? "" : absl::StrCat("r", random_.Below(rows_));
    if (random_.OneIn(4)) return RowRange::StartingAt(begin);
    const std::string last = absl::StrCat("r", random_.Below(rows_));
    return begin > last ? RowRange::Single(last) : RowRange::Closed(begin, last);
  }
  // Some files of one run.
  std::optional<CompactionPick> RandomJoin() {
    const std::vector<SortedRun> runs = Runs();
    if (runs.empty()) return std::nullopt;
    CompactionPick pick{.first = random_.Below(runs.size()), .count = 1};
    for (const Ref<SSTable>& file : runs[pick.first].files) {
      if (random_.OneIn(2)) pick.files.push_back(file->info().file_number);
    }
    if (pick.files.size() < 2) return std::nullopt;
    return pick;
  }
  std::optional<CompactionPick> RandomPush() {
    const std::vector<SortedRun> runs = Runs();
    if (runs.size() < 2) return std::nullopt;
    const size_t first = random_.Below(runs.size() - 1);
    const Ref<SSTable>& file = random_.Pick(runs[first].files);
    return CompactionPick{.kind = CompactionPick::Kind::kPush,
                          .first = first,
                          .count = 2,
                          .files = {file->info().file_number},
                          .rows = RandomRows()};
  }
  void Compact(const std::optional<CompactionPick>& pick, bool rewrite_all = false) {
    if (!pick.has_value()) return;
    CompactionPlan plan = PlanOf(TabletMoment(*tablet_), 0, *pick, rewrite_all);
    if (!IsApart(plan)) return;
    script_ += "at once, ";
    Run(std::move(plan));
  }
  // Plans one that takes effect later.
  void BeginCompaction() {
    const std::optional<CompactionPick> pick = random_.OneIn(3)   ? Pick()
                                               : random_.OneIn(2) ? RandomMerge()
                                               : random_.OneIn(4) ? RandomJoin()
                                                                  : RandomPush();
    if (!pick.has_value()) return;
    CompactionPlan plan = PlanOf(TabletMoment(*tablet_), 0, *pick);
    if (plan.IsEmpty() || !IsApart(plan)) return;
    absl::StrAppend(&script_, "begin ", Describe(plan), "\n");
    running_.push_back(std::move(plan));
    most_running_ = std::max<uint64_t>(most_running_, running_.size());
  }
  void EndCompaction() {
    if (running_.empty()) return;
    const size_t i = random_.Below(running_.size());
    CompactionPlan plan = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    Run(std::move(plan));
  }
  std::vector<CompactionReach> Reaches() const {
    std::vector<CompactionReach> reaches;
    for (const CompactionPlan& plan : running_) reaches.push_back(plan.reach);
    return reaches;
  }
  bool IsApart(const CompactionPlan& plan) const {
    return std::none_of(running_.begin(), running_.end(), [&](const CompactionPlan& running) {
      return running.reach.Meets(plan.reach);
    });
  }
  static std::string Describe(const CompactionPlan& plan) {
    return absl::StrCat("compaction of kind ", static_cast<int>(plan.pick.kind), ", runs ",
                        plan.pick.first, " + ", plan.pick.count, ", orders ", plan.reach.oldest,
                        " to ", plan.reach.newest);
  }
  void Run(CompactionPlan plan) {
    absl::StrAppend(&script_, Describe(plan), "\n");
    MergingCompaction compaction(tablet_.get(), 0, std::move(plan));
    ASSERT_OK(compaction.Run(nullptr));
    bytes_moved_ += compaction.outcome().bytes_moved;
    bytes_dropped_ += compaction.outcome().bytes_dropped;
  }

  std::string Read(const SnapshotList::Point& point) {
    const Pin<TabletVersion> version = tablet_->Version();
    const ReadSpec spec{.sequence = point.sequence, .now = point.time};
    CellCursor cells(&*version, spec);
    cells.ReadRange(RowRange::All());
    std::string out;
    while (cells.Next()) {
      absl::StrAppend(&out, Cat(cells.row(), "/", cells.family().name, ":", cells.qualifier(), "@",
                                cells.timestamp(), "=", cells.value(), "\n"));
    }
    EXPECT_OK(cells.status());
    return out;
  }
  std::string Expected(const SnapshotList::Point& point) {
    const int64_t micros = absl::ToUnixMicros(point.time);
    std::string out;
    for (const std::string& row : model_.RowKeys()) {
      for (const ModelCell& cell : model_.Read(row, point.sequence, micros)) {
        absl::StrAppend(&out, row, "/", cell.family, ":", cell.qualifier, "@", cell.timestamp, "=",
                        ToAbsl(cell.value.view()), "\n");
      }
    }
    return out;
  }
  // The runs agree with METADATA and with the files on disk.
  void CheckFiles() {
    std::set<uint64_t> in_runs, in_state;
    for (const SortedRun& run : Runs()) {
      for (size_t i = 0; i < run.files.size(); ++i) {
        ASSERT_TRUE(in_runs.insert(run.files[i]->info().file_number).second) << script_;
        if (i == 0) continue;
        ASSERT_LT(run.files[i - 1]->info().largest_key, run.files[i]->info().smallest_key)
            << script_;
      }
    }
    for (const TabletFile& file : store_.state.groups[0].files) {
      in_state.insert(file.info.file_number);
    }
    ASSERT_EQ(in_runs, in_state) << script_;
    ASSERT_EQ(file_system_.AllFiles().size(), in_state.size()) << script_;
  }

  Random random_;
  uint64_t rows_ = 1;
  uint64_t deletes_ = 8;  // one operation of so many is a deletion
  ModelTable model_;
  TestClock clock_{100};
  InMemoryFileSystem file_system_;
  OpenTables open_tables_{&file_system_, TestReadMode(), TestBudget()};
  StateStore store_;
  SequenceSource sequences_;
  SnapshotList snapshots_{&sequences_, &clock_};
  std::vector<SnapshotList::Point> held_;
  FileNumbers file_numbers_;
  TabletEnvironment environment_;
  bool changes_rules_ = false;
  TableLayout layout_;
  std::shared_ptr<Tablet> tablet_;
  std::vector<CompactionPlan> running_;
  uint64_t most_running_ = 0;
  uint64_t bytes_moved_ = 0;
  uint64_t bytes_dropped_ = 0;
  std::string script_;
};

TEST(RandomRunsTest, ReadsDoNotDependOnTheRuns) {
  const ScopedMergePart parts(1);
  uint64_t runs = 0, moved = 0, dropped = 0, most_running = 0;
  ForEachSeed(kSlow ? 20 : 200, [&](uint64_t seed) {
    RandomRuns tablet(seed);
    for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
      tablet.Step();
      tablet.Check();
      Tally("operations");
    }
    if (testing::Test::HasFailure()) return;
    tablet.CompactUntilQuiet();
    tablet.Check();
    tablet.Reopen();
    tablet.Check();
    tablet.ReleaseSnapshots();
    tablet.CompactAll();
    tablet.Check();
    ++runs;
    moved += tablet.bytes_moved();
    dropped += tablet.bytes_dropped();
    most_running = std::max(most_running, tablet.most_running());
  });
  if (runs < 20) return;  // a few runs may not cover all of it
  EXPECT_EQ(moved > 0, Shortcuts().Has(Shortcut::kMovedFiles));
  EXPECT_GT(dropped, 0u);
  EXPECT_GE(most_running, kSlow ? 2u : 3u);
}

}  // namespace
}  // namespace bigtable
