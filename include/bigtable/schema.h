// What a table looks like: its column families, the locality groups that store them, and the rules
// by which old versions go (sections 2 and 6 of the paper).
#ifndef BIGTABLE_SCHEMA_H_
#define BIGTABLE_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace bigtable {

// How the blocks of a locality group's SSTables are compressed.
enum class Compression : uint8_t {
  // Not at all: blocks are read in place from the mapped file, without a copy.
  kNone = 0,
  // Each block by itself with zstd.
  kZstd = 1,
  // Today's form of the paper's two-pass scheme: some megabytes of the file's own content, stored
  // once in the file, serve zstd as a dictionary for every block. Text that many rows share, like
  // the boilerplate of a web site, is stored once, and a block is still decoded alone. Costs up to
  // two MiB of memory for each open file, and more CPU when files are written.
  kZstdLongWindow = 2,
};

// What a file of a locality group has in memory to spare reads that would find nothing in it.
enum class FilterKind : uint8_t {
  kNone = 0,
  kRow = 1,           // a Bloom filter: "may this file hold anything of this row?"
  kRowAndColumn = 2,  // that, and "... anything of this column of this row?"
  // A hash table from rows to where they are: the answer to kRow's question, almost without false
  // ones, and the block to look in. Six bytes of memory and file a row, whatever filter_bits says.
  // The fastest reads of single rows; for rows of some hundred bytes or more.
  kRowIndex = 3,
};

// How the SSTables of a locality group, which minor compactions leave one after another, are kept
// few and free of what nobody sees. None of them changes what a read returns. A file of which
// everything is older than the MaxAge of every family of the group is dropped unread, except by
// kNone.
enum class CompactionStyle : uint8_t {
  // Runs of similar size are merged, `compaction_factor` (5) of them at a time. The fewest bytes
  // are written; hidden entries take at most about as much space as the others.
  kSizeTiered = 0,
  // Levels, each `compaction_factor` (10) times as large as the one above. The fewest runs to read
  // and a tenth of the space for hidden entries; several times the bytes are written.
  kLeveled = 1,
  // Nothing is merged; expired files are dropped. For data in the order of time. A read may have to
  // ask every file.
  kFifo = 2,
  // Nothing is done, until Database::Compact. For loading. A read may have to ask every file.
  kNone = 3,
};

// A set of families that are stored together, in memtables and SSTables of their own: who reads
// one group does not read past the others (section 6). Plain value.
struct LocalityGroup {
  Compression compression = Compression::kNone;
  // zstd's level, 1 (fast) to 19 (small).
  int compression_level = 3;
  // Bytes in a data block before compression, from 1 KiB to 16 MiB: larger blocks compress better
  // and need less index; a read of one cell reads one block. A value that is larger has a block of
  // its own.
  size_t block_size = 16 << 10;
  FilterKind filter = FilterKind::kRow;
  // Bits of Bloom filter for each row, and for each column with kRowAndColumn, from 1 to 32. Ten
  // make one false "maybe" in about a hundred.
  int filter_bits = 10;
  // SSTables are loaded into memory when they are first read, and then served without the file.
  // For small data that is read often.
  bool in_memory = false;
  // How its SSTables are compacted, and by which factor: 2 to 100, or 0 for what the style says.
  CompactionStyle compaction = CompactionStyle::kSizeTiered;
  int compaction_factor = 0;

  friend bool operator==(const LocalityGroup&, const LocalityGroup&) = default;
};

// Which versions of a cell are kept. What a rule lets go is not seen by any read, at once; its
// space is reclaimed by compactions.
//
// A rule can be changed (Database::UpdateFamily). What has been deleted, overwritten or let go by
// then never comes back, however much the new rule would keep: what was written before the change
// is judged by the rule as it was, and what that has left by the new one. So after a change from
// MaxVersions(1) to MaxVersions(3) a column has one version, until others are written; after one
// from MaxAge of an hour to a day, nothing that was past its hour is seen again. Where the number
// of versions changes, counting begins anew with those that are there: a change to MaxVersions(n)
// keeps the n newest of them. A snapshot from before the change sees what was there at its moment,
// as far as the new rule keeps it. Plain value.
class GcRule {
 public:
  // Keeps everything: the default.
  GcRule() = default;

  // Keeps the `n` newest versions of each column, n at least 1. A version is gone once `n` cells of
  // its column with newer timestamps have existed since it was written, whether or not they were
  // deleted later.
  static GcRule MaxVersions(int64_t n) {
    GcRule rule;
    rule.max_versions_ = n;
    return rule;
  }
  // Keeps what has a timestamp within `age` of the present, age at least one millisecond.
  static GcRule MaxAge(absl::Duration age) {
    GcRule rule;
    rule.max_age_ = age;
    return rule;
  }
  // Lets go what any of the two rules lets go.
  static GcRule Union(const GcRule& a, const GcRule& b) {
    GcRule rule = a;
    if (b.max_versions_ && (!a.max_versions_ || *b.max_versions_ < *a.max_versions_)) {
      rule.max_versions_ = b.max_versions_;
    }
    if (b.max_age_ && (!a.max_age_ || *b.max_age_ < *a.max_age_)) rule.max_age_ = b.max_age_;
    return rule;
  }

  std::optional<int64_t> max_versions() const { return max_versions_; }
  std::optional<absl::Duration> max_age() const { return max_age_; }

  friend bool operator==(const GcRule&, const GcRule&) = default;

 private:
  std::optional<int64_t> max_versions_;
  std::optional<absl::Duration> max_age_;
};

// A column family: the unit in which access, storage and collection are configured. Plain value.
struct Family {
  // A name in TableSchema::locality_groups; empty: the group "default", which every table has and
  // which is configured by defining it.
  std::string locality_group = {};
  GcRule gc = {};
  // The name of the list of those who may read and write the family (Database::SetAccessList);
  // empty: everybody may. The program itself always may: see OpenTableOptions::caller.
  std::string access_list = {};

  friend bool operator==(const Family&, const Family&) = default;
};

// What Database::UpdateFamily changes: what is not set stays as it is. Plain value.
struct FamilyUpdate {
  std::optional<GcRule> gc = std::nullopt;
  std::optional<std::string> access_list = std::nullopt;  // "" removes the list
};

// When the tablets of a table are split in two and merged, by themselves (section 5.2 of the paper;
// Database::SplitTablet and MergeTablets do it by request). A tablet is what is moved from one
// tablet server to another, so many small ones spread better, and each costs memtables. Plain
// value.
struct SplitRule {
  // Bytes on disk at which a tablet is split where about half of them are on either side; at least
  // 64 KiB, or 0: never.
  uint64_t tablet_size = uint64_t{200} << 20;
  // Two neighbours that together have fewer bytes than this are merged: at most half of
  // `tablet_size` if that is not 0. 0: never, since tablets that a table was created with are
  // small in the beginning.
  uint64_t merge_size = 0;
  // Splits keep rows together that agree in this many bytes from their beginning, up to 64 KiB.
  size_t prefix_length = 0;

  friend bool operator==(const SplitRule&, const SplitRule&) = default;
};

// Names of families and groups are 1 to 64 printable ASCII characters without space and colon.
// Plain value.
struct TableSchema {
  std::map<std::string, LocalityGroup, std::less<>> locality_groups = {};
  std::map<std::string, Family, std::less<>> families = {};
  SplitRule split = {};

  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

}  // namespace bigtable

#endif  // BIGTABLE_SCHEMA_H_
