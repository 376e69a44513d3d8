#include "read_csv.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"

#include "common/strings.h"

namespace bench {
namespace {

// Reads the lines of one file.
class CsvReader {
 public:
  CsvReader(std::string path, std::vector<std::string> header)
      : path_(std::move(path)), header_(std::move(header)) {}

  absl::Status AddLine(const std::string& line, size_t number, std::vector<RunResult>* runs) const {
    const std::vector<std::string> cells = Split(line, ',');
    const std::string where = Concat(path_, ", line ", number, ": ");
    if (cells.size() != header_.size()) {
      return absl::InvalidArgumentError(
          Concat(where, cells.size(), " columns, but the header has ", header_.size()));
    }
    const absl::StatusOr<RunResult> run = RunOf(cells, where);
    if (!run.ok()) return run.status();
    const absl::StatusOr<Sample> sample = SampleOf(cells, where);
    if (!sample.ok()) return sample.status();
    if (runs->empty() || !IsSame(runs->back(), *run)) runs->push_back(*run);
    runs->back().samples.push_back(*sample);
    return absl::OkStatus();
  }

 private:
  // The cell of the column; nullopt: there is none.
  std::optional<std::string> Cell(const std::vector<std::string>& cells,
                                  std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) return std::nullopt;
    return cells[static_cast<size_t>(found - header_.begin())];
  }

  static bool IsSame(const RunResult& a, const RunResult& b) {
    return a.workload == b.workload && a.policy.Name() == b.policy.Name() &&
           a.repeat.seed == b.repeat.seed && a.repeat.number == b.repeat.number;
  }

  // What was run, without samples.
  absl::StatusOr<RunResult> RunOf(const std::vector<std::string>& cells,
                                  const std::string& where) const {
    std::vector<std::string> values;
    for (const std::string_view name : {"workload", "style", "factor", "seed", "repeat"}) {
      std::optional<std::string> cell = Cell(cells, name);
      if (!cell.has_value()) {
        return absl::InvalidArgumentError(
            Concat(path_, ": has no column ", name, ", which --csv writes"));
      }
      values.push_back(*std::move(cell));
    }
    RunResult run{.workload = values[0], .policy = {.style = values[1]}};
    if (!absl::SimpleAtoi(values[2], &run.policy.factor) ||
        !absl::SimpleAtoi(values[3], &run.repeat.seed) ||
        !absl::SimpleAtoi(values[4], &run.repeat.number)) {
      return absl::InvalidArgumentError(
          Concat(where, "factor, seed and repeat must be whole numbers"));
    }
    return run;
  }

  absl::StatusOr<Sample> SampleOf(const std::vector<std::string>& cells,
                                  const std::string& where) const {
    Sample sample;
    for (const Column& column : kColumns) {
      const std::optional<std::string> cell = Cell(cells, column.name);
      double value = Sample::kNone;
      if (cell.has_value() && !cell->empty() && !absl::SimpleAtod(*cell, &value)) {
        return absl::InvalidArgumentError(
            Concat(where, column.name, " must be a number, not \"", *cell, "\""));
      }
      sample.*column.figure = value;
    }
    return sample;
  }

  const std::string path_;
  const std::vector<std::string> header_;
};

}  // namespace

absl::StatusOr<std::vector<RunResult>> ReadCsv(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) {
    return absl::InvalidArgumentError(Concat(path, ": cannot be read, or is empty"));
  }
  const CsvReader reader(path, Split(line, ','));
  std::vector<RunResult> runs;
  for (size_t number = 2; std::getline(in, line); ++number) {
    if (absl::Status s = reader.AddLine(line, number, &runs); !s.ok()) return s;
  }
  if (runs.empty()) return absl::InvalidArgumentError(Concat(path, ": has no line of a sample"));
  return runs;
}

}  // namespace bench
