// The bytes of a schema, as table_layout.h specifies them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/coding.h"
#include "base/status.h"
#include "base/strings.h"
#include "schema/schema_checks.h"
#include "schema/table_layout.h"

namespace bigtable {
namespace {

// 1 has no split rule, 2 has no access lists, 3 has no past rules, 4 has no names of policies, 5
// has no value types, 6 has no compaction filters, 7 has no observers, 8 has no owners, 9 has no
// rules that combine versions with ages, 10 has no change streams. The smallest of 4 to 11 is
// written that has what the schema needs, so that earlier programs can read it.
constexpr uint8_t kFormatVersion = 11;
constexpr uint8_t kFormatWithoutPolicies = 4;
constexpr uint8_t kFormatWithoutValueTypes = 5;
constexpr uint8_t kFormatWithoutFilters = 6;
constexpr uint8_t kFormatWithoutObservers = 7;
constexpr uint8_t kFormatWithoutOwners = 8;
constexpr uint8_t kFormatWithoutSteps = 9;
constexpr uint8_t kFormatWithoutChanges = 10;

void EncodeGroup(const GroupLayout& group, std::string* out) {
  AppendVarint64(out, group.id);
  AppendLengthPrefixed(out, group.name);
  out->push_back(static_cast<char>(group.options.compression));
  AppendVarint64(out, static_cast<uint64_t>(group.options.compression_level));
  AppendVarint64(out, group.options.block_size);
  out->push_back(static_cast<char>(group.options.filter));
  AppendVarint64(out, static_cast<uint64_t>(group.options.filter_bits));
  out->push_back(group.options.in_memory ? 1 : 0);
  out->push_back(static_cast<char>(group.options.compaction));
  AppendVarint64(out, static_cast<uint64_t>(group.options.compaction_factor));
}

GroupLayout DecodeGroup(Decoder* in) {
  GroupLayout group;
  group.id = static_cast<uint32_t>(in->Varint());
  group.name = in->LengthPrefixed();
  group.options.compression = static_cast<Compression>(in->Byte());
  group.options.compression_level = static_cast<int>(in->Varint());
  group.options.block_size = in->Varint();
  group.options.filter = static_cast<FilterKind>(in->Byte());
  group.options.filter_bits = static_cast<int>(in->Varint());
  group.options.in_memory = in->Byte() != 0;
  group.options.compaction = static_cast<CompactionStyle>(in->Byte());
  group.options.compaction_factor = static_cast<int>(in->Varint());
  return group;
}

void EncodeFamily(const FamilyLayout& family, std::string* out) {
  AppendLengthPrefixed(out, family.name);
  AppendVarint64(out, family.group_id);
  AppendVarint64(out, family.created);
  const auto versions = family.gc.max_versions();
  out->push_back(versions.has_value() ? 1 : 0);
  if (versions.has_value()) AppendVarint64(out, static_cast<uint64_t>(*versions));
  const auto age = family.gc.max_age();
  out->push_back(age.has_value() ? 1 : 0);
  if (age.has_value()) {
    AppendVarint64(out, static_cast<uint64_t>(absl::ToInt64Microseconds(*age)));
  }
}

FamilyLayout DecodeFamily(Decoder* in) {
  FamilyLayout family;
  family.name = in->LengthPrefixed();
  family.group_id = static_cast<uint32_t>(in->Varint());
  family.created = in->Varint();
  GcRule versions, age;
  if (in->Byte() != 0) versions = GcRule::MaxVersions(static_cast<int64_t>(in->Varint()));
  if (in->Byte() != 0) {
    age = GcRule::MaxAge(absl::Microseconds(static_cast<int64_t>(in->Varint())));
  }
  family.gc = GcRule::Union(versions, age);
  return family;
}

void EncodePast(const PastRules& past, std::string* out) {
  AppendVarint64(out, past.versions.size());
  for (const PastRules::Versions& rule : past.versions) {
    AppendVarint64(out, rule.before);
    out->push_back(rule.limits.any() ? 1 : 0);
    if (rule.limits.any()) AppendVarint64(out, static_cast<uint64_t>(rule.limits.most));
  }
  AppendVarint64(out, past.ages.size());
  for (const PastRules::Age& rule : past.ages) {
    AppendVarint64(out, rule.before);
    AppendVarint64(out, ZigZag(rule.min_timestamp));
  }
}

PastRules DecodePast(Decoder* in) {
  PastRules past;
  for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
    PastRules::Versions& rule = past.versions.emplace_back();
    rule.before = in->Varint();
    if (in->Byte() != 0) rule.limits.most = static_cast<int64_t>(in->Varint());
  }
  for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
    PastRules::Age& rule = past.ages.emplace_back();
    rule.before = in->Varint();
    rule.min_timestamp = UnZigZag(in->Varint());
  }
  return past;
}

