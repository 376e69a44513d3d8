// Where the bytes of a tablet are among its rows: estimates from the indexes of its SSTables and
// from its memtables. No row is read.
//
// The bytes of a range are those between its two ends in each file and memtable. So the sizes of
// adjacent ranges add up to the size of both together, but for rounding.
#ifndef BIGTABLE_READ_SIZE_SAMPLES_H_
#define BIGTABLE_READ_SIZE_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/row_key_sample.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "memtable/memtable.h"
#include "tablet/tablet.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// One version of a tablet, whose memtables are sampled once. One thread at a time.
class SizeSamples {
 public:
  // `tablet` outlives this. Opens the files that have rows of the tablet. Errors of SSTable::Open,
  // and of the limits.
  absl::Status Begin(const Tablet& tablet, const CallLimits& limits);

  // About how many bytes the rows of the range take that are in the tablet.
  uint64_t SizeOf(const RowRange& rows) const;
  // Rows that divide `rows`, which are in the tablet, into parts of about `part` bytes, in key
  // order; none is the first. Each has the bytes of those of `rows` that are before it.
  std::vector<RowKeySample> Divide(const RowRange& rows, uint64_t part) const;

 private:
  const Tablet* tablet_ = nullptr;
  Pin<TabletVersion> version_;
  std::vector<std::vector<Memtable::Sample>> memtables_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_SIZE_SAMPLES_H_
