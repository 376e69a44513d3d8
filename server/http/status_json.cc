#include "server/http/status_json.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/statistics.h"
#include "bigtable/string_view.h"

#include "server/http/code_names.h"
#include "server/monitor/event_log.h"
#include "server/monitor/heat_map.h"
#include "server/monitor/process_use.h"
#include "server/monitor/slow_requests.h"
#include "server/text/errors.h"
#include "server/text/resource_name.h"
#include <nlohmann/json.hpp>

namespace bigtable::server {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKeyBytes = 200;
constexpr size_t kMostEvents = 100;
constexpr size_t kMostSlow = 20;
constexpr size_t kMostProblems = 50;

double Seconds(absl::Time time) { return absl::ToDoubleSeconds(time - absl::UnixEpoch()); }
double Seconds(absl::Duration duration) { return absl::ToDoubleSeconds(duration); }

std::string Text(std::string_view text) { return std::string(text); }

// A row key is bytes.
std::string Key(std::string_view row) {
  std::string text = absl::CHexEscape(ToAbsl(row.substr(0, kMostKeyBytes)));
  if (row.size() > kMostKeyBytes) text += "...";
  return text;
}

// Null: the end of the table.
Json EndOf(const std::optional<std::string>& end_row) {
  return end_row.has_value() ? Json(Key(*end_row)) : Json();
}

// Null: the system does not tell.
Json DiskPart(const std::string& directory) {
  const std::optional<DiskUse> disk = ReadDiskUse(directory);
  if (!disk.has_value()) return Json();
  return {{"free_bytes", disk->free_bytes},
          {"total_bytes", disk->total_bytes},
          {"free_files", disk->free_files},
          {"total_files", disk->total_files}};
}

// Names and values, in an order.
Json OptionsPart(const StatusSource& source) {
  Json options = Json::array();
  for (const auto& [name, value] : source.options) options.push_back({"--" + name, value});
  for (const auto& [name, value] : source.database->ChangeableOptions()) {
    options.push_back({name, value});
  }
  return options;
}

// By reason.
Json ConnectionsRefused(const Acceptor& acceptor) {
  const Acceptor::Counts counts = acceptor.counts();
  Json refused = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) refused[Text(Acceptor::kReasonNames[i])] = counts[i];
  return refused;
}

Json ServerPart(const StatusSource& source) {
  const absl::Status health = source.health->Check().writes;
  const ProcessUse use = ReadProcessUse();
  return {{"address", source.address},
          {"directory", source.directory},
          {"version", source.version},
          {"options", OptionsPart(source)},
          {"disk", DiskPart(source.directory)},
          {"connections", source.acceptor->connections()->Count()},
          {"connection_limit", source.acceptor->connections()->most()},
          {"connections_refused", ConnectionsRefused(*source.acceptor)},
          {"descriptors", use.descriptors},
          {"descriptor_limit", use.descriptor_limit},
          {"began", Seconds(source.monitor->began())},
          {"is_healthy", health.ok()},
          {"reason", Text(std::string_view(health.message().data(), health.message().size()))},
          {"threads", use.threads},
          {"streams", source.streams->running()},
          {"waiting_streams", source.streams->waiting()},
          {"holding_streams", source.streams->holding()},
          {"resident_bytes", use.resident_bytes},
          {"cpu_seconds", use.cpu_seconds},
          {"row_period", source.monitor->rows().period()}};
}

// What requests take of the memory, and which calls were refused because of it.
Json RequestsPart(const Admission& admission) {
  const Admission::Counts counts = admission.refused();
  Json refused = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) refused[Text(Admission::kReasonNames[i])] = counts[i];
  return {{"receiving_bytes", admission.receiving()},
          {"executing_bytes", admission.executing()},
          {"waiting", admission.waiting()},
          {"largest", admission.limits().largest},
          {"resident_limit", admission.limits().resident},
          {"refused", std::move(refused)}};
}

// Of the last minute, in seconds.
Json LatencyPart(const LatencyHistogram& latency) {
  return {{"count", latency.count},
          {"mean", Seconds(latency.Mean())},
          {"p50", Seconds(latency.Percentile(50))},
          {"p90", Seconds(latency.Percentile(90))},
          {"p99", Seconds(latency.Percentile(99))},
          {"p999", Seconds(latency.Percentile(99.9))},
          {"max", Seconds(latency.max)}};
}