// A step that combines versions with an age.
bool IsCombined(const GcRule::Step& step) {
  return step.versions != 0 && step.age != -absl::InfiniteDuration();
}

void EncodeSteps(const FamilyLayout& family, std::string* out) {
  AppendVarint64(out, static_cast<uint64_t>(std::ranges::count_if(family.gc.steps(), IsCombined)));
  for (const GcRule::Step& step : family.gc.steps()) {
    if (!IsCombined(step)) continue;
    AppendVarint64(out, static_cast<uint64_t>(step.versions));
    AppendVarint64(out, static_cast<uint64_t>(absl::ToInt64Microseconds(step.age)));
  }
  for (const PastRules::Versions& rule : family.past.versions) {
    AppendVarint64(out, rule.limits.by_age.size());
    for (const VersionLimit& limit : rule.limits.by_age) {
      AppendVarint64(out, static_cast<uint64_t>(limit.newer));
      AppendVarint64(out, ZigZag(limit.min_timestamp));
    }
  }
}

// False: there are more steps than a rule can have.
bool DecodeSteps(Decoder* in, FamilyLayout* family) {
  const uint64_t steps = in->Varint();
  if (steps > kMostRuleSteps) return false;
  for (uint64_t n = steps; in->ok() && n > 0; --n) {
    const GcRule versions = GcRule::MaxVersions(static_cast<int64_t>(in->Varint()));
    const GcRule age = GcRule::MaxAge(absl::Microseconds(static_cast<int64_t>(in->Varint())));
    family->gc = GcRule::Union(family->gc, GcRule::Intersection(versions, age));
  }
  for (PastRules::Versions& rule : family->past.versions) {
    for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
      VersionLimit& limit = rule.limits.by_age.emplace_back();
      limit.newer = static_cast<int64_t>(in->Varint());
      limit.min_timestamp = UnZigZag(in->Varint());
    }
  }
  return true;
}

// The order that VersionLimits guarantees.
bool HasOrderedLimits(const PastRules::Versions& rule) {
  const std::vector<VersionLimit>& by_age = rule.limits.by_age;
  for (size_t i = 0; i < by_age.size(); ++i) {
    if (by_age[i].newer < 1) return false;
    if (i > 0 && (by_age[i].newer <= by_age[i - 1].newer ||
                  by_age[i].min_timestamp <= by_age[i - 1].min_timestamp)) {
      return false;
    }
  }
  return by_age.empty() || by_age.back().newer == rule.limits.most;
}

// The order that PastRules guarantees.
bool IsWellFormed(const PastRules& past) {
  for (size_t i = 0; i < past.versions.size(); ++i) {
    if (past.versions[i].limits.most < 1 || past.versions[i].before > kMaxSequence) return false;
    if (i > 0 && past.versions[i].before <= past.versions[i - 1].before) return false;
  }
  for (size_t i = 0; i < past.ages.size(); ++i) {
    if (past.ages[i].before > kMaxSequence) return false;
    if (i > 0 && (past.ages[i].before <= past.ages[i - 1].before ||
                  past.ages[i].min_timestamp >= past.ages[i - 1].min_timestamp)) {
      return false;
    }
  }
  return true;
}

bool CombinesVersionsWithAges(const FamilyLayout& family) {
  return std::ranges::any_of(family.gc.steps(), IsCombined) ||
         std::ranges::any_of(family.past.versions, [](const PastRules::Versions& rule) {
           return !rule.limits.by_age.empty();
         });
}

void EncodeChangeStream(const TableLayout& layout, std::string* out) {
  AppendVarint64(out, static_cast<uint64_t>(absl::ToInt64Microseconds(layout.changes.retention)));
  AppendVarint64(out, layout.changes.max_bytes);
  AppendVarint64(out, layout.changes_since);
  AppendVarint64(out, layout.schema_changes.size());
  for (const TableLayout::SchemaChange& change : layout.schema_changes) {
    AppendVarint64(out, change.sequence);
    AppendVarint64(out, ZigZag(change.micros));
    AppendLengthPrefixed(out, change.layout);
  }
}

