// Verbs that write and delete cells: set, addtocell, deleterow, deletecolumn, deleteallrows,
// droprowrange.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"

#include "bigtable/database.h"
#include "bigtable/read_modify_write.h"
#include "bigtable/row_mutation.h"
#include "bigtable/row_range.h"
#include "bigtable/table.h"

#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

absl::StatusOr<std::vector<CellArgument>> ParseCells(const Arguments& arguments) {
  std::vector<CellArgument> cells;
  for (const std::string& word : arguments.words()) {
    TOOLS_ASSIGN_OR_RETURN(CellArgument cell, arguments.Cell(word));
    cells.push_back(std::move(cell));
  }
  return cells;
}

absl::Status Set(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE");
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(const std::vector<CellArgument> cells, ParseCells(arguments));
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(name));

  RowMutation mutation(row);
  for (const CellArgument& cell : cells) {
    TOOLS_RETURN_IF_ERROR(Session::CheckFamily(name, schema, cell.family));
    if (cell.timestamp.has_value()) {
      mutation.Set(cell.column, *cell.timestamp, cell.value);
    } else {
      mutation.Set(cell.column, cell.value);
    }
  }
  return table->Apply(mutation);
}

// The bytes of an input that is written as text.
absl::StatusOr<std::string> ParseInput(const Family& family, const std::string& text) {
  if (!family.value_operator.empty()) return text;
  switch (family.value_type) {
    case ValueType::kBytes:  // the database refuses it
    case ValueType::kInt64Sum:
    case ValueType::kInt64Min:
    case ValueType::kInt64Max: {
      int64_t number = 0;
      if (absl::SimpleAtoi(text, &number)) return EncodeBigEndian(number);
      return UsageError(Cat(Quoted(text), " is not a whole number of 64 bits"));
    }
    case ValueType::kHyperLogLog:
      return text;
    case ValueType::kDoubleSum:
    case ValueType::kDoubleMin:
    case ValueType::kDoubleMax: {
      double number = 0;
      if (!absl::SimpleAtod(text, &number)) {
        return UsageError(Cat(Quoted(text), " is not a number"));
      }
      if (std::isinf(number) && text.find_first_of("0123456789") != text.npos) {
        return UsageError(Cat(Quoted(text), " is beyond the largest double"));
      }
      return EncodeDouble(number);
    }
  }
  return UsageError("this program does not know the type of the family");
}

// One contribution to a cell of an aggregate family.
absl::Status AddContribution(const Family& family, const CellArgument& cell,
                             RowMutation* mutation) {
  // A cell of the epoch would be collected at once, and the contribution lost without a word.
  if (!cell.timestamp.has_value() && family.gc.max_age().has_value()) {
    return UsageError(Cat("family ", Quoted(cell.family),
                          " has a maxage, so a timestamp is needed: family:column=value@micros"));
  }
  TOOLS_ASSIGN_OR_RETURN(const std::string input, ParseInput(family, cell.value));
  mutation->AddToCell(cell.column, cell.timestamp.value_or(Timestamp(0)), input);
  return absl::OkStatus();
}

absl::Status AddToCell(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE");
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(const std::vector<CellArgument> cells, ParseCells(arguments));
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(name));

  RowMutation mutation(row);
  for (const CellArgument& cell : cells) {
    TOOLS_RETURN_IF_ERROR(Session::CheckFamily(name, schema, cell.family));
    TOOLS_RETURN_IF_ERROR(
        AddContribution(schema.families.find(cell.family)->second, cell, &mutation));
  }
  return table->Apply(mutation);
}

absl::Status DeleteRow(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(arguments.Text("TABLE")));
  return table->Apply(RowMutation(row).DeleteRow());
}

absl::Status DeleteColumn(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE"), family = arguments.Text("FAMILY");
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(const std::string qualifier, arguments.Bytes("COLUMN"));
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  TOOLS_RETURN_IF_ERROR(Session::CheckFamily(name, schema, family));
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(name));
  return table->Apply(RowMutation(row).Delete(Cat(family, ":", qualifier)));
}

absl::Status DeleteAllRows(Session& session, const Arguments& arguments) {
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(arguments.Text("TABLE")));
  return table->DropRowRange(RowRange::All());
}

absl::Status DropRowRange(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::string prefix, arguments.Bytes("PREFIX"));
  if (prefix.empty()) {
    return UsageError(
        "the prefix is empty, which would be every row; see `bigtable deleteallrows`");
  }
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(arguments.Text("TABLE")));
  return table->DropRowRange(RowRange::Prefix(prefix));
}

}  // namespace

std::vector<Verb> CellVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  const Verb::Word row = {"ROW", "the row's key"};
  return {
      {.name = "set",
       .summary = "Write cells of a row, all or none",
       .words = {table, row},
       .more = Verb::Word{"CELL", "family:column=value, or family:column=value@micros"},
       .notes = "Without a timestamp a cell gets the present time. What follows the last @ is a "
                "timestamp if it is a number; a value that ends like that needs one.",
       .examples = {"bigtable set webtable com.example.www anchor:example.org=Example "
                    "'contents:=<html></html>@1700000000000000'"},
       .run = Set},
      {.name = "addtocell",
       .summary = "Add to cells of an aggregate family",
       .words = {table, row},
       .more = Verb::Word{"CELL", "family:column=input, or family:column=input@micros"},
       .notes = "The input is a whole number (intsum, intmin, intmax), a number such as 1.5, 1e-9, "
                "inf or nan (doublesum, doublemin, doublemax), or any bytes (inthll). Without a "
                "timestamp it goes to the cell at timestamp 0, so that all inputs are in one cell; "
                "a family with a maxage needs a timestamp.",
       .examples = {"bigtable addtocell webtable com.cnn.www visits:total=1"},
       .run = AddToCell},
      {.name = "deleterow",
       .summary = "Delete a row",
       .words = {table, row},
       .examples = {"bigtable deleterow webtable com.cnn.www"},
       .run = DeleteRow},
      {.name = "deletecolumn",
       .summary = "Delete all versions of a column of a row",
       .words = {table, row, {"FAMILY", "a family"}, {"COLUMN", "the qualifier"}},
       .examples = {"bigtable deletecolumn webtable com.cnn.www anchor cnnsi.com"},
       .run = DeleteColumn},
      {.name = "deleteallrows",
       .summary = "Delete all rows of a table, at once, and keep its families",
       .words = {table},
       .examples = {"bigtable deleteallrows webtable"},
       .run = DeleteAllRows},
      {.name = "droprowrange",
       .summary = "Delete the rows whose keys begin with a prefix, at once",
       .words = {table, {"PREFIX", "what their keys begin with"}},
       .examples = {"bigtable droprowrange webtable com.cnn"},
       .run = DropRowRange},
  };
}

}  // namespace bigtable::tools
