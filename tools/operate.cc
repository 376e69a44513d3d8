// Verbs for operators: stats, compact, resume.
#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/database.h"
#include "bigtable/prometheus.h"
#include "bigtable/statistics.h"

#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

absl::Status Compact(Session& session, const Arguments& arguments) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  TOOLS_RETURN_IF_ERROR(session.GetSchema(arguments.Text("TABLE")).status());
  return database->Compact(arguments.Text("TABLE"));
}

absl::Status Resume(Session& session, const Arguments&) {
  TOOLS_ASSIGN_OR_RETURN(Database* const database, session.OpenToWrite());
  return database->Resume();
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
    if (!session.out().good()) return StreamError("the output could not be written");
    absl::SleepFor(interval);
  }
}

}  // namespace

std::vector<Verb> OperateVerbs() {
  return {
      {.name = "stats",
       .summary = "Print the sizes of tables, families and memory",
       .options = {{"interval", "TIME", "Print again after this time, until interrupted: 1s"},
                   {"count", "N", "With --interval: so many times"},
                   {"prometheus", "", "Print all statistics, as text for Prometheus"}},
       .notes = "With --interval the database is opened for each print alone, so that other "
                "processes can work on it between.",
       .not_on_server =
           "the Bigtable API has no statistics (bigtable-server shows them on its status page)",
       .examples = {"bigtable stats", "bigtable stats --interval 100ms --count 3 --json"},
       .run = Statistics},
      {.name = "compact",
       .summary = "Compact a table: remove deleted and collected data from the disk",
       .words = {{"TABLE", "a table"}},
       .not_on_server = "the Bigtable API does not compact tables",
       .examples = {"bigtable compact webtable"},
       .run = Compact},
      {.name = "resume",
       .summary = "Let writes continue after an error has stopped them",
       .notes =
           "A server refuses writes after an error of its commit log or of METADATA, and shows "
           "why on its status page. Remove the cause, then resume. Flushes and compactions "
           "that have failed are tried again at once, and files that could not be read are "
           "read again. The error is printed if the cause is still there. On a directory, the "
           "opening of the database has done all this already.",
       .examples = {"bigtable resume"},
       .run = Resume},
  };
}

}  // namespace bigtable::tools
