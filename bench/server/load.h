// The client's side: calls of one kind, by several threads, one after the other in each.
#ifndef BIGTABLE_BENCH_SERVER_LOAD_H_
#define BIGTABLE_BENCH_SERVER_LOAD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bench {

inline constexpr std::string_view kFamily = "f";
inline constexpr std::string_view kQualifier = "q";
inline constexpr uint64_t kRows = 100'000;
inline constexpr int kBatchRows = 100;  // of a MutateRows call

enum class Work { kMutateRow, kMutateRows, kPointRead, kScan };
std::string_view NameOf(Work work);

struct LoadResult {
  uint64_t calls = 0;
  uint64_t bytes = 0;  // of values that were received
  double seconds = 0;
  double p50_us = 0;  // of a call
  double p99_us = 0;
};

// Creates the table and writes its rows, with values of this size. An echo has them anyway.
absl::Status Prepare(const std::string& address, size_t value_size);
// Makes `calls` calls by `threads` threads, each with a connection of its own, and checks what they
// return: each scan returns all rows.
absl::StatusOr<LoadResult> Run(const std::string& address, Work work, size_t value_size,
                               uint64_t calls, int threads);

// Streams of all rows that nobody reads beyond the first message, over ten connections, until this
// is destroyed.
class IdleStreams {
 public:
  static absl::StatusOr<std::unique_ptr<IdleStreams>> Open(const std::string& address, int count);
  ~IdleStreams();
  IdleStreams(const IdleStreams&) = delete;
  IdleStreams& operator=(const IdleStreams&) = delete;

 private:
  struct Stream;

  IdleStreams();
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace bench

#endif  // BIGTABLE_BENCH_SERVER_LOAD_H_
