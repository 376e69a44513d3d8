// What the model test does: a plan is a list of steps, each with a seed of its own, so that any
// part of the list can be run again alone. Here is all that is chosen at random.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "support/model.h"
#include "support/model_filter.h"
#include "support/random.h"

namespace bigtable {

enum class StepKind {
  kApply,
  kApplyBatch,
  kFill,
  kReadRow,
  kReadRows,
  kScan,
  kOpenReader,
  kOpenScan,
  kAdvanceCursor,
  kTakeSnapshot,
  kReleaseSnapshot,
  kCompareAll,
  kAdvanceClock,
  kJumpBack,
  kFlush,
  kCompact,
  kWaitUntilQuiet,
  kPauseOrContinue,
  kSplitTablet,
  kMergeTablets,
  kMoveTablet,
  kCreateTable,
  kDeleteTable,
  kAddFamily,
  kDropFamily,
  kUpdateFamily,
  kSetLocalityGroup,
  kReopen,
  kReopenReadOnly,
  kCrash,
};

struct ModelStep {
  StepKind kind;
  uint64_t seed;
};

// What holds for all steps of a run.
struct ModelSettings {
  enum class Crashes {
    kNever,    // the machine's file system; writes that are not logged, too
    kProcess,  // everything acknowledged survives
    kMachine,  // every write is synced, and survives
  };
  Crashes crashes = Crashes::kNever;
  // Either families expire by age, or the clock jumps back: what has expired may be gone from disk
  // when the clock returns to a time at which it had not.
  bool expiry = false;
  // Reads and writes go as messages, through a network that loses and repeats them.
  bool messages = false;
};

struct ModelPlan {
  uint64_t seed = 0;
  ModelSettings settings;
  std::vector<ModelStep> steps;
};

inline ModelPlan MakeModelPlan(uint64_t seed, size_t step_count) {
  // What would be done in the long run, of 1000 steps.
  static const std::vector<std::pair<StepKind, int>> kWeights = {
      {StepKind::kApply, 320},
      {StepKind::kApplyBatch, 60},
      {StepKind::kFill, 30},
      {StepKind::kReadRow, 160},
      {StepKind::kReadRows, 90},
      {StepKind::kScan, 70},
      {StepKind::kOpenReader, 8},
      {StepKind::kOpenScan, 8},
      {StepKind::kAdvanceCursor, 40},
      {StepKind::kTakeSnapshot, 25},
      {StepKind::kReleaseSnapshot, 22},
      {StepKind::kCompareAll, 5},
      {StepKind::kAdvanceClock, 50},
      {StepKind::kJumpBack, 8},
      {StepKind::kFlush, 22},
      {StepKind::kCompact, 10},
      {StepKind::kWaitUntilQuiet, 5},
      {StepKind::kPauseOrContinue, 6},
      {StepKind::kSplitTablet, 8},
      {StepKind::kMergeTablets, 8},
      {StepKind::kMoveTablet, 6},
      {StepKind::kCreateTable, 5},
      {StepKind::kDeleteTable, 3},
      {StepKind::kAddFamily, 8},
      {StepKind::kDropFamily, 5},
      {StepKind::kUpdateFamily, 8},
      {StepKind::kSetLocalityGroup, 8},
      {StepKind::kReopen, 10},
      {StepKind::kReopenReadOnly, 4},
      {StepKind::kCrash, 10},
  };
  int total = 0;
  for (const auto& [kind, weight] : kWeights) total += weight;

  Random random(seed);
  ModelPlan plan;
  plan.seed = seed;
  switch (random.Below(4)) {
    case 0:
      plan.settings.crashes = ModelSettings::Crashes::kNever;
      break;
    case 1:
      plan.settings.crashes = ModelSettings::Crashes::kProcess;
      break;
    default:
      plan.settings.crashes = ModelSettings::Crashes::kMachine;
      break;
  }
  plan.settings.expiry = random.OneIn(2);
  for (size_t i = 0; i < step_count; ++i) {
    int64_t draw = random.Between(0, total - 1);
    for (const auto& [kind, weight] : kWeights) {
      draw -= weight;
      if (draw < 0) {
        plan.steps.push_back({kind, random.Next()});
        break;
      }
    }
  }
  return plan;
}

// --- Names, few and hostile ---

inline const std::vector<std::string>& ModelRows() {
  using namespace std::string_literals;
  static const std::vector<std::string> kRows = [] {
    std::vector<std::string> rows = {"a"s,
                                     "a\0"s,
                                     "a\0\0"s,
                                     "a\0b"s,
                                     "a\xff"s,
                                     "a\xff\xff"s,
                                     "ab"s,
                                     "abc"s,
                                     "b"s,
                                     "\0"s,
                                     "\0\0"s,
                                     "\0\x01"s,
                                     "\x01"s,
                                     "\xff"s,
                                     "\xff\0"s,
                                     "q"s,
                                     "f0"s,
                                     ":"s,
                                     "\n"s,
                                     "row 1"s,
                                     "row 10"s,
                                     "\xff\xff"s,
                                     "\xff\x01"s,
                                     "a\x01"s,
                                     std::string(300, 'k'),
                                     std::string(299, 'k') + "\xff"};
    for (int i = 0; i < 14; ++i) rows.push_back(absl::StrCat("user", i));
    return rows;
  }();
  return kRows;
}
inline std::string RandomRow(Random& random) {
  if (random.OneIn(150)) return std::string(RowMutation::kMaxRowSize, random.OneIn(2) ? 'r' : '\0');
  return random.Pick(ModelRows());
}

inline std::string RandomQualifier(Random& random) {
  using namespace std::string_literals;
  static const std::vector<std::string> kQualifiers = {
      ""s, "\0"s, "\0\0"s, "\xff"s, "\xff\xff"s, "q"s, "q\0"s, "q1"s, ":"s, "a:b"s, "\n"s};
  if (random.OneIn(400)) return std::string(RowMutation::kMaxQualifierSize, 'l');
  return random.Pick(kQualifiers);
}

inline std::string RandomFamilyName(Random& random) {
  static const std::vector<std::string> kNames = {"a", "ab", "b!", "c", "~z", "B"};
  return random.Pick(kNames);
}
inline std::string RandomTableName(Random& random) {
  static const std::vector<std::string> kNames = {"t0", "t0", "t0", "t1", "t2"};
  return random.Pick(kNames);
}
// A family that the table has. Requires that it has one.
inline std::string ExistingFamily(Random& random, const ModelTable& table) {
  std::vector<std::string> names;
  for (const auto& [name, family] : table.schema().families) names.push_back(name);
  return random.Pick(names);
}

// --- Schemas and options ---

inline LocalityGroup RandomLocalityGroup(Random& random) {
  static const std::vector<Compression> kCompressions = {
      Compression::kNone, Compression::kNone, Compression::kZstd, Compression::kZstdLongWindow};
  static const std::vector<FilterKind> kFilters = {
      FilterKind::kNone, FilterKind::kRow, FilterKind::kRowIndex, FilterKind::kRowAndColumn};
  static const std::vector<CompactionStyle> kStyles = {
      CompactionStyle::kSizeTiered, CompactionStyle::kLeveled, CompactionStyle::kFifo,
      CompactionStyle::kNone};
  LocalityGroup group;
  group.compression = random.Pick(kCompressions);
  group.compression_level = static_cast<int>(random.Between(1, 4));
  group.block_size = random.OneIn(4) ? 8 << 10 : 1 << 10;
  group.filter = random.Pick(kFilters);
  group.filter_bits = static_cast<int>(random.Between(1, 12));
  group.in_memory = random.OneIn(4);
  group.compaction = random.Pick(kStyles);
  if (random.OneIn(2)) group.compaction_factor = static_cast<int>(random.Between(2, 4));
  return group;
}

inline GcRule RandomGcRule(Random& random, const ModelSettings& settings) {
  const GcRule versions = GcRule::MaxVersions(random.Between(1, 4));
  const GcRule age =
      settings.expiry ? GcRule::MaxAge(absl::Microseconds(random.Between(1000, 6000))) : GcRule();
  switch (random.Below(6)) {
    case 0:
    case 1:
      return GcRule();
    case 2:
    case 3:
      return versions;
    case 4:
      return age;
    default:
      return GcRule::Union(versions, age);
  }
}

inline Family RandomFamily(Random& random, const TableSchema& schema,
                           const ModelSettings& settings) {
  std::vector<std::string> groups = {""};
  for (const auto& [name, group] : schema.locality_groups) groups.push_back(name);
  return {.locality_group = random.Pick(groups), .gc = RandomGcRule(random, settings)};
}

inline TableSchema RandomSchema(Random& random, const ModelSettings& settings) {
  TableSchema schema;
  if (random.OneIn(2)) schema.locality_groups["default"] = RandomLocalityGroup(random);
  if (random.OneIn(2)) schema.locality_groups["g1"] = RandomLocalityGroup(random);
  if (random.OneIn(2)) schema.locality_groups["g2"] = RandomLocalityGroup(random);
  static const std::vector<SplitRule> kRules = {
      {},
      {},
      {.tablet_size = 0},
      {.tablet_size = 64 << 10},
      {.tablet_size = 64 << 10, .merge_size = 16 << 10},
      {.tablet_size = 128 << 10, .merge_size = 64 << 10, .prefix_length = 2}};
  schema.split = random.Pick(kRules);
  const int64_t families = random.Between(1, 6);
  for (int64_t i = 0; i < families; ++i) {
    schema.families[RandomFamilyName(random)] = RandomFamily(random, schema, settings);
  }
  return schema;
}

// Where a new table is split: nowhere, often.
inline std::vector<std::string> RandomSplitRows(Random& random) {
  std::set<std::string> rows;
  if (random.OneIn(2)) return {};
  for (int64_t i = random.Between(1, 6); i > 0; --i) rows.insert(random.Pick(ModelRows()));
  return {rows.begin(), rows.end()};
}

// Small, so that little data meets every machinery.
inline DatabaseOptions RandomOptions(Random& random) {
  static const std::vector<uint64_t> kSizes = {64 << 10, 64 << 10, 256 << 10, 1 << 20};
  DatabaseOptions options;
  options.memory_budget = random.OneIn(3) ? 64 << 20 : MemoryBudget::kMinimum;
  options.memtable_size = random.OneIn(5) ? 0 : random.Pick(kSizes);
  options.log_segment_size = random.Pick(kSizes);
  options.target_file_size = 1 << 20;
  options.compaction_threads = static_cast<int>(random.Between(1, 3));
  options.tablet_servers = static_cast<int>(random.Between(1, 3));
  options.scan_cache = random.OneIn(2);
  options.read_mode =
      random.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
  return options;
}

// --- Mutations and filters ---

inline int64_t RandomTimestamp(Random& random, int64_t now_micros) {
  if (random.OneIn(40)) return Timestamp::Max().micros();
  if (random.OneIn(3)) return std::max<int64_t>(0, now_micros + random.Between(-3, 3));
  return random.Between(0, 8);
}

inline std::string RandomValue(Random& random) {
  static const std::vector<std::string> kTiny = {"", "a", "q", "x1", "\n", "f0"};
  if (random.OneIn(4)) return random.Pick(kTiny);
  std::string value = absl::StrCat("v", random.Below(1'000'000));
  const uint64_t kind = random.Below(200);
  if (kind == 0) return value + random.Bytes(100 << 10);
  if (kind < 20) return value + random.Bytes(random.Below(4 << 10));
  if (kind < 60) return value + std::string(random.Below(500), 'p');
  return value;
}

inline ModelOperation RandomOperation(Random& random, const ModelTable& table, int64_t now_micros) {
  using Kind = ModelOperation::Kind;
  static const std::vector<Kind> kKinds = {
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kSet,          Kind::kSet,        Kind::kSet,        Kind::kSet,
      Kind::kDeleteColumn, Kind::kDeleteCell, Kind::kDeleteCell, Kind::kDeleteFamily,
      Kind::kDeleteRow};
  ModelOperation op;
  op.kind = random.Pick(kKinds);
  if (op.kind == Kind::kDeleteRow) return op;
  op.family = random.OneIn(400) ? "unknown" : ExistingFamily(random, table);
  if (op.kind == Kind::kDeleteFamily) return op;
  op.qualifier = RandomQualifier(random);
  if (op.kind == Kind::kDeleteColumn) return op;
  if (op.kind == Kind::kDeleteCell || table.HasOwnWill() || !random.OneIn(3)) {
    op.timestamp = RandomTimestamp(random, now_micros);
  }
  if (op.kind == Kind::kSet) op.value = RandomValue(random);
  return op;
}

inline ModelMutation RandomMutation(Random& random, const ModelTable& table, int64_t now_micros) {
  ModelMutation mutation;
  mutation.row = RandomRow(random);
  const int64_t operations = random.OneIn(3) ? random.Between(1, 20) : random.Between(1, 3);
  for (int64_t i = 0; i < operations; ++i) {
    mutation.operations.push_back(RandomOperation(random, table, now_micros));
  }
  return mutation;
}

inline ModelFilter RandomFilter(Random& random, const ModelTable& table, int depth = 0) {
  using Kind = ModelFilter::Kind;
  ModelFilter filter;
  const uint64_t kinds = static_cast<uint64_t>(Kind::kChain) + (depth < 2 ? 1 : 0);
  filter.kind = random.OneIn(4) ? Kind::kPassAll : static_cast<Kind>(random.Below(kinds));
  filter.n = random.Between(1, 4);
  filter.family = ExistingFamily(random, table);
  filter.begin = RandomQualifier(random);
  filter.end = RandomQualifier(random);
  if (filter.end <= filter.begin) filter.end.clear();  // an empty range is an error
  filter.from_micros = random.Between(0, 6);
  filter.to_micros =
      random.OneIn(2) ? filter.from_micros + random.Between(1, 6) : Timestamp::Max().micros();
  filter.regex = random.Below(ModelRegexes().size());
  if (filter.kind == Kind::kChain) {
    const int64_t parts = random.Between(1, 3);
    for (int64_t i = 0; i < parts; ++i) {
      filter.filters.push_back(RandomFilter(random, table, depth + 1));
    }
  }
  return filter;
}

inline RowRange RandomRowRange(Random& random) {
  const std::string a = RandomRow(random);
  const std::string b = RandomRow(random);
  switch (random.Below(8)) {
    case 0:
      return RowRange::Single(a);
    case 1:
      return RowRange::Prefix(a);
    case 2:
      return RowRange::StartingAt(a);
    case 3:
      return RowRange::EndingAt(a);
    case 4:
      return RowRange::RightOpen(a, b);
    case 5:
      return RowRange::Open(a, b);
    case 6:
      return RowRange::LeftOpen(a, b);
    default:
      return RowRange::Closed(a, b);
  }
}
inline RowSet RandomRowSet(Random& random) {
  if (random.OneIn(3)) return RowRange::All();
  RowSet rows;
  for (int64_t i = random.Between(0, 4); i > 0; --i) {
    if (random.OneIn(2)) {
      rows.Append(RandomRow(random));
    } else {
      rows.Append(RandomRowRange(random));
    }
  }
  return rows;
}

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_
