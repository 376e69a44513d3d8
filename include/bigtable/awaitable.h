// Reads that a coroutine waits for with co_await, on Table::ReadRowAsync and GetRowsAsync:
//
//   absl::StatusOr<Row> row = co_await AwaitRow(table, "com.cnn.www");
//
// What is in memory does not suspend the coroutine. Otherwise it is resumed by a thread of the
// database that reads for others too: what follows should be quick, or go on in an executor of the
// program. The type of the coroutine is the program's. While it waits it must not be destroyed.
#ifndef BIGTABLE_AWAITABLE_H_
#define BIGTABLE_AWAITABLE_H_

#include <atomic>
#include <coroutine>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/table.h"

namespace bigtable {

// A result that a coroutine waits for; what AwaitRow and AwaitRows return. `Start` begins the call,
// and is given the function to be called with the result. To be awaited once, where it is made.
template <typename Result, typename Start>
class Awaitable {
 public:
  // Begins nothing yet.
  explicit Awaitable(Start start) : start_(std::move(start)) {}
  Awaitable(const Awaitable&) = delete;
  Awaitable& operator=(const Awaitable&) = delete;

  // The call is begun with the coroutine in hand.
  bool await_ready() const { return false; }
  // Whether the coroutine is suspended: the result is not there yet.
  bool await_suspend(std::coroutine_handle<> waiting) {
    std::move(start_)([this, waiting](Result result) {
      result_ = std::move(result);
      if (state_.exchange(State::kDone, std::memory_order_acq_rel) == State::kSuspended) {
        waiting.resume();  // this may be gone when it returns
      }
    });
    return state_.exchange(State::kSuspended, std::memory_order_acq_rel) != State::kDone;
  }
  // Returns the result.
  Result await_resume() { return std::move(result_); }

 private:
  enum class State { kStarting, kSuspended, kDone };

  Start start_;
  std::atomic<State> state_{State::kStarting};
  Result result_{};
};

// Table::ReadRowAsync. The table outlives the wait.
inline auto AwaitRow(Table* table, std::string row, Filter filter = {}, ReadOptions options = {}) {
  auto start = [table, row = std::move(row), filter = std::move(filter),
                options = std::move(options)](auto done) mutable {
    table->ReadRowAsync(std::move(row), std::move(filter), std::move(options), std::move(done));
  };
  return Awaitable<absl::StatusOr<Row>, decltype(start)>(std::move(start));
}

// Table::GetRowsAsync. The table outlives the wait.
inline auto AwaitRows(Table* table, std::vector<std::string> rows, Filter filter = {},
                      ReadOptions options = {}) {
  auto start = [table, rows = std::move(rows), filter = std::move(filter),
                options = std::move(options)](auto done) mutable {
    table->GetRowsAsync(std::move(rows), std::move(filter), std::move(options), std::move(done));
  };
  return Awaitable<std::vector<absl::StatusOr<Row>>, decltype(start)>(std::move(start));
}

}  // namespace bigtable

#endif  // BIGTABLE_AWAITABLE_H_
