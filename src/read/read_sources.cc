#include "read/read_sources.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/compare.h"
#include "base/entry_key.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "monitoring/thread_calls.h"
#include "monitoring/tracer.h"

namespace bigtable {
namespace {

// Whether the row cannot be in the file.
bool IsOutside(const SSTableInfo& info, std::string_view row_prefix) {
  return row_prefix > std::string_view(info.largest_key) ||
         (row_prefix < std::string_view(info.smallest_key) &&
          !info.smallest_key.starts_with(row_prefix));
}

}  // namespace

void ReadSources::Clear() {
  planned_.clear();
  input_->Clear();
  pool_.Clear();
}

bool ReadSources::GroupIsWanted(size_t group) const {
  if (!shortcuts_.Has(Shortcut::kLocalityGroups)) return true;
  const TableLayout& layout = version_->layout();
  if (layout.groups.size() == 1 && filter_->passes_everything()) return true;
  const uint32_t id = layout.groups[group].id;
  return std::any_of(layout.families.begin(), layout.families.end(), [&](const FamilyLayout& f) {
    return f.group_id == id && (filter_->passes_everything() || filter_->MayPassFamily(f.name));
  });
}

bool ReadSources::MayHaveTimestamps(const SSTableInfo& info) const {
  int64_t first, last;
  if (filter_->passes_everything() || !shortcuts_.Has(Shortcut::kTimeRanges)) return true;
  if (!filter_->BoundsTimestamps(&first, &last) || info.ConcernsTimestamps(first, last)) {
    return true;
  }
  // Cells outside the range still count for MaxVersions.
  const TableLayout& layout = version_->layout();
  const bool counts = std::any_of(layout.families.begin(), layout.families.end(),
                                  [](const FamilyLayout& f) { return f.counts_versions(); });
  if (!counts && settings_.is_traced && CurrentTrace() != nullptr) [[unlikely]] {
    ++CurrentTrace()->excluded_files;
  }
  return counts;
}

// --- One row ---

ReadSources::RowQuestion ReadSources::QuestionOf(const RowProbe& row) const {
  RowQuestion question{row};
  std::string_view family, qualifier;
  if (!filter_->passes_everything() && filter_->IsOneColumn(&family, &qualifier)) {
    std::string column(row.prefix());
    AppendColumn(&column, family, qualifier);
    question.one_column = true;
    question.column_hash = Checksum(column);
  }
  return question;
}

bool ReadSources::IsFilterInMemory(const SSTable& file, const RowQuestion& question) {
  return question.one_column
             ? file.IsColumnFilterInMemory(question.row.hash(), question.column_hash)
             : file.IsRowFilterInMemory(question.row.hash());
}

template <typename Use>
bool ReadSources::EachFileOf(const RowProbe& row, bool opens, Use use) const {
  const RowQuestion question = QuestionOf(row);
  size_t run_number = 0;
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    const bool is_wanted = GroupIsWanted(i);
    for (const SortedRun& run : version_->groups()[i].runs) {
      const size_t found = row.FileOf(run, run_number++);
      if (!is_wanted || found == run.files.size()) continue;
      const SSTable& file = *run.files[found];
      if (!opens && !IsFilterInMemory(file, question)) return false;
      RowIndex::Location location;
      const RowIndex::Answer answer = LookUp(file, question, &location);
      if (answer == RowIndex::Answer::kAbsent) continue;
      if (!use(file, answer == RowIndex::Answer::kFound ? &location : nullptr)) return false;
    }
  }
  return true;
}

void ReadSources::RequestRow(const RowProbe& row) const {
  EachFileOf(row, /*opens=*/true, [&](const SSTable& file, const RowIndex::Location* location) {
    file.RequestRow(row.prefix(), location, settings_.overlapped);
    return true;
  });
}

ReadSources::Waits ReadSources::WaitsOf(const RowProbe& row) const {
  bool is_in_memory = true;
  const auto look = [&](const SSTable& file, const RowIndex::Location* location) {
    if (file.IsRowInMemory(row.prefix(), location)) return true;
    is_in_memory = false;
    return file.is_whole();
  };
  if (!EachFileOf(row, /*opens=*/false, look)) return Waits::kOthers;
  return is_in_memory ? Waits::kNothing : Waits::kRequests;
}

