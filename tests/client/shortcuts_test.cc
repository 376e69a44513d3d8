// Every shortcut has its long way, and both give one answer. A random database over a tiny
// alphabet, so that neighbours collide all the time, is written, flushed, compacted, split, merged
// and moved, and each read of a random shape is made in every way that must not matter: with
// shortcuts of the engine (base/shortcuts.h) on and off, with limits that are far away, in reverse,
// at a snapshot of now, verified, through the scan cache, in pieces, row by row, cell by cell, and,
// with other seeds, by message. All answers are compared with those of the model
// (tests/support/model.h).
//
// A failure prints its seed, and a shortened list of the steps that lead to it. To see it again:
//
//   BIGTABLE_TEST_SEED=7 bigtable_client_test --gtest_filter='ShortcutsTest.*'
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "bigtable/bigtable.h"

#include "base/strings.h"
#include "client/model_cursors.h"
#include "client/model_plan.h"
#include "filesystem/faulty_file_system.h"
#include "filesystem/in_memory_file_system.h"
#include "support/database_peer.h"
#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"
#include "support/scoped_shortcuts.h"
#include "support/seeds.h"
#include "support/tally.h"
#include "support/test_clock.h"

namespace bigtable {
namespace {

struct WaysStep {
  enum class Kind {
    kWrite,
    kBatch,
    kFlush,
    kCompact,
    kSplit,
    kMerge,
    kMove,
    kNewFamily,
    kLateWrite,
    kAdvanceClock,
    kTakeSnapshot,
    kReleaseSnapshot,
    kChooseShortcuts,
    kRead,
  };
  Kind kind;
  uint64_t seed;
};

std::vector<WaysStep> MakeWaysSteps(uint64_t seed, size_t count) {
  using Kind = WaysStep::Kind;
  static const std::vector<std::pair<Kind, int>> kWeights = {
      {Kind::kWrite, 40},       {Kind::kBatch, 4},           {Kind::kFlush, 7},
      {Kind::kCompact, 2},      {Kind::kSplit, 2},           {Kind::kMerge, 1},
      {Kind::kMove, 1},         {Kind::kNewFamily, 1},       {Kind::kLateWrite, 6},
      {Kind::kAdvanceClock, 6}, {Kind::kTakeSnapshot, 2},    {Kind::kReleaseSnapshot, 2},
      {Kind::kRead, 60},        {Kind::kChooseShortcuts, 4},
  };
  int total = 0;
  for (const auto& [kind, weight] : kWeights) total += weight;
  Random random(seed);
  std::vector<WaysStep> steps;
  while (steps.size() < count) {
    int64_t draw = random.Between(0, total - 1);
    for (const auto& [kind, weight] : kWeights) {
      draw -= weight;
      if (draw >= 0) continue;
      steps.push_back({kind, random.Next()});
      break;
    }
  }
  return steps;
}

class WaysRun {
 public:
  // The next one is made with all shortcuts, whatever this one was.
  explicit WaysRun(uint64_t seed)
      : random_(seed),
        faulty_(&memory_),
        by_message_(random_.OneIn(4)),
        is_sparse_(random_.OneIn(2)),
        shortcuts_(0) {
    using namespace std::string_literals;
    rows_ = random_.OneIn(3) ? std::vector{"a"s, "a\0"s, "a\0b"s} : std::vector{"a"s, "ab"s, "b"s};
    qualifiers_ = random_.OneIn(3) ? std::vector{""s, "q"s, "q\0"s} : std::vector{""s, "q"s, "q1"s};
    DatabaseOptions options;
    options.memory_budget = 16 << 20;
    options.log_segment_size = 64 << 10;
    options.tablet_servers = kServers + 1;
    options.balance_interval = absl::InfiniteDuration();
    options.scan_cache = !random_.OneIn(4);
    options.read_mode =
        random_.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
    options.file_system = &faulty_;
    options.clock = &clock_;
    absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open("/db", options);
    if (!Check(opened.status(), "Open")) return;
    database_ = *std::move(opened);
    const TableSchema schema = MakeSchema();
    model_.tables.emplace(kTable, ModelTable(schema));
    if (!Check(database_->CreateTable(kTable, schema), "CreateTable")) return;
    Find(kTable, &table_);
    if (!by_message_) {
      MakeOther();
      return;
    }
    DatabasePeer(database_.get()).UseServices([](ServerHost* host) {
      return host->data_service();
    });
  }
  ~WaysRun() {
    EndLateWrite();
    snapshots_.clear();
    database_.reset();
  }
  WaysRun(const WaysRun&) = delete;
  WaysRun& operator=(const WaysRun&) = delete;

