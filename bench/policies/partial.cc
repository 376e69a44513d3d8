#include "bench/policies/partial.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace policies {
namespace {

using bigtable::CompactionPick;
using bigtable::FileSummary;

// The largest key of the file that was pushed last from each level, with its length before it,
// since it may have any bytes: "<length>:<key>" for each level in turn.
std::vector<std::string> ParseState(std::string_view state) {
  std::vector<std::string> keys;
  while (true) {
    const size_t colon = state.find(':');
    if (colon == std::string_view::npos) return keys;
    const size_t length = std::stoul(std::string(state.substr(0, colon)));
    state.remove_prefix(colon + 1);
    keys.emplace_back(state.substr(0, length));
    state.remove_prefix(std::min(length, state.size()));
  }
}

std::string StateOf(const std::vector<std::string>& keys) {
  std::string state;
  for (const std::string& key : keys) state += std::to_string(key.size()) + ":" + key;
  return state;
}

// The file for which `cost` is least.
template <typename Cost>
size_t Cheapest(const std::vector<FileSummary>& files, const Cost& cost) {
  const auto cheaper = [&](const FileSummary& a, const FileSummary& b) {
    return cost(a) < cost(b);
  };
  return static_cast<size_t>(std::min_element(files.begin(), files.end(), cheaper) - files.begin());
}

double Share(uint64_t part, uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole + 1);
}

// Of at least one file.
size_t Choose(FileChoice choice, const std::vector<FileSummary>& files, std::string_view last) {
  switch (choice) {
    case FileChoice::kRoundRobin: {
      const auto next = std::find_if(files.begin(), files.end(),
                                     [&](const FileSummary& f) { return f.smallest_key > last; });
      return next == files.end() ? 0 : static_cast<size_t>(next - files.begin());
    }
    case FileChoice::kLeastOverlap:
      return Cheapest(files, [](const FileSummary& f) { return Share(f.overlap_bytes, f.bytes); });
    case FileChoice::kOldest:
      return Cheapest(files, [](const FileSummary& f) { return f.min_sequence; });
    case FileChoice::kMostDeleted:
      return Cheapest(files, [](const FileSummary& f) { return -Share(f.deletions, f.entries); });
  }
  return 0;
}

bool IsCompacting(const bigtable::RunSummary& run) {
  return std::any_of(run.files.begin(), run.files.end(),
                     [](const FileSummary& file) { return file.is_compacting; });
}

uint64_t BytesOf(const std::vector<FileSummary>& files) {
  return std::accumulate(
      files.begin(), files.end(), uint64_t{0},
      [](uint64_t bytes, const FileSummary& file) { return bytes + file.bytes; });
}

}  // namespace

std::optional<CompactionPick> PartialLeveling::Pick(const bigtable::GroupSummary& group) {
  const std::vector<bigtable::RunSummary>& runs = group.runs;
  const uint64_t small = kMostFresh * group.flush_size;
  size_t fresh = 0;
  while (fresh < runs.size() && runs[fresh].bytes <= small) ++fresh;
  const bool merges_fresh =
      std::any_of(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(fresh), IsCompacting);
  if (fresh >= kMostFresh && !merges_fresh) {
    return CompactionPick{.first = 0, .count = fresh, .reason = "fresh runs"};
  }
  for (size_t level = fresh; level + 1 < runs.size(); ++level) {
    const uint64_t most = std::max(runs[level + 1].bytes / size_ratio_, small);
    if (runs[level].bytes <= most) continue;
    // Counted from the oldest run: a level keeps its place when newer ones come and go.
    const size_t place = runs.size() - 1 - level;
    std::vector<std::string> last;
    if (choice_ == FileChoice::kRoundRobin) last = ParseState(group.state);
    if (last.size() <= place) last.resize(place + 1);
    // Those that others push are as good as gone.
    std::vector<FileSummary> files;
    std::copy_if(runs[level].files.begin(), runs[level].files.end(), std::back_inserter(files),
                 [](const FileSummary& file) { return !file.is_compacting; });
    if (BytesOf(files) <= most) continue;
    const FileSummary& file = files[Choose(choice_, files, last[place])];
    CompactionPick pick{.kind = CompactionPick::Kind::kPush,
                        .first = level,
                        .count = 2,
                        .files = {file.number},
                        .reason = "level " + std::to_string(place) + " is too large"};
    if (choice_ == FileChoice::kRoundRobin) {
      last[place] = std::string(file.largest_key);
      // A state has a bound, and keys may be long: then it begins anew.
      std::string state = StateOf(last);
      pick.state = state.size() <= CompactionPick::kMostState ? state : std::string();
    }
    return pick;
  }
  return std::nullopt;
}

}  // namespace policies
