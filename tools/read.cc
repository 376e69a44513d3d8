// Verbs that read rows: lookup, read, count.
#include <ostream>
#include <string>
#include <vector>

#include "bigtable/database.h"
#include "bigtable/table.h"

#include "tools/filters.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

absl::Status Lookup(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE");
  TOOLS_ASSIGN_OR_RETURN(const std::string key, arguments.Bytes("ROW"));
  TOOLS_RETURN_IF_ERROR(session.OpenToRead().status());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  TOOLS_ASSIGN_OR_RETURN(const Filter filter, ParseCellFilter(arguments, name, schema));
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(name));
  TOOLS_ASSIGN_OR_RETURN(const Row row, table->ReadRow(key, filter));
  if (row.empty()) {
    return absl::NotFoundError(
        Cat("table ", Quoted(name), " has no row ", Quoted(key),
            arguments.Has("columns") ? " with a cell in these columns" : ""));
  }
  RowPrinter(&session.out(), session.json(), &schema).Print(row);
  return absl::OkStatus();
}

absl::Status Read(Session& session, const Arguments& arguments) {
  const std::string name = arguments.Text("TABLE");
  ReadOptions options;
  TOOLS_ASSIGN_OR_RETURN(const RowRange rows, ParseRows(arguments));
  TOOLS_ASSIGN_OR_RETURN(options.row_limit, arguments.Number("count", 1, 0));
  TOOLS_ASSIGN_OR_RETURN(options.reverse, arguments.Boolean("reversed"));
  TOOLS_ASSIGN_OR_RETURN(const bool keys_only, arguments.Boolean("keys-only"));
  options.fill_cache = false;
  TOOLS_RETURN_IF_ERROR(session.OpenToRead().status());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(name));
  TOOLS_ASSIGN_OR_RETURN(Filter filter, ParseCellFilter(arguments, name, schema));
  if (keys_only) {
    filter = Filter::Chain(filter, Filter::CellsRowLimit(1), Filter::StripValueTransformer());
  }
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(name));

  RowPrinter printer(&session.out(), session.json(), &schema);
  RowReader reader = table->ReadRows(rows, filter, options);
  for (const Row& row : reader) {
    if (!keys_only) {
      printer.Print(row);
    } else if (session.json()) {
      Json object;
      SetBytes(&object, "row", row.key());
      session.out() << JsonLine(object);
    } else {
      session.out() << Escaped(row.key()) << "\n";
    }
  }
  return reader.status();
}

absl::Status Count(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const RowRange rows, ParseRows(arguments));
  TOOLS_RETURN_IF_ERROR(session.OpenToRead().status());
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(arguments.Text("TABLE")));
  // Of each row the first cell, without its value.
  RowReader reader = table->ReadRows(
      rows, Filter::Chain(Filter::CellsRowLimit(1), Filter::StripValueTransformer()),
      {.fill_cache = false});
  int64_t count = 0;
  while (reader.Next()) ++count;
  TOOLS_RETURN_IF_ERROR(reader.status());
  session.out() << (session.json() ? JsonLine({{"rows", count}}) : Cat(count, "\n"));
  return absl::OkStatus();
}

std::vector<Verb::Word> ReadKeys() {
  std::vector<Verb::Word> keys = RowKeys();
  for (const Verb::Word& key : CellKeys()) keys.push_back(key);
  keys.push_back({"regex", "only rows whose whole keys match this regular expression"});
  keys.push_back(
      {"value-regex", "only cells whose whole values match; applied after cells-per-column="});
  keys.push_back({"count", "at most so many rows"});
  keys.push_back({"reversed", "true: from the last row to the first"});
  keys.push_back({"keys-only", "true: print the keys of the rows alone"});
  return keys;
}

}  // namespace

std::vector<Verb> ReadVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  return {
      {.name = "lookup",
       .summary = "Print one row",
       .words = {table, {"ROW", "the row's key"}},
       .keys = CellKeys(),
       .notes = "Exit code 3 if the row has no such cell.",
       .examples = {"bigtable lookup webtable com.cnn.www columns=anchor: cells-per-column=1"},
       .run = Lookup},
      {.name = "read",
       .summary = "Print the rows of a range",
       .words = {table},
       .keys = ReadKeys(),
       .examples = {"bigtable read webtable prefix=com.cnn count=10",
                    "bigtable read webtable start=com.a end=com.d columns='anchor:cnn.*' --json",
                    "bigtable read webtable reversed=true keys-only=true"},
       .run = Read},
      {.name = "count",
       .summary = "Count the rows of a table",
       .words = {table},
       .keys = RowKeys(),
       .examples = {"bigtable count webtable prefix=com."},
       .run = Count},
  };
}

}  // namespace bigtable::tools
