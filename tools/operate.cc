// Verbs for operators: stats, tablets, metadata, split, merge, compact.
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/database.h"
#include "bigtable/prometheus.h"
#include "bigtable/statistics.h"
#include "bigtable/tablet_info.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

// --- Tablets ---

// The beginning or end of a tablet; none is the beginning or end of the table.
std::string RowOrNone(std::string_view row) { return row.empty() ? "-" : Escaped(row); }

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
      SetBytes(&object, "begin", tablet.rows.begin());
      if (tablet.rows.end().has_value()) SetBytes(&object, "end", *tablet.rows.end());
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

absl::Status Compact(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->Compact(arguments.Text("TABLE"));
}

// --- Statistics ---

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

Json TableAsJson(const DatabaseStatistics& statistics, const std::string& table) {
  Json object;
  object["table"] = table;
  if (const auto storage = statistics.storage.find(table); storage != statistics.storage.end()) {
    object["disk_bytes"] = storage->second.disk_bytes;
    object["memtable_bytes"] = storage->second.memtable_bytes;
  }
  Json groups;
  if (const auto found = statistics.tables.find(table); found != statistics.tables.end()) {
    for (const auto& [name, size] : found->second) groups[name] = SizesAsJson(size);
  }
  object["locality_groups"] = std::move(groups);
  Json families;
  if (const auto found = statistics.families.find(table); found != statistics.families.end()) {
    for (const auto& [name, family] : found->second) {
      families[name] = {{"disk_bytes", family.storage.disk_bytes},
                        {"memtable_bytes", family.storage.memtable_bytes}};
    }
  }
  object["families"] = std::move(families);
  return object;
}

Json DatabaseAsJson(const DatabaseStatistics& statistics) {
  Json object;
  uint64_t log_bytes = 0;
  for (const auto& [name, server] : statistics.servers) log_bytes += server.log_bytes_live;
  object["log_bytes"] = log_bytes;
  object["metadata_disk_bytes"] = statistics.metadata_storage.disk_bytes;
  object["metadata_memtable_bytes"] = statistics.metadata_storage.memtable_bytes;
  object["memory_limit"] = statistics.memory_limit;
  object["memory_memtables"] = statistics.memory_memtables;
  object["memory_log"] = statistics.memory_log;
  object["memory_indexes"] = statistics.memory_indexes;
  object["memory_block_cache"] = statistics.memory_block_cache;
  object["background_error"] = MessageOf(statistics.background_error);
  object["failing_work"] = statistics.failing_work.size();
  object["quarantined_files"] = statistics.quarantined_files.size();
  object["unserved_tablets"] = statistics.unserved_tablets.size();
  return object;
}

// An object as lines "prefix.name value".
void AddLines(const std::string& prefix, const Json& object,
              std::vector<std::vector<std::string>>* lines) {
  for (const auto& [name, value] : object.items()) {
    const std::string path = prefix.empty() ? name : prefix + "." + name;
    if (value.is_object()) {
      AddLines(path, value, lines);
    } else if (value.is_number()) {
      lines->push_back({path, WithCommas(value.get<uint64_t>())});
    } else if (value.is_string() && !value.get<std::string>().empty()) {
      lines->push_back({path, value.get<std::string>()});
    }
  }
}

absl::Status PrintStatistics(Session& session, bool prometheus) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToRead());
  TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> tables, database->ListTables());
  const DatabaseStatistics statistics = database->Statistics();
  if (prometheus) {
    session.out() << ToPrometheusText(statistics);
    return absl::OkStatus();
  }
  Json object = DatabaseAsJson(statistics);
  if (session.json()) {
    Json list = Json::array();
    for (const std::string& table : tables) list.push_back(TableAsJson(statistics, table));
    object["tables"] = std::move(list);
    session.out() << JsonLine(object);
    return absl::OkStatus();
  }
  std::vector<std::vector<std::string>> lines;
  AddLines("", object, &lines);
  for (const std::string& table : tables) {
    Json sizes = TableAsJson(statistics, table);
    sizes.erase("table");
    AddLines(Cat("table ", table), sizes, &lines);
  }
  session.out() << Aligned(lines);
  return absl::OkStatus();
}

