#include "transfer/ingest_rewrite.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>

#include "base/compare.h"
#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "base/status.h"
#include "base/strings.h"
#include "sstable/properties.h"
#include "sstable/sstable_cursor.h"
#include "sstable/sstable_series.h"

namespace bigtable {
namespace {

// The versions of a row's entries, from old to new, become the ordinals of one sequence number.
class RowVersions {
 public:
  // From the current entry of `scout` on, which is of the next row; leaves it behind the row.
  absl::Status Read(SSTableCursor* scout, CallPace* pace, const absl::Status& ended) {
    versions_.clear();
    const std::string row(scout->key().substr(0, RowPrefixSize(scout->key())));
    for (; scout->valid() && BeginsWith(scout->key(), row); scout->Next()) {
      if (!pace->Count(scout->key().size())) return ended;
      const EntryVersion version = VersionOf(scout->key());
      if (versions_.empty() || versions_.back() != version) versions_.push_back(version);
    }
    BT_RETURN_IF_ERROR(scout->status());
    std::sort(versions_.begin(), versions_.end());
    versions_.erase(std::unique(versions_.begin(), versions_.end()), versions_.end());
    if (versions_.size() <= kMaxOrdinal) return absl::OkStatus();
    return absl::InvalidArgumentError(
        Cat("a row has entries of ", versions_.size(), " mutations; ", kMaxOrdinal,
            " are allowed in a file that loses against what a table has"));
  }
  void Flatten(std::string* key) const {
    const EntryVersion version = VersionOf(*key);
    const auto found = std::lower_bound(versions_.begin(), versions_.end(), version);
    const int64_t timestamp = HasTimestamp(KindOf(*key)) ? TimestampOf(*key) : 0;
    const EntryVersion flat{1, static_cast<uint32_t>(found - versions_.begin())};
    StoreTrailer(key->data() + key->size() - kTrailerSize, timestamp, flat, KindOf(*key));
  }

 private:
  std::vector<EntryVersion> versions_;  // ascending
};

}  // namespace

absl::Status RewriteToIngest(const SSTable& file, const IngestRewrite& rewrite,
                             const CallLimits& limits, std::vector<IngestedFile>* files) {
  const TableLayout& layout = *rewrite.layout;
  std::deque<SSTableSeries> groups;  // those of several groups are written at the same time
  for (const GroupLayout& group : layout.groups) {
    groups.emplace_back(SSTableSeries::Options{
        .group = group.options,
        .owner = SSTableOwner{layout.table_id, layout.name, group.id, group.name},
        .file_size = rewrite.target_file_size,
        .budget = rewrite.budget,
        .name_next =
            [&] {
              const uint64_t number = rewrite.new_file_number();
              return SSTableSeries::File{number, rewrite.path_of(number)};
            },
        .create =
            [&](const std::string& path) { return rewrite.file_system->NewWritableFile(path); }});
  }
  absl::Status ended;
  CallPace pace(&limits, &ended);
  SSTableCursor cursor(&file, {.fill_cache = false, .limits = &limits});
  SSTableCursor scout(&file, {.fill_cache = false, .limits = &limits});
  RowVersions versions;
  std::string row, key;
  const auto write = [&]() -> absl::Status {
    if (rewrite.flattens) scout.SeekToFirst();
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      if (!pace.Count(cursor.key().size() + cursor.value().size())) return ended;
      key = cursor.key();
      const size_t row_size = RowPrefixSize(key);
      if (std::string_view(key).substr(0, row_size) != row) {
        row = key.substr(0, row_size);
        if (rewrite.flattens) BT_RETURN_IF_ERROR(versions.Read(&scout, &pace, ended));
      }
      const uint32_t id = ScopeOf(KindOf(key)) == EntryScope::kRow
                              ? GroupOfRowDeletion(key, row_size)
                              : layout.FindFamily(FamilyOf(key, row_size))->group_id;
      const size_t group = layout.GroupIndex(id);
      if (rewrite.flattens) versions.Flatten(&key);
      BT_RETURN_IF_ERROR(groups[group].Add(key, cursor.value()));
    }
    BT_RETURN_IF_ERROR(cursor.status());
    for (SSTableSeries& group : groups) BT_RETURN_IF_ERROR(group.Finish());
    return absl::OkStatus();
  };
  const absl::Status status = write();
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<SSTableInfo>& infos = groups[i].infos();
    for (size_t k = 0; k < groups[i].files().size(); ++k) {
      IngestedFile& one = files->emplace_back();
      one.group_id = layout.groups[i].id;
      if (k < infos.size()) one.info = infos[k];
      one.info.file_number = groups[i].files()[k].number;
      one.info.ingested = {.file_number = one.info.file_number};
    }
  }
  return status;
}

}  // namespace bigtable