// Those that are not zero, by name.
Json CodesPart(const std::array<uint64_t, kCodes>& by_code) {
  Json codes = Json::object();
  for (size_t code = 0; code < kCodes; ++code) {
    if (by_code[code] > 0) codes[Text(kCodeNames[code])] = by_code[code];
  }
  return codes;
}

Json MethodsPart(const Monitor& monitor) {
  Json methods = Json::array();
  for (size_t i = 0; i < kMethods; ++i) {
    const auto method = static_cast<Method>(i);
    const MethodCounts counts = monitor.calls().Read(method);
    methods.push_back(
        {{"name", Text(kMethodNames[i])},
         {"calls", counts.calls()},
         {"errors", counts.errors()},
         {"codes", CodesPart(counts.by_code)},
         {"request_bytes", counts.request_bytes},
         {"response_bytes", counts.response_bytes},
         {"last_minute", LatencyPart(monitor.history().LastMinute(method).ToHistogram())}});
  }
  return methods;
}

Json HistoryPart(const CallHistory& history, int64_t since) {
  Json seconds = Json::array();
  for (const CallHistory::Second& second : history.Seconds()) {
    if (second.time < since) continue;
    seconds.push_back({{"time", second.time},
                       {"calls", second.calls},
                       {"codes", CodesPart(second.by_code)},
                       {"request_bytes", second.request_bytes},
                       {"response_bytes", second.response_bytes}});
  }
  return seconds;
}

Json TotalsPart(const DatabaseStatistics& statistics) {
  uint64_t rows_read = 0;
  for (const auto& [table, calls] : statistics.calls) {
    rows_read += calls.read_row.calls + calls.stream_rows;
  }
  uint64_t disk_bytes = statistics.metadata_storage.disk_bytes;
  for (const auto& [table, storage] : statistics.storage) disk_bytes += storage.disk_bytes;
  return {{"rows_read", rows_read},
          {"rows_written", statistics.rows_written},
          {"disk_bytes", disk_bytes},
          {"log_bytes_written", statistics.log_bytes_written},
          {"log_syncs", statistics.log_syncs},
          {"log_stalls", statistics.log_stalls},
          {"minor_compactions", statistics.minor_compactions},
          {"minor_compaction_bytes_written", statistics.minor_compaction_bytes_written},
          {"merging_compactions", statistics.merging_compactions},
          {"merging_compaction_bytes_read", statistics.merging_compaction_bytes_read},
          {"merging_compaction_bytes_written", statistics.merging_compaction_bytes_written},
          {"major_compactions", statistics.major_compactions},
          {"block_cache_hits", statistics.block_cache_hits},
          {"block_cache_misses", statistics.block_cache_misses}};
}

Json MemoryPart(const DatabaseStatistics& statistics) {
  return {{"limit", statistics.memory_limit},
          {"memtables", statistics.memory_memtables},
          {"log", statistics.memory_log},
          {"indexes", statistics.memory_indexes},
          {"in_memory_groups", statistics.memory_in_memory_groups},
          {"writers", statistics.memory_writers},
          {"reads", statistics.memory_reads},
          {"block_cache", statistics.memory_block_cache}};
}

// DatabaseStatistics and TabletServerStatistics have the same members for this.
template <typename Statistics>
Json StallPart(const Statistics& statistics) {
  return {{"reason", Text(NameOf(statistics.stall_reason))},
          {"delay", Seconds(statistics.write_delay)},
          {"total_delay", Seconds(statistics.total_write_delay)}};
}

Json GroupPart(std::string_view name, const LocalityGroupStatistics& group) {
  return {{"name", Text(name)},
          {"memtables", group.memtables},
          {"memtable_bytes", group.memtable_bytes},
          {"sorted_runs", group.sorted_runs},
          {"files", group.files},
          {"file_bytes", group.file_bytes},
          {"entries", group.entries},
          {"deletions", group.deletions}};
}