void ReadSources::AddRow(const RowProbe& row) {
  const RowQuestion question = QuestionOf(row);
  size_t run_number = 0;
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    const GroupVersion& group = version_->groups()[i];
    if (GroupIsWanted(i)) AddGroupOfRow(group, question, run_number);
    run_number += group.runs.size();
  }
  if (settings_.is_traced) [[unlikely]] {
    RecordMemtables();
    RecordFilters(question);
  }
}

// Adds a source, which was positioned at the beginning of the row, if it has the row.
void ReadSources::AddIfInRow(EntryCursor* cursor, std::string_view row_prefix) {
  if (cursor->valid() ? BeginsWith(cursor->key(), row_prefix) : !cursor->status().ok()) {
    input_->Add(cursor);
  }
}

void ReadSources::AddGroupOfRow(const GroupVersion& group, const RowQuestion& question,
                                size_t first_run) {
  const RowProbe& row = question.row;
  // Prefetch all filters before the first lookup, so that they are loaded at the same time.
  for (size_t i = std::max(row.asked(), first_run) - first_run; i < group.runs.size(); ++i) {
    const SortedRun& run = group.runs[i];
    const size_t file = row.FileOf(run, first_run + i);
    if (file == run.files.size()) continue;
    if (question.one_column) {
      run.files[file]->PrefetchColumn(row.hash(), question.column_hash);
    } else {
      run.files[file]->PrefetchRow(row.hash());
    }
  }
  AddMemtableOfRow(*group.active, row.prefix());
  for (const Ref<Memtable>& memtable : group.immutable) AddMemtableOfRow(*memtable, row.prefix());
  ReadSettings settings = settings_;
  settings.read_ahead = false;
  for (size_t i = 0; i < group.runs.size(); ++i) {
    const SortedRun& run = group.runs[i];
    const size_t found = row.FileOf(run, first_run + i);
    if (found == run.files.size()) continue;
    const SSTable* const file = run.files[found].get();
    if (run.SplitsRows() && found + 1 < run.files.size() &&
        BeginsWith(file->info().largest_key, row.prefix()) &&
        run.files[found + 1]->info().smallest_key.starts_with(row.prefix())) {
      auto* const cursor = pool_.Make<RunCursor>(&run, settings);
      cursor->Seek(row.prefix());
      AddIfInRow(cursor, row.prefix());  // the row continues in another file
      continue;
    }
    RowIndex::Location location;
    const RowIndex::Answer answer = LookUp(*file, question, &location);
    if (answer == RowIndex::Answer::kAbsent) continue;
    auto* const cursor = pool_.Make<SSTableCursor>(file, settings);
    if (answer == RowIndex::Answer::kFound) cursor->PlanRow(location);
    planned_.push_back(cursor);
  }
}

inline RowIndex::Answer ReadSources::LookUp(const SSTable& file, const RowQuestion& question,
                                            RowIndex::Location* location) const {
  using Answer = RowIndex::Answer;
  if (!file.is_open() && IsOutside(file.info(), question.row.prefix())) [[unlikely]]
    return Answer::kAbsent;  // do not open it in vain
  Answer answer = Answer::kUnknown;
  if (!shortcuts_.Has(Shortcut::kFileFilters)) {
    // The row may be anywhere in the file.
  } else if (!question.one_column) {
    answer = file.LookUpRow(question.row.hash(), location, settings_.limits);
  } else if (!file.MayContainColumn(question.row.hash(), question.column_hash, settings_.limits)) {
    answer = Answer::kAbsent;
  }
  if (answer == Answer::kAbsent || !MayHaveTimestamps(file.info())) return Answer::kAbsent;
  const bool is_used = answer != Answer::kFound || shortcuts_.Has(Shortcut::kRowLocations);
  return is_used ? answer : Answer::kUnknown;
}

void ReadSources::AddMemtableOfRow(const Memtable& memtable, std::string_view row_prefix) {
  if (memtable.empty()) return;
  auto* const cursor = pool_.Make<MemtableCursor>(&memtable);
  cursor->Seek(row_prefix);
  AddIfInRow(cursor, row_prefix);
}

// Filters cannot exclude every file that begins after the row.
void ReadSources::SeekPlanned(std::string_view row_prefix) {
  if (planned_.size() > 1 && shortcuts_.Has(Shortcut::kRequests)) {
    for (SSTableCursor* cursor : planned_) cursor->RequestRow(row_prefix);
  }
  for (SSTableCursor* cursor : planned_) {
    cursor->SeekRow(row_prefix);
    if (!cursor->status().ok() && cursor->FailedBehind(row_prefix)) [[unlikely]]
      continue;
    if (settings_.sampled_reads != 0) [[unlikely]] {
      cursor->table()->row_reads().Count(settings_.sampled_reads,
                                         cursor->valid() && BeginsWith(cursor->key(), row_prefix));
    }
    AddIfInRow(cursor, row_prefix);
  }
  planned_.clear();
}

