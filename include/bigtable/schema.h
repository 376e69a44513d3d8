// The schema of a table: its column families, the locality groups that store them, and the garbage
// collection rules (sections 2 and 6 of the paper).
#ifndef BIGTABLE_SCHEMA_H_
#define BIGTABLE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"

#include "bigtable/export.h"

namespace bigtable {

// How the blocks of a locality group's SSTables are compressed.
enum class Compression : uint8_t {
  // None: blocks are read in place from the mapped file, without a copy.
  kNone = 0,
  // Each block on its own with zstd.
  kZstd = 1,
  // A modern form of the paper's two-pass scheme: some megabytes of the file's own content, stored
  // once in the file, serve zstd as a dictionary for every block. Text that many rows share, like
  // the boilerplate of a web site, is stored once, and a block can still be decoded alone. Costs up
  // to 2 MiB of memory for each open file, and more CPU when files are written.
  kZstdLongWindow = 2,
};

// A filter in memory that lets reads skip files that do not contain the row.
enum class FilterKind : uint8_t {
  kNone = 0,
  kRow = 1,           // a Bloom filter of rows: "may this file contain this row?"
  kRowAndColumn = 2,  // also of columns: "... this column of this row?"
  // A hash table from rows to blocks: it answers kRow's question with almost no false positives,
  // and names the block to read. Six bytes of memory and file for each row, whatever filter_bits
  // is. The fastest reads of single rows; for rows of some hundred bytes or more.
  kRowIndex = 3,
};

// How the SSTables of a locality group are merged, to bound their number and remove garbage. None
// of the styles changes what a read returns. Except with kNone, a file whose whole content is older
// than the MaxAge of every family of the group is dropped unread. For a policy of one's own see
// LocalityGroup::compaction_policy.
enum class CompactionStyle : uint8_t {
  // Runs of similar size are merged, `compaction_factor` (5) at a time. Writes the fewest bytes;
  // hidden entries take at most about as much space as visible ones.
  kSizeTiered = 0,
  // Levels, each `compaction_factor` (10) times as large as the one above. Has the fewest runs to
  // read, and a tenth of the space for hidden entries; writes several times the bytes.
  kLeveled = 1,
  // Nothing is merged; expired files are dropped. For data in time order. A read may have to check
  // every file.
  kFifo = 2,
  // Nothing is done until Database::Compact. For bulk loading. A read may have to check every file.
  kNone = 3,
};

// A set of families that are stored together, in memtables and SSTables of their own. A read of one
// group does not touch the data of the others (section 6). Plain value.
struct LocalityGroup {
  Compression compression = Compression::kNone;
  // zstd's level, 1 (fast) to 19 (small).
  int compression_level = 3;
  // Bytes in a data block before compression, from 1 KiB to 16 MiB. Larger blocks compress better
  // and need a smaller index, but a read of one cell reads a whole block. A larger value has a
  // block of its own.
  size_t block_size = 16 << 10;
  FilterKind filter = FilterKind::kRow;
  // Bits of the Bloom filter for each row, and for each column with kRowAndColumn, from 1 to 32.
  // Ten bits give about 1% false positives.
  int filter_bits = 10;
  // Loads SSTables into memory when they are first read, and then serves them without the file. For
  // small data that is read often.
  bool in_memory = false;
  // How its SSTables are compacted, and by which factor: 2 to 100, or 0 for the style's default.
  CompactionStyle compaction = CompactionStyle::kSizeTiered;
  int compaction_factor = 0;
  // The name of a policy that this program has registered (bigtable/compaction_policy.h); it
  // replaces `compaction`. A database with such a table opens only in programs that have registered
  // the name, or read-only. Empty: `compaction` applies.
  std::string compaction_policy = {};

  friend bool operator==(const LocalityGroup&, const LocalityGroup&) = default;
};

// A garbage collection rule: which versions of a cell are kept. Reads stop returning a version as
// soon as the rule drops it. Compactions reclaim its space.
//
//   // Drops what is older than a month, and of what is older than a day all but three versions.
//   GcRule::Union(GcRule::MaxAge(absl::Hours(30 * 24)),
//                 GcRule::Intersection(GcRule::MaxVersions(3), GcRule::MaxAge(absl::Hours(24))))
//
// However a rule was made, it is kept in its simplest form: see steps(). So two rules are equal if
// they drop the same versions.
//
// A rule can be changed (Database::UpdateFamily). Data that was deleted, overwritten or dropped
// before the change never comes back, even if the new rule would keep it: the old rule is applied
// to everything written before the change, and the new rule to what the old one kept. So after a
// change from MaxVersions(1) to MaxVersions(3) a column has one version until more are written.
// After a change from a MaxAge of an hour to a day, versions that were older than an hour stay
// invisible. If the part of the rule that counts versions changes, counting starts over with the
// existing ones: a change to MaxVersions(n) keeps their n newest. A snapshot from before the change
// sees the data of that snapshot, as far as the new rule keeps it. Plain value.
class BIGTABLE_EXPORT GcRule {
 public:
  // Drops versions that have at least `versions` newer ones, and are older than `age`.
  struct Step {
    int64_t versions = 0;                            // 0: versions are not counted
    absl::Duration age = -absl::InfiniteDuration();  // that: age does not matter
    friend bool operator==(const Step&, const Step&) = default;
  };

