#include "report.h"

#include <cmath>
#include <string_view>

#include "absl/strings/str_format.h"

#include "common/strings.h"
#include "common/table.h"

namespace bench {
namespace {

// So that it has three digits, or all before the point.
int DecimalsOf(double value) {
  const double size = std::abs(value);
  return size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

// As "0.63 ± 0.02". A deviation that rounds to nothing is left out.
std::string Cell(const Result& result, const Column& column) {
  const auto [mean, deviation] = result.Of(column);
  if (std::isnan(mean)) return "-";
  const int decimals = DecimalsOf(mean);
  const std::string text = absl::StrFormat("%.*f", decimals, mean);
  if (std::isnan(deviation) || deviation < 0.5 * std::pow(10, -decimals)) return text;
  return absl::StrFormat("%s ± %.*f", text, decimals, deviation);
}

std::string TableOf(const std::vector<Result>& results, const std::vector<Parameter>& swept,
                    absl::Span<const Column> columns) {
  std::vector<std::string> header;
  for (const Parameter& parameter : swept) header.emplace_back(parameter.name);
  for (const Column& column : columns) header.emplace_back(column.title);
  Table table(header);
  for (const Result& result : results) {
    std::vector<std::string> cells;
    for (const Parameter& parameter : swept) {
      const std::string text = parameter.Text(result.combination);
      cells.push_back(text.empty() ? "-" : text);
    }
    for (const Column& column : columns) cells.push_back(Cell(result, column));
    table.Add(cells);
  }
  return table.Text();
}

}  // namespace

std::string Label(const Combination& combination, const std::vector<Parameter>& swept) {
  std::string label;
  for (const Parameter& parameter : swept) {
    const std::string text = parameter.Text(combination);
    if (!text.empty()) label += Concat(label.empty() ? "" : " ", parameter.name, "=", text);
  }
  return label;
}

std::string Tables(const std::vector<Result>& results) {
  std::vector<Combination> combinations;
  for (const Result& result : results) combinations.push_back(result.combination);
  const std::vector<Parameter> swept = SweptParameters(combinations);
  return TableOf(results, swept, FileColumns()) + "\n" + TableOf(results, swept, ReadColumns());
}

std::string CsvHeader() {
  std::string line;
  for (const Parameter& parameter : Parameters()) line += Concat(parameter.name, ",");
  line += "repeat,seed";
  for (const absl::Span<const Column> columns : {FileColumns(), ReadColumns()}) {
    for (const Column& column : columns) line += Concat(",", column.name);
  }
  return line + "\n";
}

std::string CsvLine(const Combination& combination, uint64_t repeat, uint64_t seed,
                    const Figures& figures) {
  std::string line;
  for (const Parameter& parameter : Parameters()) line += parameter.Text(combination) + ",";
  line += Concat(repeat, ",", seed);
  for (const absl::Span<const Column> columns : {FileColumns(), ReadColumns()}) {
    for (const Column& column : columns) {
      const double value = column.value(figures);
      line += std::isnan(value) ? "," : absl::StrFormat(",%.6g", value);
    }
  }
  return line + "\n";
}

}  // namespace bench
