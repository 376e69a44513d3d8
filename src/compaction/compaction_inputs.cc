#include "compaction/compaction_inputs.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <string_view>

#include "absl/base/macros.h"

#include "base/checksum.h"
#include "base/entry_key.h"
#include "base/shortcuts.h"
#include "compaction/row_span.h"

namespace bigtable {
namespace {

bool Contains(const std::vector<Ref<SSTable>>& files, const SSTable* file) {
  return std::any_of(files.begin(), files.end(),
                     [&](const Ref<SSTable>& f) { return f.get() == file; });
}

// The files of `run` that share a row with one of `others`, or with another such file.
std::vector<Ref<SSTable>> Overlapping(const SortedRun& run, std::vector<Ref<SSTable>> chosen,
                                      const std::vector<Ref<SSTable>>& others) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const Ref<SSTable>& file : run.files) {
      if (Contains(chosen, file.get())) continue;
      const auto shares_row = [rows = RowSpan::Of(*file)](const Ref<SSTable>& other) {
        return rows.Overlaps(RowSpan::Of(*other));
      };
      if (std::any_of(others.begin(), others.end(), shares_row) ||
          std::any_of(chosen.begin(), chosen.end(), shares_row)) {
        chosen.push_back(file);
        grown = true;
      }
    }
  }
  // In the run's order again.
  std::vector<Ref<SSTable>> ordered;
  for (const Ref<SSTable>& file : run.files) {
    if (Contains(chosen, file.get())) ordered.push_back(file);
  }
  return ordered;
}

std::vector<Ref<SSTable>> Named(const SortedRun& run, const std::vector<uint64_t>& numbers) {
  std::vector<Ref<SSTable>> files;
  for (const Ref<SSTable>& file : run.files) {
    if (std::count(numbers.begin(), numbers.end(), file->info().file_number) > 0) {
      files.push_back(file);
    }
  }
  return files;
}

// Whether a file may become a part of the output unchanged.
bool CanMove(const SSTable& file, const CompactionInputs& inputs) {
  if (!inputs.range.Contains(file.info())) return false;
  // In the oldest run, deletions and shadows of a moved file would stay for ever.
  if (!inputs.is_major) return true;
  // A file that cannot be opened is read, and the read reports the error.
  if (file.info().deletions() > 0 || !file.EnsureOpen().ok()) return false;
  return file.properties().Count(EntryCount::kShadow) == 0;
}

// The files of the run that the output joins which are no inputs, but lie between some.
std::vector<Ref<SSTable>> Between(const SortedRun& target, const std::vector<SortedRun>& merged) {
  std::string_view smallest = merged.front().smallest_key();
  std::string_view largest = merged.front().largest_key();
  for (const SortedRun& run : merged) {
    smallest = std::min(smallest, run.smallest_key());
    largest = std::max(largest, run.largest_key());
  }
  std::vector<Ref<SSTable>> between;
  for (const Ref<SSTable>& file : target.files) {
    const SSTableInfo& info = file->info();
    const bool is_input = std::any_of(merged.begin(), merged.end(), [&](const SortedRun& run) {
      return Contains(run.files, file.get());
    });
    if (!is_input && info.smallest_key > smallest && info.largest_key < largest) {
      between.push_back(file);
    }
  }
  return between;
}

// The runs with only the files that have rows of the range. Two of these that share a row share one
// in the range.
std::vector<SortedRun> Within(std::span<const SortedRun> runs, const KeyRange& range) {
  std::vector<SortedRun> within;
  for (const SortedRun& run : runs) {
    SortedRun& files = within.emplace_back();
    std::copy_if(run.files.begin(), run.files.end(), std::back_inserter(files.files),
                 [&](const Ref<SSTable>& file) { return range.Overlaps(file->info()); });
  }
  return within;
}

// Of two runs: the files of the first that are pushed into the second.
void TakePushed(std::span<const SortedRun> runs, const CompactionPick& pick,
                CompactionInputs* inputs) {
  SortedRun pushed{Overlapping(runs[0], Named(runs[0], pick.files), {})};
  if (runs.size() < 2 || pushed.files.empty()) return;
  SortedRun below{Overlapping(runs[1], {}, pushed.files)};
  inputs->merged.push_back(std::move(pushed));
  if (!below.files.empty()) inputs->merged.push_back(std::move(below));
  inputs->between = Between(runs[1], inputs->merged);
}