  // False when something was wrong.
  bool Do(const WaysStep& step) {
    random_ = Random(step.seed);
    switch (step.kind) {
      case WaysStep::Kind::kWrite:
        Write();
        break;
      case WaysStep::Kind::kBatch:
        WriteBatch();
        break;
      case WaysStep::Kind::kFlush:
        Log("Flush");
        Check(database_->Flush(kTable), "Flush");
        break;
      case WaysStep::Kind::kCompact:
        Log("Compact");
        Check(database_->Compact(kTable), "Compact");
        break;
      case WaysStep::Kind::kSplit:
        Split();
        break;
      case WaysStep::Kind::kMerge:
        Merge();
        break;
      case WaysStep::Kind::kMove:
        Move();
        break;
      case WaysStep::Kind::kNewFamily:
        RenewFamily();
        break;
      case WaysStep::Kind::kLateWrite:
        if (!late_.joinable()) BeginLateWrite();
        break;
      case WaysStep::Kind::kAdvanceClock:
        clock_.Advance(absl::Microseconds(1));
        Log(Cat("The clock is at ", clock_.micros()));
        break;
      case WaysStep::Kind::kTakeSnapshot:
        TakeSnapshot();
        break;
      case WaysStep::Kind::kReleaseSnapshot:
        if (snapshots_.empty()) break;
        Log("Release the oldest snapshot");
        snapshots_.erase(snapshots_.begin());
        break;
      case WaysStep::Kind::kChooseShortcuts:
        ChooseShortcuts();
        break;
      case WaysStep::Kind::kRead:
        Read();
        break;
    }
    return failure_.empty();
  }

  const std::string& failure() const { return failure_; }
  const std::vector<std::string>& script() const { return script_; }
  uint64_t reads() const { return reads_; }

 private:
  static constexpr const char* kTable = "t";
  static constexpr const char* kOther = "other";
  static constexpr int kServers = 2;  // of the table; one more has the other table

  struct Taken {
    std::shared_ptr<const Snapshot> snapshot;
    uint64_t sequence;  // the model's
  };
  struct Query {
    RowSet rows;
    ModelFilter model_filter;
    Filter filter;
    ReadOptions options;  // how every way begins
    std::vector<ModelRow> all;
    std::vector<ModelRow> limited;  // by the options
  };

  // --- Outcomes ---

  void Log(std::string line) { script_.push_back(std::move(line)); }
  void Fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }
  bool Check(const absl::Status& status, std::string_view what) {
    if (!status.ok()) Fail(Cat(what, ": ", status.ToString()));
    return status.ok();
  }
  void Find(std::string_view name, Table** table) {
    absl::StatusOr<Table*> found = database_->OpenTable(name);
    if (Check(found.status(), "OpenTable")) *table = *found;
  }

  // --- What is there ---

  TableSchema MakeSchema() {
    TableSchema schema;
    schema.split.tablet_size = 0;
    schema.locality_groups["default"] = MakeGroup();
    schema.locality_groups["second"] = MakeGroup();
    schema.families["a"] = {.gc = MakeRule()};
    schema.families["ab"] = {.locality_group = random_.OneIn(2) ? "" : "second", .gc = MakeRule()};
    return schema;
  }
  LocalityGroup MakeGroup() {
    LocalityGroup group = RandomLocalityGroup(random_);
    group.block_size = 1 << 10;
    if (group.compression == Compression::kZstdLongWindow) group.compression = Compression::kZstd;
    return group;
  }
  GcRule MakeRule() {
    const GcRule versions = GcRule::MaxVersions(random_.Between(1, 3));
    // So that the present goes past timestamps that are written, one by one.
    const GcRule age = GcRule::MaxAge(absl::Microseconds(random_.Between(1000, 1003)));
    switch (random_.Below(6)) {
      case 0:
        return versions;
      case 1:
        return age;
      case 2:
        return GcRule::Union(versions, age);
      default:
        return GcRule();
    }
  }

