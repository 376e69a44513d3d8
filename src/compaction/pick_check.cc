#include "compaction/pick_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "absl/time/time.h"

#include "base/status.h"
#include "base/strings.h"
#include "compaction/policies.h"
#include "sstable/key_range.h"

namespace bigtable {
namespace {

template <typename... Parts>
absl::Status Refusal(const Parts&... parts) {
  return absl::FailedPreconditionError(Cat(parts...));
}

bool Has(const RunSummary& run, uint64_t number) {
  return std::any_of(run.files.begin(), run.files.end(),
                     [&](const FileSummary& file) { return file.number == number; });
}

bool HasRowsOf(const FileSummary& file, const CompactionPick& pick) {
  if (pick.rows.empty()) return false;
  return pick.rows == RowRange() ||
         KeyRange(pick.rows).Overlaps(file.smallest_key, file.largest_key);
}

// Some of the merged rows are in a newer run than the oldest.
absl::Status CheckRows(const GroupSummary& group, const CompactionPick& pick) {
  const auto newer = std::span(group.runs).subspan(pick.first, pick.count - 1);
  for (const RunSummary& run : newer) {
    for (const FileSummary& file : run.files) {
      const bool is_picked = pick.files.empty() || std::find(pick.files.begin(), pick.files.end(),
                                                             file.number) != pick.files.end();
      if (is_picked && HasRowsOf(file, pick)) return absl::OkStatus();
    }
  }
  return Refusal("a merge of rows that are only in the oldest of its runs, or in none");
}

// A merge of some files moves at least one of them to an older run.
absl::Status CheckMergedFiles(const GroupSummary& group, const CompactionPick& pick) {
  const auto runs = std::span(group.runs).subspan(pick.first, pick.count);
  for (const uint64_t number : pick.files) {
    if (std::none_of(runs.begin(), runs.end(),
                     [&](const RunSummary& run) { return Has(run, number); })) {
      return Refusal("a merge of file ", number, ", which is in none of the ", pick.count,
                     " runs from run ", pick.first, " on");
    }
  }
  if (pick.files.empty() ||
      !std::all_of(pick.files.begin(), pick.files.end(),
                   [&](uint64_t number) { return Has(runs.back(), number); })) {
    return absl::OkStatus();
  }
  return Refusal("a merge of files that are all in the oldest of its runs");
}

absl::Status CheckThreads(const CompactionPick& pick) {
  if (pick.threads >= 1 && pick.threads <= CompactionPick::kMostThreads) return absl::OkStatus();
  return Refusal(pick.threads, " threads: 1 to ", CompactionPick::kMostThreads);
}

// A join of files of one run leaves at most one that is not full. So none of them is full before.
// They are next to each other, since the output would end at a file between them, and one thread
// writes it, since it would also end where the rows of another begin.
absl::Status CheckJoin(const GroupSummary& group, const CompactionPick& pick) {
  if (pick.first >= group.runs.size()) {
    return Refusal("a merge of files of run ", pick.first, ": there are only ", group.runs.size(),
                   " runs");
  }
  const RunSummary& run = group.runs[pick.first];
  for (const uint64_t number : pick.files) {
    if (!Has(run, number)) {
      return Refusal("a merge of file ", number, ", which is not in run ", pick.first);
    }
  }
  const std::set<uint64_t> files(pick.files.begin(), pick.files.end());
  if (files.size() < 2) {
    return Refusal("a merge of one run needs at least two of its files, and not ", files.size());
  }
  const auto is_picked = [&](const FileSummary& file) { return files.contains(file.number); };
  auto file = std::find_if(run.files.begin(), run.files.end(), is_picked);
  for (size_t i = 0; i < files.size(); ++i, ++file) {
    if (!is_picked(*file)) {
      return Refusal("a merge of files of one run on both sides of file ", file->number);
    }
    if (file->is_full)
      return Refusal("a merge of one run with file ", file->number, ": it is full");
  }
  if (pick.rows != RowRange()) {
    return Refusal("a merge of some rows of one run: it takes whole files");
  }
  if (pick.threads != 1) return Refusal("a merge of one run by ", pick.threads, " threads: one");
  return absl::OkStatus();
}

absl::Status CheckMerge(const GroupSummary& group, const CompactionPick& pick) {
  const size_t runs = group.runs.size();
  if (pick.count == 0) return Refusal("a merge of no runs");
  if (pick.count == 1) return CheckJoin(group, pick);
  if (pick.first >= runs || pick.count > runs - pick.first) {
    return Refusal("a merge of ", pick.count, " runs from run ", pick.first, " on: there are only ",
                   runs, " runs");
  }
  BT_RETURN_IF_ERROR(CheckMergedFiles(group, pick));
  return CheckRows(group, pick);
}

absl::Status CheckPush(const GroupSummary& group, const CompactionPick& pick) {
  const size_t runs = group.runs.size();
  if (runs < 2 || pick.first >= runs - 1) {
    return Refusal("a push from run ", pick.first, " into the next: there are only ", runs,
                   " runs");
  }
  if (pick.files.empty()) return Refusal("a push of no files");
  for (const uint64_t number : pick.files) {
    if (!Has(group.runs[pick.first], number)) {
      return Refusal("a push of file ", number, ", which is not in run ", pick.first);
    }
  }
  for (const FileSummary& file : group.runs[pick.first].files) {
    if (std::find(pick.files.begin(), pick.files.end(), file.number) != pick.files.end() &&
        !HasRowsOf(file, pick)) {
      return Refusal("a push of file ", file.number, ", which has none of the rows");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWait(const CompactionPick& pick) {
  if (pick.delay <= absl::ZeroDuration()) {
    return Refusal("a wait of ", absl::FormatDuration(pick.delay), ": it must be positive");
  }
  if (pick.rows != RowRange()) return Refusal("a wait with rows: it changes nothing");
  if (pick.state.has_value()) return Refusal("a wait with a state: it changes nothing");
  return absl::OkStatus();
}

absl::Status CheckTexts(const CompactionPick& pick) {
  if (pick.reason.size() > CompactionPick::kMostReason) {
    return Refusal("a reason of ", pick.reason.size(), " bytes: at most ",
                   CompactionPick::kMostReason);
  }
  if (pick.state.has_value() && pick.state->size() > CompactionPick::kMostState) {
    return Refusal("a state of ", pick.state->size(), " bytes: at most ",
                   CompactionPick::kMostState);
  }
  return absl::OkStatus();
}

absl::Status CheckDrop(const GroupSummary& group, const CompactionPick& pick) {
  if (pick.files.empty()) return Refusal("a drop of no files");
  if (pick.rows != RowRange()) return Refusal("a drop of some rows: it drops whole files");
  const std::optional<CompactionPick> expired = FifoPolicy().Pick(group);
  for (const uint64_t number : pick.files) {
    if (!expired.has_value() ||
        std::find(expired->files.begin(), expired->files.end(), number) == expired->files.end()) {
      return Refusal("a drop of file ", number, ", which has not expired or does not exist");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPick(const GroupSummary& group, const CompactionPick& pick) {
  BT_RETURN_IF_ERROR(CheckTexts(pick));
  BT_RETURN_IF_ERROR(CheckThreads(pick));
  switch (pick.kind) {
    case CompactionPick::Kind::kMerge:
      return CheckMerge(group, pick);
    case CompactionPick::Kind::kPush:
      return CheckPush(group, pick);
    case CompactionPick::Kind::kDrop:
      return CheckDrop(group, pick);
    case CompactionPick::Kind::kWait:
      return CheckWait(pick);
  }
  return Refusal("a pick of unknown kind ", static_cast<int>(pick.kind));
}

}  // namespace bigtable