// The files of these numbers, and those that share a row with such a file, in whatever run,
// directly or through another one. In the order of rows, files that share rows are stretches
// without a gap.
void TakeFiles(std::span<const SortedRun> runs, const std::vector<uint64_t>& numbers,
               CompactionInputs* inputs) {
  struct Span {
    RowSpan rows;
    size_t run;
    const Ref<SSTable>* file;
  };
  std::vector<Span> spans;
  for (size_t run = 0; run < runs.size(); ++run) {
    for (const Ref<SSTable>& file : runs[run].files) {
      spans.push_back({RowSpan::Of(*file), run, &file});
    }
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const Span& a, const Span& b) { return a.rows.first < b.rows.first; });
  const std::set<uint64_t> named(numbers.begin(), numbers.end());
  std::vector<SortedRun> taken(runs.size());
  for (size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    std::string_view last = spans[begin].rows.last;
    bool is_taken = false;
    for (; end < spans.size() && (end == begin || spans[end].rows.first <= last); ++end) {
      last = std::max(last, spans[end].rows.last);
      is_taken |= named.contains((*spans[end].file)->info().file_number);
    }
    for (size_t i = begin; is_taken && i < end; ++i) {
      taken[spans[i].run].files.push_back(*spans[i].file);
    }
  }
  for (SortedRun& run : taken) {
    if (!run.files.empty()) inputs->merged.push_back(std::move(run));
  }
  if (!inputs->merged.empty()) inputs->between = Between(runs.back(), inputs->merged);
}

}  // namespace

CompactionInputs ChooseInputs(const std::vector<SortedRun>& runs, const CompactionPick& pick) {
  CompactionInputs inputs;
  if (pick.kind == CompactionPick::Kind::kDrop) {
    for (const SortedRun& run : runs) {
      for (Ref<SSTable>& file : Named(run, pick.files)) inputs.dropped.push_back(std::move(file));
    }
    return inputs;
  }
  if (pick.first >= runs.size()) return inputs;
  const size_t wanted = pick.kind == CompactionPick::Kind::kPush ? 2 : pick.count;
  const size_t count = std::min(wanted, runs.size() - pick.first);
  inputs.target = runs[pick.first + count - 1].files;
  inputs.is_major = pick.first + count == runs.size();
  auto picked = std::span(runs).subspan(pick.first, count);
  std::vector<SortedRun> within;
  if (pick.rows != RowRange()) {
    inputs.range = KeyRange(pick.rows);
    within = Within(picked, inputs.range);
    picked = within;
  }
  if (pick.kind == CompactionPick::Kind::kPush) {
    TakePushed(picked, pick, &inputs);
  } else if (pick.files.empty()) {
    std::copy_if(picked.begin(), picked.end(), std::back_inserter(inputs.merged),
                 [](const SortedRun& run) { return !run.files.empty(); });
  } else {
    TakeFiles(picked, pick.files, &inputs);
  }
  return inputs;
}

void TakeMoved(CompactionInputs* inputs) {
  if (!Shortcuts().Has(Shortcut::kMovedFiles)) return;
  struct Span {
    RowSpan rows;
    const SSTable* file;
    bool alone = true;
  };
  std::vector<Span> spans;
  for (const SortedRun& run : inputs->merged) {
    for (const Ref<SSTable>& file : run.files) spans.push_back({RowSpan::Of(*file), file.get()});
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.rows.first < b.rows.first; });
  std::string_view last;  // the last row so far
  for (size_t i = 0; i < spans.size(); ++i) {
    if (i > 0 && spans[i].rows.first <= last) spans[i].alone = false;
    if (i + 1 < spans.size() && spans[i + 1].rows.first <= spans[i].rows.last) {
      spans[i].alone = false;
    }
    last = i == 0 ? spans[i].rows.last : std::max(last, spans[i].rows.last);
  }
  for (const Span& span : spans) {
    if (!span.alone || !CanMove(*span.file, *inputs)) continue;
    for (SortedRun& run : inputs->merged) {
      const auto found = std::find_if(run.files.begin(), run.files.end(),
                                      [&](const auto& file) { return file.get() == span.file; });
      if (found == run.files.end()) continue;
      ABSL_ASSERT((inputs->moved.empty() ||
                   inputs->moved.back()->info().largest_key < span.file->info().smallest_key) &&
                  "moved files are one sorted run");
      inputs->moved.push_back(*found);
      run.files.erase(found);
      break;
    }
  }
  std::erase_if(inputs->merged, [](const SortedRun& run) { return run.files.empty(); });
}

std::optional<double> EstimateOverwriting(const SSTable& file, const std::vector<SortedRun>& runs,
                                          size_t first_older, const KeyRange& keys) {
  constexpr size_t kSamples = 64;
  if (!file.is_open()) return std::nullopt;
  size_t there = 0, all = 0;
  for (const std::string& key : file.SampleKeys(kSamples)) {
    if (!keys.Contains(key)) continue;
    ++all;
    const std::string_view row = std::string_view(key).substr(0, RowPrefixSize(key));
    const uint64_t hash = Checksum(row);
    for (size_t run = first_older; run < runs.size(); ++run) {
      const size_t i = runs[run].FindFile(row);
      if (i == runs[run].files.size() || RowSpan::Of(*runs[run].files[i]).first > row) continue;
      if (!runs[run].files[i]->is_open()) return std::nullopt;
      if (!runs[run].files[i]->MayContainRow(hash)) continue;
      ++there;
      break;
    }
  }
  return all == 0 ? 0 : static_cast<double>(there) / static_cast<double>(all);
}

}  // namespace bigtable
