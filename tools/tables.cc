// Verbs for tables and families: createtable, createfamily, setgcpolicy, ls, deletetable,
// deletefamily.
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/database.h"

#include "tools/gc_expression.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

constexpr char kFamilyForm[] =
    "FAMILY, FAMILY:GCPOLICY or FAMILY:GCPOLICY:TYPE; a type is bytes, intsum, intmin, intmax, "
    "inthll, doublesum, doublemin or doublemax";

absl::StatusOr<ValueType> ParseType(std::string_view text) {
  static const auto* const types = new std::map<std::string, ValueType, std::less<>>{
      {"bytes", ValueType::kBytes},         {"intsum", ValueType::kInt64Sum},
      {"intmin", ValueType::kInt64Min},     {"intmax", ValueType::kInt64Max},
      {"inthll", ValueType::kHyperLogLog},  {"doublesum", ValueType::kDoubleSum},
      {"doublemin", ValueType::kDoubleMin}, {"doublemax", ValueType::kDoubleMax}};
  const auto found = types->find(text);
  if (found != types->end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, unused] : *types) names.push_back(name);
  return UsageError(
      Cat("no type ", Quoted(text), DidYouMean(text, names), " (types: ", Join(names, ", "), ")"));
}

struct NamedFamily {
  std::string name;
  Family family;
};

absl::StatusOr<NamedFamily> ParseFamily(std::string_view text) {
  const std::vector<std::string> parts = Split(text, ':');
  if (parts.empty() || parts.size() > 3) {
    return UsageError(Cat(Quoted(text), " is not a family: write ", kFamilyForm));
  }
  NamedFamily named{.name = parts[0]};
  if (parts.size() > 1 && !parts[1].empty()) {
    TOOLS_ASSIGN_OR_RETURN(named.family.gc, ParseGcExpression(parts[1]));
  }
  if (parts.size() > 2) {
    TOOLS_ASSIGN_OR_RETURN(named.family.value_type, ParseType(parts[2]));
  }
  return named;
}

absl::Status CreateTable(Session& session, const Arguments& arguments) {
  TableSchema schema;
  for (const std::string& text : Split(arguments.Text("families"), ',')) {
    TOOLS_ASSIGN_OR_RETURN(NamedFamily named, ParseFamily(text));
    if (!schema.families.emplace(named.name, std::move(named.family)).second) {
      return UsageError(Cat("family ", Quoted(named.name), " is given twice"));
    }
  }
  CreateTableOptions options;
  for (const std::string& text : Split(arguments.Text("splits"), ',')) {
    TOOLS_ASSIGN_OR_RETURN(std::string row, arguments.Read(text));
    options.split_rows.push_back(std::move(row));
  }
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenOrCreate());
  return database->CreateTable(arguments.Text("TABLE"), schema, options);
}

absl::Status CreateFamily(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const NamedFamily named, ParseFamily(arguments.Text("FAMILY")));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->AddFamily(arguments.Text("TABLE"), named.name, named.family);
}

absl::Status SetGcPolicy(Session& session, const Arguments& arguments) {
  const std::string table = arguments.Text("TABLE"), family = arguments.Text("FAMILY");
  TOOLS_ASSIGN_OR_RETURN(const GcRule rule, ParseGcExpression(Join(arguments.words(), " ")));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(table));
  TOOLS_RETURN_IF_ERROR(Session::CheckFamily(table, schema, family));
  return database->UpdateFamily(table, family, {.gc = rule});
}

void PrintFamilies(const Session& session, const TableSchema& schema) {
  std::vector<std::vector<std::string>> lines = {{"Family Name", "GC Policy", "Type"},
                                                 {"-----------", "---------", "----"}};
  for (const auto& [name, family] : schema.families) {
    const std::string gc = FormatGcExpression(family.gc);
    if (session.json()) {
      Json object;
      object["family"] = name;
      object["gc"] = gc;
      object["type"] = FormatType(family);
      object["locality_group"] = family.locality_group.empty() ? "default" : family.locality_group;
      session.out() << JsonLine(object);
    } else {
      lines.push_back({name, gc, FormatType(family)});
    }
  }
  if (!session.json()) session.out() << Aligned(lines);
}