// The rule is checked as users' are; DataLoss: numbers that no change has written.
absl::Status DecodeChangeStream(Decoder* in, TableLayout* layout) {
  layout->changes.retention = absl::Microseconds(static_cast<int64_t>(in->Varint()));
  layout->changes.max_bytes = in->Varint();
  layout->changes_since = in->Varint();
  for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
    TableLayout::SchemaChange& change = layout->schema_changes.emplace_back();
    change.sequence = in->Varint();
    change.micros = UnZigZag(in->Varint());
    change.layout = in->LengthPrefixed();
  }
  if (!in->ok()) return absl::OkStatus();  // the caller says so
  BT_RETURN_IF_ERROR(CheckChangeStreamRule(layout->changes));
  if (layout->changes_since > kMaxSequence ||
      (layout->changes_since != 0) != layout->has_changes()) {
    return absl::DataLossError(Cat("the change stream of table ", layout->name,
                                   " has the change number ", layout->changes_since));
  }
  if (!layout->has_changes()) layout->changes = {};
  // The first one may be the schema at the opening of the stream.
  SequenceNumber last = std::max<SequenceNumber>(layout->changes_since, 1) - 1;
  for (const TableLayout::SchemaChange& change : layout->schema_changes) {
    if (change.sequence <= last || change.sequence > kMaxSequence) {
      return absl::DataLossError(
          Cat("the schema changes of table ", layout->name, " are not in order"));
    }
    last = change.sequence;
  }
  return absl::OkStatus();
}

// The format version that a layout needs.
uint8_t FormatOf(const TableLayout& layout) {
  const auto any = [&](auto has) { return std::ranges::any_of(layout.families, has); };
  if (layout.has_changes() || !layout.schema_changes.empty()) return kFormatVersion;
  if (any(CombinesVersionsWithAges)) return kFormatWithoutChanges;
  if (any([](const FamilyLayout& f) { return !f.owner.empty(); })) return kFormatWithoutSteps;
  if (!layout.observers.empty()) return kFormatWithoutOwners;
  if (any([](const FamilyLayout& f) { return !f.compaction_filter.empty(); })) {
    return kFormatWithoutObservers;
  }
  if (any([](const FamilyLayout& f) { return f.aggregate != nullptr; })) {
    return kFormatWithoutFilters;
  }
  const auto has_policy = [](const GroupLayout& g) { return !g.options.compaction_policy.empty(); };
  return std::ranges::any_of(layout.groups, has_policy) ? kFormatWithoutValueTypes
                                                        : kFormatWithoutPolicies;
}

}  // namespace

std::string TableLayout::Encode() const {
  const uint8_t version = FormatOf(*this);
  std::string out;
  out.push_back(static_cast<char>(version));
  AppendVarint64(&out, table_id);
  AppendLengthPrefixed(&out, name);
  AppendVarint64(&out, next_group_id);
  AppendVarint64(&out, groups.size());
  for (const GroupLayout& group : groups) EncodeGroup(group, &out);
  AppendVarint64(&out, families.size());
  for (const FamilyLayout& family : families) EncodeFamily(family, &out);
  for (const uint64_t value :
       {split.tablet_size, split.merge_size, uint64_t{split.prefix_length}}) {
    AppendVarint64(&out, value);
  }
  for (const FamilyLayout& family : families) AppendLengthPrefixed(&out, family.access_list);
  for (const FamilyLayout& family : families) EncodePast(family.past, &out);
  if (version == kFormatWithoutPolicies) return out;
  for (const GroupLayout& group : groups) {
    AppendLengthPrefixed(&out, group.options.compaction_policy);
  }
  if (version == kFormatWithoutValueTypes) return out;
  for (const FamilyLayout& family : families) {
    out.push_back(static_cast<char>(family.value_type));
    AppendLengthPrefixed(&out, family.value_operator);
  }
  if (version == kFormatWithoutFilters) return out;
  for (const FamilyLayout& family : families) {
    AppendLengthPrefixed(&out, family.compaction_filter);
  }
  if (version == kFormatWithoutObservers) return out;
  AppendVarint64(&out, observers_id);
  AppendVarint64(&out, observers.size());
  for (const std::string& observer : observers) AppendLengthPrefixed(&out, observer);
  if (version == kFormatWithoutOwners) return out;
  for (const FamilyLayout& family : families) AppendLengthPrefixed(&out, family.owner);
  if (version == kFormatWithoutSteps) return out;
  for (const FamilyLayout& family : families) EncodeSteps(family, &out);
  if (version == kFormatWithoutChanges) return out;
  EncodeChangeStream(*this, &out);
  return out;
}

