#include "tablet/table_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bigtable/row_mutation.h"

#include "base/coding.h"
#include "base/compare.h"
#include "base/status.h"
#include "base/strings.h"

namespace bigtable {
namespace {

constexpr std::string_view kDefaultGroup = "default";
// 1 has no rule for splits, 2 no access lists, 3 no rules of the past.
constexpr uint8_t kFormatVersion = 4;

absl::Status CheckName(std::string_view what, std::string_view name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != ':'; });
  if (!name.empty() && name.size() <= 64 && printable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("the name of a ", what,
          " must be 1 to 64 printable ASCII characters without space and "
          "colon, and is ",
          Quoted(name)));
}

template <typename T>
absl::Status CheckRange(std::string_view what, T value, T least, T most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat(what, " must be from ", least, " to ", most, ", and is ", value));
}

// What can be the name of a file of the lock service, and of the system's as well.
absl::Status CheckFileName(std::string_view what, std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '-' || c == '.';
  };
  if (!name.empty() && name.size() <= 128 && name.front() != '.' &&
      std::all_of(name.begin(), name.end(), allowed)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      Cat("the name of ", what,
          " must be 1 to 128 of [A-Za-z0-9_.-] and not begin with a dot, and is ", Quoted(name)));
}

void EncodePast(const PastRules& past, std::string* out) {
  AppendVarint64(out, past.versions.size());
  for (const PastRules::Versions& rule : past.versions) {
    AppendVarint64(out, rule.before);
    out->push_back(rule.most == kAllVersions ? 0 : 1);
    if (rule.most != kAllVersions) AppendVarint64(out, static_cast<uint64_t>(rule.most));
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
    if (in->Byte() != 0) rule.most = static_cast<int64_t>(in->Varint());
  }
  for (uint64_t n = in->Varint(); in->ok() && n > 0; --n) {
    PastRules::Age& rule = past.ages.emplace_back();
    rule.before = in->Varint();
    rule.min_timestamp = UnZigZag(in->Varint());
  }
  return past;
}

// What PastRules promises of its parts.
bool IsWellFormed(const PastRules& past) {
  for (size_t i = 0; i < past.versions.size(); ++i) {
    if (past.versions[i].most < 1 || past.versions[i].before > kMaxSequence) return false;
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

}  // namespace

int64_t FamilyLayout::SuspectBefore(absl::Time now) const {
  const int64_t present = MinTimestamp(gc, now);
  return past.ages.empty() ? present : std::max(present, past.ages.front().min_timestamp);
}

void FamilyLayout::ChangeRule(const GcRule& rule, SequenceNumber change, absl::Time now) {
  if (rule.max_versions() != gc.max_versions()) past.EndVersions(most_versions(), change);
  const bool has_longer_age =
      gc.max_age().has_value() && (!rule.max_age().has_value() || *rule.max_age() > *gc.max_age());
  if (has_longer_age) past.EndAge(MinTimestamp(gc, now), change);
  gc = rule;
}

absl::Status CheckTableName(std::string_view name) { return CheckFileName("a table", name); }

absl::Status CheckAccessListName(std::string_view name) {
  return CheckFileName("an access list", name);
}

absl::Status CheckFamily(std::string_view name, const Family& family) {
  BT_RETURN_IF_ERROR(CheckName("column family", name));
  if (const auto n = family.gc.max_versions(); n.has_value() && *n < 1) {
    return absl::InvalidArgumentError(
        Cat("MaxVersions of family ", Quoted(name), " must be at least 1, and is ", *n));
  }
  if (const auto age = family.gc.max_age(); age.has_value() && *age < absl::Milliseconds(1)) {
    return absl::InvalidArgumentError(Cat("MaxAge of family ", Quoted(name),
                                          " must be at least 1ms, and is ",
                                          absl::FormatDuration(*age)));
  }
  return family.access_list.empty() ? absl::OkStatus() : CheckAccessListName(family.access_list);
}

absl::Status CheckLocalityGroup(std::string_view name, const LocalityGroup& group) {
  BT_RETURN_IF_ERROR(CheckName("locality group", name));
  const std::string of = Cat(" of locality group ", Quoted(name));
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("compression", of), static_cast<int>(group.compression), 0,
                                     static_cast<int>(Compression::kZstdLongWindow)));
  BT_RETURN_IF_ERROR(CheckRange(Cat("compression_level", of), group.compression_level, 1, 19));
  BT_RETURN_IF_ERROR(
      CheckRange<size_t>(Cat("block_size", of), group.block_size, 1 << 10, 16 << 20));
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("filter", of), static_cast<int>(group.filter), 0,
                                     static_cast<int>(FilterKind::kRowIndex)));
  BT_RETURN_IF_ERROR(CheckRange(Cat("filter_bits", of), group.filter_bits, 1, 32));
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("compaction", of), static_cast<int>(group.compaction), 0,
                                     static_cast<int>(CompactionStyle::kNone)));
  if (group.compaction_factor == 0) return absl::OkStatus();
  return CheckRange(Cat("compaction_factor", of), group.compaction_factor, 2, 100);
}

