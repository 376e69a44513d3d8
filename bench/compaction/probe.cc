#include "probe.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "common/measure.h"
#include "common/workload.h"

namespace bench {
namespace {

constexpr size_t kReads = 200;
constexpr size_t kScans = 10;

// Runs `work`, which returns the number of rows that it read, twice, and records the cost of a row
// in the second run.
template <typename Work>
absl::Status MeasureSecond(double* microseconds, Work&& work) {
  absl::Status s = work().status();
  if (!s.ok()) return s;
  const absl::Duration start = ThreadCpuTime();
  absl::StatusOr<uint64_t> rows = work();
  if (!rows.ok()) return rows.status();
  const absl::Duration time = ThreadCpuTime() - start;
  if (*rows > 0) *microseconds = absl::ToDoubleMicroseconds(time) / static_cast<double>(*rows);
  return absl::OkStatus();
}

template <typename Read>
absl::StatusOr<uint64_t> ForEach(const std::vector<uint64_t>& rows, Read&& read) {
  for (const uint64_t row : rows) {
    if (absl::Status s = read(row); !s.ok()) return s;
  }
  return rows.size();
}

}  // namespace

absl::StatusOr<ReadCost> ProbeReads(Subject& subject, const Workload& workload, uint64_t seed) {
  ReadCost cost;
  if (workload.live_rows() == 0) return cost;
  Random random(seed);
  std::vector<uint64_t> rows(kReads);
  for (uint64_t& row : rows) row = workload.DrawLiveRow(random);
  absl::Status s = MeasureSecond(&cost.read_us, [&] {
    return ForEach(rows, [&](uint64_t row) { return subject.Read(row); });
  });
  if (!s.ok()) return s;
  s = MeasureSecond(&cost.missing_read_us, [&] {
    return ForEach(rows, [&](uint64_t row) { return subject.ReadMissing(row); });
  });
  if (!s.ok()) return s;
  s = MeasureSecond(&cost.scan_row_us, [&]() -> absl::StatusOr<uint64_t> {
    uint64_t seen = 0;
    for (size_t i = 0; i < kScans; ++i) {
      absl::StatusOr<uint64_t> scanned = subject.Scan(rows[i], kScannedRows);
      if (!scanned.ok()) return scanned.status();
      seen += *scanned;
    }
    return seen;
  });
  if (!s.ok()) return s;
  return cost;
}

}  // namespace bench
