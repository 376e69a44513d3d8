#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

#include "server/monitor/call_counters.h"
#include "server/monitor/call_history.h"
#include "server/monitor/call_trace.h"
#include "server/monitor/duration_counts.h"
#include "server/monitor/event_log.h"
#include "server/monitor/slow_requests.h"

namespace bigtable::server {
namespace {

TEST(DurationCounts, ADurationIsBetweenTheBoundsOfItsBucket) {
  std::vector<uint64_t> durations = {0, 1, 1000, 1024, 1025, 1088, 1089};
  for (int bits = 11; bits < 41; ++bits) {
    for (const int off : {-1, 0, 1}) durations.push_back((uint64_t{1} << bits) + off);
    durations.push_back((uint64_t{23} << bits) / 16);
  }
  for (const uint64_t duration : durations) {
    DurationCounts counts;
    ++counts.counts[DurationCounts::BucketOf(duration)];
    const LatencyHistogram histogram = counts.ToHistogram();
    ASSERT_EQ(histogram.buckets.size(), 1u);
    const LatencyHistogram::Bucket& bucket = histogram.buckets[0];
    const absl::Duration exact = absl::Nanoseconds(static_cast<int64_t>(duration));
    EXPECT_TRUE(exact > bucket.above || duration == 0) << duration;
    EXPECT_LE(exact, bucket.upto) << duration;
    if (duration > 1024 && duration <= uint64_t{1} << 37) {
      EXPECT_LE(bucket.upto - bucket.above, exact / 15) << duration;
    }
  }
}

TEST(DurationCounts, PercentilesAreWithinASixteenth) {
  DurationCounts counts;
  for (uint64_t i = 1; i <= 1000; ++i) {
    ++counts.counts[DurationCounts::BucketOf(i * 10'000)];
    counts.nanoseconds += i * 10'000;
  }
  const LatencyHistogram histogram = counts.ToHistogram();
  EXPECT_EQ(histogram.count, 1000u);
  EXPECT_EQ(histogram.Mean(), absl::Microseconds(5005));
  for (const double percent : {50.0, 90.0, 99.0}) {
    const double exact = percent * 100;  // microseconds
    EXPECT_NEAR(absl::ToDoubleMicroseconds(histogram.Percentile(percent)), exact, exact / 16);
  }
}

TEST(CallCounters, CountsEveryCallOfConcurrentThreads) {
  CallCounters counters;
  constexpr uint64_t kCalls = 20'000;
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&counters] {
      for (uint64_t call = 0; call < kCalls; ++call) {
        counters.Record(Method::kMutateRow,
                        call % 10 == 0 ? grpc::StatusCode::NOT_FOUND : grpc::StatusCode::OK, 2000,
                        7, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MethodCounts counts = counters.Read(Method::kMutateRow);
  EXPECT_EQ(counts.calls(), 12 * kCalls);
  EXPECT_EQ(counts.errors(), 12 * kCalls / 10);
  EXPECT_EQ(counts.by_code[grpc::StatusCode::NOT_FOUND], 12 * kCalls / 10);
  EXPECT_EQ(counts.request_bytes, 12 * kCalls * 7);
  EXPECT_EQ(counts.response_bytes, 12 * kCalls * 3);
  EXPECT_EQ(counts.durations.total(), 12 * kCalls);
  EXPECT_EQ(counts.durations.nanoseconds, 12 * kCalls * 2000);
  EXPECT_EQ(counters.Read(Method::kReadRows).calls(), 0u);
}

TEST(CallCounters, ACodeThatGrpcDoesNotHaveIsUnknown) {
  CallCounters counters;
  counters.Record(Method::kAdmin, static_cast<grpc::StatusCode>(17), 1, 0, 0);
  counters.Record(Method::kAdmin, static_cast<grpc::StatusCode>(-1), 1, 0, 0);
  EXPECT_EQ(counters.Read(Method::kAdmin).by_code[grpc::StatusCode::UNKNOWN], 2u);
}

TEST(CallHistory, HasTheCallsOfEachSecond) {
  CallCounters counters;
  CallHistory history(&counters);
  counters.Record(Method::kReadRows, grpc::StatusCode::OK, 5'000'000, 1, 2);
  counters.Record(Method::kReadRows, grpc::StatusCode::ABORTED, 5'000'000, 1, 2);
  history.Tick(100);
  counters.Record(Method::kMutateRow, grpc::StatusCode::OK, 1000, 1, 2);
  history.Tick(101);
  const std::vector<CallHistory::Second> seconds = history.Seconds();
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_EQ(seconds[0].time, 100);
  EXPECT_EQ(seconds[0].calls[static_cast<size_t>(Method::kReadRows)], 2u);
  EXPECT_EQ(seconds[0].by_code[grpc::StatusCode::ABORTED], 1u);
  EXPECT_EQ(seconds[0].response_bytes, 4u);
  EXPECT_EQ(seconds[1].calls[static_cast<size_t>(Method::kReadRows)], 0u);
  EXPECT_EQ(seconds[1].calls[static_cast<size_t>(Method::kMutateRow)], 1u);
  EXPECT_EQ(seconds[1].by_code[grpc::StatusCode::ABORTED], 0u);
}

TEST(CallHistory, ForgetsLatenciesAfterAMinuteAndSecondsAfterFive) {
  CallCounters counters;
  CallHistory history(&counters);
  history.Tick(1);
  counters.Record(Method::kReadRows, grpc::StatusCode::OK, 5'000'000, 1, 2);
  for (int64_t second = 2; second < 50; ++second) history.Tick(second);
  EXPECT_EQ(history.LastMinute(Method::kReadRows).total(), 1u);
  EXPECT_EQ(history.LastMinute(Method::kMutateRow).total(), 0u);
  for (int64_t second = 50; second < 70; ++second) history.Tick(second);
  EXPECT_EQ(history.LastMinute(Method::kReadRows).total(), 0u);
  for (int64_t second = 70; second < 400; ++second) history.Tick(second);
  EXPECT_EQ(history.Seconds().size(), CallHistory::kSeconds);
  EXPECT_EQ(history.Seconds().back().time, 399);
}

RequestTrace TraceOf(int64_t second, int64_t duration_ms) {
  RequestTrace trace;
  trace.begin = absl::FromUnixSeconds(3'000'000 + second);
  trace.duration = absl::Milliseconds(duration_ms);
  return trace;
}

TEST(SlowRequests, KeepsTheSlowestOfEachHalfMinuteForFiveMinutes) {
  SlowRequests slow;
  for (int64_t i = 0; i < 100; ++i) slow.OnTrace(TraceOf(0, (i * 37) % 100));
  slow.OnTrace(TraceOf(40, 50));
  const absl::Time now = absl::FromUnixSeconds(3'000'050);
  std::vector<int64_t> durations;
  for (const SlowRequest& request : slow.Slowest(20, now)) {
    durations.push_back(absl::ToInt64Milliseconds(request.duration));
  }
  EXPECT_EQ(durations, std::vector<int64_t>({99, 98, 97, 96, 95, 94, 93, 92, 50}));
  EXPECT_EQ(slow.Slowest(3, now).size(), 3u);
  EXPECT_EQ(slow.Slowest(20, now + absl::Minutes(5)).size(), 0u);
  // The place of the first half minute is used again.
  slow.OnTrace(TraceOf(300, 1));
  EXPECT_EQ(slow.Slowest(20, absl::FromUnixSeconds(3'000'301)).size(), 2u);
}

// Fifteen seconds ago a call came, and waited for five. Ten seconds ago it began; four seconds ago
// the engine had its request, of which three were within the engine.
TEST(SlowRequests, ACallHasItsTimesOutsideTheEngine) {
  SlowRequests slow;
  CallTrace call;
  call.Begins(std::chrono::steady_clock::now() - std::chrono::seconds(10), std::chrono::seconds(5));
  {
    const CallTrace::Step step(&call);
    slow.OnTrace(TraceOf(0, 1));  // of an earlier request of the call
    RequestTrace trace;
    trace.request = RequestTrace::Request::kReadRows;
    trace.begin = absl::Now() - absl::Seconds(4);
    trace.duration = absl::Seconds(4);
    trace.inside = absl::Seconds(3);
    slow.OnTrace(trace);
  }
  EXPECT_EQ(slow.Slowest(20, absl::Now()).size(), 0u);  // the call has not ended
  ASSERT_TRUE(call.is_traced());
  slow.Add(call.Finish());
  EXPECT_FALSE(call.is_traced());
  const std::vector<SlowRequest> slowest = slow.Slowest(20, absl::Now());
  ASSERT_EQ(slowest.size(), 1u);
  EXPECT_NEAR(absl::ToDoubleSeconds(slowest[0].duration), 15, 0.5);
  EXPECT_EQ(slowest[0].admission, absl::Seconds(5));
  EXPECT_NEAR(absl::ToDoubleSeconds(slowest[0].reading), 6, 0.5);
  EXPECT_NEAR(absl::ToDoubleSeconds(slowest[0].converting), 1, 0.5);
  EXPECT_NEAR(absl::ToDoubleSeconds(slowest[0].client), 0, 0.5);
}

// On a thread of the engine, which tells calls their rows a few reads later.
TEST(SlowRequests, ACallThatHasNoThreadTakesTheTraceOfItsRow) {
  std::thread([] {
    SlowRequests slow;
    const auto read = [&](std::string row) {
      RequestTrace trace;
      trace.row = std::move(row);
      trace.begin = absl::Now() - absl::Seconds(3);
      trace.duration = absl::Seconds(2);
      slow.OnTrace(trace);
    };
    read("before");  // the thread is not known to do so
    EXPECT_EQ(slow.Slowest(20, absl::Now()).size(), 1u);
    CallTrace first, call, other;
    first.TakeKept("before");
    EXPECT_FALSE(first.is_traced());
    const std::string long_row(1000, 'x');
    for (const char* row : {"a", "b", "c"}) read(row);
    read(long_row.substr(0, RequestTrace::kMostRowBytes));
    EXPECT_EQ(slow.Slowest(20, absl::Now()).size(), 1u);
    call.Begins(std::chrono::steady_clock::now() - std::chrono::seconds(10),
                std::chrono::seconds(5));
    call.TakeKept("d");
    EXPECT_FALSE(call.is_traced());
    call.TakeKept("b");
    ASSERT_TRUE(call.is_traced());
    const SlowRequest request = call.Finish();
    EXPECT_EQ(request.trace.row, "b");
    EXPECT_NEAR(absl::ToDoubleSeconds(request.duration), 15, 0.5);
    EXPECT_NEAR(absl::ToDoubleSeconds(request.reading), 7, 0.5);
    EXPECT_NEAR(absl::ToDoubleSeconds(request.converting), 1, 0.5);
    call.TakeKept("b");
    EXPECT_FALSE(call.is_traced()) << "it is taken once";
    other.Begins(std::chrono::steady_clock::now(), std::chrono::seconds(0));
    other.TakeKept("c");
    EXPECT_FALSE(other.is_traced()) << "it began before the call";
    other.Begins(std::chrono::steady_clock::now() - std::chrono::seconds(4),
                 std::chrono::seconds(0));
    other.TakeKept(long_row);
    EXPECT_TRUE(other.is_traced());
    for (int i = 0; i < 20; ++i) read("later");
    call.TakeKept("a");
    EXPECT_FALSE(call.is_traced()) << "too many came after it";
    {
      const CallTrace::Step step(&call);
      call.TakeKept("later");  // the trace comes to the step
    }
    EXPECT_FALSE(call.is_traced());
  }).join();
}

TEST(SlowRequests, AStreamThatIsReleasedHasWaitedForItsClient) {
  SlowRequests slow;
  RequestTrace trace;
  trace.request = RequestTrace::Request::kReadRows;
  trace.begin = absl::Now() - absl::Seconds(4);
  trace.duration = absl::Seconds(4);
  trace.inside = absl::Seconds(3);
  slow.OnTrace(trace);
  const std::vector<SlowRequest> slowest = slow.Slowest(20, absl::Now());
  ASSERT_EQ(slowest.size(), 1u);
  EXPECT_EQ(slowest[0].client, absl::Seconds(1));
}

TEST(EventLog, ServersAreStoppedUntilTheDatabaseIsResumed) {
  EventLog log;
  log.OnBackgroundError(
      {.time = absl::Now(), .server = "server-1", .status = absl::UnavailableError("no sync")});
  log.OnBackgroundError({.time = absl::Now(),
                         .server = "server-2",
                         .stops = BackgroundErrorEvent::Stops::kCompactions,
                         .status = absl::UnavailableError("in doubt")});
  EXPECT_EQ(log.StoppedServers(), (std::map<std::string, std::string>{{"server-1", "no sync"}}));
  log.OnResumed({});
  EXPECT_TRUE(log.StoppedServers().empty());
}

CompactionEvent CompactionOf(const std::string& table) {
  CompactionEvent event;
  event.location.table = table;
  event.inputs = {{1, 100}, {2, 200}};
  return event;
}

TEST(EventLog, ACompactionIsRunningUntilItEnds) {
  EventLog log;
  log.OnCompactionBegan(CompactionOf("a"));
  log.OnCompactionBegan(CompactionOf("b"));
  ASSERT_EQ(log.RunningNow().size(), 2u);
  EXPECT_EQ(log.RunningNow()[0].bytes, 300u);
  CompactionEvent ended = CompactionOf("a");
  ended.status = absl::DataLossError("a file is damaged");
  ended.bytes_written = 50;
  log.OnCompactionEnded(ended);
  ASSERT_EQ(log.RunningNow().size(), 1u);
  EXPECT_EQ(log.RunningNow()[0].location.table, "b");
  const std::vector<EventLog::Entry> entries = log.Last(10);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries[0].is_failure);
  EXPECT_NE(entries[0].what.find("a file is damaged"), std::string::npos);
  EXPECT_EQ(entries[0].bytes_written, 50u);
  EXPECT_EQ(log.compactions(), 2u);
  EXPECT_EQ(log.flushes(), 0u);
}

TEST(EventLog, AFlushAndACompactionOfOneGroupAreTwoThings) {
  EventLog log;
  log.OnCompactionBegan(CompactionOf("a"));
  log.OnMinorCompactionBegan({.location = {.table = "a"}, .memtables = 1});
  log.OnMinorCompactionEnded({.location = {.table = "a"}, .memtables = 1});
  ASSERT_EQ(log.RunningNow().size(), 1u);
  EXPECT_EQ(log.RunningNow()[0].kind, EventLog::Kind::kCompaction);
}

TEST(EventLog, StallsHaveTheirReason) {
  EventLog log;
  log.OnStallChanged(
      {.server = "s", .now = StallReason::kSortedRuns, .delay = absl::Milliseconds(2)});
  log.OnStallChanged({.server = "s", .before = StallReason::kSortedRuns});
  const std::vector<EventLog::Entry> entries = log.Last(10);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].what, "writers are slowed: sorted runs, 2ms a write");
  EXPECT_EQ(entries[0].what, "writers go on; they waited for sorted runs");
}

TEST(EventLog, KeepsTheLastEvents) {
  EventLog log;
  for (int i = 0; i < 1000; ++i) log.OnTableChanged({.table = std::to_string(i)});
  const std::vector<EventLog::Entry> entries = log.Last(1000);
  ASSERT_EQ(entries.size(), EventLog::kKept);
  EXPECT_EQ(entries.front().number, 1000u);
  EXPECT_EQ(entries.front().location.table, "999");
}

}  // namespace
}  // namespace bigtable::server
