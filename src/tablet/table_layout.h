// A table's schema as the engine uses it: with the numbers that the user's TableSchema does not
// have, and with families found by name. Immutable once shared: a change of the schema makes a new
// one.
//
// As bytes (what the schema file of a table holds, and all of its meaning):
//
//   format version 3 | table id | name | next group id
//   | groups:   count, then each: id, name, compression, level, block size, filter, bits,
//               in memory, compaction, factor
//   | families: count, then each: name, group id, created, has max versions [, n],
//               has max age [, µs]
//   | splits:   tablet size, merge size, prefix length; not in format version 1
//   | access:   of each family the name of its access list, or nothing; from format version 3 on
//
// Numbers are varints, texts have their length before them, flags are a byte.
#ifndef BIGTABLE_TABLET_TABLE_LAYOUT_H_
#define BIGTABLE_TABLET_TABLE_LAYOUT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/schema.h"

#include "base/sequence.h"
#include "compaction/retention.h"

namespace bigtable {

struct GroupLayout {
  uint32_t id = 0;  // never used again in its table
  std::string name;
  LocalityGroup options;

  friend bool operator==(const GroupLayout&, const GroupLayout&) = default;
};

struct FamilyLayout {
  std::string name;
  uint32_t group_id = 0;
  GcRule gc;
  // Entries with this sequence number or a smaller one are of an earlier family of this name.
  SequenceNumber created = 0;
  std::string access_list = {};  // its name; empty: there is none

  friend bool operator==(const FamilyLayout&, const FamilyLayout&) = default;
};

struct TableLayout {
  uint64_t table_id = 0;
  std::string name;
  uint32_t next_group_id = 0;
  std::vector<GroupLayout> groups;     // by id; a group's place in here is its index
  std::vector<FamilyLayout> families;  // by name
  SplitRule split;

  // Null: no such family, or group.
  const FamilyLayout* FindFamily(std::string_view family) const;
  FamilyLayout* FindFamily(std::string_view family);
  // The one whose name `text` begins with, and a zero byte behind it.
  const FamilyLayout* FamilyBefore(std::string_view text) const;
  const GroupLayout* FindGroup(std::string_view group) const;
  // The place of a group in `groups`; groups.size() if there is none with this id.
  size_t GroupIndex(uint32_t group_id) const;

  // What a compaction of the group keeps; snapshots are the caller's to fill in.
  Retention RetentionOf(uint32_t group_id, absl::Time now) const;
  // "f, g, h": for messages.
  std::string FamilyNames() const;

  TableSchema ToSchema() const;
  std::string Encode() const;
  static absl::StatusOr<TableLayout> Decode(std::string_view bytes);

  friend bool operator==(const TableLayout&, const TableLayout&) = default;
};

// The oldest timestamp that a rule keeps at `now`; the smallest number for rules without an age.
int64_t MinTimestamp(const GcRule& rule, absl::Time now);

// A layout for a new table. InvalidArgument says what is wrong with the schema.
absl::StatusOr<TableLayout> MakeTableLayout(std::string_view name, uint64_t table_id,
                                            const TableSchema& schema);
// These check one part: InvalidArgument with the value and the rule.
absl::Status CheckTableName(std::string_view name);
absl::Status CheckAccessListName(std::string_view name);
absl::Status CheckFamily(std::string_view name, const Family& family);
absl::Status CheckLocalityGroup(std::string_view name, const LocalityGroup& group);
absl::Status CheckSplitRule(const SplitRule& rule);

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_TABLE_LAYOUT_H_
