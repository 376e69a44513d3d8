// How a tablet is split, and what a merge of two needs to know.
//
// A split copies nothing: what both halves have of immutable memtables and SSTables they share, the
// latter until they are compacted.
#include <algorithm>
#include <utility>

#include "base/entry_key.h"
#include "memtable/memtable_cursor.h"
#include "tablet/tablet.h"

namespace bigtable {
namespace {

// Whether the memtable, in which nothing is written any more, has keys of the range.
bool HasKeysIn(const Memtable& memtable, const KeyRange& keys) {
  MemtableCursor cursor(&memtable);
  cursor.Seek(keys.begin());
  return cursor.valid() && keys.Contains(cursor.key());
}

}  // namespace

std::optional<std::string> Tablet::MiddleRow(size_t prefix_length) const {
  std::vector<FileSample> samples;
  const Pin<TabletVersion> version = Version();
  for (const GroupVersion& group : version->groups()) {
    for (const SortedRun& run : group.runs) {
      for (const Ref<SSTable>& file : run.files) {
        for (FileSample& sample : SampleFile(*file, keys_)) samples.push_back(std::move(sample));
      }
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const FileSample& a, const FileSample& b) { return a.key < b.key; });
  uint64_t bytes = 0;
  for (const FileSample& sample : samples) bytes += sample.bytes;
  std::string scratch;
  const auto row_of = [&](const FileSample& sample) {
    return std::string(RowOf(sample.key, &scratch));
  };
  uint64_t before = 0;
  for (const FileSample& sample : samples) {
    before += sample.bytes;
    if (before < bytes / 2) continue;
    std::string row = row_of(sample);
    if (prefix_length != 0 && row.size() > prefix_length) row.resize(prefix_length);
    if (row > row_of(samples.front())) return row;
  }
  return std::nullopt;
}

Tablet::Halves Tablet::Split(std::string_view row, SequenceNumber last) {
  RotateAll(last);
  MutexLock lock(&mutex_);
  const std::optional<std::string>& end = rows_.end();
  Halves halves{
      MakeHalf(RowRange::RightOpen(rows_.begin(), row)),
      MakeHalf(end.has_value() ? RowRange::RightOpen(row, *end) : RowRange::StartingAt(row))};
  SetStopped(true);
  MarkSuperseded();
  return halves;
}

std::unique_ptr<Tablet> Tablet::MakeHalf(const RowRange& rows) const {
  const Pin<TabletVersion> current = version_.Get();
  std::unique_ptr<Tablet> half(new Tablet(environment_, current->shared_layout(), rows));
  half->writer_.BeginAs(writer_);
  // Not the quarantine: this half may not have what is damaged.
  half->estimates_.Inherit(estimates_);
  std::vector<GroupVersion> groups = current->groups();
  for (GroupVersion& group : groups) {
    group.active = NewMemtable(group);
    // Of rows that are written in order, the left half would otherwise write out nothing at all,
    // and wait for its turn to do so.
    std::erase_if(group.immutable,
                  [&](const Ref<Memtable>& m) { return !HasKeysIn(*m, half->keys_); });
    group.SetFiles(group.files->Within(half->keys_));
  }
  MutexLock lock(&half->mutex_);
  half->Publish(current->shared_layout(), std::move(groups), MakeRef<ReadLimit>());
  return half;
}

bool Tablet::ReachesInto(const Tablet& other) const {
  const auto has = [](const GroupFiles& files, const GroupFiles::File& file) {
    return std::any_of(files.files().begin(), files.files().end(), [&](const auto& f) {
      return f.order == file.order && f.table->info().file_number == file.table->info().file_number;
    });
  };
  const Pin<TabletVersion> theirs = other.Version();
  const Pin<TabletVersion> own = Version();
  for (size_t i = 0; i < own->groups().size(); ++i) {
    for (const GroupFiles::File& file : own->groups()[i].files->files()) {
      if (!other.keys_.Overlaps(file.table->info())) continue;
      if (i >= theirs->groups().size() || !has(*theirs->groups()[i].files, file)) return true;
    }
  }
  return false;
}

}  // namespace bigtable
