// A database's statistics for Prometheus.
#ifndef BIGTABLE_PROMETHEUS_H_
#define BIGTABLE_PROMETHEUS_H_

#include <string>

#include "bigtable/statistics.h"

namespace bigtable {

// The statistics in Prometheus' text exposition format (version 0.0.4): to be served as
// `text/plain; version=0.0.4`. Every name begins with "bigtable_"; durations are in seconds and
// sizes in bytes. Histograms have a bucket for each power of two of nanoseconds from 256 ns to 34
// s.
//
//   bigtable_calls_total{table="web",call="read_row"} 1201
//   bigtable_call_duration_seconds_bucket{table="web",call="read_row",le="2.56e-07"} 16
//
// A tablet goes by its table and the row that it ends before, of which the table's last has none:
//
//   bigtable_tablet_rows_written_total{server="user-00000004",table="web",end_row="com.g"} 930
//   bigtable_tablet_rows_written_total{server="user-00000004",table="web",end_row=""} 271
//
// In label values a backslash and what is not printable ASCII stand as in C (`\\`, `\xe9`); of what
// is longer than 128 bytes the rest is replaced by `\#` and a hash of the whole. So different keys
// have different labels.
//
// Pure function. Cost: about thirty lines for each histogram, of which a table has five, a server
// six, and a tablet as many as it has had kinds of calls. Where that is too much, leave out the
// tablets: clear TabletServerStatistics::tablets before.
std::string ToPrometheusText(const DatabaseStatistics& statistics);

}  // namespace bigtable

#endif  // BIGTABLE_PROMETHEUS_H_