absl::StatusOr<TableLayout> TableLayout::Decode(std::string_view bytes) {
  Decoder in(bytes);
  const uint8_t version = in.Byte();
  if (in.ok() && (version < 1 || version > kFormatVersion)) {
    return absl::FailedPreconditionError(Cat("the schema has format version ", version,
                                             "; this program knows 1 to ", kFormatVersion));
  }
  TableLayout layout;
  layout.table_id = in.Varint();
  layout.name = in.LengthPrefixed();
  layout.next_group_id = static_cast<uint32_t>(in.Varint());
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    GroupLayout group = DecodeGroup(&in);
    if (in.ok()) BT_RETURN_IF_ERROR(CheckLocalityGroup(group.name, group.options));
    layout.groups.push_back(std::move(group));
  }
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    FamilyLayout family = DecodeFamily(&in);
    if (in.ok() && layout.GroupIndex(family.group_id) == layout.groups.size()) {
      return absl::DataLossError(Cat("family ", Quoted(family.name), " has no locality group"));
    }
    // Families are searched by name.
    if (in.ok() && family.name <= (layout.families.empty() ? "" : layout.families.back().name)) {
      return absl::DataLossError(
          Cat("family ", Quoted(family.name), " is not in the order of the families' names"));
    }
    layout.families.push_back(std::move(family));
  }
  if (version > 1) {
    layout.split.tablet_size = in.Varint();
    layout.split.merge_size = in.Varint();
    layout.split.prefix_length = in.Varint();
    if (in.ok()) BT_RETURN_IF_ERROR(CheckSplitRule(layout.split));
  }
  if (version > 2) {
    for (FamilyLayout& family : layout.families) {
      family.access_list = in.LengthPrefixed();
      if (in.ok() && !family.access_list.empty()) {
        BT_RETURN_IF_ERROR(CheckAccessListName(family.access_list));
      }
    }
  }
  if (version > 3) {
    for (FamilyLayout& family : layout.families) {
      family.past = DecodePast(&in);
      if (in.ok() && !IsWellFormed(family.past)) {
        return absl::DataLossError(
            Cat("the past rules of family ", Quoted(family.name), " are not in order"));
      }
    }
  }
  if (version > kFormatWithoutPolicies) {
    for (GroupLayout& group : layout.groups) {
      group.options.compaction_policy = in.LengthPrefixed();
      if (in.ok()) BT_RETURN_IF_ERROR(CheckLocalityGroup(group.name, group.options));
    }
  }
  if (version > kFormatWithoutValueTypes) {
    for (FamilyLayout& family : layout.families) {
      const auto type = static_cast<ValueType>(in.Byte());
      const std::string_view name = in.LengthPrefixed();
      if (!in.ok()) break;
      BT_RETURN_IF_ERROR(CheckValueType(family.name, type, name));
      family.SetValueType(type, name);
    }
  }
  if (version > kFormatWithoutFilters) {
    for (FamilyLayout& family : layout.families) {
      family.compaction_filter = in.LengthPrefixed();
      if (in.ok()) {
        BT_RETURN_IF_ERROR(CheckFilter(family.name, family.compaction_filter, family.aggregate));
      }
    }
  }
  if (version > kFormatWithoutObservers) {
    layout.observers_id = in.Varint();
    for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
      layout.observers.emplace_back(in.LengthPrefixed());
    }
    if (in.ok()) {
      BT_RETURN_IF_ERROR(CheckObservers(layout.observers));
      if ((layout.observers_id == 0) != layout.observers.empty()) {
        return absl::DataLossError(Cat("the observers of table ", layout.name,
                                       " have the change number ", layout.observers_id));
      }
    }
  }
  if (version > kFormatWithoutOwners) {
    for (FamilyLayout& family : layout.families) {
      family.owner = in.LengthPrefixed();
      if (in.ok() && !family.owner.empty()) BT_RETURN_IF_ERROR(CheckCallerName(family.owner));
    }
  }
  if (version > kFormatWithoutSteps) {
    for (FamilyLayout& family : layout.families) {
      const bool is_rule = DecodeSteps(&in, &family);
      if (in.ok() && (!is_rule || !std::ranges::all_of(family.past.versions, HasOrderedLimits))) {
        return absl::DataLossError(
            Cat("the rules of family ", Quoted(family.name), " are not in order"));
      }
    }
  }
  if (version > kFormatWithoutChanges) BT_RETURN_IF_ERROR(DecodeChangeStream(&in, &layout));
  if (!in.ok() || !in.at_end()) return absl::DataLossError("the schema cannot be read");
  return layout;
}

}  // namespace bigtable
