// What the model test does: a plan is a list of steps, each with a seed of its own, so that any
// part of the list can be run again alone. Here is all that is chosen at random.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_PLAN_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <sys/mman.h>
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
  kApplyLarge,
  kApplyInvalid,
  kFill,
  kWriteConcurrently,
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
  kSetSplitRule,
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
  // Mostly steps in which several threads write.
  bool concurrency = false;
};

struct ModelPlan {
  uint64_t seed = 0;
  ModelSettings settings;
  std::vector<ModelStep> steps;
};

// `settings` says what is not chosen here.
inline ModelPlan MakeModelPlan(uint64_t seed, size_t step_count, ModelSettings settings = {}) {
  // Which part of the steps, about, of 1000.
  static const std::vector<std::pair<StepKind, int>> kWeights = {
      {StepKind::kApply, 320},
      {StepKind::kApplyBatch, 60},
      {StepKind::kApplyLarge, 1},
      {StepKind::kApplyInvalid, 8},
      {StepKind::kFill, 30},
      {StepKind::kWriteConcurrently, 2},
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
      {StepKind::kUpdateFamily, 25},
      {StepKind::kSetLocalityGroup, 8},
      {StepKind::kSetSplitRule, 3},
      {StepKind::kReopen, 10},
      {StepKind::kReopenReadOnly, 4},
      {StepKind::kCrash, 10},
  };
  const auto weight_of = [&settings](const std::pair<StepKind, int>& kind) {
    return kind.first == StepKind::kWriteConcurrently && settings.concurrency ? 400 : kind.second;
  };
  int total = 0;
  for (const auto& kind : kWeights) total += weight_of(kind);

  Random random(seed);
  ModelPlan plan;
  plan.seed = seed;
  plan.settings = settings;
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
  // They take as long as hundreds of others.
  int large = 2;
  for (size_t i = 0; i < step_count; ++i) {
    int64_t draw = random.Between(0, total - 1);
    for (const auto& kind : kWeights) {
      draw -= weight_of(kind);
      if (draw < 0) {
        const bool too_many = kind.first == StepKind::kApplyLarge && --large < 0;
        plan.steps.push_back({too_many ? StepKind::kApply : kind.first, random.Next()});
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
  // Some columns have long histories.
  if (random.OneIn(3)) return ModelRows()[random.Below(3)];
  return random.Pick(ModelRows());
}

inline std::string RandomQualifier(Random& random) {
  using namespace std::string_literals;
  static const std::vector<std::string> kQualifiers = {
      ""s, "\0"s, "\0\0"s, "\xff"s, "\xff\xff"s, "q"s, "q\0"s, "q1"s, ":"s, "a:b"s, "\n"s};
  if (random.OneIn(400)) return std::string(RowMutation::kMaxQualifierSize, 'l');
  return random.OneIn(3) ? kQualifiers[random.Below(2)] : random.Pick(kQualifiers);
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

// From `least` to `most`: any order of magnitude is as likely as any other.
inline uint64_t LogUniform(Random& random, uint64_t least, uint64_t most) {
  const uint64_t base =
      least << random.Below(static_cast<uint64_t>(std::bit_width(most / least)));
  return std::min(most, base + random.Below(base));
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
  static const std::vector<size_t> kBlockSizes = {1 << 10, 1 << 10, 1 << 10, 2 << 10, 8 << 10};
  LocalityGroup group;
  group.compression = random.Pick(kCompressions);
  group.compression_level =
      static_cast<int>(random.OneIn(40) ? random.Between(5, 19) : random.Between(1, 4));
  group.block_size = random.OneIn(20) ? LogUniform(random, 1 << 10, 16 << 20)
                                      : random.Pick(kBlockSizes);
  group.filter = random.Pick(kFilters);
  group.filter_bits =
      static_cast<int>(random.OneIn(20) ? random.Between(13, 32) : random.Between(1, 12));
  group.in_memory = random.OneIn(4);
  group.compaction = random.Pick(kStyles);
  if (random.OneIn(2)) group.compaction_factor = static_cast<int>(random.Between(2, 4));
  return group;
}

inline GcRule RandomGcRule(Random& random, const ModelSettings& settings) {
  const GcRule versions =
      GcRule::MaxVersions(random.OneIn(10) ? random.Between(5, 40) : random.Between(1, 4));
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

inline SplitRule RandomSplitRule(Random& random) {
  static const std::vector<SplitRule> kRules = {
      {},
      {},
      {.tablet_size = 0},
      {.tablet_size = 64 << 10},
      {.tablet_size = 64 << 10, .merge_size = 16 << 10},
      {.tablet_size = 128 << 10, .merge_size = 64 << 10, .prefix_length = 2}};
  return random.Pick(kRules);
}

// A new table must use each of its locality groups.
inline void RemoveUnusedGroups(TableSchema* schema) {
  std::set<std::string> used = {"default"};
  for (const auto& [name, family] : schema->families) used.insert(family.locality_group);
  std::erase_if(schema->locality_groups,
                [&](const auto& group) { return !used.contains(group.first); });
}

inline TableSchema RandomSchema(Random& random, const ModelSettings& settings) {
  TableSchema schema;
  for (const char* group : {"default", "g1", "g2", "g3"}) {
    if (random.OneIn(2)) schema.locality_groups[group] = RandomLocalityGroup(random);
  }
  schema.split = RandomSplitRule(random);
  const auto families = static_cast<size_t>(random.Between(1, 6));
  while (schema.families.size() < families) {
    schema.families[RandomFamilyName(random)] = RandomFamily(random, schema, settings);
  }
  RemoveUnusedGroups(&schema);
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
  // These two cost time when a database is opened, and while nothing else happens.
  if (random.OneIn(16)) options.metadata_tablet_size = 16 << 10;
  if (random.OneIn(8)) options.balance_interval = absl::Milliseconds(random.Between(5, 50));
  if (random.OneIn(8)) options.compaction_rate = 100 << 20;
  options.read_mode =
      random.OneIn(2) ? FileSystem::ReadMode::kMapped : FileSystem::ReadMode::kPositional;
  return options;
}

inline WriteOptions RandomWriteOptions(Random& random, const ModelSettings& settings) {
  WriteOptions options;
  switch (settings.crashes) {
    case ModelSettings::Crashes::kNever:
      if (random.OneIn(10)) options.durability = Durability::kNone;
      break;
    case ModelSettings::Crashes::kProcess:
      if (random.OneIn(4)) options.durability = Durability::kSync;
      break;
    case ModelSettings::Crashes::kMachine:
      break;
  }
  return options;
}

// --- Mutations and filters ---

inline int64_t RandomTimestamp(Random& random, int64_t now_micros) {
  if (random.OneIn(40)) return Timestamp::Max().micros();
  if (random.OneIn(3)) return std::max<int64_t>(0, now_micros + random.Between(-3, 3));
  // What the ages of families come to, about.
  if (random.OneIn(4)) return std::max<int64_t>(0, now_micros - random.Between(0, 8000));
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

// So many zero bytes, which take no memory until they are read.
class UntouchedBytes {
 public:
  explicit UntouchedBytes(size_t size) : size_(size) {
    void* const bytes =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) std::abort();
    bytes_ = static_cast<const char*>(bytes);
  }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  const char* bytes_;  // for ever
  const size_t size_;
};

// Any part of it tells where in the value it is. Half of them compress.
inline std::string LargeValue(Random& random, size_t size) {
  const std::string piece =
      random.OneIn(2) ? random.Bytes(64 << 10) : std::string(64 << 10, static_cast<char>('A'));
  std::string value;
  value.reserve(size);
  while (value.size() < size) {
    absl::StrAppend(&value, "[", value.size(), "]");
    value.append(piece, 0, std::min(piece.size(), size - std::min(size, value.size())));
  }
  value.resize(size);
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

// Has one value of up to 64 MiB.
inline ModelMutation RandomLargeMutation(Random& random, const ModelTable& table,
                                         int64_t now_micros) {
  ModelMutation mutation = RandomMutation(random, table, now_micros);
  ModelOperation& op = mutation.operations[random.Below(mutation.operations.size())];
  op = {};
  op.family = ExistingFamily(random, table);
  op.qualifier = RandomQualifier(random);
  op.timestamp = RandomTimestamp(random, now_micros);
  op.value = LargeValue(random, LogUniform(random, 64 << 10, 64 << 20));
  return mutation;
}

// Adds what no mutation may have, or makes it one that none may be.
inline void Spoil(Random& random, const ModelTable& table, RowMutation* mutation) {
  const std::string column = ExistingFamily(random, table) + ":q";
  switch (random.Below(9)) {
    case 0:
      *mutation = RowMutation("");
      mutation->Set(column, Timestamp(1), "v");
      return;
    case 1:
      *mutation = RowMutation(std::string(RowMutation::kMaxRowSize + 1, 'r'));
      mutation->Set(column, Timestamp(1), "v");
      return;
    case 2:
      *mutation = RowMutation(mutation->row());
      return;
    case 3:
      mutation->Set(column + std::string(RowMutation::kMaxQualifierSize, 'q'), Timestamp(1), "v");
      return;
    case 4:
      mutation->Set(random.OneIn(2) ? "a" : ":a", Timestamp(1), "v");
      return;
    case 5:
      mutation->DeleteCell(column, Timestamp(-1));
      return;
    case 6:
      mutation->DeleteFamily("");
      return;
    case 7:
      // One operation too many takes as long as a million: rarely.
      if (!random.OneIn(8)) {
        mutation->Set(column, Timestamp(-1), "v");
        return;
      }
      for (uint32_t i = 0; i <= RowMutation::kMaxOperations; ++i) mutation->DeleteRow();
      return;
    default:
      // Nobody may look at it, which would take a quarter of a gigabyte.
      static const UntouchedBytes kTooMany(RowMutation::kMaxValueSize + 1);
      mutation->Set(column, Timestamp(1), kTooMany.view());
      return;
  }
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