  // A table on a server of its own, whose rows have the names of the first one's.
  void MakeOther() {
    TableSchema schema;
    schema.families["f"] = {};
    schema.split.tablet_size = 0;
    if (!Check(database_->CreateTable(kOther, schema), "CreateTable")) return;
    Find(kOther, &other_);
    Check(database_->MoveTablet(kOther, "a", kServers), "MoveTablet");
    Check(database_->MoveTablet(kTable, "a", 0), "MoveTablet");
    Check(other_->Apply(RowMutation("z").Set("f:", "")), "Apply");
    for (TabletServer* server : DatabasePeer(database_.get()).Servers()) {
      for (const std::shared_ptr<Tablet>& tablet : server->Tablets()) {
        if (tablet->Layout()->name == kOther) other_log_ = Cat("/log/", server->name(), "/");
      }
    }
  }

  // --- Writing ---

  ModelOperation MakeOperation() {
    using Kind = ModelOperation::Kind;
    static const std::vector<Kind> kKinds = {
        Kind::kSet,          Kind::kSet,        Kind::kSet,          Kind::kSet,      Kind::kSet,
        Kind::kDeleteColumn, Kind::kDeleteCell, Kind::kDeleteFamily, Kind::kDeleteRow};
    // A wide deletion stands before everything that is written later, and has it go the long way.
    static const std::vector<Kind> kSparseKinds = {Kind::kSet, Kind::kSet, Kind::kSet,
                                                   Kind::kDeleteCell, Kind::kDeleteCell};
    ModelOperation op;
    const bool is_narrow = is_sparse_ && !random_.OneIn(20);
    op.kind = random_.Pick(is_narrow ? kSparseKinds : kKinds);
    if (!is_sparse_ && random_.OneIn(2)) op.kind = Kind::kSet;
    if (op.kind == Kind::kDeleteRow) return op;
    op.family = random_.OneIn(2) ? "a" : "ab";
    if (op.kind == Kind::kDeleteFamily) return op;
    op.qualifier = qualifiers_[random_.Below(is_narrow ? 2 : qualifiers_.size())];
    if (op.kind == Kind::kDeleteColumn) return op;
    // Around what rules of a few milliseconds let go, or always old.
    op.timestamp = random_.OneIn(2) ? random_.Between(1, 3) : clock_.micros() - 1000;
    static const std::vector<std::string> kValues = {"", "a", "q", "x1", "f0"};
    if (op.kind == Kind::kSet) op.value = random_.Pick(kValues);
    return op;
  }
  ModelMutation MakeMutation() {
    ModelMutation mutation;
    mutation.row = random_.Pick(rows_);
    for (int64_t i = !is_sparse_ && random_.OneIn(3) ? random_.Between(1, 4) : 1; i > 0; --i) {
      mutation.operations.push_back(MakeOperation());
    }
    std::string text;
    for (const ModelOperation& op : mutation.operations) {
      static const char* const kNames[] = {"Set", "DeleteColumn", "DeleteCell", "DeleteFamily",
                                           "DeleteRow"};
      absl::StrAppend(&text, " ", kNames[static_cast<size_t>(op.kind)], "(", op.family, ":",
                      absl::CHexEscape(op.qualifier), "@", op.timestamp.value_or(-1), "=",
                      ToAbsl(op.value.view()), ")");
    }
    Log(Cat("Write ", Quoted(mutation.row), text));
    return mutation;
  }
  WriteOptions MakeWriteOptions() {
    WriteOptions options;
    options.durability = random_.OneIn(4) ? Durability::kNone : Durability::kBuffered;
    return options;
  }
  void Write() {
    const ModelMutation mutation = MakeMutation();
    if (!Check(table_->Apply(mutation.Make(), MakeWriteOptions()), "Apply")) return;
    model_.Apply(kTable, clock_.micros(), mutation);
    // Before anybody reads what was written.
    if (random_.OneIn(3)) EndLateWrite();
  }
  void WriteBatch() {
    std::vector<RowMutation> mutations;
    std::vector<ModelMutation> models;
    for (int64_t i = random_.Between(1, 4); i > 0; --i) {
      models.push_back(MakeMutation());
      mutations.push_back(models.back().Make());
    }
    const auto statuses = table_->ApplyBatch(mutations, MakeWriteOptions());
    for (size_t i = 0; i < models.size(); ++i) {
      if (Check(statuses[i], "ApplyBatch")) model_.Apply(kTable, clock_.micros(), models[i]);
    }
  }
  // A write of another server's row of the same name takes its number now, and ends later.
  void BeginLateWrite() {
    if (other_ == nullptr) return;
    const std::string row = random_.Pick(rows_);
    Log(Cat("A write to ", Quoted(row), " of the other table begins"));
    faulty_.StallCalls({.kinds = {FileCall::kLogSync}, .path_contains = other_log_});
    late_ = std::thread([this, row] {
      other_->Apply(RowMutation(row).Set("f:", ""), {.durability = Durability::kSync})
          .IgnoreError();
    });
    if (!faulty_.WaitUntilStalled(1)) Fail("the write of the other table does not stall");
  }
  void EndLateWrite() {
    if (!late_.joinable()) return;
    Log("The write to the other table ends");
    faulty_.ReleaseCalls();
    late_.join();
  }

