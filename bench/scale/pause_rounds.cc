#include "pause_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "common/child_process.h"
#include "common/interrupt.h"
#include "common/median.h"
#include "common/strings.h"
#include "common/temporary_directory.h"

namespace bench {
namespace {

// The figures in the order of kPauseFigures, as one line of text without its end, and back.
std::string ToLine(const PauseFigures& figures) {
  std::string line;
  for (const PauseFigureName& f : kPauseFigures) {
    absl::StrAppendFormat(&line, "%s%.9g", line.empty() ? "" : " ", figures.*f.figure);
  }
  return line;
}

absl::StatusOr<PauseFigures> FromLine(std::string_view line) {
  const std::vector<std::string> words = Split(line, ' ');
  PauseFigures figures;
  bool is_good = words.size() == kPauseFigures.size();
  for (size_t i = 0; is_good && i < words.size(); ++i) {
    is_good = absl::SimpleAtod(words[i], &(figures.*kPauseFigures[i].figure));
  }
  if (!is_good) return absl::InternalError(Concat("not the figures of a pause: ", line));
  return figures;
}

absl::StatusOr<PauseFigures> RunOne(const PauseRoundsOptions& options, Change change,
                                    const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directory(directory, error);
  if (error) return absl::InternalError(Concat(directory, ": ", error.message()));
  const std::string description = Concat("pauses, ", ChangeName(change));
  ChildProcess child(description);
  absl::Status s =
      child.Start({"benchmarks", std::string(kPauseChildArgument), std::string(ChangeName(change)),
                   Concat(options.rows), Concat(options.memory_limit),
                   Concat(absl::ToInt64Milliseconds(options.time)), directory});
  if (!s.ok()) return s;
  absl::StatusOr<PauseFigures> figures =
      absl::InternalError(Concat(description, ": there was no answer"));
  s = child.ReadLines([&](std::string_view line) {
    figures = FromLine(line);
    return figures.status();
  });
  if (!s.ok()) return s;
  RemoveAll(directory);
  return figures;
}

PauseFigures Summarize(const std::vector<PauseFigures>& rounds) {
  PauseFigures summary;
  for (const PauseFigureName& f : kPauseFigures) {
    std::vector<double> values;
    for (const PauseFigures& round : rounds) {
      if (!std::isnan(round.*f.figure)) values.push_back(round.*f.figure);
    }
    if (values.empty()) continue;
    summary.*f.figure =
        f.is_longest ? *std::max_element(values.begin(), values.end()) : Median(values);
  }
  return summary;
}

}  // namespace

absl::StatusOr<std::vector<PauseSummary>> RunPauseRounds(const PauseRoundsOptions& options) {
  const InterruptHandler handler;
  absl::StatusOr<TemporaryDirectory> directory =
      TemporaryDirectory::Make(options.directory, "pauses");
  if (!directory.ok()) return directory.status();
  std::array<std::vector<PauseFigures>, kAllChanges.size()> rounds;
  for (uint64_t round = 1; round <= options.rounds; ++round) {
    for (size_t i = 0; i < kAllChanges.size(); ++i) {
      const size_t which = (i + round - 1) % kAllChanges.size();
      const Change change = kAllChanges[which];
      absl::StatusOr<PauseFigures> figures =
          RunOne(options, change, Concat(directory->path(), "/", ChangeName(change)));
      if (!figures.ok()) return figures.status();
      absl::FPrintF(stderr,
                    "round %d of %d  pauses, %-6s  the longest: read %.1f ms, write %.1f ms\n",
                    round, options.rounds, ChangeName(change), figures->read_longest_us / 1e3,
                    figures->write_longest_us / 1e3);
      rounds[which].push_back(*figures);
    }
  }
  std::vector<PauseSummary> summaries;
  for (size_t i = 0; i < kAllChanges.size(); ++i) {
    summaries.push_back({kAllChanges[i], Summarize(rounds[i])});
  }
  return summaries;
}

int PauseChildMain(const std::vector<std::string>& arguments) {
  DieWithParent();
  PauseOptions options;
  std::optional<Change> change;
  if (arguments.size() == 5) change = ChangeNamed(arguments[0]);
  int64_t milliseconds = 0;
  if (!change.has_value() || !absl::SimpleAtoi(arguments[1], &options.rows) ||
      !absl::SimpleAtoi(arguments[2], &options.memory_limit) ||
      !absl::SimpleAtoi(arguments[3], &milliseconds)) {
    absl::FPrintF(stderr, "%s is for internal use\n", kPauseChildArgument);
    return EXIT_FAILURE;
  }
  options.change = *change;
  options.time = absl::Milliseconds(milliseconds);
  options.directory = arguments[4];
  absl::StatusOr<PauseFigures> figures = MeasurePause(options);
  if (!figures.ok()) {
    absl::FPrintF(stderr, "pauses, %s: %s\n", ChangeName(options.change),
                  figures.status().ToString());
    return EXIT_FAILURE;
  }
  absl::PrintF("%s\n", ToLine(*figures));
  return EXIT_SUCCESS;
}

}  // namespace bench
