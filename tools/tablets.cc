// Verbs for tablets: tablets, metadata, split, merge, move.
#include <climits>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/database.h"
#include "bigtable/statistics.h"
#include "bigtable/tablet_info.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

// The beginning or end of a tablet; none is the beginning or end of the table.
std::string RowOrNone(std::string_view row) { return row.empty() ? "-" : Escaped(row); }

void SetRows(const RowRange& rows, Json* object) {
  SetBytes(object, "begin", rows.begin());
  if (rows.end().has_value()) SetBytes(object, "end", *rows.end());
}

absl::Status ListTablets(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  TOOLS_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets,
                         database->ListTablets(arguments.Text("TABLE")));
  std::vector<std::vector<std::string>> lines = {{"Begin", "End", "Server", "Bytes"},
                                                 {"-----", "---", "------", "-----"}};
  for (const TabletInfo& tablet : tablets) {
    if (session.json()) {
      Json object;
      SetRows(tablet.rows, &object);
      object["server"] = tablet.server;
      object["disk_bytes"] = tablet.disk_bytes;
      session.out() << JsonLine(object);
    } else {
      lines.push_back({RowOrNone(tablet.rows.begin()), RowOrNone(tablet.rows.end().value_or("")),
                       Cat(tablet.server), WithCommas(tablet.disk_bytes)});
    }
  }
  if (!session.json()) session.out() << Aligned(lines);
  return absl::OkStatus();
}

absl::Status SplitTablet(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->SplitTablet(arguments.Text("TABLE"), row);
}

absl::Status MergeTablets(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->MergeTablets(arguments.Text("TABLE"), row);
}

// The tablet that has the row.
absl::StatusOr<TabletInfo> TabletOf(Database* database, const std::string& table,
                                    std::string_view row) {
  TOOLS_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets, database->ListTablets(table));
  for (const TabletInfo& tablet : tablets) {
    const std::optional<std::string>& end = tablet.rows.end();
    if (!end.has_value() || row < *end) return tablet;
  }
  return absl::InternalError(Cat("no tablet of ", table, " has the row ", Quoted(row)));
}

absl::Status MoveTablet(Session& session, const Arguments& arguments) {
  const std::string table = arguments.Text("TABLE");
  TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("ROW"));
  TOOLS_ASSIGN_OR_RETURN(const int64_t server, arguments.Number("SERVER", 0, 0));
  if (server > INT_MAX) return UsageError(Cat("SERVER=", server, " is no number of a server"));
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(table).status());
  TOOLS_ASSIGN_OR_RETURN(const TabletInfo before, TabletOf(database, table, row));
  TOOLS_RETURN_IF_ERROR(database->MoveTablet(table, row, static_cast<int>(server)));
  TOOLS_ASSIGN_OR_RETURN(const TabletInfo after, TabletOf(database, table, row));
  if (session.json()) {
    Json object;
    SetRows(after.rows, &object);
    object["from"] = before.server;
    object["to"] = after.server;
    session.out() << JsonLine(object);
    return absl::OkStatus();
  }
  session.out() << "the tablet from " << RowOrNone(after.rows.begin()) << " to "
                << RowOrNone(after.rows.end().value_or(""));
  if (before.server == after.server) {
    session.out() << " is on server " << after.server << " already\n";
  } else {
    session.out() << " was moved from server " << before.server << " to server " << after.server
                  << "\n";
  }
  return absl::OkStatus();
}

// Of each tablet, what METADATA has: its rows, and its files.
absl::Status Metadata(Session& session, const Arguments&) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  std::vector<std::vector<std::string>> lines = {
      {"Table", "Begin", "End", "Files", "Runs", "Bytes", "Entries"},
      {"-----", "-----", "---", "-----", "----", "-----", "-------"}};
  std::map<std::pair<std::string, std::string>, TabletStatistics> tablets;
  for (const auto& [name, server] : database->Statistics().servers) {
    for (const TabletStatistics& tablet : server.tablets) {
      tablets[{tablet.table, tablet.rows.begin()}] = tablet;
    }
  }
  for (const auto& [key, tablet] : tablets) {
    const LocalityGroupStatistics& size = tablet.size;
    if (session.json()) {
      Json object;
      object["table"] = tablet.table;
      SetBytes(&object, "begin", tablet.rows.begin());
      if (tablet.rows.end().has_value()) SetBytes(&object, "end", *tablet.rows.end());
      object.update(SizesAsJson(size));
      session.out() << JsonLine(object);
    } else {
      lines.push_back({tablet.table, RowOrNone(tablet.rows.begin()),
                       RowOrNone(tablet.rows.end().value_or("")), WithCommas(size.files),
                       WithCommas(size.sorted_runs), WithCommas(size.file_bytes),
                       WithCommas(size.entries)});
    }
  }
  if (!session.json()) session.out() << Aligned(lines);
  return absl::OkStatus();
}

}  // namespace

std::vector<Verb> TabletVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  return {
      {.name = "tablets",
       .summary = "List the tablets of a table",
       .words = {table},
       .notes = "Server is the number that this opening of the database has chosen.",
       .not_on_server = "the Bigtable API does not list tablets",
       .examples = {"bigtable tablets webtable"},
       .run = ListTablets},
      {.name = "metadata",
       .summary = "List the tablets of all tables, with their files",
       .not_on_server = "the Bigtable API does not list tablets",
       .examples = {"bigtable metadata"},
       .run = Metadata},
      {.name = "split",
       .summary = "Split a tablet, so that a row begins the new one",
       .words = {table, {"ROW", "the first row of the new tablet"}},
       .not_on_server = "the Bigtable API does not split tablets",
       .examples = {"bigtable split webtable com.d"},
       .run = SplitTablet},
      {.name = "merge",
       .summary = "Merge a tablet with the one before it",
       .words = {table, {"ROW", "the row with which the tablet begins"}},
       .not_on_server = "the Bigtable API does not merge tablets",
       .examples = {"bigtable merge webtable com.m"},
       .run = MergeTablets},
      {.name = "move",
       .summary = "Move a tablet to another tablet server of the database",
       .words = {table,
                 {"ROW", "a row of the tablet"},
                 {"SERVER", "the server's number, as `bigtable tablets` prints it"}},
       .notes = "The tablet's memtables are flushed. Each opening of the database assigns the "
                "tablets anew, so the tablet is on that server until this command ends.",
       .not_on_server = "the Bigtable API does not move tablets",
       .examples = {"bigtable move webtable com.cnn.www 0"},
       .run = MoveTablet},
  };
}

}  // namespace bigtable::tools
