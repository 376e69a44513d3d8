#include "tools/filters.h"

#include <string>
#include <utility>

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

bool IsExpression(std::string_view text) {
  return text.find_first_of("\\.[]{}()*+?^$|") != std::string_view::npos;
}

// "family:qualifier"; "family:" for all columns of it; ":qualifier", or as in cbt "qualifier", for
// a column of any family.
absl::StatusOr<Filter> ParseColumn(const Arguments& arguments, std::string_view text,
                                   std::string_view table, const TableSchema& schema) {
  const size_t colon = text.find(':');
  const size_t begin = colon == std::string_view::npos ? 0 : colon + 1;
  TOOLS_ASSIGN_OR_RETURN(const std::string qualifier, arguments.Read(text.substr(begin)));
  if (begin < 2) return Filter::ColumnRegex(qualifier);
  const std::string_view family = text.substr(0, colon);
  TOOLS_RETURN_IF_ERROR(Session::CheckFamily(table, schema, family));
  if (qualifier.empty()) return Filter::Family(family);
  if (!IsExpression(qualifier)) return Filter::Column(family, qualifier);
  return Filter::Chain(Filter::Family(family), Filter::ColumnRegex(qualifier));
}

absl::StatusOr<Filter> ParseColumns(const Arguments& arguments, std::string_view table,
                                    const TableSchema& schema) {
  std::vector<Filter> filters;
  for (const std::string& text : Split(arguments.Text("columns"), ',')) {
    TOOLS_ASSIGN_OR_RETURN(Filter filter, ParseColumn(arguments, text, table, schema));
    filters.push_back(std::move(filter));
  }
  if (filters.empty()) return UsageError("columns= is empty");
  if (filters.size() == 1) return filters[0];
  return Filter::Interleave(std::move(filters));
}

}  // namespace

std::vector<Verb::Word> RowKeys() {
  return {{"start", "begin at this row"},
          {"end", "end before this row"},
          {"prefix", "only rows whose keys begin with this"}};
}

std::vector<Verb::Word> CellKeys() {
  return {{"columns",
           "family:qualifier, separated by commas; the qualifier is a regular expression for the "
           "whole of it, and may be missing"},
          {"cells-per-column", "only so many versions of each column, the newest"}};
}

absl::StatusOr<RowRange> ParseRows(const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::string prefix, arguments.Bytes("prefix"));
  TOOLS_ASSIGN_OR_RETURN(const std::string start, arguments.Bytes("start"));
  TOOLS_ASSIGN_OR_RETURN(const std::string end, arguments.Bytes("end"));
  if (arguments.Has("prefix") && (arguments.Has("start") || arguments.Has("end"))) {
    return UsageError("prefix= cannot be combined with start= and end=");
  }
  if (arguments.Has("prefix")) return RowRange::Prefix(prefix);
  if (arguments.Has("end")) return RowRange::RightOpen(start, end);
  return RowRange::StartingAt(start);
}

absl::StatusOr<Filter> ParseCellFilter(const Arguments& arguments, std::string_view table,
                                       const TableSchema& schema) {
  std::vector<Filter> filters;
  if (arguments.Has("regex")) filters.push_back(Filter::RowKeysRegex(arguments.Text("regex")));
  if (arguments.Has("columns")) {
    TOOLS_ASSIGN_OR_RETURN(Filter columns, ParseColumns(arguments, table, schema));
    filters.push_back(std::move(columns));
  }
  TOOLS_ASSIGN_OR_RETURN(const int64_t versions, arguments.Number("cells-per-column", 1, 0));
  if (versions > 0) filters.push_back(Filter::Latest(versions));
  if (arguments.Has("value-regex")) {
    filters.push_back(Filter::ValueRegex(arguments.Text("value-regex")));
  }
  Filter filter = ChainOf(std::move(filters));
  if (const absl::Status status = filter.status(); !status.ok()) {
    return UsageError(MessageOf(status));
  }
  return filter;
}

Filter ChainOf(std::vector<Filter> filters) {
  if (filters.empty()) return Filter::PassAll();
  if (filters.size() == 1) return filters[0];
  return Filter::Chain(std::move(filters));
}

}  // namespace bigtable::tools
