#include "compaction/pick_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

absl::Status CheckMerge(const GroupSummary& group, const CompactionPick& pick) {
  const size_t runs = group.runs.size();
  if (pick.count < 2) return Refusal("a merge needs at least two runs, and not ", pick.count);
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
