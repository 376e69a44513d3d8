// Rows as text for people, in the form of cbt, and as JSON for programs, one object a line:
//
//   {"row":"com.cnn.www","cells":[
//     {"family":"anchor","column":"cnnsi.com","timestamp":1700000000000000,"value":"CNN"}]}
//
// "column" is the qualifier. What is not UTF-8 is in base64, under the same name with "_base64":
// {"value_base64":"/wA="}. Timestamps are microseconds. The value of an aggregate is its state, and
// "number" is what it stands for; of a double that is not finite the text "inf", "-inf" or "nan".
#ifndef BIGTABLE_TOOLS_OUTPUT_H_
#define BIGTABLE_TOOLS_OUTPUT_H_

#include <iosfwd>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "bigtable/row.h"
#include "bigtable/schema.h"
#include "bigtable/statistics.h"
#include "bigtable/timestamp.h"

#include <nlohmann/json.hpp>

namespace bigtable::tools {

// Keeps the order in which members were added.
using Json = nlohmann::ordered_json;

// Sets object[name], or object[name + "_base64"] if the bytes are not UTF-8.
void SetBytes(Json* object, const std::string& name, std::string_view bytes);
// What SetBytes has set. InvalidArgument: neither is there, or both, or the base64 is not valid.
absl::StatusOr<std::string> GetBytes(const Json& object, const std::string& name);

// The object as a line.
std::string JsonLine(const Json& object);

// The sizes of SSTables and memtables.
Json SizesAsJson(const LocalityGroupStatistics& size);

// "2023/11/14-22:13:20.000000", in UTC.
std::string FormatTimestamp(Timestamp timestamp);

// "intsum", "bytes", and so on, as cbt names them, and "doublesum"; the operator's name if the
// family has one.
std::string FormatType(const Family& family);

// One thread. Outlives neither the stream nor the schema.
class RowPrinter {
 public:
  RowPrinter(std::ostream* out, bool json, const TableSchema* schema)
      : out_(out), json_(json), schema_(schema) {}

  void Print(const Row& row);
  static Json RowAsJson(const Row& row, const TableSchema& schema);

 private:
  void PrintText(const Row& row);

  std::ostream* const out_;
  const bool json_;
  const TableSchema* const schema_;
};

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_OUTPUT_H_