// Queries the filters again, so that reads that are not traced pay nothing.
void ReadSources::RecordFilters(const RowQuestion& question) const {
  RequestTrace* const trace = CurrentTrace();
  if (trace == nullptr) return;
  const RowProbe& row = question.row;
  size_t run_number = 0;
  for (size_t group = 0; group < version_->groups().size(); ++group) {
    for (const SortedRun& run : version_->groups()[group].runs) {
      const size_t number = run_number++;
      if (!GroupIsWanted(group)) continue;
      const size_t i = row.FileOf(run, number);
      if (i == run.files.size()) continue;
      const SSTable& file = *run.files[i];
      const bool may_have =
          question.one_column
              ? file.MayContainColumn(row.hash(), question.column_hash, settings_.limits)
              : file.MayContainRow(row.hash(), settings_.limits);
      FileIn(trace, file.info().file_number)->filtered_out = !may_have;
    }
  }
}

void ReadSources::RecordMemtables() const {
  RequestTrace* const trace = CurrentTrace();
  if (trace == nullptr) return;
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    const GroupVersion& group = version_->groups()[i];
    if (GroupIsWanted(i)) {
      trace->memtables += (group.active->empty() ? 0 : 1) + group.immutable.size();
    } else if (!group.active->empty() || !group.immutable.empty() || !group.runs.empty()) {
      ++trace->excluded_groups;
    }
  }
}

// --- A range ---

void ReadSources::AddRange(std::string_view begin, std::string_view end) {
  is_complete_ = true;
  for (size_t i = 0; i < version_->groups().size(); ++i) {
    if (GroupIsWanted(i)) {
      AddGroupOfRange(version_->groups()[i], begin, end);
    } else if (!filter_->passes_everything()) {
      is_complete_ = false;
    }
  }
  if (settings_.is_traced) [[unlikely]] {
    RecordMemtables();
  }
}

void ReadSources::AddRun(const SortedRun& run, const ReadSettings& settings) {
  std::vector<Ref<SSTable>> files;
  int64_t first, last;
  if (!filter_->passes_everything() && filter_->BoundsTimestamps(&first, &last)) {
    for (const Ref<SSTable>& file : run.files) {
      if (MayHaveTimestamps(file->info())) files.push_back(file);
    }
    if (files.size() != run.files.size()) is_complete_ = false;
    if (files.empty()) return;
  }
  if (files.empty() || files.size() == run.files.size()) {
    input_->Add(pool_.Make<RunCursor>(&run, settings));
  } else {
    input_->Add(pool_.Make<RunCursor>(std::make_unique<SortedRun>(std::move(files)), settings));
  }
}

void ReadSources::AddGroupOfRange(const GroupVersion& group, std::string_view begin,
                                  std::string_view end) {
  if (!group.active->empty()) input_->Add(pool_.Make<MemtableCursor>(group.active.get()));
  for (const Ref<Memtable>& memtable : group.immutable) {
    input_->Add(pool_.Make<MemtableCursor>(memtable.get()));
  }
  // The rows come from the runs in proportion to these.
  uint64_t entries = 0;
  if (expected_rows_ > 0 && shortcuts_.Has(Shortcut::kRequests)) {
    for (const SortedRun& run : group.runs) entries += run.entries();
  }
  ReadSettings settings = settings_;
  settings.request_end = end;
  for (const SortedRun& run : group.runs) {
    const bool is_outside =
        run.largest_key() < begin || (!end.empty() && run.smallest_key() >= end);
    if (is_outside && shortcuts_.Has(Shortcut::kKeyRanges)) continue;
    if (entries > 0) {
      constexpr uint64_t kMost = 1 << 20;
      settings.first_request = std::min(expected_rows_ * run.bytes() / entries, kMost);
    }
    if (run.files.size() > 1) {
      AddRun(run, settings);
    } else if (MayHaveTimestamps(run.files[0]->info())) {
      input_->Add(pool_.Make<SSTableCursor>(run.files[0].get(), settings));
    } else {
      is_complete_ = false;
    }
  }
}

}  // namespace bigtable