  // --- What must not matter ---

  void Split() {
    const std::string row = random_.Pick(rows_);
    Log(Cat("SplitTablet at ", Quoted(row)));
    const absl::Status split = database_->SplitTablet(kTable, row);
    if (!absl::IsAlreadyExists(split)) Check(split, "SplitTablet");
  }
  void Merge() {
    const std::string row = random_.Pick(rows_);
    Log(Cat("MergeTablets at ", Quoted(row)));
    const absl::Status merged = database_->MergeTablets(kTable, row);
    if (!absl::IsNotFound(merged)) Check(merged, "MergeTablets");
  }
  void Move() {
    const std::string row = random_.Pick(rows_);
    const int server = static_cast<int>(random_.Below(kServers));
    Log(Cat("MoveTablet with ", Quoted(row), " to ", server));
    Check(database_->MoveTablet(kTable, row, server), "MoveTablet");
  }
  // Of the same name and rule.
  void RenewFamily() {
    const std::string name = random_.OneIn(2) ? "a" : "ab";
    const Family family = model_.tables.at(kTable).schema().families.at(name);
    if (!snapshots_.empty()) return;  // they would see none of it
    Log(Cat("DropFamily and AddFamily ", name));
    if (!Check(database_->DropFamily(kTable, name), "DropFamily")) return;
    if (!Check(database_->AddFamily(kTable, name, family), "AddFamily")) return;
    model_.tables.at(kTable).DropFamily(name);
    model_.tables.at(kTable).AddFamily(name, family);
  }
  void TakeSnapshot() {
    if (late_.joinable() || snapshots_.size() == 3) return;  // it would wait for the write
    Log("TakeSnapshot");
    auto snapshot = database_->TakeSnapshot();
    if (Check(snapshot.status(), "TakeSnapshot")) {
      snapshots_.push_back({*std::move(snapshot), model_.sequence});
    }
  }
  // For what is written, compacted and opened from now on.
  void ChooseShortcuts() {
    static const std::vector<uint64_t> kChoices = {0, ScopedShortcuts::kAll};
    const uint64_t off = random_.OneIn(2) ? random_.Pick(kChoices) : random_.Next();
    Log(Cat("Shortcuts off: ", off & ScopedShortcuts::kAll));
    shortcuts_off.store(off);
  }

  // --- Reading ---