  // Keeps everything: the default.
  GcRule() = default;

  // Keeps the `n` newest versions of each column; n is at least 1. A version is dropped once `n`
  // cells of its column with newer timestamps have existed since it was written, even if they were
  // deleted later.
  static GcRule MaxVersions(int64_t n) { return GcRule({.versions = n}); }
  // Keeps cells with a timestamp within `age` of the present; age is at least one millisecond. The
  // present of a read is when it began, or when its snapshot was taken.
  static GcRule MaxAge(absl::Duration age) { return GcRule({.age = age}); }
  // Drops what either rule drops. Rules can be nested.
  static GcRule Union(const GcRule& a, const GcRule& b);
  // Drops what both rules drop: Intersection(MaxVersions(3), MaxAge(absl::Hours(24))) keeps the
  // three newest versions however old they are, and those of a day however many they are. Which
  // versions have how many newer ones is decided as for MaxVersions, up to the largest number in
  // the rule; a version that has that many newer ones no longer counts against older ones itself.
  // Not for families of aggregates.
  static GcRule Intersection(const GcRule& a, const GcRule& b);

  // The simplest form of the rule: it drops what any of the steps drops. Each has more versions and
  // a smaller age than the one before it. A rule that keeps everything has none.
  absl::Span<const Step> steps() const { return steps_; }
  // What the rule drops whatever the age, and whatever the number of versions.
  std::optional<int64_t> max_versions() const;
  std::optional<absl::Duration> max_age() const;

  friend bool operator==(const GcRule&, const GcRule&) = default;

 private:
  explicit GcRule(const Step& step) : steps_{step} {}

  std::vector<Step> steps_;
};

// What the cells of a family hold. All but kBytes are aggregates: a cell is written by
// contributions (RowMutation::AddToCell, MergeToCell), and a read returns one value for all of them
// together. They are merged when they are read and in compactions, so no write reads, and no thread
// waits for another one's contribution. A cell begins anew after a deletion, and after the garbage
// collection rule has dropped it. A contribution to an existing cell adds no version to its column.
// On disk: never renumber.
enum class ValueType : uint8_t {
  kBytes = 0,  // what Set has written
  // Numbers of 8 bytes, big-endian (EncodeBigEndian): the sum, the smallest, the largest. A sum
  // wraps around in two's complement, as an increment does: so it does not depend on the order in
  // which contributions are merged, as a sum that stops at the largest number would.
  kInt64Sum = 1,
  kInt64Min = 2,
  kInt64Max = 3,
  // About how many different inputs were added, with a standard error of 0.8%: see
  // HyperLogLogEstimate (bigtable/aggregate.h). A cell takes 3 bytes for each input, and at most
  // 16 KiB.
  kHyperLogLog = 4,
  // The exact sum of doubles (EncodeDouble): see DoubleSumValue (bigtable/aggregate.h). It is not
  // rounded with each contribution, and so does not depend on the order in which they are merged.
  // A cell takes 10 to 15 bytes where the numbers have about the same size, and at most 270 or so
  // where they are as different as doubles can be.
  kDoubleSum = 5,
  // The smallest and the largest of doubles, which are doubles too (EncodeDouble, DecodeDouble).
  // -0.0 is less than +0.0. A NaN is ignored beside any number.
  kDoubleMin = 6,
  kDoubleMax = 7,
};

// A column family: the unit of access control, storage and garbage collection. Plain value.
struct Family {
  // A name in TableSchema::locality_groups. Empty: the group "default", which every table has;
  // define it to configure it.
  std::string locality_group = {};
  GcRule gc = {};
  // The name of the access list that controls the family (Database::SetAccessList). Empty: every
  // user may read and write it. The program itself always may: see OpenTableOptions::caller.
  std::string access_list = {};
  // Stays as the family was created with.
  ValueType value_type = ValueType::kBytes;
  // The name of an operator that this program has registered (bigtable/aggregate.h): the family
  // holds aggregates of it, and `value_type` stays kBytes. A program that has not registered it can
  // open the database, but reads, writes and compactions of the family's cells are
  // FailedPrecondition, except scans and reads without values (Filter::StripValueTransformer).
  // Empty: `value_type` applies.
  std::string value_operator = {};
  // The name of a filter that this program has registered (bigtable/compaction_filter.h);
  // compactions apply it to the cells of the family, which must hold bytes. A program that has not
  // registered it can open, read and write, but the locality group's SSTables are not merged, and
  // Database::Compact is FailedPrecondition. Empty: none.
  std::string compaction_filter = {};
  // The caller that the family's bytes are charged to, whoever writes them (bigtable/quota.h): in a
  // table that several groups of users share, each owns the families that it adds (section 8.3).
  // Follows the rules of caller names (bigtable/access_list.h). Empty: nobody.
  std::string owner = {};

