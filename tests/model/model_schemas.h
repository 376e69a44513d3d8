// Random schemas and options for the model test and other random tests.
#ifndef BIGTABLE_TESTS_CLIENT_MODEL_SCHEMAS_H_
#define BIGTABLE_TESTS_CLIENT_MODEL_SCHEMAS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "model/model_names.h"
#include "model/model_plan.h"
#include "support/model_aggregates.h"
#include "support/model_compaction_policy.h"
#include "support/model_filtered_cells.h"
#include "support/model_rules.h"
#include "support/random.h"

namespace bigtable {

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
  group.block_size =
      random.OneIn(20) ? LogUniform(random, 1 << 10, 16 << 20) : random.Pick(kBlockSizes);
  group.filter = random.Pick(kFilters);
  group.filter_bits =
      static_cast<int>(random.OneIn(20) ? random.Between(13, 32) : random.Between(1, 12));
  group.in_memory = random.OneIn(4);
  group.compaction = random.Pick(kStyles);
  if (random.OneIn(2)) group.compaction_factor = static_cast<int>(random.Between(2, 4));
  if (random.OneIn(4)) group.compaction_policy = ModelCompactionPolicy::kName;
  return group;
}

inline GcRule RandomGcRule(Random& random, const ModelSettings& settings) {
  const GcRule versions =
      GcRule::MaxVersions(random.OneIn(10) ? random.Between(5, 40) : random.Between(1, 4));
  const GcRule age =
      settings.expiry ? GcRule::MaxAge(absl::Microseconds(random.Between(1000, 6000))) : GcRule();
  switch (random.Below(8)) {
    case 0:
    case 1:
      return GcRule();
    case 2:
    case 3:
      return versions;
    case 4:
      return age;
    case 5:
      return GcRule::Union(versions, age);
    case 6:
      return GcRule::Intersection(versions, age);
    default:
      return GcRule::Union(
          GcRule::MaxVersions(random.Between(2, 6)),
          GcRule::Intersection(GcRule::Union(versions, GcRule::MaxVersions(3)), age));
  }
}

// Whether the family may have a compaction filter here. What the filter has removed counts as a
// version if older cells are there already, but perhaps not if they are written later. So it
// depends on when a compaction came which cells are there.
inline bool MayHaveFilter(const Family& family) {
  return !HoldsAggregates(family) && !CountsVersions(family.gc);
}

// Holds bytes if no family of the schema does.
inline Family RandomFamily(Random& random, const TableSchema& schema,
                           const ModelSettings& settings) {
  std::vector<std::string> groups = {""};
  for (const auto& [name, group] : schema.locality_groups) groups.push_back(name);
  Family family{.locality_group = random.Pick(groups), .gc = RandomGcRule(random, settings)};
  const bool has_bytes =
      std::any_of(schema.families.begin(), schema.families.end(),
                  [](const auto& other) { return !HoldsAggregates(other.second); });
  if (has_bytes && !CombinesVersionsWithAge(family.gc) && random.OneIn(3)) {
    MakeAggregate(random, &family);
  }
  if (settings.filters && MayHaveFilter(family) && random.OneIn(2)) {
    family.compaction_filter = ModelCompactionFilter::kName;
  }
  if (settings.quotas && random.OneIn(3)) family.owner = "ann";
  return family;
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

// Keeps everything that a test does.
inline ChangeStreamRule RandomChangeStreamRule(Random& random) {
  return {.retention = absl::Hours(random.Between(24, 48))};
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
  if (settings.changes && random.OneIn(2)) schema.changes = RandomChangeStreamRule(random);
  const auto families = static_cast<size_t>(random.Between(1, 6));
  while (schema.families.size() < families) {
    const Family family = RandomFamily(random, schema, settings);
    schema.families.try_emplace(RandomFamilyName(random), family);
  }
  RemoveUnusedGroups(&schema);
  return schema;
}

// The rows at which a new table is split; often none.
inline std::vector<std::string> RandomSplitRows(Random& random) {
  std::set<std::string> rows;
  if (random.OneIn(2)) return {};
  for (int64_t i = random.Between(1, 6); i > 0; --i) rows.insert(random.Pick(ModelRows()));
  return {rows.begin(), rows.end()};
}

// Small, so that little data reaches every part of the engine.
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
  // These two cost time: one when a database is opened, the other while nothing else happens.
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

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_CLIENT_MODEL_SCHEMAS_H_
