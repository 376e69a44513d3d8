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

// The cost of a row.
struct Cost {
  double microseconds = Sample::kNone;
  ReadTouches touches = {.filters = Sample::kNone,
                         .files = Sample::kNone,
                         .blocks = Sample::kNone,
                         .bytes = Sample::kNone};
};

// Measures `work`, which returns the number of rows that it has read.
template <typename Work>
absl::StatusOr<Cost> Measure(Subject& subject, const ProbeOptions& options, Work&& work) {
  if (!options.is_first) {
    if (absl::Status s = work().status(); !s.ok()) return s;
  }
  if (options.counts_touches) subject.CountTouches();
  const absl::Duration start = ThreadCpuTime();
  const absl::StatusOr<uint64_t> rows = work();
  if (!rows.ok()) return rows.status();
  const absl::Duration time = ThreadCpuTime() - start;
  Cost cost;
  if (options.counts_touches) cost.touches = subject.TakeTouches();
  if (*rows == 0) return Cost();
  const auto count = static_cast<double>(*rows);
  cost.microseconds = absl::ToDoubleMicroseconds(time) / count;
  for (double ReadTouches::*const figure :
       {&ReadTouches::filters, &ReadTouches::files, &ReadTouches::blocks, &ReadTouches::bytes}) {
    cost.touches.*figure /= count;
  }
  return cost;
}

template <typename Read>
absl::StatusOr<uint64_t> ForEach(const std::vector<uint64_t>& rows, Read&& read) {
  for (const uint64_t row : rows) {
    if (absl::Status s = read(row); !s.ok()) return s;
  }
  return rows.size();
}

}  // namespace

absl::Status ProbeReads(Subject& subject, const Workload& workload, uint64_t seed,
                        const ProbeOptions& options, Sample* sample) {
  if (workload.live_rows() == 0) return absl::OkStatus();
  Random random(seed);
  std::vector<uint64_t> rows(kReads);
  for (uint64_t& row : rows) row = workload.DrawLiveRow(random);
  const absl::StatusOr<Cost> read = Measure(subject, options, [&] {
    return ForEach(rows, [&](uint64_t row) { return subject.Read(row); });
  });
  if (!read.ok()) return read.status();
  sample->read_us = read->microseconds;
  sample->read_filters = read->touches.filters;
  sample->read_files = read->touches.files;
  sample->read_amplification = read->touches.blocks;
  sample->read_bytes = read->touches.bytes;
  const absl::StatusOr<Cost> missing = Measure(subject, options, [&] {
    return ForEach(rows, [&](uint64_t row) { return subject.ReadMissing(row); });
  });
  if (!missing.ok()) return missing.status();
  sample->missing_read_us = missing->microseconds;
  sample->missing_filters = missing->touches.filters;
  sample->missing_files = missing->touches.files;
  sample->missing_blocks = missing->touches.blocks;
  const absl::StatusOr<Cost> scan = Measure(subject, options, [&]() -> absl::StatusOr<uint64_t> {
    uint64_t seen = 0;
    for (size_t i = 0; i < kScans; ++i) {
      absl::StatusOr<uint64_t> scanned = subject.Scan(rows[i], kScannedRows);
      if (!scanned.ok()) return scanned.status();
      seen += *scanned;
    }
    return seen;
  });
  if (!scan.ok()) return scan.status();
  sample->scan_row_us = scan->microseconds;
  sample->scan_blocks = scan->touches.blocks;
  sample->scan_bytes = scan->touches.bytes;
  return absl::OkStatus();
}

}  // namespace bench