  bool Has(const RowSet& rows, const std::string& row) const {
    return std::any_of(rows.ranges().begin(), rows.ranges().end(),
                       [&](const RowRange& range) { return range.Contains(row); });
  }
  std::vector<ModelRow> Expected(const RowSet& rows, const ModelFilter& filter,
                                 uint64_t sequence) const {
    std::vector<ModelRow> expected;
    const ModelTable& table = model_.tables.at(kTable);
    for (const std::string& row : rows_) {  // in order
      if (!Has(rows, row)) continue;
      std::vector<ModelCell> cells = filter.Apply(row, table.Read(row, sequence, clock_.micros()));
      if (!cells.empty()) expected.push_back({row, std::move(cells)});
    }
    return expected;
  }
  RowSet MakeRows() {
    if (random_.OneIn(2)) return RowRange::All();
    RowSet rows;
    for (int64_t i = random_.Between(1, 3); i > 0; --i) {
      const std::string a = random_.Pick(rows_);
      const std::string b = random_.Pick(rows_);
      switch (random_.Below(4)) {
        case 0:
          rows.Append(RowRange::Closed(a, b));
          break;
        case 1:
          rows.Append(random_.OneIn(2) ? RowRange::StartingAt(a) : RowRange::EndingAt(a));
          break;
        default:
          rows.Append(a);
          break;
      }
    }
    return rows;
  }
  Query MakeQuery() {
    Query query;
    query.rows = MakeRows();
    const ModelTable& table = model_.tables.at(kTable);
    if (random_.OneIn(2)) query.model_filter = RandomFilter(random_, table);
    if (query.model_filter.kind != ModelFilter::Kind::kPassAll) {
      query.filter = query.model_filter.Make();
    }
    uint64_t sequence = model_.sequence;
    if (!snapshots_.empty() && random_.OneIn(4)) {
      const Taken& taken = random_.Pick(snapshots_);
      query.options.snapshot = taken.snapshot;
      sequence = taken.sequence;
    }
    query.all = Expected(query.rows, query.model_filter, sequence);
    query.limited = query.all;
    if (random_.OneIn(3)) {
      query.options.row_limit = random_.Between(1, 2);
      const auto limit = static_cast<size_t>(query.options.row_limit);
      if (query.limited.size() > limit) query.limited.resize(limit);
    }
    return query;
  }

  void Read() {
    const Query query = MakeQuery();
    Log(Cat("Read", Describe(query.rows.ranges()), ", ", query.model_filter.DebugString(),
            query.options.snapshot != nullptr ? ", at a snapshot" : "", ", row_limit ",
            query.options.row_limit));
    InMostWays("plain", query, query.options);
    const uint64_t one = uint64_t{1} << random_.Below(static_cast<uint64_t>(Shortcut::kCount));
    for (const uint64_t off : {uint64_t{0}, ScopedShortcuts::kAll, one, random_.Next()}) {
      const ScopedShortcuts shortcuts(off);
      InMostWays(Cat("with shortcuts off: ", off & ScopedShortcuts::kAll), query, query.options);
    }
    ReadOptions options = query.options;
    options.deadline = absl::Now() + absl::Hours(1);
    InMostWays("with a deadline", query, options);
    options = query.options;
    Cancellation cancellation;
    options.cancellation = &cancellation;
    InMostWays("with a cancellation", query, options);
    options = query.options;
    options.verify_checksums = true;
    InMostWays("verified", query, options);
    options = query.options;
    options.fill_cache = false;
    InMostWays("without filling the cache", query, options);
    if (query.options.snapshot == nullptr && !late_.joinable()) {
      options = query.options;
      auto snapshot = database_->TakeSnapshot();
      if (!Check(snapshot.status(), "TakeSnapshot")) return;
      options.snapshot = *std::move(snapshot);
      InMostWays("at a snapshot of now", query, options);
    }
    InReverse(query);
    InPieces(query);
    // Not the way of reads without a filter, and lets everything pass.
    Query filtered = query;
    filtered.filter = Filter::Chain({query.filter, Filter::CellsRowLimit(1'000'000)});
    InMostWays("with a filter that passes all", filtered, query.options);
  }

