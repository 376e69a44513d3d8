#include "server/http/metrics_text.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/prometheus.h"
#include "bigtable/statistics.h"

#include "server/http/code_names.h"
#include "server/monitor/call_counters.h"
#include "server/monitor/process_use.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr size_t kMostTablets = 1000;

using CallCounts = std::array<MethodCounts, kMethods>;

std::string Head(std::string_view name, std::string_view type, std::string_view help) {
  return Cat("# HELP bigtable_grpc_", name, " ", help, "\n# TYPE bigtable_grpc_", name, " ", type,
             "\n");
}

std::string Seconds(uint64_t nanoseconds) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<double>(nanoseconds) / 1e9);
  return std::string(digits.data(), end.ptr);
}

template <typename Value>
std::string Gauge(std::string_view name, std::string_view help, Value value) {
  return Cat(Head(name, "gauge", help), "bigtable_grpc_", name, " ", value, "\n");
}

std::string Calls(const CallCounts& counts) {
  std::string text = Head("calls_total", "counter", "Calls that have ended.");
  for (size_t method = 0; method < kMethods; ++method) {
    for (size_t code = 0; code < kCodes; ++code) {
      const uint64_t count = counts[method].by_code[code];
      // OK is there from the start, so that a rate can be computed.
      if (count == 0 && code > 0) continue;
      text += Cat("bigtable_grpc_calls_total{method=\"", kMethodNames[method], "\",code=\"",
                  kCodeNames[code], "\"} ", count, "\n");
    }
  }
  return text;
}

std::string Bytes(const CallCounts& counts, std::string_view name, std::string_view help,
                  uint64_t MethodCounts::*bytes) {
  std::string text = Head(name, "counter", help);
  for (size_t method = 0; method < kMethods; ++method) {
    text += Cat("bigtable_grpc_", name, "{method=\"", kMethodNames[method], "\"} ",
                counts[method].*bytes, "\n");
  }
  return text;
}

// A bucket for each power of two of nanoseconds from a microsecond to 69 seconds. These are bounds
// of the counts, so they are exact.
std::string DurationsOf(std::string_view method, const DurationCounts& counts) {
  constexpr size_t kSteps = size_t{1} << DurationCounts::kStepBits;
  const auto bucket = [&](std::string_view le, uint64_t count) {
    return Cat("bigtable_grpc_call_duration_seconds_bucket{method=\"", method, "\",le=\"", le,
               "\"} ", count, "\n");
  };
  std::string text;
  uint64_t count = counts.counts[0];
  size_t next = 1;
  for (int bits = DurationCounts::kFirstBits; bits < DurationCounts::kLastBits; ++bits) {
    text += bucket(Seconds(uint64_t{1} << bits), count);
    for (size_t step = 0; step < kSteps; ++step) count += counts.counts[next++];
  }
  const uint64_t total = counts.total();
  text += bucket("+Inf", total);
  text += Cat("bigtable_grpc_call_duration_seconds_sum{method=\"", method, "\"} ",
              Seconds(counts.nanoseconds), "\n");
  text += Cat("bigtable_grpc_call_duration_seconds_count{method=\"", method, "\"} ", total, "\n");
  return text;
}

std::string Durations(const CallCounts& counts) {
  std::string text = Head("call_duration_seconds", "histogram",
                          "Time from the request to the end of the response; of ReadRows, with "
                          "the time in which the client takes messages.");
  for (size_t method = 0; method < kMethods; ++method) {
    if (counts[method].calls() > 0) {
      text += DurationsOf(kMethodNames[method], counts[method].durations);
    }
  }
  return text;
}

std::string StreamsOf(const Streams& streams) {
  const auto line = [](std::string_view state, size_t count) {
    return Cat("bigtable_grpc_streams{state=\"", state, "\"} ", count, "\n");
  };
  return Head("streams", "gauge",
              "ReadRows calls: under way, of these waiting for their client, and of these still "
              "holding what they read from.") +
         line("open", streams.running()) + line("waiting", streams.waiting()) +
         line("holding", streams.holding());
}

