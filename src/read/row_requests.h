// Begins to read from the disk what reads of single rows will need, many rows at a time, so that
// the reads, which follow one after the other, wait for the disk once and not once for each row.
// Only advice: what a read returns, and its errors, are those of the read alone.
//
// Cost: for each row a look into the filters of its files, and a system call if a block that may
// have it is not known to be in memory. One thread at a time.
#ifndef BIGTABLE_READ_ROW_REQUESTS_H_
#define BIGTABLE_READ_ROW_REQUESTS_H_

#include <cstddef>
#include <string_view>

#include "base/call_limits.h"
#include "compaction/merging_cursor.h"
#include "read/filter_node.h"
#include "read/filter_program.h"
#include "read/read_sources.h"
#include "read/row_probe.h"
#include "tablet/tablet_version.h"

namespace bigtable {

class RowRequests {
 public:
  // So many rows are requested before the first of them is read. A disk has about as many requests
  // under way at a time; with more, blocks may be dropped again before they are read.
  static constexpr size_t kAhead = 64;

  // `filter`: that of the reads; is OK, and may be null. `limits`: theirs, which also end a wait
  // for another thread that opens a file. `overlapped`: the reads of the call, which the reads of
  // the rows must be given (ReadSettings::overlapped), or null. All outlive this object.
  RowRequests(const FilterNode* filter, const CallLimits* limits, OverlappedReads* overlapped)
      : filter_(filter), limits_(limits), overlapped_(overlapped) {}
  RowRequests(const RowRequests&) = delete;
  RowRequests& operator=(const RowRequests&) = delete;

  // Requests of rows of one tablet. Requests nothing once the limits have ended the call.
  class OfTablet {
   public:
    // Both outlive this object.
    OfTablet(const RowRequests& requests, const TabletVersion& version)
        : requests_(requests),
          version_(version),
          sources_(&version, {.overlapped = requests.overlapped_, .limits = requests.limits_},
                   &requests.filter_, &none_) {}

    void Request(std::string_view row) const {
      if (!requests_.limits_->Check().ok()) return;
      sources_.RequestRow(RowProbe(version_, row, requests_.filter_.passes_everything()));
    }

    ReadSources::Waits WaitsOf(std::string_view row) const {
      return sources_.WaitsOf(RowProbe(version_, row, requests_.filter_.passes_everything()));
    }

   private:
    const RowRequests& requests_;
    const TabletVersion& version_;
    MergingCursor none_;
    const ReadSources sources_;
  };

 private:
  const FilterProgram filter_;
  const CallLimits* const limits_;
  OverlappedReads* const overlapped_;
};

}  // namespace bigtable

#endif  // BIGTABLE_READ_ROW_REQUESTS_H_
