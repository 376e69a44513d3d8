// The head of a queue: the first row of a table behind 200,000 rows that were taken, which no
// compaction has removed yet. Reads that walk over the deletions, reads that skip them
// (tablet/empty_rows.h), and a consumer that takes the head, each also while another thread writes
// behind the queue. And the row after the deletions behind a live one, and in reverse.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "benchmark/benchmark.h"

#include "bigtable/bigtable.h"
#include "bigtable/testing/in_memory_file_system.h"

#include "base/shortcuts.h"
#include "base/status.h"

namespace bigtable {
namespace {

constexpr uint64_t kTaken = 200'000;
constexpr uint64_t kOthers = 1'000'000'000;  // rows that the other thread writes

constexpr const char* kFirst = "a";  // before the queue

std::string JobOf(uint64_t i) { return absl::StrFormat("job%012d", i); }

class Queue {
 public:
  static absl::StatusOr<std::unique_ptr<Queue>> Make() {
    auto queue = std::make_unique<Queue>();
    BT_ASSIGN_OR_RETURN(queue->database_,
                        Database::Open("/queue", {.file_system = &queue->memory_}));
    TableSchema schema;
    schema.families["f"] = {.gc = GcRule::MaxVersions(1)};
    BT_RETURN_IF_ERROR(queue->database_->CreateTable("queue", schema));
    BT_ASSIGN_OR_RETURN(queue->table_, queue->database_->OpenTable("queue"));
    BT_RETURN_IF_ERROR(queue->table_->Apply(RowMutation(kFirst).Set("f:work", "...")));
    for (uint64_t i = 0; i <= kTaken; ++i) BT_RETURN_IF_ERROR(queue->Append(i));
    for (uint64_t i = 0; i < kTaken; ++i) BT_RETURN_IF_ERROR(queue->Take(i));
    return queue;
  }
  ~Queue() { EndWriter(); }

  // A thread writes other rows, behind the queue, until the queue is destroyed.
  void BeginWriter() {
    writer_ = std::thread([this] {
      for (uint64_t i = 0; !ended_; ++i) {
        if (!Append(kOthers + i % 10'000).ok()) return;
        writes_.fetch_add(1, std::memory_order_relaxed);
      }
    });
    while (writes_ < 1000) std::this_thread::yield();
  }
  void EndWriter() {
    ended_ = true;
    if (writer_.joinable()) writer_.join();
  }
  absl::Status Append(uint64_t i) {
    return table_->Apply(RowMutation(JobOf(i)).Set("f:work", "..."));
  }
  absl::Status Take(uint64_t i) { return table_->Apply(RowMutation(JobOf(i)).DeleteRow()); }
  bool HeadIs(uint64_t i) {
    RowReader first = table_->ReadRows(jobs_, {.row_limit = 1});
    return first.Next() && first.row().key() == JobOf(i);
  }
  // The row before the queue and its head, in this order or in reverse.
  bool RowsAround(uint64_t i, bool reverse) {
    RowReader rows =
        table_->ReadRows(RowRange::Closed(kFirst, JobOf(i)), {.reverse = reverse, .row_limit = 2});
    const std::string head = JobOf(i);
    return rows.Next() && rows.row().key() == (reverse ? head : kFirst) && rows.Next() &&
           rows.row().key() == (reverse ? kFirst : head);
  }

 private:
  InMemoryFileSystem memory_;
  std::unique_ptr<Database> database_;
  Table* table_ = nullptr;
  const RowRange jobs_ = RowRange::StartingAt(JobOf(0));
  std::thread writer_;
  std::atomic<bool> ended_ = false;
  std::atomic<uint64_t> writes_ = 0;
};

enum class QueueReads { kWalk, kSkip, kTake };
enum class QueuePlace { kHead, kAround, kReverse };

void BM_QueueHead(benchmark::State& state, QueueReads reads, bool with_writer,
                  QueuePlace place = QueuePlace::kHead) {
  const absl::StatusOr<std::unique_ptr<Queue>> made = Queue::Make();
  if (!made.ok()) return state.SkipWithError(made.status().ToString().c_str());
  Queue& queue = **made;
  if (with_writer) queue.BeginWriter();
  const uint64_t off = shortcuts_off.load();
  const auto read = [&queue, place](uint64_t head) {
    return place == QueuePlace::kHead ? queue.HeadIs(head)
                                      : queue.RowsAround(head, place == QueuePlace::kReverse);
  };
  if (reads == QueueReads::kWalk) {
    shortcuts_off = off | uint64_t{1} << static_cast<uint32_t>(Shortcut::kEmptyRows);
  } else {
    for (int i = 0; i < 3; ++i) read(kTaken);
  }
  uint64_t head = kTaken;
  for (auto _ : state) {
    bool ok = read(head);
    if (reads == QueueReads::kTake) {
      ok = ok && queue.Take(head++).ok() && queue.Append(head).ok();
    }
    if (!ok) {
      state.SkipWithError("the head is wrong");
      break;
    }
  }
  shortcuts_off = off;
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK_CAPTURE(BM_QueueHead, walk, QueueReads::kWalk, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, skip, QueueReads::kSkip, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, take, QueueReads::kTake, false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, walk_beside_writes, QueueReads::kWalk, true)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_QueueHead, skip_beside_writes, QueueReads::kSkip, true)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_QueueHead, take_beside_writes, QueueReads::kTake, true)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

BENCHMARK_CAPTURE(BM_QueueHead, walk_behind_a_row, QueueReads::kWalk, false, QueuePlace::kAround)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, skip_behind_a_row, QueueReads::kSkip, false, QueuePlace::kAround)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, walk_in_reverse, QueueReads::kWalk, false, QueuePlace::kReverse)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(BM_QueueHead, skip_in_reverse, QueueReads::kSkip, false, QueuePlace::kReverse)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace bigtable
