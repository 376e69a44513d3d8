#include "bigtable/prometheus.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/checksum.h"
#include "base/strings.h"

namespace bigtable {
namespace {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

// Keys may be long, and Prometheus keeps every label of every line in memory.
constexpr size_t kMostLabelBytes = 128;

// The text between a label's quotes. The format requires UTF-8, and escapes for three characters.
// The value is escaped as in C, so that different keys have different labels.
std::string EscapedLabel(std::string_view value) {
  std::string escaped;
  for (const char c : value.substr(0, kMostLabelBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      escaped += R"(\\\\)";
    } else if (c == '"') {
      escaped += R"(\")";
    } else if (c == '\n') {
      escaped += R"(\n)";
    } else if (byte >= 0x20 && byte < 0x7f) {
      escaped += c;
    } else {
      absl::StrAppend(&escaped, R"(\\x)", absl::Hex(byte, absl::kZeroPad2));
    }
  }
  if (value.size() > kMostLabelBytes) {
    absl::StrAppend(&escaped, R"(\\#)", absl::Hex(Checksum(value), absl::kZeroPad16));
  }
  return escaped;
}

std::string Number(double value) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}
std::string Number(uint64_t value) { return absl::StrCat(value); }
std::string Seconds(absl::Duration duration) { return Number(absl::ToDoubleSeconds(duration)); }

// Builds the text. The lines of a metric must be adjacent, after its HELP and TYPE; a metric
// without lines is omitted.
class Exposition {
 public:
  void Counter(std::string_view name, std::string_view help) { Begin(name, help, "counter"); }
  void Gauge(std::string_view name, std::string_view help) { Begin(name, help, "gauge"); }
  void Histogram(std::string_view name, std::string_view help) { Begin(name, help, "histogram"); }

  // Adds a line to the current metric.
  template <typename Value>
  void Add(Labels labels, Value value) {
    Line("", labels, "", Number(value));
  }
  void Add(Labels labels, absl::Duration value) { Line("", labels, "", Seconds(value)); }
  void Add(Labels labels, const LatencyHistogram& histogram) {
    // These bounds are also bounds of our buckets, so the counts are exact.
    constexpr int kFirstBits = 8;
    constexpr int kLastBits = 35;
    uint64_t count = 0;
    auto bucket = histogram.buckets.begin();
    for (int bits = kFirstBits; bits <= kLastBits; ++bits) {
      const absl::Duration bound = absl::Nanoseconds(int64_t{1} << bits);
      for (; bucket != histogram.buckets.end() && bucket->upto <= bound; ++bucket) {
        count += bucket->count;
      }
      Line("_bucket", labels, Seconds(bound), Number(count));
    }
    Line("_bucket", labels, "+Inf", Number(histogram.count));
    Line("_sum", labels, "", Seconds(histogram.sum));
    Line("_count", labels, "", Number(histogram.count));
  }

  std::string Take() { return std::move(text_); }

 private:
  void Begin(std::string_view name, std::string_view help, std::string_view type) {
    name_ = Cat("bigtable_", name);
    head_ = Cat("# HELP ", name_, " ", help, "\n# TYPE ", name_, " ", type, "\n");
  }
  void Line(std::string_view suffix, Labels labels, std::string_view le, std::string_view value) {
    text_ += std::exchange(head_, "");
    text_ += Cat(name_, suffix);
    char before = '{';
    const auto add_label = [&](std::string_view name, std::string_view label) {
      text_ += before;
      text_ += Cat(name, "=\"", EscapedLabel(label), "\"");
      before = ',';
    };
    for (const auto& [name, label] : labels) add_label(name, label);
    if (!le.empty()) add_label("le", le);
    text_ += Cat(before == '{' ? "" : "}", " ", value, "\n");
  }

