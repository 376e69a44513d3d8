#include "work.h"

#include <array>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"

namespace bench {
namespace {

constexpr size_t kBatchRows = 10;
constexpr size_t kBatchValueSize = 100;

absl::Status CheckSum(Store* store, uint64_t rows, uint64_t expected) {
  uint64_t sum = 0;
  for (uint64_t row = 0; row < rows; ++row) {
    const absl::StatusOr<int64_t> number = store->Number(row);
    if (!number.ok()) return number.status();
    sum += static_cast<uint64_t>(*number);
  }
  if (sum == expected) return absl::OkStatus();
  return absl::DataLossError(Concat("the rows add up to ", sum, ", and not to ", expected));
}

// The operations of one thread.
class Worker {
 public:
  Worker(Store* store, const WorkCase& work, uint64_t number)
      : store_(store), work_(work), random_(number + 1) {}

  absl::Status Run(uint64_t operations) {
    absl::Status status;
    while (status.ok() && operations-- > 0) status = RunOne();
    return status;
  }
  // The rows of the last batch have the same value, or that of a later batch each.
  absl::Status CheckLastBatch() const {
    for (const uint64_t row : rows_) {
      const absl::StatusOr<std::string> value = store_->Value(row);
      if (!value.ok()) return value.status();
      if (value->size() != kBatchValueSize) {
        return absl::DataLossError(
            Concat("row ", row, " has a value of ", value->size(), " bytes"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status RunOne() {
    switch (work_.work) {
      case Work::kIncrements:
        return store_->Increment(random_.Below(work_.rows));
      case Work::kTransactions: {
        const uint64_t from = random_.Below(work_.rows);
        return store_->Transfer(from, (from + 1 + random_.Below(work_.rows - 1)) % work_.rows);
      }
      case Work::kBatches:
        for (uint64_t& row : rows_) row = random_.Below(work_.rows);
        return store_->WriteBatch(rows_, values_.Of(rows_[0]).substr(0, kBatchValueSize));
    }
    return absl::InternalError("unknown work");
  }

  Store* const store_;
  const WorkCase work_;
  Random random_;
  std::array<uint64_t, kBatchRows> rows_ = {};
  const Values values_;
};

absl::Status Check(Store* store, const WorkCase& work, uint64_t operations,
                   const std::vector<Worker>& workers) {
  if (work.work == Work::kIncrements) return CheckSum(store, work.rows, operations);
  if (work.work == Work::kTransactions) return CheckSum(store, work.rows, 0);
  for (const Worker& worker : workers) {
    if (absl::Status s = worker.CheckLastBatch(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WorkResult> RunWork(Store* store, const WorkCase& work, uint64_t operations) {
  const uint64_t each = operations / work.threads;
  const uint64_t total = each * work.threads;
  std::vector<Worker> workers;
  for (uint64_t i = 0; i < work.threads; ++i) workers.emplace_back(store, work, i);
  std::vector<absl::Status> statuses(work.threads);
  const absl::StatusOr<absl::Duration> cpu_before = CpuTime();
  if (!cpu_before.ok()) return cpu_before.status();
  const absl::Time begin = absl::Now();
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < work.threads; ++i) {
    threads.emplace_back([&, i] { statuses[i] = workers[i].Run(each); });
  }
  for (std::thread& thread : threads) thread.join();
  const absl::Duration time = absl::Now() - begin;
  const absl::StatusOr<absl::Duration> cpu_after = CpuTime();
  if (!cpu_after.ok()) return cpu_after.status();
  for (const absl::Status& s : statuses) {
    if (!s.ok()) return s;
  }
  if (absl::Status s = Check(store, work, total, workers); !s.ok()) return s;
  const double count = static_cast<double>(total);
  return WorkResult{.per_second = count / absl::ToDoubleSeconds(time),
                    .cpu_micros = absl::ToDoubleMicroseconds(*cpu_after - *cpu_before) / count};
}

}  // namespace bench