absl::Status Statistics(Session& session, const Arguments& arguments) {
  absl::Duration interval = absl::ZeroDuration();
  const std::string text = arguments.Text("interval");
  if (arguments.Has("interval") &&
      (!absl::ParseDuration(text, &interval) || interval < absl::Milliseconds(1))) {
    return UsageError(Cat("--interval ", text, " is not a duration, as in 1s or 500ms"));
  }
  TOOLS_ASSIGN_OR_RETURN(int64_t left,
                         arguments.Number("count", 1, arguments.Has("interval") ? INT64_MAX : 1));
  while (true) {
    TOOLS_RETURN_IF_ERROR(PrintStatistics(session, arguments.Has("prometheus")));
    // Closed while it waits: other processes may work on the database then.
    TOOLS_RETURN_IF_ERROR(session.Close(absl::OkStatus()));
    if (--left == 0) return absl::OkStatus();
    if (!session.json() && !arguments.Has("prometheus")) session.out() << "\n";
    session.out().flush();
    if (!session.out().good()) return absl::UnavailableError("the output could not be written");
    absl::SleepFor(interval);
  }
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
      tablets[{tablet.table, tablet.begin_row}] = tablet;
    }
  }
  for (const auto& [key, tablet] : tablets) {
    const LocalityGroupStatistics& size = tablet.size;
    if (session.json()) {
      Json object;
      object["table"] = tablet.table;
      SetBytes(&object, "begin", tablet.begin_row);
      if (tablet.end_row.has_value()) SetBytes(&object, "end", *tablet.end_row);
      object.update(SizesAsJson(size));
      session.out() << JsonLine(object);
    } else {
      lines.push_back({tablet.table, RowOrNone(tablet.begin_row),
                       RowOrNone(tablet.end_row.value_or("")), WithCommas(size.files),
                       WithCommas(size.sorted_runs), WithCommas(size.file_bytes),
                       WithCommas(size.entries)});
    }
  }
  if (!session.json()) session.out() << Aligned(lines);
  return absl::OkStatus();
}

}  // namespace

std::vector<Verb> OperateVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  return {
      {.name = "stats",
       .summary = "Print the sizes of tables, families and memory",
       .options = {{"interval", "TIME", "Print again after this time, until interrupted: 1s"},
                   {"count", "N", "With --interval: so many times"},
                   {"prometheus", "", "Print all statistics, as text for Prometheus"}},
       .notes = "With --interval the database is opened for each print alone, so that other "
                "processes can work on it between.",
       .examples = {"bigtable stats", "bigtable stats --interval 100ms --count 3 --json"},
       .run = Statistics},
      {.name = "tablets",
       .summary = "List the tablets of a table",
       .words = {table},
       .notes = "Server is the number that this opening of the database has chosen.",
       .examples = {"bigtable tablets webtable"},
       .run = ListTablets},
      {.name = "metadata",
       .summary = "List the tablets of all tables, with their files",
       .examples = {"bigtable metadata"},
       .run = Metadata},
      {.name = "split",
       .summary = "Split a tablet, so that a row begins the new one",
       .words = {table, {"ROW", "the first row of the new tablet"}},
       .examples = {"bigtable split webtable com.d"},
       .run = SplitTablet},
      {.name = "merge",
       .summary = "Merge a tablet with the one before it",
       .words = {table, {"ROW", "the row with which the tablet begins"}},
       .examples = {"bigtable merge webtable com.m"},
       .run = MergeTablets},
      {.name = "compact",
       .summary = "Compact a table: remove deleted and collected data from the disk",
       .words = {table},
       .examples = {"bigtable compact webtable"},
       .run = Compact},
  };
}

}  // namespace bigtable::tools
