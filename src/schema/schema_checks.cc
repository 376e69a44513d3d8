#include "schema/schema_checks.h"

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

#include "bigtable/row_mutation.h"

#include "base/named_registry.h"
#include "base/status.h"
#include "base/strings.h"
#include "compaction/filters.h"
#include "compaction/policies.h"
#include "retention/aggregates.h"

namespace bigtable {
namespace {

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

// Whether it can be the name of a file, in the lock service and in the file system.
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

}  // namespace

absl::Status CheckTableName(std::string_view name) { return CheckFileName("a table", name); }

absl::Status CheckAccessListName(std::string_view name) {
  return CheckFileName("an access list", name);
}

absl::Status CheckCallerName(std::string_view caller) {
  const bool printable =
      std::all_of(caller.begin(), caller.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!caller.empty() && caller.size() <= 128 && printable) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("the name of a caller must be 1 to 128 printable ASCII characters without space, and is ",
          Quoted(caller)));
}

absl::Status CheckFamilyName(std::string_view name) { return CheckName("column family", name); }

namespace {

// The steps have the numbers that matter: one that is out of range is in them, unless another rule
// makes it have no effect.
absl::Status CheckRule(std::string_view name, const Family& family) {
  for (const GcRule::Step& step : family.gc.steps()) {
    const bool has_age = step.age != -absl::InfiniteDuration();
    if (step.versions < 0 || (step.versions == 0 && !has_age)) {
      return absl::InvalidArgumentError(Cat("MaxVersions of family ", Quoted(name),
                                            " must be at least 1, and is ", step.versions));
    }
    if (has_age && step.age < absl::Milliseconds(1)) {
      return absl::InvalidArgumentError(Cat("MaxAge of family ", Quoted(name),
                                            " must be at least 1ms, and is ",
                                            absl::FormatDuration(step.age)));
    }
    const bool holds_aggregates =
        Aggregate::Of(family.value_type, family.value_operator) != nullptr;
    if (step.versions != 0 && has_age && holds_aggregates) {
      return absl::InvalidArgumentError(
          Cat("the rule of family ", Quoted(name),
              " combines versions with an age (GcRule::Intersection), which a family of aggregates"
              " cannot have"));
    }
  }
  if (family.gc.steps().size() > kMostRuleSteps) {
    return absl::InvalidArgumentError(Cat("the rule of family ", Quoted(name),
                                          " must have at most ", kMostRuleSteps, " steps, and has ",
                                          family.gc.steps().size()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckFamily(std::string_view name, const Family& family) {
  BT_RETURN_IF_ERROR(CheckFamilyName(name));
  BT_RETURN_IF_ERROR(CheckRule(name, family));
  BT_RETURN_IF_ERROR(CheckValueType(name, family.value_type, family.value_operator));
  BT_RETURN_IF_ERROR(CheckFilter(name, family.compaction_filter,
                                 Aggregate::Of(family.value_type, family.value_operator)));
  if (!family.owner.empty()) {
    if (const absl::Status status = CheckCallerName(family.owner); !status.ok()) {
      return Annotate(status, Cat("the owner of family ", Quoted(name)));
    }
  }
  return family.access_list.empty() ? absl::OkStatus() : CheckAccessListName(family.access_list);
}

absl::Status CheckValueType(std::string_view family, ValueType type,
                            std::string_view value_operator) {
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("value_type of family ", Quoted(family)),
                                     static_cast<int>(type), 0, static_cast<int>(kLastValueType)));
  if (value_operator.empty()) return absl::OkStatus();
  if (type != ValueType::kBytes) {
    return absl::InvalidArgumentError(
        Cat("family ", Quoted(family), " has value_operator ", Quoted(value_operator),
            ", so its value_type must be kBytes (0), and is ", static_cast<int>(type)));
  }
  if (IsOperatorName(value_operator)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("value_operator of family ", Quoted(family),
          " must be 1 to 64 printable ASCII characters without space and colon, and is ",
          Quoted(value_operator)));
}

absl::Status CheckFilter(std::string_view family, std::string_view filter,
                         const Aggregate* aggregate) {
  if (filter.empty()) return absl::OkStatus();
  if (aggregate != nullptr) {
    // It would see parts of a cell, in whatever groups compactions have merged them.
    return absl::InvalidArgumentError(Cat("family ", Quoted(family), " holds ", aggregate->what(),
                                          ", and has compaction_filter ", Quoted(filter),
                                          "; only a family that is no aggregate can have one"));
  }
  return CheckRegisteredName(Cat("compaction_filter of family ", Quoted(family)), filter);
}

absl::Status CheckFilterIsKnown(std::string_view family, std::string_view filter) {
  if (filter.empty() || FindCompactionFilter(filter) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("family ", Quoted(family),
                                        ": there is no compaction filter ", Quoted(filter),
                                        "; registered are: ", Listed(CompactionFilterNames())));
}

absl::Status CheckNewFamily(std::string_view name, const Family& family) {
  BT_RETURN_IF_ERROR(CheckFamily(name, family));
  BT_RETURN_IF_ERROR(CheckFilterIsKnown(name, family.compaction_filter));
  const Aggregate* const aggregate = Aggregate::Of(family.value_type, family.value_operator);
  if (aggregate == nullptr || aggregate->operator_or_null() != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      Cat("family ", Quoted(name), ": there is no aggregate operator ",
          Quoted(family.value_operator), "; registered are: ", Listed(AggregateOperatorNames())));
}

absl::Status CheckFileOptions(std::string_view of, const LocalityGroup& group) {
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("compression", of), static_cast<int>(group.compression), 0,
                                     static_cast<int>(Compression::kZstdLongWindow)));
  BT_RETURN_IF_ERROR(CheckRange(Cat("compression_level", of), group.compression_level, 1, 19));
  BT_RETURN_IF_ERROR(
      CheckRange<size_t>(Cat("block_size", of), group.block_size, 1 << 10, 16 << 20));
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("filter", of), static_cast<int>(group.filter), 0,
                                     static_cast<int>(FilterKind::kRowIndex)));
  return CheckRange(Cat("filter_bits", of), group.filter_bits, 1, 32);
}

