// A table's schema as the engine uses it: with the numbers that the user's TableSchema does not
// have, and with families found by name. Immutable once it is shared: a change of the schema makes
// a new one.
//
// As bytes (the contents of a table's schema file; table_layout_format.cc):
//
//   format version 4, 5 if a group names a policy, 6 if a family holds aggregates, 7 if a family
//   names a compaction filter, 8 if there are observers, 9 if a family has an owner, 10 if a rule
//   combines versions with ages, 11 if there is a change stream | table id | name
//   | next group id | groups:   count, then each: id, name, compression, level, block size, filter,
//   bits,
//               in memory, compaction, factor
//   | families: count, then each: name, group id, created, has max versions [, n],
//               has max age [, µs]
//   | splits:   tablet size, merge size, prefix length; not in format version 1
//   | access:   of each family the name of its access list, or nothing; from format version 3 on
//   | past:     of each family its rules before the present one (retention/past_rules.h), from
//               format version 4 on:
//               count, then each: before, has max versions [, n]
//               count, then each: before, smallest timestamp (zigzag)
//   | policies: of each group the name of its compaction policy, or nothing; from format version 5
//               on
//   | values:   of each family its value type, and the name of its operator, or nothing; from
//               format version 6 on
//   | filters:  of each family the name of its compaction filter, or nothing; from format version 7
//               on
//   | observed: number of their change, count, then the name of each observer; from format version
//   8
//               on
//   | owners:   of each family its owner, or nothing; from format version 9 on
//   | steps:    of each family the steps of its rule that combine versions with an age, and of each
//               of its past rules what it combined; from format version 10 on
//               count, then each: versions, age in µs
//               of each past rule: count, then each: newer versions, smallest timestamp (zigzag)
//   | stream:   retention in µs, most bytes, number of the change that has opened it, count of
//               changes of families, then each: number, µs of the Unix epoch (zigzag), the schema
//               after it; only in format version 11
//
// Numbers are varints, texts have their length before them, flags are a byte.
#ifndef BIGTABLE_SCHEMA_TABLE_LAYOUT_H_
#define BIGTABLE_SCHEMA_TABLE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

#include "base/sequence.h"
#include "retention/aggregates.h"
#include "retention/past_rules.h"
#include "retention/retention.h"

namespace bigtable {

struct GroupLayout {
  uint32_t id = 0;  // unique in its table for ever
  std::string name;
  LocalityGroup options;

  friend bool operator==(const GroupLayout&, const GroupLayout&) = default;
};

struct FamilyLayout {
  std::string name;
  uint32_t group_id = 0;
  GcRule gc;
  // Entries up to this sequence number belong to an earlier family of this name.
  SequenceNumber created = 0;
  std::string access_list = {};  // its name; empty: there is none
  // The rules before the present one, which may have collected entries already.
  PastRules past = {};
  // Not in the schema's file: the rule is about to be changed. Nothing is collected until the
  // sequence number of the change is known (TableChanges::ChangeTable).
  bool held = false;
  // Not in the schema's file: the family is about to be replaced by another one of this name, or
  // dropped while there is a change stream, so it takes no more writes. A layout that has it is
  // replaced when the change is known.
  bool closed = false;
  std::string owner = {};  // the name of a caller; empty: nobody
  ValueType value_type = ValueType::kBytes;
  std::string value_operator = {};  // its name; empty: `value_type` applies
  // Not in the schema's file: what the two say; null if the family holds bytes.
  const Aggregate* aggregate = nullptr;
  std::string compaction_filter = {};  // its name; empty: there is none

  void SetValueType(ValueType type, std::string_view operator_name) {
    value_type = type;
    value_operator = operator_name;
    aggregate = Aggregate::Of(type, operator_name);
  }
  // The smallest and the largest number of newer versions with which the rule collects a cell,
  // perhaps only at some age; kAllVersions: it does not count them.
  int64_t fewest_versions() const {
    for (const GcRule::Step& step : gc.steps()) {
      if (step.versions != 0) return step.versions;
    }
    return kAllVersions;
  }
  int64_t most_versions() const {
    const bool counts = !gc.steps().empty() && gc.steps().back().versions != 0;
    return counts ? gc.steps().back().versions : kAllVersions;
  }
  // Whether there is one such number, whatever the age.
  bool collects_by_count() const {
    return gc.max_versions().has_value() && fewest_versions() == most_versions();
  }
  bool counts_versions() const { return most_versions() != kAllVersions || !past.versions.empty(); }
  // Entries with an older timestamp may be older than a maximum age, and have to be checked.
  int64_t SuspectBefore(absl::Time now) const;
  // The family has this rule after the sequence number `change`, at the time `now`.
  void ChangeRule(const GcRule& rule, SequenceNumber change, absl::Time now);

