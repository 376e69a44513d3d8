// What is in a recording, as one reading of it shows.
#ifndef BIGTABLE_BENCH_REPLAY_OVERVIEW_H_
#define BIGTABLE_BENCH_REPLAY_OVERVIEW_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

namespace bench {

struct KindCount {
  uint64_t calls = 0;
  uint64_t failed = 0;  // in the recording, and so not made again
  uint64_t mutations = 0;
  uint64_t bytes_written = 0;  // of rows, qualifiers and values
  uint64_t rows = 0;           // returned
  uint64_t bytes_returned = 0;
};

struct Overview {
  absl::Time begin;
  absl::Duration length;
  bigtable::RecordedKeys keys = bigtable::RecordedKeys::kPlain;
  uint64_t calls = 0;
  uint64_t lost_calls = 0;
  bool is_truncated = false;
  std::set<uint64_t> threads;
  std::map<bigtable::RecordedCall::Kind, KindCount> kinds;
  std::map<std::string, bigtable::TableSchema> tables;
  // Of each table the columns that were written, but no more than two.
  std::map<std::string, std::set<std::string>> columns;
};

std::string_view NameOf(bigtable::RecordedCall::Kind kind);
// Whether it is a read alone.
bool ReadsOnly(bigtable::RecordedCall::Kind kind);
// Rows, qualifiers and values of its mutations.
uint64_t BytesWritten(const bigtable::RecordedCall& call);

absl::StatusOr<Overview> ReadOverview(const std::string& recording);
void Print(const Overview& overview);

}  // namespace bench

#endif  // BIGTABLE_BENCH_REPLAY_OVERVIEW_H_