absl::Status CheckLocalityGroup(std::string_view name, const LocalityGroup& group) {
  BT_RETURN_IF_ERROR(CheckName("locality group", name));
  const std::string of = Cat(" of locality group ", Quoted(name));
  BT_RETURN_IF_ERROR(CheckFileOptions(of, group));
  BT_RETURN_IF_ERROR(CheckRange<int>(Cat("compaction", of), static_cast<int>(group.compaction), 0,
                                     static_cast<int>(kLastCompactionStyle)));
  if (!group.compaction_policy.empty() && !IsPolicyName(group.compaction_policy)) {
    return absl::InvalidArgumentError(
        Cat("compaction_policy", of,
            " must be 1 to 64 printable ASCII characters without space and colon, and is ",
            Quoted(group.compaction_policy)));
  }
  if (group.compaction_factor == 0) return absl::OkStatus();
  return CheckRange(Cat("compaction_factor", of), group.compaction_factor, 2, 100);
}

absl::Status CheckPolicyIsKnown(std::string_view name, const LocalityGroup& group) {
  if (group.compaction_policy.empty()) return absl::OkStatus();
  const absl::Status known = MakeCompactionPolicy(group.compaction_policy, group).status();
  return known.ok() ? known : Annotate(known, Cat("locality group ", Quoted(name)));
}

absl::Status CheckObservers(const std::vector<std::string>& observers) {
  constexpr size_t kMost = 16;
  if (observers.size() > kMost) {
    return absl::InvalidArgumentError(
        Cat("a table must have at most ", kMost, " observers, and has ", observers.size()));
  }
  for (auto name = observers.begin(); name != observers.end(); ++name) {
    BT_RETURN_IF_ERROR(CheckRegisteredName("the name of an observer", *name));
    if (std::find(observers.begin(), name, *name) == name) continue;
    return absl::InvalidArgumentError(
        Cat("a table must have each observer once, and has ", Quoted(*name), " twice"));
  }
  return absl::OkStatus();
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

absl::Status CheckChangeReaderName(std::string_view name) {
  return CheckName("reader of changes", name);
}

absl::Status CheckChangeStreamRule(const ChangeStreamRule& rule) {
  constexpr uint64_t kLeastBytes = uint64_t{1} << 20;
  constexpr absl::Duration kShortest = absl::Seconds(1);
  constexpr absl::Duration kLongest = absl::Hours(24 * 365);
  if (rule.retention == absl::ZeroDuration()) return absl::OkStatus();
  if (rule.retention < kShortest || rule.retention > kLongest) {
    return absl::InvalidArgumentError(
        Cat("the retention of a change stream, if not zero, must be from 1s to 8760h (365 days), "
            "and is ",
            absl::FormatDuration(rule.retention)));
  }
  if (rule.max_bytes >= kLeastBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(Cat("max_bytes of a change stream must be at least ",
                                        kLeastBytes, ", and is ", rule.max_bytes));
}

}  // namespace bigtable