  std::string text_;
  std::string name_;
  std::string head_;  // of the current metric, until its first line
};

struct CallOfTable {
  std::string_view name;
  CallStatistics TableCallStatistics::*call;
};
constexpr CallOfTable kCallsOfTable[] = {
    {"read_row", &TableCallStatistics::read_row},
    {"next_row", &TableCallStatistics::next_row},
    {"next_cell", &TableCallStatistics::next_cell},
    {"apply", &TableCallStatistics::apply},
    {"apply_batch", &TableCallStatistics::apply_batch},
    {"check_and_mutate_row", &TableCallStatistics::check_and_mutate_row},
    {"read_modify_write_row", &TableCallStatistics::read_modify_write_row},
    {"mutate_row_atomically", &TableCallStatistics::mutate_row_atomically}};

void AddCalls(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each = [&](const auto& add) {
    for (const auto& [table, calls] : statistics.calls) {
      for (const auto& [name, call] : kCallsOfTable) {
        add(Labels{{"table", table}, {"call", name}}, calls.*call);
      }
    }
  };
  out->Counter("calls_total", "Calls of a table.");
  each([&](Labels labels, const CallStatistics& call) { out->Add(labels, call.calls); });
  out->Counter("call_errors_total", "Calls of a table that returned an error.");
  each([&](Labels labels, const CallStatistics& call) { out->Add(labels, call.errors); });
  out->Histogram("call_duration_seconds",
                 "Duration of a table's calls: of a sample, each counted for 64, and of all calls "
                 "that waited for a millisecond or longer.");
  each([&](Labels labels, const CallStatistics& call) { out->Add(labels, call.latency); });

  const auto each_table = [&](uint64_t TableCallStatistics::*count) {
    for (const auto& [table, calls] : statistics.calls) out->Add({{"table", table}}, calls.*count);
  };
  out->Counter("batch_mutations_total", "Mutations in calls of ApplyBatch.");
  each_table(&TableCallStatistics::batch_mutations);
  out->Counter("row_retries_total",
               "Rows that an atomic operation read again, because they were written in between.");
  each_table(&TableCallStatistics::row_retries);
  out->Counter("streams_total", "Streams of rows or cells that were started.");
  each_table(&TableCallStatistics::streams);
  out->Counter("stream_rows_total", "Rows that streams returned.");
  each_table(&TableCallStatistics::stream_rows);
  out->Counter("stream_cells_total", "Cells that streams returned.");
  each_table(&TableCallStatistics::stream_cells);
}

void AddLocations(const LocationStatistics& locations, Exposition* out) {
  out->Counter("location_lookups_total",
               "Lookups of tablet locations, by the level of the hierarchy.");
  out->Add({{"level", "metadata"}}, locations.lookups);
  out->Add({{"level", "root_tablet"}}, locations.root_tablet_lookups);
  out->Add({{"level", "root_file"}}, locations.root_file_lookups);
}

void AddFamilies(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each = [&](uint64_t FamilyStatistics::*count) {
    for (const auto& [table, families] : statistics.families) {
      for (const auto& [name, family] : families) {
        out->Add({{"table", table}, {"family", name}}, family.*count);
      }
    }
  };
  out->Counter("family_cells_written_total", "Cells written to a column family.");
  each(&FamilyStatistics::cells_written);
  out->Counter("family_deletions_written_total",
               "Deletions written to a column family; not of whole rows.");
  each(&FamilyStatistics::deletions_written);
  out->Counter("family_written_bytes_total",
               "Bytes of qualifiers and values written to a column family.");
  each(&FamilyStatistics::bytes_written);
}

void AddStorage(const DatabaseStatistics& statistics, Exposition* out) {
  const auto add = [&](std::string_view of, const auto& each) {
    const auto metric = [&](std::string_view name, std::string_view what,
                            uint64_t StorageStatistics::*bytes) {
      out->Gauge(Cat(of, "_", name, "_bytes"),
                 Cat(what, of == "owner" ? "an owner." : Cat("a ", of, ".")));
      each([&](Labels labels, const StorageStatistics& storage) {
        out->Add(labels, storage.*bytes);
      });
    };
    metric("disk", "Bytes of SSTables that are charged to ", &StorageStatistics::disk_bytes);
    metric("memtable", "Bytes of memtables that are charged to ",
           &StorageStatistics::memtable_bytes);
    metric("loaded", "Bytes of loaded in-memory SSTables that are charged to ",
           &StorageStatistics::loaded_bytes);
  };
  add("family", [&](const auto& line) {
    for (const auto& [table, families] : statistics.families) {
      for (const auto& [name, family] : families) {
        line({{"table", table}, {"family", name}}, family.storage);
      }
    }
  });
  add("table", [&](const auto& line) {
    for (const auto& [table, storage] : statistics.storage) line({{"table", table}}, storage);
    line({{"table", "METADATA"}}, statistics.metadata_storage);
  });
  add("owner", [&](const auto& line) {
    for (const auto& [owner, storage] : statistics.owner_storage) line({{"owner", owner}}, storage);
  });
}

void AddChangeStreams(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each = [&](uint64_t ChangeStreamStatistics::*gauge) {
    for (const auto& [table, stream] : statistics.change_streams) {
      out->Add({{"table", table}}, stream.*gauge);
    }
  };
  out->Gauge("change_stream_bytes", "Bytes on disk of a table's kept changes.");
  each(&ChangeStreamStatistics::bytes);
  out->Gauge("change_stream_max_bytes", "The most bytes of a table's kept changes.");
  each(&ChangeStreamStatistics::max_bytes);
  out->Gauge("change_stream_unread_bytes",
             "Bytes of changes that a registered reader has to read.");
  for (const auto& [table, stream] : statistics.change_streams) {
    for (const auto& [reader, bytes] : stream.unread_bytes) {
      out->Add({{"table", table}, {"reader", reader}}, bytes);
    }
  }
}

void AddGroups(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each = [&](uint64_t LocalityGroupStatistics::*gauge) {
    for (const auto& [table, groups] : statistics.tables) {
      for (const auto& [name, group] : groups) {
        out->Add({{"table", table}, {"group", name}}, group.*gauge);
      }
    }
  };
  out->Gauge("group_memtable_bytes", "Bytes of a locality group's memtables.");
  each(&LocalityGroupStatistics::memtable_bytes);
  out->Gauge("group_memtables", "Memtables of a locality group.");
  each(&LocalityGroupStatistics::memtables);
  out->Gauge("group_sorted_runs", "Sorted runs of a locality group.");
  each(&LocalityGroupStatistics::sorted_runs);
  out->Gauge("group_files", "SSTables of a locality group.");
  each(&LocalityGroupStatistics::files);
  out->Gauge("group_file_bytes", "Bytes of a locality group's SSTables.");
  each(&LocalityGroupStatistics::file_bytes);
  out->Gauge("group_entries", "Entries of a locality group's SSTables.");
  each(&LocalityGroupStatistics::entries);
  out->Gauge("group_deletions", "Deletions among the entries of a locality group's SSTables.");
  each(&LocalityGroupStatistics::deletions);
}

// The metrics of compactions, of servers or of tablets. `each` calls its argument with a function
// that adds the other labels, and with the compactions of both kinds.
template <typename Each>
void AddCompactions(std::string_view of, const Each& each, Exposition* out) {
  const auto metric = [&](std::string_view name, std::string_view help, auto member) {
    out->Counter(Cat(of, "_compaction", name), help);
    each(
        [&](auto add_kind, const CompactionStatistics& minor, const CompactionStatistics& merging) {
          add_kind("minor", minor.*member);
          add_kind("merging", merging.*member);
        });
  };
  metric("s_total", "Compactions that have finished.", &CompactionStatistics::finished);
  metric("_failures_total", "Compactions that have failed.", &CompactionStatistics::failed);
  metric("_read_bytes_total", "Bytes that compactions read from SSTables.",
         &CompactionStatistics::bytes_read);
  metric("_written_bytes_total", "Bytes that compactions wrote to SSTables.",
         &CompactionStatistics::bytes_written);
  metric("_seconds_total", "Time that compactions took.", &CompactionStatistics::time);
  metric("_unfiltered_cells_total",
         "Cells that were not passed to their compaction filter because of a snapshot.",
         &CompactionStatistics::cells_unfiltered);
}

constexpr std::pair<std::string_view, StallReason> kStallReasons[] = {
    {"memory", StallReason::kMemory}, {"sorted_runs", StallReason::kSortedRuns}};

// Longer than a screen, because each metric needs two lines.
void AddServers(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each = [&](auto TabletServerStatistics::*member) {
    for (const auto& [name, server] : statistics.servers) {
      out->Add({{"server", name}}, server.*member);
    }
  };
  out->Counter("server_rows_written_total", "Row mutations applied by a tablet server.");
  each(&TabletServerStatistics::rows_written);
  out->Counter("server_writes_total", "Write calls to a tablet server.");
  each(&TabletServerStatistics::writes);
  out->Counter("server_write_groups_total", "Groups in which writes were committed to the log.");
  each(&TabletServerStatistics::write_groups);
  out->Counter("server_log_records_total", "Records of a tablet server's commit log.");
  each(&TabletServerStatistics::log_records);
  out->Counter("server_log_written_bytes_total", "Bytes written to a tablet server's commit log.");
  each(&TabletServerStatistics::log_bytes_written);
  out->Counter("server_log_syncs_total", "Syncs of a tablet server's commit log.");
  each(&TabletServerStatistics::log_syncs);
  out->Counter("server_log_stalls_total",
               "Calls on a file of a commit log that stalled and have returned.");
  each(&TabletServerStatistics::log_stalls);
  out->Counter("server_log_switches_total",
               "Switches of a commit log to its other file because a call stalled.");
  each(&TabletServerStatistics::log_switches);
  out->Counter("server_log_segments_created_total", "Files created for a commit log.");
  each(&TabletServerStatistics::log_segments_created);
  out->Counter("server_log_segments_reused_total", "Files reused for a commit log.");
  each(&TabletServerStatistics::log_segments_reused);

  out->Gauge("server_log_live_bytes", "Bytes of log segments that are needed or pinned.");
  each(&TabletServerStatistics::log_bytes_live);
  out->Gauge("server_write_stall", "1 for the reason why a tablet server's writers are slowed.");
  for (const auto& [name, server] : statistics.servers) {
    for (const auto& [reason_name, reason] : kStallReasons) {
      out->Add({{"server", name}, {"reason", reason_name}},
               uint64_t{server.stall_reason == reason});
    }
  }
  out->Gauge("server_current_write_delay_seconds",
             "The present delay of a write of a thousand bytes to the server.");
  each(&TabletServerStatistics::write_delay);
  out->Counter("server_write_delay_seconds_total", "Total delay of the server's writers.");
  each(&TabletServerStatistics::total_write_delay);

  out->Histogram("server_queue_wait_seconds", "Time of writes in the commit queue.");
  each(&TabletServerStatistics::queue_wait);
  out->Histogram("server_log_append_seconds", "Time to append a group of writes to the log.");
  each(&TabletServerStatistics::log_append);
  out->Histogram("server_log_sync_seconds", "Syncs of the log that writes waited for.");
  each(&TabletServerStatistics::log_sync);
  out->Histogram("server_memtable_apply_seconds",
                 "Time to insert a group of writes into the memtables.");
  each(&TabletServerStatistics::memtable_apply);
  out->Histogram("server_minor_compaction_duration_seconds", "Duration of minor compactions.");
  each(&TabletServerStatistics::minor_compaction);
  out->Histogram("server_merging_compaction_duration_seconds",
                 "Duration of merging and major compactions.");
  each(&TabletServerStatistics::merging_compaction);

  AddCompactions(
      "server",
      [&](const auto& add) {
        for (const auto& [name, server] : statistics.servers) {
          add(
              [&, &name = name](std::string_view kind, auto value) {
                out->Add({{"server", name}, {"kind", kind}}, value);
              },
              server.minor, server.merging);
        }
      },
      out);
}

// The labels of a tablet.
struct TabletLabels {
  TabletLabels(std::string_view s, const TabletStatistics& tablet)
      : server(s), table(tablet.table), end_row(tablet.rows.end().value_or("")) {}