absl::Status CheckSplitRule(const SplitRule& rule) {
  constexpr uint64_t kMost = uint64_t{1} << 50;
  if (rule.tablet_size != 0) {
    BT_RETURN_IF_ERROR(
        CheckRange<uint64_t>("tablet_size, if not 0,", rule.tablet_size, 64 << 10, kMost));
  }
  BT_RETURN_IF_ERROR(CheckRange<uint64_t>("merge_size", rule.merge_size, 0,
                                          rule.tablet_size == 0 ? kMost : rule.tablet_size / 2));
  return CheckRange<size_t>("prefix_length", rule.prefix_length, 0, RowMutation::kMaxRowSize);
}

const FamilyLayout* TableLayout::FindFamily(std::string_view family) const {
  const auto found =
      std::lower_bound(families.begin(), families.end(), family,
                       [](const FamilyLayout& f, std::string_view n) { return f.name < n; });
  return found != families.end() && found->name == family ? &*found : nullptr;
}

const FamilyLayout* TableLayout::FamilyBefore(std::string_view text) const {
  // Most tables have one or a few.
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

int64_t MinTimestamp(const GcRule& rule, absl::Time now) {
  if (!rule.max_age().has_value()) return std::numeric_limits<int64_t>::min();
  return absl::ToUnixMicros(now - *rule.max_age());
}

Retention TableLayout::RetentionOf(uint32_t group_id, absl::Time now) const {
  Retention retention;
  for (const FamilyLayout& family : families) {
    if (family.group_id != group_id) continue;
    // While it is held, nothing has expired: neither entries nor whole files.
    const int64_t min_timestamp = MinTimestamp(family.held ? GcRule() : family.gc, now);
    retention.families.push_back(
        {family.name, family.created, family.gc.max_versions(), min_timestamp, family.past});
    retention.held |= family.held;
  }
  return retention;
}

SequenceNumber TableLayout::LastRuleChange() const {
  SequenceNumber last = 0;
  for (const FamilyLayout& family : families) last = std::max(last, family.past.last_change());
  return last;
}

bool TableLayout::EndHolds() {
  bool any = false;
  for (FamilyLayout& family : families) any |= std::exchange(family.held, false);
  return any;
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
  const auto add_group = [&](std::string_view group, const LocalityGroup& options) {
    layout.groups.push_back({layout.next_group_id++, std::string(group), options});
  };
  if (!schema.locality_groups.contains(kDefaultGroup)) add_group(kDefaultGroup, {});
  for (const auto& [group, options] : schema.locality_groups) {
    BT_RETURN_IF_ERROR(CheckLocalityGroup(group, options));
    add_group(group, options);
  }
  for (const auto& [family, options] : schema.families) {
    BT_RETURN_IF_ERROR(CheckFamily(family, options));
    const std::string_view group =
        options.locality_group.empty() ? kDefaultGroup : std::string_view(options.locality_group);
    const GroupLayout* found = layout.FindGroup(group);
    if (found == nullptr) {
      return absl::InvalidArgumentError(Cat("family ", Quoted(family), " is in locality group ",
                                            Quoted(group), ", which the schema does not have"));
    }
    layout.families.push_back({family, found->id, options.gc, 0, options.access_list});
  }
  return layout;
}

TableSchema TableLayout::ToSchema() const {
  TableSchema schema;
  schema.split = split;
  for (const GroupLayout& group : groups) schema.locality_groups[group.name] = group.options;
  for (const FamilyLayout& family : families) {
    schema.families[family.name] = {groups[GroupIndex(family.group_id)].name, family.gc,
                                    family.access_list};
  }
  return schema;
}

std::string TableLayout::Encode() const {
  std::string out;
  out.push_back(static_cast<char>(kFormatVersion));
  AppendVarint64(&out, table_id);
  AppendLengthPrefixed(&out, name);
  AppendVarint64(&out, next_group_id);
  AppendVarint64(&out, groups.size());
  for (const GroupLayout& group : groups) {
    AppendVarint64(&out, group.id);
    AppendLengthPrefixed(&out, group.name);
    out.push_back(static_cast<char>(group.options.compression));
    AppendVarint64(&out, static_cast<uint64_t>(group.options.compression_level));
    AppendVarint64(&out, group.options.block_size);
    out.push_back(static_cast<char>(group.options.filter));
    AppendVarint64(&out, static_cast<uint64_t>(group.options.filter_bits));
    out.push_back(group.options.in_memory ? 1 : 0);
    out.push_back(static_cast<char>(group.options.compaction));
    AppendVarint64(&out, static_cast<uint64_t>(group.options.compaction_factor));
  }
  AppendVarint64(&out, families.size());
  for (const FamilyLayout& family : families) {
    AppendLengthPrefixed(&out, family.name);
    AppendVarint64(&out, family.group_id);
    AppendVarint64(&out, family.created);
    const auto versions = family.gc.max_versions();
    out.push_back(versions.has_value() ? 1 : 0);
    if (versions.has_value()) AppendVarint64(&out, static_cast<uint64_t>(*versions));
    const auto age = family.gc.max_age();
    out.push_back(age.has_value() ? 1 : 0);
    if (age.has_value()) {
      AppendVarint64(&out, static_cast<uint64_t>(absl::ToInt64Microseconds(*age)));
    }
  }
  for (const uint64_t value :
       {split.tablet_size, split.merge_size, uint64_t{split.prefix_length}}) {
    AppendVarint64(&out, value);
  }
  for (const FamilyLayout& family : families) AppendLengthPrefixed(&out, family.access_list);
  for (const FamilyLayout& family : families) EncodePast(family.past, &out);
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
    GroupLayout group;
    group.id = static_cast<uint32_t>(in.Varint());
    group.name = in.LengthPrefixed();
    group.options.compression = static_cast<Compression>(in.Byte());
    group.options.compression_level = static_cast<int>(in.Varint());
    group.options.block_size = in.Varint();
    group.options.filter = static_cast<FilterKind>(in.Byte());
    group.options.filter_bits = static_cast<int>(in.Varint());
    group.options.in_memory = in.Byte() != 0;
    group.options.compaction = static_cast<CompactionStyle>(in.Byte());
    group.options.compaction_factor = static_cast<int>(in.Varint());
    if (in.ok()) BT_RETURN_IF_ERROR(CheckLocalityGroup(group.name, group.options));
    layout.groups.push_back(std::move(group));
  }
  for (uint64_t n = in.Varint(); in.ok() && n > 0; --n) {
    FamilyLayout family;
    family.name = in.LengthPrefixed();
    family.group_id = static_cast<uint32_t>(in.Varint());
    family.created = in.Varint();
    GcRule versions, age;
    if (in.Byte() != 0) versions = GcRule::MaxVersions(static_cast<int64_t>(in.Varint()));
    if (in.Byte() != 0) {
      age = GcRule::MaxAge(absl::Microseconds(static_cast<int64_t>(in.Varint())));
    }
    family.gc = GcRule::Union(versions, age);
    if (in.ok() && layout.GroupIndex(family.group_id) == layout.groups.size()) {
      return absl::DataLossError(Cat("family ", Quoted(family.name), " has no locality group"));
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
  if (!in.ok() || !in.at_end()) return absl::DataLossError("the schema cannot be read");
  return layout;
}

}  // namespace bigtable
