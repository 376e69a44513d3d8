#include "transfer/ingest_check.h"

#include <string>
#include <string_view>

#include "bigtable/row_mutation.h"

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "base/status.h"
#include "base/strings.h"
#include "base/time_range.h"
#include "schema/mutation_check.h"
#include "sstable/sstable_cursor.h"

namespace bigtable {
namespace {

// Two entries never differ only in their kinds.
std::string_view PlaceOf(std::string_view key) { return key.substr(0, key.size() - 1); }

class EntryCheck {
 public:
  EntryCheck(const SSTable& file, const TableLayout& layout, std::set<uint32_t>* groups)
      : file_(file), layout_(layout), groups_(groups) {}

  absl::Status Check(std::string_view key, std::string_view value) {
    if (!IsWellFormed(key)) return Damaged(Cat("malformed key ", Quoted(key)));
    const bool is_first = entries_++ == 0;
    if (is_first ? key != file_.info().smallest_key : PlaceOf(key) <= PlaceOf(last_)) {
      return Damaged(Cat(DebugString(key), " is not in its place"));
    }
    last_.assign(key);
    const SequenceNumber sequence = VersionOf(key).sequence;
    if (sequence < file_.info().min_sequence || sequence > file_.info().max_sequence) {
      return Damaged(Cat(DebugString(key), " is not within the sequence numbers of the file"));
    }
    return CheckRules(key, value);
  }
  absl::Status Finish() const {
    const SSTableInfo& info = file_.info();
    if (entries_ == info.entries && last_ == info.largest_key) return absl::OkStatus();
    return Damaged(Cat(entries_, " entries instead of ", info.entries));
  }

 private:
  absl::Status CheckRules(std::string_view key, std::string_view value) {
    bool is_plain;
    const size_t row_size = RowPrefixSize(key, &is_plain);
    // With its end mark of two bytes, and one byte more for each that is escaped.
    size_t row = row_size - 2;
    if (!is_plain) row = RowOf(key, &scratch_).size();
    if (row == 0 || row > RowMutation::kMaxRowSize) {
      return Refused(key, "a row has 1 byte to 64 KiB");
    }
    if (value.size() > RowMutation::kMaxValueSize) {
      return Refused(key, "a value has at most 256 MiB");
    }
    const EntryKind kind = KindOf(key);
    if (VersionOf(key).sequence == 0) return Refused(key, "sequence numbers begin with 1");
    if (ScopeOf(kind) == EntryScope::kRow) {
      return UseGroup(key, GroupOfRowDeletion(key, row_size));
    }
    const std::string_view name = FamilyOf(key, row_size);
    if (family_ == nullptr || family_->name != name) {
      family_ = layout_.FindFamily(name);
      if (family_ == nullptr) return Annotate(layout_.NoFamilyError(name), file_.path());
      groups_->insert(family_->group_id);
    }
    if (EscapedQualifierOf(key, row_size, name.size()).size() > kMostQualifier) {
      const std::string_view escaped = EscapedQualifierOf(key, row_size, name.size());
      if (Unescape(escaped, &scratch_).size() > RowMutation::kMaxQualifierSize) {
        return Refused(key, "a qualifier has at most 16 KiB");
      }
    }
    TimeRange range;
    if (kind == EntryKind::kDeleteTimeRange && !ParseTimeRange(value, &range)) {
      return Refused(key, "the value of the deletion of a time range is that range");
    }
    if (!IsCell(kind)) return absl::OkStatus();
    const absl::Status allowed = CheckCellOf(*family_, kind, value);
    return allowed.ok() ? allowed : Annotate(allowed, Cat(file_.path(), ": ", DebugString(key)));
  }
  absl::Status UseGroup(std::string_view key, uint32_t group_id) {
    if (groups_->contains(group_id)) return absl::OkStatus();
    if (layout_.GroupIndex(group_id) == layout_.groups.size()) {
      return absl::NotFoundError(Cat(file_.path(), ": ", DebugString(key), " is of the locality ",
                                     "group ", group_id, ", which table ", layout_.name,
                                     " does not have"));
    }
    groups_->insert(group_id);
    return absl::OkStatus();
  }
  absl::Status Damaged(std::string_view what) const {
    return absl::DataLossError(Cat(file_.path(), ": damaged SSTable: ", what));
  }
  absl::Status Refused(std::string_view key, std::string_view rule) const {
    return absl::InvalidArgumentError(
        Cat(file_.path(), ": ", rule, ": ", DebugString(key).substr(0, kMostShown)));
  }

  static constexpr size_t kMostQualifier = RowMutation::kMaxQualifierSize;
  static constexpr size_t kMostShown = 1024;

  const SSTable& file_;
  const TableLayout& layout_;
  std::set<uint32_t>* const groups_;
  const FamilyLayout* family_ = nullptr;  // the last one
  uint64_t entries_ = 0;
  std::string last_;
  std::string scratch_;
};

absl::Status CheckDescription(const SSTable& file, const TableLayout& layout,
                              std::set<uint32_t>* groups) {
  const SSTableInfo& info = file.info();
  if (!IsWellFormed(info.smallest_key) || !IsWellFormed(info.largest_key) ||
      info.smallest_key > info.largest_key || info.min_sequence > info.max_sequence ||
      info.max_sequence > kMaxSequence) {
    return absl::DataLossError(Cat(file.path(), ": damaged SSTable: its range is malformed"));
  }
  for (const SSTableInfo::FamilyBytes& family : info.families) {
    const FamilyLayout* const found = layout.FindFamily(family.name);
    if (found == nullptr) return Annotate(layout.NoFamilyError(family.name), file.path());
    groups->insert(found->group_id);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::set<uint32_t>> CheckFileToIngest(const SSTable& file, const TableLayout& layout,
                                                     bool reads_all, const CallLimits& limits) {
  std::set<uint32_t> groups;
  if (file.info().entries == 0) return groups;
  BT_RETURN_IF_ERROR(CheckDescription(file, layout, &groups));
  // Deletions of rows are counted with no family.
  if (!reads_all && file.info().row_deletions == 0) return groups;
  EntryCheck check(file, layout, &groups);
  absl::Status ended;
  CallPace pace(&limits, &ended);
  SSTableCursor cursor(&file, {.verify_checksums = true, .fill_cache = false, .limits = &limits});
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    if (!pace.Count(cursor.key().size() + cursor.value().size())) return ended;
    BT_RETURN_IF_ERROR(check.Check(cursor.key(), cursor.value()));
  }
  BT_RETURN_IF_ERROR(cursor.status());
  BT_RETURN_IF_ERROR(check.Finish());
  return groups;
}

}  // namespace bigtable