  void InMostWays(std::string_view way, const Query& query, const ReadOptions& options) {
    if (!failure_.empty()) return;
    Compare(Cat("ReadRows ", way), query.limited,
            table_->ReadRows(query.rows, query.filter, options));
    RowByRow(way, query, options);
    if (random_.OneIn(2)) CellByCell(way, query, options);
  }
  void Compare(std::string_view way, const std::vector<ModelRow>& expected, RowReader reader) {
    ++reads_;
    size_t next = 0;
    for (; reader.Next(); ++next) {
      if (next < expected.size() && IsSame(expected[next], reader.row())) continue;
      return Fail(Cat(way, "\n  got: ", Describe(ToModel(reader.row())), "\n  expected: ",
                      next < expected.size() ? Describe(expected[next]) : "no more"));
    }
    if (!Check(reader.status(), way)) return;
    if (next < expected.size()) {
      Fail(Cat(way, "\n  got no more\n  expected: ", Describe(expected[next])));
    }
  }
  static bool IsSame(const ModelRow& expected, const Row& row) {
    if (row.key() != expected.key || row.cells().size() != expected.cells.size()) return false;
    for (size_t i = 0; i < expected.cells.size(); ++i) {
      const ModelCell& a = expected.cells[i];
      const Cell& b = row.cells()[i];
      if (a.family != b.family || a.qualifier != b.qualifier ||
          a.timestamp != b.timestamp.micros() || a.value.view() != b.value) {
        return false;
      }
    }
    return true;
  }
  void RowByRow(std::string_view way, const Query& query, const ReadOptions& options) {
    for (const std::string& key : rows_) {
      if (!Has(query.rows, key)) continue;
      ++reads_;
      absl::StatusOr<Row> row = table_->ReadRow(key, query.filter, options);
      if (!Check(row.status(), Cat("ReadRow ", way))) return;
      const auto found = std::find_if(query.all.begin(), query.all.end(),
                                      [&](const ModelRow& r) { return r.key == key; });
      const ModelRow expected = found == query.all.end() ? ModelRow{key, {}} : *found;
      if (IsSame(expected, *row)) continue;
      return Fail(Cat("ReadRow ", way, "\n  got: ", Describe(ToModel(*row)),
                      "\n  expected: ", Describe(expected)));
    }
  }
  // Of each family a stream; a filter of the row's cells sees only those of its family.
  void CellByCell(std::string_view way, const Query& query, ReadOptions options) {
    options.row_limit = 0;
    uint64_t sequence = model_.sequence;
    for (const Taken& taken : snapshots_) {
      if (taken.snapshot == query.options.snapshot) sequence = taken.sequence;
    }
    for (const char* const family : {"a", "ab"}) {
      ModelFilter of_family{.kind = ModelFilter::Kind::kFamily, .family = family};
      ModelFilter chain{.kind = ModelFilter::Kind::kChain,
                        .filters = {of_family, query.model_filter}};
      Scanner scanner(table_, options);
      ScanStream* const stream = scanner.FetchColumnFamily(family);
      stream->SetReturnAllVersions();
      if (query.model_filter.kind != ModelFilter::Kind::kPassAll) stream->SetFilter(query.filter);
      std::string got, expected;
      ++reads_;
      for (const RowRange& range : query.rows.Normalized()) {
        scanner.SetRange(range);
        for (; !stream->Done(); stream->Next()) {
          absl::StrAppend(&got, ToAbsl(stream->RowName()), " ", ToAbsl(stream->Qualifier()), "@",
                          stream->MicroTimestamp(), "=", ToAbsl(stream->Value()), "\n");
        }
      }
      if (!Check(scanner.status(), Cat("Scanner ", way))) return;
      for (const ModelRow& row : Expected(query.rows, chain, sequence)) {
        for (const ModelCell& cell : row.cells) {
          absl::StrAppend(&expected, row.key, " ", cell.qualifier, "@", cell.timestamp, "=",
                          ToAbsl(cell.value.view()), "\n");
        }
      }
      if (got != expected) {
        return Fail(Cat("Scanner ", way, ", family ", family, "\n  got:\n", got, "  expected:\n",
                        expected));
      }
    }
  }
  void InReverse(const Query& query) {
    if (!failure_.empty()) return;
    ReadOptions options = query.options;
    options.reverse = true;
    std::vector<ModelRow> expected(query.all.rbegin(), query.all.rend());
    const auto limit = static_cast<size_t>(options.row_limit);
    if (limit > 0 && expected.size() > limit) expected.resize(limit);
    Compare("ReadRows in reverse", expected, table_->ReadRows(query.rows, query.filter, options));
  }
  // Each piece goes on behind the last row of the one before.
  void InPieces(const Query& query) {
    if (!failure_.empty()) return;
    ReadOptions options = query.options;
    options.row_limit = 1;
    std::vector<ModelRow> rows;
    std::string behind;
    while (true) {
      RowSet rest;
      for (const RowRange& range : query.rows.Normalized()) {
        const std::string begin = std::max(range.begin(), behind);
        const RowRange left = range.end().has_value() ? RowRange::RightOpen(begin, *range.end())
                                                      : RowRange::StartingAt(begin);
        if (!left.empty()) rest.Append(left);
      }
      ++reads_;
      RowReader reader = table_->ReadRows(rest, query.filter, options);
      if (!reader.Next()) {
        if (!Check(reader.status(), "ReadRows in pieces")) return;
        break;
      }
      rows.push_back(ToModel(reader.row()));
      behind = rows.back().key + '\0';
      if (rows.size() > query.all.size()) break;
    }
    if (rows != query.all) {
      Fail(Cat("ReadRows in pieces: ", rows.size(), " rows, of ", query.all.size()));
    }
  }