Json TablesPart(const DatabaseStatistics& statistics) {
  std::map<std::string_view, size_t> tablets;
  for (const auto& [label, server] : statistics.servers) {
    for (const TabletStatistics& tablet : server.tablets) ++tablets[tablet.table];
  }
  Json tables = Json::array();
  for (const auto& [name, groups] : statistics.tables) {
    Json table = {{"name", name},
                  {"tablets", tablets[name]},
                  {"is_own", name == kCatalogueTable},  // the server's, not a user's
                  {"groups", Json::array()}};
    for (const auto& [group_name, group] : groups) {
      table["groups"].push_back(GroupPart(group_name, group));
    }
    if (const auto storage = statistics.storage.find(name); storage != statistics.storage.end()) {
      table["disk_bytes"] = storage->second.disk_bytes;
      table["memtable_bytes"] = storage->second.memtable_bytes;
    }
    if (const auto calls = statistics.calls.find(name); calls != statistics.calls.end()) {
      table["rows_read"] = calls->second.read_row.calls + calls->second.stream_rows;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

struct ServedTablet {
  std::string_view server;
  const TabletStatistics* tablet;
};

std::vector<ServedTablet> TabletsOf(const DatabaseStatistics& statistics) {
  std::vector<ServedTablet> tablets;
  for (const auto& [label, server] : statistics.servers) {
    for (const TabletStatistics& tablet : server.tablets) tablets.push_back({label, &tablet});
  }
  std::sort(tablets.begin(), tablets.end(), [](const ServedTablet& a, const ServedTablet& b) {
    return std::tie(a.tablet->table, a.tablet->rows.begin()) <
           std::tie(b.tablet->table, b.tablet->rows.begin());
  });
  return tablets;
}

Json TabletsPart(const DatabaseStatistics& statistics) {
  std::vector<ServedTablet> tablets = TabletsOf(statistics);
  if (tablets.size() > kMostTabletsShown) tablets.resize(kMostTabletsShown);
  Json list = Json::array();
  for (const auto& [server, tablet] : tablets) {
    list.push_back(
        {{"table", tablet->table},
         {"begin", Key(tablet->rows.begin())},
         {"end", EndOf(tablet->rows.end())},
         {"server", Text(server)},
         {"size", GroupPart("", tablet->size)},
         {"rows_written", tablet->rows_written},
         {"reads", tablet->read_row.count + tablet->next_row.count + tablet->next_cell.count}});
  }
  return list;
}

Json ServersPart(const DatabaseStatistics& statistics,
                 const std::map<std::string, std::string>& stopped) {
  Json servers = Json::array();
  for (const auto& [label, server] : statistics.servers) {
    LocalityGroupStatistics size;
    uint64_t reads = 0;
    for (const TabletStatistics& tablet : server.tablets) {
      size.file_bytes += tablet.size.file_bytes;
      size.memtable_bytes += tablet.size.memtable_bytes;
      reads += tablet.read_row.count + tablet.next_row.count + tablet.next_cell.count;
    }
    const auto refuses = stopped.find(server.name);
    servers.push_back({{"label", label},
                       {"refuses_writes", refuses == stopped.end() ? "" : refuses->second},
                       {"name", server.name},
                       {"tablets", server.tablets.size()},
                       {"file_bytes", size.file_bytes},
                       {"memtable_bytes", size.memtable_bytes},
                       {"reads", reads},
                       {"rows_written", server.rows_written},
                       {"writes", server.writes},
                       {"write_groups", server.write_groups},
                       {"log_bytes_written", server.log_bytes_written},
                       {"log_bytes_live", server.log_bytes_live},
                       {"log_syncs", server.log_syncs},
                       {"log_stalls", server.log_stalls},
                       {"stall", StallPart(server)}});
  }
  return servers;
}

Json PlacePart(const EventLocation& location) {
  return {{"server", location.server},
          {"table", location.table},
          {"group", location.locality_group},
          {"end", EndOf(location.end_row)}};
}

Json EventsPart(const EventLog& events) {
  Json list = Json::array();
  for (const EventLog::Entry& entry : events.Last(kMostEvents)) {
    list.push_back({{"number", entry.number},
                    {"time", Seconds(entry.time)},
                    {"kind", Text(NameOf(entry.kind))},
                    {"place", PlacePart(entry.location)},
                    {"what", entry.what},
                    {"is_failure", entry.is_failure},
                    {"bytes_read", entry.bytes_read},
                    {"bytes_written", entry.bytes_written},
                    {"duration", Seconds(entry.duration)}});
  }
  return list;
}

Json RunningPart(const EventLog& events) {
  Json list = Json::array();
  for (const EventLog::Running& running : events.RunningNow()) {
    list.push_back({{"since", Seconds(running.since)},
                    {"kind", Text(NameOf(running.kind))},
                    {"place", PlacePart(running.location)},
                    {"what", running.what},
                    {"bytes", running.bytes}});
  }
  return list;
}

// What needs somebody's attention, in words.
Json ProblemsPart(const DatabaseStatistics& statistics) {
  Json problems = Json::array();
  const auto add = [&problems](std::string_view what, const absl::Status& status) {
    if (problems.size() < kMostProblems) problems.push_back(Cat(what, ": ", status.ToString()));
  };
  if (!statistics.background_error.ok()) {
    add("Writes or compactions have stopped", statistics.background_error);
  }
  for (const FailingWork& work : statistics.failing_work) {
    const bool is_flush = work.kind == FailingWork::Kind::kFlush;
    add(Cat(is_flush ? "A flush of " : "A compaction of ", is_flush ? work.server : work.table,
            " has failed ", work.failures, " times"),
        work.status);
  }
  for (const QuarantinedFile& file : statistics.quarantined_files) {
    add(Cat("A file of ", file.table, " cannot be read"), file.status);
  }
  for (const UnservedTablet& tablet : statistics.unserved_tablets) {
    add(Cat("A tablet of ", tablet.table, " from row ", Quoted(tablet.rows.begin()),
            " is not served"),
        tablet.status);
  }
  return problems;
}

uint64_t FailingFlushes(const DatabaseStatistics& statistics) {
  return static_cast<uint64_t>(std::count_if(
      statistics.failing_work.begin(), statistics.failing_work.end(),
      [](const FailingWork& work) { return work.kind == FailingWork::Kind::kFlush; }));
}

// Whether there is anything that Database::Resume continues or tries again.
bool CanResume(const DatabaseStatistics& statistics) {
  return !statistics.background_error.ok() || !statistics.failing_work.empty() ||
         !statistics.quarantined_files.empty();
}

std::string_view NameOf(RequestTrace::Request request) {
  switch (request) {
    case RequestTrace::Request::kReadRow:
      return "read of a row";
    case RequestTrace::Request::kReadRows:
      return "read of rows";
    case RequestTrace::Request::kScan:
      return "scan";
    case RequestTrace::Request::kApply:
      return "mutation";
    case RequestTrace::Request::kApplyBatch:
      return "batch of mutations";
    case RequestTrace::Request::kCheckAndMutateRow:
      return "check and mutate";
    case RequestTrace::Request::kReadModifyWriteRow:
      return "read, modify, write";
  }
  return "";
}

// The parts of a request's duration, in their order; what is left is the engine's, and "other".
Json TimesOf(const SlowRequest& request) {
  const RequestTrace& trace = request.trace;
  absl::Duration blocks;
  for (const FileTrace& file : trace.files) blocks += file.block_time;
  const absl::Duration known = request.admission + request.reading + trace.held_back + trace.queue +
                               trace.log + trace.sync + trace.memtable + blocks +
                               request.converting + request.client;
  return {{"admission", Seconds(request.admission)},
          {"reading", Seconds(request.reading)},
          {"stall", Seconds(trace.held_back)},
          {"queue", Seconds(trace.queue)},
          {"log", Seconds(trace.log)},
          {"sync", Seconds(trace.sync)},
          {"memtable", Seconds(trace.memtable)},
          {"blocks", Seconds(blocks)},
          {"converting", Seconds(request.converting)},
          {"client", Seconds(request.client)},
          {"other", Seconds(std::max(request.duration - known, absl::ZeroDuration()))}};
}

Json SlowPart(const SlowRequests& slow, absl::Time now) {
  Json list = Json::array();
  for (const SlowRequest& request : slow.Slowest(kMostSlow, now)) {
    const RequestTrace& trace = request.trace;
    uint64_t bytes_read = 0;
    for (const FileTrace& file : trace.files) bytes_read += file.bytes_read;
    list.push_back({{"time", Seconds(trace.begin)},
                    {"request", Text(NameOf(trace.request))},
                    {"table", trace.table},
                    {"row", Key(trace.row)},
                    {"duration", Seconds(request.duration)},
                    {"error", trace.status.ok() ? "" : trace.status.ToString()},
                    {"times", TimesOf(request)},
                    {"mutations", trace.mutations},
                    {"group_size", trace.group_size},
                    {"rows", trace.rows},
                    {"cells", trace.cells},
                    {"memtables", trace.memtables},
                    {"files", trace.files.size()},
                    {"bytes_read", bytes_read}});
  }
  return list;
}

Json HeatPart(const HeatMap& map, const StatusQuery& query) {
  const std::vector<std::string> tables = map.Tables();
  Json part = {{"tables", tables}, {"column_seconds", HeatMap::kColumnSeconds}};
  const std::string table = query.table.empty() && !tables.empty() ? tables.front() : query.table;
  const std::optional<TableHeat> heat = map.Read(table, query.epoch, query.from);
  if (!heat.has_value()) return part;
  part["table"] = table;
  part["epoch"] = heat->epoch;
  part["is_whole"] = heat->epoch != query.epoch;
  part["begins"] = Json::array();
  for (const std::string& begin : heat->begins) part["begins"].push_back(Key(begin));
  part["columns"] = Json::array();
  for (const TableHeat::Column& column : heat->columns) {
    Json reads = Json::array();
    Json writes = Json::array();
    for (const TableHeat::Cell& cell : column.cells) {
      reads.push_back(static_cast<int64_t>(cell.reads + 0.5F));
      writes.push_back(static_cast<int64_t>(cell.writes + 0.5F));
    }
    part["columns"].push_back(
        {{"number", column.number}, {"reads", std::move(reads)}, {"writes", std::move(writes)}});
  }
  return part;
}

template <typename Number>
absl::Status ParseNumber(const std::map<std::string, std::string>& parameters, const char* name,
                         Number* number) {
  const auto found = parameters.find(name);
  if (found == parameters.end() || absl::SimpleAtoi(found->second, number)) return absl::OkStatus();
  return Invalid(name, "=", Quoted(found->second), ": must be a whole number");
}

}  // namespace

absl::StatusOr<StatusQuery> ParseStatusQuery(const std::map<std::string, std::string>& parameters) {
  StatusQuery query;
  const auto table = parameters.find("table");
  if (table != parameters.end()) query.table = table->second;
  SERVER_RETURN_IF_ERROR(ParseNumber(parameters, "epoch", &query.epoch));
  SERVER_RETURN_IF_ERROR(ParseNumber(parameters, "from", &query.from));
  SERVER_RETURN_IF_ERROR(ParseNumber(parameters, "since", &query.since));
  return query;
}

std::string StatusJson(const StatusSource& source, const StatusQuery& query) {
  const absl::Time now = absl::Now();
  const DatabaseStatistics statistics = source.database->Statistics();
  const Monitor& monitor = *source.monitor;
  size_t tablets = 0;
  for (const auto& [label, server] : statistics.servers) tablets += server.tablets.size();
  const Json status = {{"time", Seconds(now)},
                       {"server", ServerPart(source)},
                       {"requests", RequestsPart(*source.admission)},
                       {"methods", MethodsPart(monitor)},
                       {"method_names", kMethodNames},
                       {"history", HistoryPart(monitor.history(), query.since)},
                       {"totals", TotalsPart(statistics)},
                       {"memory", MemoryPart(statistics)},
                       {"stall", StallPart(statistics)},
                       {"tables", TablesPart(statistics)},
                       {"tablets", TabletsPart(statistics)},
                       {"tablet_count", tablets},
                       {"servers", ServersPart(statistics, monitor.events().StoppedServers())},
                       {"can_resume", CanResume(statistics)},
                       {"failing_flushes", FailingFlushes(statistics)},
                       {"events", EventsPart(monitor.events())},
                       {"running", RunningPart(monitor.events())},
                       {"problems", ProblemsPart(statistics)},
                       {"slow", SlowPart(monitor.slow_requests(), now)},
                       {"heat", HeatPart(monitor.heat_map(), query)}};
  // Bytes that are not UTF-8, as in an error's message, are replaced, for dump would throw.
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace bigtable::server