// What the schema says of the table as a whole, where it says anything.
void PrintChangeStream(const Session& session, const ChangeStreamRule& rule) {
  if (rule.retention == absl::ZeroDuration()) return;
  const std::string retention = absl::FormatDuration(rule.retention);
  if (session.json()) {
    Json stream;
    stream["retention"] = retention;
    stream["max_bytes"] = rule.max_bytes;
    session.out() << JsonLine({{"change_stream", stream}});
  } else {
    session.out() << "Change stream: kept for " << retention << ", and at most " << rule.max_bytes
                  << " bytes\n";
  }
}

absl::Status List(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  if (arguments.Has("TABLE")) {
    TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(arguments.Text("TABLE")));
    PrintFamilies(session, schema);
    PrintChangeStream(session, schema.changes);
    return absl::OkStatus();
  }
  TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> names, database->ListTables());
  for (const std::string& name : names) {
    session.out() << (session.json() ? JsonLine({{"table", name}}) : name + "\n");
  }
  return absl::OkStatus();
}

absl::Status DeleteTable(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->DeleteTable(arguments.Text("TABLE"));
}

absl::Status DeleteFamily(Session& session, const Arguments& arguments) {
  const std::string table = arguments.Text("TABLE"), family = arguments.Text("FAMILY");
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session.GetSchema(table));
  TOOLS_RETURN_IF_ERROR(Session::CheckFamily(table, schema, family));
  return database->DropFamily(table, family);
}

}  // namespace

std::vector<Verb> TableVerbs() {
  return {
      {.name = "createtable",
       .summary = "Create a table, and the database if there is none",
       .words = {{"TABLE", "the name: 1 to 128 of A-Z a-z 0-9 _ . -"}},
       .keys = {{"families", std::string("separated by commas: ") + kFamilyForm},
                {"splits", "rows that begin a tablet, separated by commas"}},
       .notes = "GCPOLICY is maxversions=N, maxage=30d (d h m s ms), both with `and`, `or` and "
                "parentheses, or never: see docs/command-line.md.",
       .examples = {"bigtable createtable users families=profile:maxversions=1,"
                    "'visits:maxage=30d or maxversions=100',likes:never:intsum splits=h,p"},
       .run = CreateTable},
      {.name = "createfamily",
       .summary = "Add a column family to a table",
       .words = {{"TABLE", "a table"}, {"FAMILY", kFamilyForm}},
       .examples = {"bigtable createfamily webtable language:maxversions=1"},
       .run = CreateFamily},
      {.name = "setgcpolicy",
       .summary = "Set which versions of its cells a family keeps",
       .words = {{"TABLE", "a table"}, {"FAMILY", "a family"}},
       .more = Verb::Word{"GCPOLICY", "maxversions=N, maxage=30d, and, or, parentheses; or never"},
       .notes = "What the rule before has dropped does not come back.",
       .examples = {"bigtable setgcpolicy webtable anchor maxversions=3 or maxage=30d"},
       .run = SetGcPolicy},
      {.name = "ls",
       .summary = "List the tables, or the families of a table",
       .words = {{"TABLE", "a table", /*required=*/false}},
       .examples = {"bigtable ls", "bigtable ls webtable"},
       .run = List},
      {.name = "deletetable",
       .summary = "Delete a table with all its data",
       .words = {{"TABLE", "a table"}},
       .examples = {"bigtable deletetable webtable"},
       .run = DeleteTable},
      {.name = "deletefamily",
       .summary = "Delete a column family with all its data",
       .words = {{"TABLE", "a table"}, {"FAMILY", "a family"}},
       .examples = {"bigtable deletefamily webtable anchor"},
       .run = DeleteFamily},
  };
}

}  // namespace bigtable::tools