  Random random_;
  TestClock clock_{1003};
  InMemoryFileSystem memory_;
  FaultyFileSystem faulty_;
  const bool by_message_;
  const bool is_sparse_;  // rows have a cell or two, mostly
  const ScopedShortcuts shortcuts_;
  std::vector<std::string> rows_;
  std::vector<std::string> qualifiers_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  Table* other_ = nullptr;
  std::string other_log_;
  std::thread late_;
  ModelDatabase model_;
  std::vector<Taken> snapshots_;
  std::vector<std::string> script_;
  std::string failure_;
  uint64_t reads_ = 0;
};

struct WaysOutcome {
  std::string failure;
  std::vector<std::string> script;
  size_t done = 0;
  uint64_t reads = 0;
};

WaysOutcome RunWays(uint64_t seed, const std::vector<WaysStep>& steps) {
  WaysRun run(seed);
  WaysOutcome outcome;
  bool ok = run.failure().empty();
  while (ok && outcome.done < steps.size()) ok = run.Do(steps[outcome.done++]);
  outcome.failure = run.failure();
  outcome.script = run.script();
  outcome.reads = run.reads();
  return outcome;
}

// Leaves steps out as long as the rest still fails: first many together, then one by one.
WaysOutcome ShrinkWays(uint64_t seed, std::vector<WaysStep> steps, WaysOutcome failing) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  steps.resize(failing.done);
  for (size_t chunk = std::max<size_t>(1, steps.size() / 2);; chunk /= 2) {
    for (size_t start = 0; start < steps.size() && absl::Now() < deadline;) {
      const size_t end = std::min(start + chunk, steps.size());
      std::vector<WaysStep> fewer(steps.begin(), steps.begin() + static_cast<ptrdiff_t>(start));
      fewer.insert(fewer.end(), steps.begin() + static_cast<ptrdiff_t>(end), steps.end());
      WaysOutcome outcome = RunWays(seed, fewer);
      if (outcome.failure.empty()) {
        start += chunk;
      } else {
        fewer.resize(outcome.done);
        steps = std::move(fewer);
        failing = std::move(outcome);
      }
    }
    if (chunk <= 1) return failing;
  }
}

TEST(ShortcutsTest, RandomReadsHaveOneAnswerInEveryWay) {
  uint64_t reads = 0;
  ForEachSeed(kSanitized ? 20 : 1000, [&](uint64_t seed) {
    // In short ones rows stay small and alike, in long ones there are many files.
    const std::vector<WaysStep> steps = MakeWaysSteps(seed, seed % 4 == 0 ? 400 : 100);
    WaysOutcome outcome = RunWays(seed, steps);
    reads += outcome.reads;
    Tally("reads", outcome.reads);
    Tally("operations", outcome.done);
    if (outcome.failure.empty()) return;
    outcome = ShrinkWays(seed, steps, std::move(outcome));
    ADD_FAILURE() << "Seed " << seed << ", after " << reads << " reads:\n"
                  << absl::StrJoin(outcome.script, "\n") << "\n"
                  << outcome.failure;
  });
  std::cout << reads << " reads compared\n";
}

}  // namespace
}  // namespace bigtable