std::string ChangeStreamsOf(const ChangeStreams& streams) {
  std::string text =
      Gauge("change_streams", "ReadChangeStream calls under way.", streams.open()) +
      Gauge("change_stream_limit", "The most that may be.", streams.most()) +
      Head("refused_change_streams_total", "counter", "ReadChangeStream calls that were refused.");
  const ChangeStreams::Counts counts = streams.refused();
  for (size_t i = 0; i < counts.size(); ++i) {
    text += Cat("bigtable_grpc_refused_change_streams_total{reason=\"",
                ChangeStreams::kReasonNames[i], "\"} ", counts[i], "\n");
  }
  return text;
}

std::string RequestsOf(const Admission& admission) {
  const auto bytes = [](std::string_view state, uint64_t count) {
    return Cat("bigtable_grpc_requests_in_memory_bytes{state=\"", state, "\"} ", count, "\n");
  };
  std::string text =
      Head("requests_in_memory_bytes", "gauge",
           "Bytes of requests that are received, as far as they were not there at once (an "
           "estimate), and that are executed.") +
      bytes("receiving", admission.receiving()) + bytes("executing", admission.executing()) +
      Gauge("waiting_calls", "Calls that wait for memory.", admission.waiting()) +
      Gauge("largest_request_bytes", "The largest request that is taken.",
            admission.limits().largest) +
      Head("refused_calls_total", "counter", "Calls that were refused for want of memory.");
  const Admission::Counts counts = admission.refused();
  for (size_t i = 0; i < counts.size(); ++i) {
    text += Cat("bigtable_grpc_refused_calls_total{reason=\"", Admission::kReasonNames[i], "\"} ",
                counts[i], "\n");
  }
  return text;
}

std::string ConnectionsOf(Acceptor* acceptor) {
  std::string text =
      Gauge("connections", "Connections to the address of gRPC.",
            acceptor->connections()->Count()) +
      Gauge("connection_limit", "The most that may be open.", acceptor->connections()->most()) +
      Head("refused_connections_total", "counter",
           "Connections that were closed because there were too many; and how often none could be "
           "accepted for want of a descriptor.");
  const Acceptor::Counts counts = acceptor->counts();
  for (size_t i = 0; i < counts.size(); ++i) {
    text += Cat("bigtable_grpc_refused_connections_total{reason=\"", Acceptor::kReasonNames[i],
                "\"} ", counts[i], "\n");
  }
  return text;
}

}  // namespace

std::string MetricsText(const StatusSource& source) {
  DatabaseStatistics statistics = source.database->Statistics();
  size_t tablets = 0;
  for (const auto& [label, server] : statistics.servers) tablets += server.tablets.size();
  if (tablets > kMostTablets) {
    for (auto& [label, server] : statistics.servers) server.tablets.clear();
  }
  CallCounts counts;
  for (size_t i = 0; i < kMethods; ++i) {
    counts[i] = source.monitor->calls().Read(static_cast<Method>(i));
  }
  const ProcessUse use = ReadProcessUse();
  std::string text = ToPrometheusText(statistics);
  text += Calls(counts);
  text += Durations(counts);
  text += Bytes(counts, "request_bytes_total", "Bytes of requests, before compression.",
                &MethodCounts::request_bytes);
  text += Bytes(counts, "response_bytes_total", "Bytes of responses, before compression.",
                &MethodCounts::response_bytes);
  text += StreamsOf(*source.streams);
  text += ChangeStreamsOf(*source.change_streams);
  text += RequestsOf(*source.admission);
  text += Gauge("threads", "Threads of the process.", use.threads);
  const Health::State health = source.health->Check();
  text +=
      Gauge("healthy", "1 if the server can serve reads and writes.", health.writes.ok() ? 1 : 0);
  text += Gauge("serves_reads", "1 if it can serve reads.", health.reads.ok() ? 1 : 0);
  text += Gauge("open_descriptors", "Open file descriptors of the process.", use.descriptors);
  text += Gauge("descriptor_limit", "The most descriptors that it may have.", use.descriptor_limit);
  text += ConnectionsOf(source.acceptor);
  if (const std::optional<DiskUse> disk = ReadDiskUse(source.directory)) {
    text += Gauge("disk_free_bytes", "What is free on the disk of the database.", disk->free_bytes);
    text += Gauge("disk_bytes", "The size of that disk.", disk->total_bytes);
  }
  text += Gauge("resident_bytes", "Memory of the process.", use.resident_bytes);
  text += Gauge("uptime_seconds", "Time since the server was started.",
                absl::ToInt64Seconds(absl::Now() - source.monitor->began()));
  return text;
}

}  // namespace bigtable::server
