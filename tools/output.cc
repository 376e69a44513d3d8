#include "tools/output.h"

#include <cmath>
#include <ostream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/time/time.h"

#include "bigtable/aggregate.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/string_view.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

// JSON has no numbers that are not finite: "inf", "-inf" and "nan" are texts.
Json DoubleAsJson(const absl::StatusOr<double>& number) {
  if (!number.ok()) return Json();
  if (std::isnan(*number)) return "nan";
  if (std::isinf(*number)) return *number > 0 ? "inf" : "-inf";
  return *number;
}

// What the state of an aggregate stands for. Null for bytes, and for what is not a state.
Json NumberOf(const Cell& cell, const TableSchema& schema) {
  const auto json = [](const auto& number) { return number.ok() ? Json(*number) : Json(); };
  const auto family = schema.families.find(cell.family);
  if (family == schema.families.end()) return Json();
  switch (family->second.value_type) {
    case ValueType::kBytes:
      return Json();
    case ValueType::kInt64Sum:
    case ValueType::kInt64Min:
    case ValueType::kInt64Max:
      return json(DecodeBigEndian(cell.value));
    case ValueType::kHyperLogLog:
      return json(HyperLogLogEstimate(cell.value));
    case ValueType::kDoubleSum:
      return DoubleAsJson(DoubleSumValue(cell.value));
    case ValueType::kDoubleMin:
    case ValueType::kDoubleMax:
      return DoubleAsJson(DecodeDouble(cell.value));
  }
  return Json();
}

}  // namespace

// As cbt prints it, but always in UTC.
std::string FormatTimestamp(Timestamp timestamp) {
  return absl::FormatTime("%Y/%m/%d-%H:%M:%E6S", timestamp.ToTime(), absl::UTCTimeZone());
}

void SetBytes(Json* object, const std::string& name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    (*object)[name] = bytes;
  } else {
    (*object)[name + "_base64"] = absl::Base64Escape(ToAbsl(bytes));
  }
}

absl::StatusOr<std::string> GetBytes(const Json& object, const std::string& name) {
  const auto text = object.find(name);
  const auto base64 = object.find(name + "_base64");
  if ((text == object.end()) == (base64 == object.end())) {
    return absl::InvalidArgumentError(
        Cat("there must be either \"", name, "\" or \"", name, "_base64\""));
  }
  if (text != object.end()) {
    if (text->is_string()) return text->get<std::string>();
    return absl::InvalidArgumentError(Cat('"', name, "\" is not a text"));
  }
  std::string bytes;
  if (!base64->is_string() || !absl::Base64Unescape(base64->get<std::string>(), &bytes)) {
    return absl::InvalidArgumentError(Cat('"', name, "_base64\" is not base64"));
  }
  return bytes;
}

std::string JsonLine(const Json& object) {
  // Texts that come from elsewhere, such as paths in messages, need not be UTF-8.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json SizesAsJson(const LocalityGroupStatistics& size) {
  Json object;
  object["files"] = size.files;
  object["file_bytes"] = size.file_bytes;
  object["sorted_runs"] = size.sorted_runs;
  object["entries"] = size.entries;
  object["deletions"] = size.deletions;
  object["memtable_bytes"] = size.memtable_bytes;
  return object;
}

std::string FormatType(const Family& family) {
  if (!family.value_operator.empty()) return family.value_operator;
  switch (family.value_type) {
    case ValueType::kBytes:
      return "bytes";
    case ValueType::kInt64Sum:
      return "intsum";
    case ValueType::kInt64Min:
      return "intmin";
    case ValueType::kInt64Max:
      return "intmax";
    case ValueType::kHyperLogLog:
      return "inthll";
    case ValueType::kDoubleSum:
      return "doublesum";
    case ValueType::kDoubleMin:
      return "doublemin";
    case ValueType::kDoubleMax:
      return "doublemax";
  }
  return "unknown";
}

void RowPrinter::Print(const Row& row) {
  if (json_) {
    *out_ << JsonLine(RowAsJson(row, *schema_));
  } else {
    PrintText(row);
  }
}

Json RowPrinter::RowAsJson(const Row& row, const TableSchema& schema) {
  Json object;
  SetBytes(&object, "row", row.key());
  Json cells = Json::array();
  for (const Cell& cell : row.cells()) {
    Json c;
    c["family"] = cell.family;
    SetBytes(&c, "column", cell.qualifier);
    c["timestamp"] = cell.timestamp.micros();
    SetBytes(&c, "value", cell.value);
    if (Json number = NumberOf(cell, schema); !number.is_null()) c["number"] = std::move(number);
    cells.push_back(std::move(c));
  }
  object["cells"] = std::move(cells);
  return object;
}

void RowPrinter::PrintText(const Row& row) {
  std::string text(40, '-');
  text += "\n" + Escaped(row.key()) + "\n";
  for (const Cell& cell : row.cells()) {
    std::string column = Cat(cell.family, ":", Escaped(cell.qualifier));
    if (column.size() < 40) column.resize(40, ' ');
    text += Cat("  ", column, " @ ", FormatTimestamp(cell.timestamp), "\n    ");
    const Json number = NumberOf(cell, *schema_);
    if (number.is_null()) {
      text += Quoted(cell.value);
    } else {
      text += number.is_string() ? number.get<std::string>() : number.dump();
    }
    text += "\n";
  }
  *out_ << text;
}

}  // namespace bigtable::tools
