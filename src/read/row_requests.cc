#include "read/row_requests.h"

#include "blocks/read_settings.h"
#include "compaction/merging_cursor.h"
#include "read/read_sources.h"
#include "read/row_probe.h"

namespace bigtable {

void RowRequests::Request(const TabletVersion& version, std::string_view row) const {
  MergingCursor none;
  const ReadSources sources(&version, ReadSettings(), &filter_, &none);
  sources.RequestRow(RowProbe(version, row, filter_.passes_everything()));
}

}  // namespace bigtable