  friend bool operator==(const Family&, const Family&) = default;
};

// The argument of Database::UpdateFamily: fields that are not set stay unchanged. Plain value.
struct FamilyUpdate {
  std::optional<GcRule> gc = std::nullopt;
  std::optional<std::string> access_list = std::nullopt;  // "" removes the list
  // Cannot change: InvalidArgument, unless the family has it already.
  std::optional<ValueType> value_type = std::nullopt;
  std::optional<std::string> value_operator = std::nullopt;
  // "" removes the filter: what it has removed does not come back.
  std::optional<std::string> compaction_filter = std::nullopt;
  std::optional<std::string> owner = std::nullopt;  // "" removes the owner
};

// One of the changes of Database::ModifyFamilies: what Database::AddFamily, UpdateFamily or
// DropFamily does to one family. Plain value.
struct FamilyChange {
  // Adds a family under a name that the table does not have.
  static FamilyChange Add(std::string name, Family family) {
    return {std::move(name), std::move(family)};
  }
  // Changes the fields that `update` sets.
  static FamilyChange Update(std::string name, FamilyUpdate update) {
    return {std::move(name), std::move(update)};
  }
  // Drops the family with its data.
  static FamilyChange Drop(std::string name) { return {std::move(name), std::monostate()}; }

  // Of the family.
  std::string name = {};
  // The family that is added, or what is updated. std::monostate: the family is dropped.
  std::variant<std::monostate, Family, FamilyUpdate> change = std::monostate();
};

// When the tablets of a table are split and merged automatically (section 5.2 of the paper).
// Database::SplitTablet and MergeTablets do it by request. A tablet is the unit that moves between
// tablet servers: many small tablets spread better, but each costs memtables. Plain value.
struct SplitRule {
  // Size on disk, in bytes, at which a tablet is split, with about half of the bytes on either
  // side. At least 64 KiB, or 0 for never.
  uint64_t tablet_size = uint64_t{200} << 20;
  // Two neighbours that together have fewer bytes than this are merged. At most half of
  // `tablet_size` if that is not 0. 0 means never, since the tablets that a table is created with
  // are small at first.
  uint64_t merge_size = 0;
  // Splits keep rows together whose first `prefix_length` bytes are equal. At most 64 KiB.
  size_t prefix_length = 0;

  friend bool operator==(const SplitRule&, const SplitRule&) = default;
};

// Whether and how long the changes of a table are kept, to be read with Table::ReadChanges. Plain
// value.
struct ChangeStreamRule {
  // How long changes are kept: 1 second to 365 days, in whole microseconds. Zero: the table has no
  // change stream, and `max_bytes` has no meaning.
  absl::Duration retention = absl::ZeroDuration();
  // The most bytes of kept changes on disk, at least 1 MiB. Beyond it the oldest are dropped, even
  // within the retention. A reader that has not read them then gets OutOfRange.
  uint64_t max_bytes = uint64_t{16} << 30;

  friend bool operator==(const ChangeStreamRule&, const ChangeStreamRule&) = default;
};

// Names of families and groups are 1 to 64 printable ASCII characters without space and colon. In
// the schema of a new table, a family must be in a group that the schema defines, and a group must
// have a family; "default" is exempt from both. Plain value.
struct TableSchema {
  std::map<std::string, LocalityGroup, std::less<>> locality_groups = {};
  std::map<std::string, Family, std::less<>> families = {};
  SplitRule split = {};
  // Names of observers that this program has registered (bigtable/mutation_observer.h), each once,
  // at most 16: they are called for each mutation of the table, in this order. A program that has
  // not registered all of them can open the database and read the table; writes to it are
  // FailedPrecondition.
  std::vector<std::string> observers = {};
  ChangeStreamRule changes = {};

  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_H_