  friend bool operator==(const FamilyLayout&, const FamilyLayout&) = default;
};

struct TableLayout {
  uint64_t table_id = 0;
  std::string name;
  uint32_t next_group_id = 0;
  std::vector<GroupLayout> groups;     // by id; a group's index is its position here
  std::vector<FamilyLayout> families;  // by name
  SplitRule split;
  std::vector<std::string> observers = {};  // their names, in call order
  // The number of the change that has set them; 0 if there are none. A mutation is applied only if
  // these have observed it (EncodedMutation::observers).
  SequenceNumber observers_id = 0;
  // The default if there is no stream. The retention is in whole microseconds.
  ChangeStreamRule changes = {};
  // The number of the change that has opened the stream: it has what was written afterwards. 0:
  // there is no stream.
  SequenceNumber changes_since = 0;
  // For readers of changes: the schema that they begin with, and then that after each change of
  // families since. The first one has the number `changes_since` and is that of the opening of the
  // stream, until changes are dropped: then it is that after the last of these.
  struct SchemaChange {
    SequenceNumber sequence = 0;
    int64_t micros = 0;  // of the Unix epoch
    std::string layout;  // as bytes, without schema changes

    friend bool operator==(const SchemaChange&, const SchemaChange&) = default;
  };
  std::vector<SchemaChange> schema_changes = {};
  // Not in the schema's file: the families are about to change, or the stream is about to be
  // opened. Readers of changes wait until the number of the change is known.
  bool is_changing = false;

  bool has_changes() const { return changes.retention != absl::ZeroDuration(); }
  // The rule, which has been checked, in the form in which it is kept. The caller numbers the
  // opening of a stream.
  void SetChangeStream(const ChangeStreamRule& rule);
  // Before the first change of families, which is at the time `now`: keeps those of the opening of
  // the stream.
  void KeepFirstSchema(const TableLayout& before, absl::Time now);
  // Appends the present families as those after the change `sequence`, which is at the time `now`.
  // Drops changes that are older than the retention, if every registered reader has them: they have
  // what has a number up to `read_through`.
  void AddSchemaChange(SequenceNumber sequence, absl::Time now,
                       SequenceNumber read_through = kMaxSequence);
  // Changes of families up to this number may have been dropped.
  SequenceNumber SchemaChangesWholeAfter() const {
    return schema_changes.empty() ? changes_since : schema_changes.front().sequence;
  }
  // The layout has no family of this name, and the caller has checked `family`.
  void AddFamily(std::string_view family_name, uint32_t group_id, const Family& family,
                 SequenceNumber created);
  // Null: no such family, or group.
  const FamilyLayout* FindFamily(std::string_view family) const;
  FamilyLayout* FindFamily(std::string_view family);
  // The family whose name, followed by a zero byte, is the beginning of `text`.
  const FamilyLayout* FamilyBefore(std::string_view text) const;
  const GroupLayout* FindGroup(std::string_view group) const;
  // The index of a group in `groups`; groups.size() if there is none with this id.
  size_t GroupIndex(uint32_t group_id) const;

  // The last sequence number of a change of a family's rule, or of one that readers of changes see;
  // 0 if there is none.
  SequenceNumber LastChange() const;
  // Ends what is so only until a change is known: `is_changing`, and of all families `held` and
  // `closed`. Returns whether there was any.
  bool EndHolds();
  // The entries that a compaction of the group keeps; the caller fills in the snapshots.
  Retention RetentionOf(uint32_t group_id, absl::Time now) const;
  // FailedPrecondition: the operator or the filter of a family of the group is not registered in
  // this process, so the group's SSTables cannot be merged.
  absl::Status CheckCanMerge(uint32_t group_id) const;
  // Whether a family of the group has a compaction filter.
  bool HasFilter(uint32_t group_id) const;
  // NotFound; the message lists the families of the table.
  absl::Status NoFamilyError(std::string_view name) const;

  TableSchema ToSchema() const;
  std::string Encode() const;
  static absl::StatusOr<TableLayout> Decode(std::string_view bytes);

  friend bool operator==(const TableLayout&, const TableLayout&) = default;
};

// The oldest timestamp that a rule keeps at `now` of cells with `newer` newer versions; the
// smallest number if there is none.
int64_t MinTimestamp(const GcRule& rule, absl::Time now, int64_t newer = 0);
// The part of the rule that counts versions.
VersionLimits LimitsOf(const GcRule& rule, absl::Time now);
// Whether the rule depends on the time.
bool HasAge(const GcRule& rule);

// A layout for a new table. InvalidArgument describes what is wrong with the schema.
absl::StatusOr<TableLayout> MakeTableLayout(std::string_view name, uint64_t table_id,
                                            const TableSchema& schema);

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_TABLE_LAYOUT_H_