  std::string_view server;
  std::string_view table;
  std::string end_row;  // empty for the table's last tablet
};

struct CallOfTablet {
  std::string_view name;
  LatencyHistogram TabletStatistics::*latency;
};
constexpr CallOfTablet kCallsOfTablet[] = {
    {"read_row", &TabletStatistics::read_row},
    {"next_row", &TabletStatistics::next_row},
    {"next_cell", &TabletStatistics::next_cell},
    {"apply", &TabletStatistics::apply},
    {"apply_batch", &TabletStatistics::apply_batch},
    {"check_and_mutate_row", &TabletStatistics::check_and_mutate_row},
    {"read_modify_write_row", &TabletStatistics::read_modify_write_row}};

void AddTablets(const DatabaseStatistics& statistics, Exposition* out) {
  const auto each_tablet = [&](const auto& add) {
    for (const auto& [name, server] : statistics.servers) {
      for (const TabletStatistics& tablet : server.tablets) add(TabletLabels(name, tablet), tablet);
    }
  };
  const auto each = [&](const auto& value_of) {
    each_tablet([&](const TabletLabels& of, const TabletStatistics& tablet) {
      out->Add({{"server", of.server}, {"table", of.table}, {"end_row", of.end_row}},
               value_of(tablet));
    });
  };
  out->Counter("tablet_rows_written_total", "Row mutations applied to a tablet.");
  each([](const TabletStatistics& tablet) { return tablet.rows_written; });
  out->Gauge("tablet_memtable_bytes", "Bytes of a tablet's memtables.");
  each([](const TabletStatistics& tablet) { return tablet.size.memtable_bytes; });
  out->Gauge("tablet_sorted_runs", "Sorted runs of a tablet's locality groups.");
  each([](const TabletStatistics& tablet) { return tablet.size.sorted_runs; });
  out->Gauge("tablet_files", "SSTables of a tablet.");
  each([](const TabletStatistics& tablet) { return tablet.size.files; });
  out->Gauge("tablet_file_bytes", "Bytes of a tablet's SSTables.");
  each([](const TabletStatistics& tablet) { return tablet.size.file_bytes; });

  out->Histogram("tablet_call_duration_seconds",
                 "Duration of the calls that a tablet served alone: of a sample, each counted "
                 "for 64.");
  each_tablet([&](const TabletLabels& of, const TabletStatistics& tablet) {
    for (const auto& [call, latency] : kCallsOfTablet) {
      if ((tablet.*latency).count == 0) continue;
      out->Add(
          {{"server", of.server}, {"table", of.table}, {"end_row", of.end_row}, {"call", call}},
          tablet.*latency);
    }
  });

  AddCompactions(
      "tablet",
      [&](const auto& add) {
        each_tablet([&](const TabletLabels& of, const TabletStatistics& tablet) {
          add(
              [&](std::string_view kind, auto value) {
                out->Add({{"server", of.server},
                          {"table", of.table},
                          {"end_row", of.end_row},
                          {"kind", kind}},
                         value);
              },
              tablet.minor, tablet.merging);
        });
      },
      out);
}

void AddDatabase(const DatabaseStatistics& statistics, Exposition* out) {
  out->Counter("major_compactions_total", "Compactions of all runs of a locality group.");
  out->Add({}, statistics.major_compactions);
  out->Counter("compaction_moved_bytes_total",
               "Bytes of files moved to another run without a rewrite.");
  out->Add({}, statistics.compaction_bytes_moved);
  out->Counter("compaction_dropped_bytes_total",
               "Bytes of expired files that were removed unread.");
  out->Add({}, statistics.compaction_bytes_dropped);
  out->Counter("block_cache_hits_total", "Blocks found in the cache of the memory budget.");
  out->Add({}, statistics.block_cache_hits);
  out->Counter("block_cache_misses_total", "Blocks not found in the cache.");
  out->Add({}, statistics.block_cache_misses);
  out->Counter("scan_cache_hits_total", "Rows found in the scan cache.");
  out->Add({}, statistics.scan_cache_hits);
  out->Counter("scan_cache_misses_total", "Rows not found in the scan cache.");
  out->Add({}, statistics.scan_cache_misses);

  out->Gauge("open_files", "SSTables that are read by position and are open.");
  out->Add({}, statistics.open_files);
  out->Counter("file_reopens_total", "Times that a closed SSTable was opened again.");
  out->Add({}, statistics.file_reopens);
  out->Gauge("files_in_parts",
             "Open SSTables whose index and filter found no room in the memory budget.");
  out->Add({}, statistics.files_in_parts);

  out->Gauge("memory_limit_bytes", "The memory budget.");
  out->Add({}, statistics.memory_limit);
  out->Gauge("memory_used_bytes", "Bytes of the memory budget in use.");
  out->Add({{"use", "memtables"}}, statistics.memory_memtables);
  out->Add({{"use", "log"}}, statistics.memory_log);
  out->Add({{"use", "indexes"}}, statistics.memory_indexes);
  out->Add({{"use", "in_memory_groups"}}, statistics.memory_in_memory_groups);
  out->Add({{"use", "writers"}}, statistics.memory_writers);
  out->Add({{"use", "reads"}}, statistics.memory_reads);
  out->Add({{"use", "block_cache"}}, statistics.memory_block_cache);

  out->Gauge("write_stall", "1 for the reason why writers are slowed.");
  for (const auto& [name, reason] : kStallReasons) {
    out->Add({{"reason", name}}, uint64_t{statistics.stall_reason == reason});
  }
  out->Gauge("current_write_delay_seconds", "The present delay of a write of a thousand bytes.");
  out->Add({}, statistics.write_delay);
  out->Counter("write_delay_seconds_total", "Total delay of writers.");
  out->Add({}, statistics.total_write_delay);
  out->Gauge("background_error", "1 if an error has stopped writes or compactions.");
  out->Add({}, uint64_t{!statistics.background_error.ok()});
  out->Gauge("failing_work", "Flushes of servers, and compactions, that fail and are retried.");
  for (const auto& [name, kind] : {std::pair("flush", FailingWork::Kind::kFlush),
                                   std::pair("compaction", FailingWork::Kind::kCompaction)}) {
    const auto is_of_kind = [wanted = kind](const FailingWork& work) {
      return work.kind == wanted;
    };
    out->Add({{"kind", name}},
             static_cast<uint64_t>(std::count_if(statistics.failing_work.begin(),
                                                 statistics.failing_work.end(), is_of_kind)));
  }
  out->Gauge("quarantined_files", "SSTables that compactions could not read and leave alone.");
  out->Add({}, uint64_t{statistics.quarantined_files.size()});
  out->Gauge("unserved_tablets", "Tablets that no server serves, because loading them fails.");
  out->Add({}, uint64_t{statistics.unserved_tablets.size()});
}

}  // namespace

std::string ToPrometheusText(const DatabaseStatistics& statistics) {
  Exposition out;
  AddDatabase(statistics, &out);
  AddCalls(statistics, &out);
  AddLocations(statistics.locations, &out);
  AddFamilies(statistics, &out);
  AddStorage(statistics, &out);
  AddChangeStreams(statistics, &out);
  AddGroups(statistics, &out);
  AddServers(statistics, &out);
  AddTablets(statistics, &out);
  return out.Take();
}

}  // namespace bigtable
