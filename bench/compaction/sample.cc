#include "sample.h"

#include <cmath>

#include "absl/strings/str_format.h"

namespace bench {

std::string CsvHeader() {
  std::string line = "workload,style,factor,seed,repeat";
  for (const Column& column : kColumns) absl::StrAppendFormat(&line, ",%s", column.name);
  return line + "\n";
}

std::string CsvLine(std::string_view workload, const Policy& policy, const Repeat& repeat,
                    const Sample& sample) {
  std::string line = absl::StrFormat("%s,%s,%d,%d,%d", workload, policy.style, policy.factor,
                                     repeat.seed, repeat.number);
  for (const Column& column : kColumns) {
    const double value = sample.*column.figure;
    line += std::isnan(value) ? "," : absl::StrFormat(",%.12g", value);
  }
  return line + "\n";
}

}  // namespace bench
