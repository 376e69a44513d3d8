#include "schema/table_layout.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/types/span.h"

#include "base/compare.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/filters.h"
#include "schema/schema_checks.h"

namespace bigtable {
namespace {

constexpr std::string_view kDefaultGroup = "default";

// InvalidArgument for a group that no family of the schema uses: its name is probably misspelled.
absl::Status CheckGroupsAreUsed(const TableLayout& layout) {
  for (const GroupLayout& group : layout.groups) {
    if (group.name == kDefaultGroup) continue;
    const bool is_used = std::any_of(layout.families.begin(), layout.families.end(),
                                     [&](const FamilyLayout& f) { return f.group_id == group.id; });
    if (!is_used) {
      return absl::InvalidArgumentError(Cat("no family of the schema is in locality group ",
                                            Quoted(group.name),
                                            "; a new table must use each of its locality groups"));
    }
  }
  return absl::OkStatus();
}

// Without the step that only has an age.
absl::Span<const GcRule::Step> CountingSteps(const GcRule& rule) {
  const absl::Span<const GcRule::Step> steps = rule.steps();
  return !steps.empty() && steps.front().versions == 0 ? steps.subspan(1) : steps;
}

// Older timestamps are past the age of the step.
int64_t OldestOf(const GcRule::Step& step, absl::Time now) {
  return absl::ToUnixMicros(now - step.age);
}

}  // namespace

int64_t FamilyLayout::SuspectBefore(absl::Time now) const {
  const int64_t present = MinTimestamp(gc, now);
  return past.ages.empty() ? present : std::max(present, past.ages.front().min_timestamp);
}

void FamilyLayout::ChangeRule(const GcRule& rule, SequenceNumber change, absl::Time now) {
  if (!std::ranges::equal(CountingSteps(rule), CountingSteps(gc))) {
    past.EndVersions(LimitsOf(gc, now), change);
  }
  const bool has_longer_age =
      gc.max_age().has_value() && (!rule.max_age().has_value() || *rule.max_age() > *gc.max_age());
  if (has_longer_age) past.EndAge(MinTimestamp(gc, now), change);
  gc = rule;
}

void TableLayout::AddFamily(std::string_view family_name, uint32_t group_id, const Family& family,
                            SequenceNumber created) {
  FamilyLayout added{std::string(family_name), group_id, family.gc, created, family.access_list};
  added.owner = family.owner;
  added.SetValueType(family.value_type, family.value_operator);
  added.compaction_filter = family.compaction_filter;
  const auto after = std::find_if(families.begin(), families.end(),
                                  [&](const FamilyLayout& f) { return f.name >= family_name; });
  families.insert(after, std::move(added));
}

const FamilyLayout* TableLayout::FindFamily(std::string_view family) const {
  // One comparison for each step: each write does this twice, mostly in a table of few families.
  for (size_t begin = 0, end = families.size(); begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    const int order = family.compare(families[middle].name);
    if (order == 0) return &families[middle];
    if (order < 0) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return nullptr;
}

const FamilyLayout* TableLayout::FamilyBefore(std::string_view text) const {
  // Most tables have few families.
  constexpr size_t kFew = 4;
  if (families.size() > kFew) return FindFamily(text.substr(0, text.find('\0')));
  for (const FamilyLayout& family : families) {
    if (BeginsWith(text, family.name) && text[family.name.size()] == '\0') return &family;
  }
  return nullptr;
}

FamilyLayout* TableLayout::FindFamily(std::string_view family) {
  return const_cast<FamilyLayout*>(static_cast<const TableLayout*>(this)->FindFamily(family));
}

const GroupLayout* TableLayout::FindGroup(std::string_view group) const {
  const auto found = std::find_if(groups.begin(), groups.end(),
                                  [&](const GroupLayout& g) { return g.name == group; });
  return found == groups.end() ? nullptr : &*found;
}

size_t TableLayout::GroupIndex(uint32_t group_id) const {
  size_t i = 0;
  while (i < groups.size() && groups[i].id != group_id) ++i;
  return i;
}

int64_t MinTimestamp(const GcRule& rule, absl::Time now, int64_t newer) {
  int64_t min = std::numeric_limits<int64_t>::min();
  for (const GcRule::Step& step : rule.steps()) {
    if (step.versions <= newer) min = OldestOf(step, now);
  }
  return min;
}

VersionLimits LimitsOf(const GcRule& rule, absl::Time now) {
  VersionLimits limits;
  const absl::Span<const GcRule::Step> steps = CountingSteps(rule);
  if (steps.empty()) return limits;
  limits.most = steps.back().versions;
  if (steps.size() == 1 && steps.back().age == -absl::InfiniteDuration()) return limits;
  for (const GcRule::Step& step : steps) {
    limits.by_age.push_back({step.versions, OldestOf(step, now)});
  }
  return limits;
}

bool HasAge(const GcRule& rule) {
  return !rule.steps().empty() && rule.steps().front().age != -absl::InfiniteDuration();
}

Retention TableLayout::RetentionOf(uint32_t group_id, absl::Time now) const {
  Retention retention;
  for (const FamilyLayout& family : families) {
    if (family.group_id != group_id) continue;
    // While the rule is held, neither entries nor whole files expire.
    const int64_t min_timestamp = MinTimestamp(family.held ? GcRule() : family.gc, now);
    retention.families.push_back({family.name, family.created, LimitsOf(family.gc, now),
                                  min_timestamp, family.past, family.aggregate});
    retention.held |= family.held;
    if (!family.compaction_filter.empty()) {
      retention.families.back().filter = FindCompactionFilter(family.compaction_filter);
    }
  }
  retention.rules_as_of = now;
  retention.now = now;
  return retention;
}

void TableLayout::SetChangeStream(const ChangeStreamRule& rule) {
  changes = {};
  if (rule.retention != absl::ZeroDuration()) {
    changes = rule;
    changes.retention = absl::Trunc(rule.retention, absl::Microseconds(1));
    return;
  }
  changes_since = 0;
  schema_changes.clear();
}

void TableLayout::KeepFirstSchema(const TableLayout& before, absl::Time now) {
  if (!schema_changes.empty()) return;
  ABSL_ASSERT(before.schema_changes.empty() && "it is the layout before this one");
  schema_changes.push_back({changes_since, absl::ToUnixMicros(now), before.Encode()});
}

void TableLayout::AddSchemaChange(SequenceNumber sequence, absl::Time now,
                                  SequenceNumber read_through) {
  const int64_t oldest = absl::ToUnixMicros(now - changes.retention);
  std::vector<SchemaChange> kept = std::move(schema_changes);
  schema_changes.clear();
  const auto first_kept = std::find_if(kept.begin(), kept.end(), [&](const SchemaChange& change) {
    return change.micros >= oldest || change.sequence > read_through;
  });
  // The last one that is dropped says what the next one has changed.
  if (first_kept != kept.begin()) kept.erase(kept.begin(), std::prev(first_kept));
  kept.push_back({sequence, absl::ToUnixMicros(now), Encode()});
  schema_changes = std::move(kept);
}

SequenceNumber TableLayout::LastChange() const {
  SequenceNumber last = changes_since;
  if (!schema_changes.empty()) last = std::max(last, schema_changes.back().sequence);
  for (const FamilyLayout& family : families) last = std::max(last, family.past.last_change());
  return last;
}

bool TableLayout::EndHolds() {
  bool any = std::exchange(is_changing, false);
  for (FamilyLayout& family : families) {
    any |= std::exchange(family.held, false);
    any |= std::exchange(family.closed, false);
  }
  return any;
}

absl::Status TableLayout::CheckCanMerge(uint32_t group_id) const {
  for (const FamilyLayout& family : families) {
    if (family.group_id != group_id) continue;
    if (family.aggregate != nullptr && family.aggregate->operator_or_null() == nullptr) {
      return family.aggregate->MissingError(family.name);
    }
    const std::string& filter = family.compaction_filter;
    if (filter.empty() || FindCompactionFilter(filter) != nullptr) continue;
    return absl::FailedPreconditionError(
        Cat("family ", Quoted(family.name), " has the compaction filter ", Quoted(filter),
            ", which this program has not registered (RegisterCompactionFilter); registered are: ",
            Listed(CompactionFilterNames())));
  }
  return absl::OkStatus();
}

bool TableLayout::HasFilter(uint32_t group_id) const {
  return std::any_of(families.begin(), families.end(), [&](const FamilyLayout& family) {
    return family.group_id == group_id && !family.compaction_filter.empty();
  });
}

absl::Status TableLayout::NoFamilyError(std::string_view family) const {
  return absl::NotFoundError(Cat("table ", name, " has no column family ", Quoted(family),
                                 "; it has: ", Listed(families, &FamilyLayout::name)));
}

absl::StatusOr<TableLayout> MakeTableLayout(std::string_view name, uint64_t table_id,
                                            const TableSchema& schema) {
  BT_RETURN_IF_ERROR(CheckTableName(name));
  TableLayout layout;
  layout.table_id = table_id;
  layout.name = name;
  BT_RETURN_IF_ERROR(CheckSplitRule(schema.split));
  layout.split = schema.split;
  BT_RETURN_IF_ERROR(CheckChangeStreamRule(schema.changes));
  layout.SetChangeStream(schema.changes);
  const auto add_group = [&](std::string_view group, const LocalityGroup& options) {
    layout.groups.push_back({layout.next_group_id++, std::string(group), options});
  };
  if (!schema.locality_groups.contains(kDefaultGroup)) add_group(kDefaultGroup, {});
  for (const auto& [group, options] : schema.locality_groups) {
    BT_RETURN_IF_ERROR(CheckLocalityGroup(group, options));
    BT_RETURN_IF_ERROR(CheckPolicyIsKnown(group, options));
    add_group(group, options);
  }
  for (const auto& [family, options] : schema.families) {
    BT_RETURN_IF_ERROR(CheckNewFamily(family, options));
    const std::string_view group =
        options.locality_group.empty() ? kDefaultGroup : std::string_view(options.locality_group);
    const GroupLayout* found = layout.FindGroup(group);
    if (found == nullptr) {
      return absl::InvalidArgumentError(Cat("family ", Quoted(family), " is in locality group ",
                                            Quoted(group), ", which the schema does not have"));
    }
    layout.AddFamily(family, found->id, options, 0);
  }
  BT_RETURN_IF_ERROR(CheckObservers(schema.observers));
  layout.observers = schema.observers;
  BT_RETURN_IF_ERROR(CheckGroupsAreUsed(layout));
  return layout;
}

TableSchema TableLayout::ToSchema() const {
  TableSchema schema;
  schema.split = split;
  schema.observers = observers;
  schema.changes = changes;
  for (const GroupLayout& group : groups) schema.locality_groups[group.name] = group.options;
  for (const FamilyLayout& family : families) {
    schema.families[family.name] = {groups[GroupIndex(family.group_id)].name,
                                    family.gc,
                                    family.access_list,
                                    family.value_type,
                                    family.value_operator,
                                    family.compaction_filter,
                                    family.owner};
  }
  return schema;
}

}  // namespace bigtable
