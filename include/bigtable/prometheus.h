// A database's statistics in Prometheus' format.
#ifndef BIGTABLE_PROMETHEUS_H_
#define BIGTABLE_PROMETHEUS_H_

#include <string>

#include "bigtable/export.h"
#include "bigtable/statistics.h"

namespace bigtable {

// Formats the statistics in Prometheus' text exposition format (version 0.0.4), to be served as
// `text/plain; version=0.0.4`. Every name begins with "bigtable_"; durations are in seconds and
// sizes in bytes. Histograms have a bucket for each power of two of nanoseconds from 256 ns to 34
// s.
//
//   bigtable_calls_total{table="web",call="read_row"} 1201
//   bigtable_call_duration_seconds_bucket{table="web",call="read_row",le="2.56e-07"} 16
//
// A tablet is labelled with its table and its end row, which is empty for the table's last tablet:
//
//   bigtable_tablet_rows_written_total{server="user-00000004",table="web",end_row="com.g"} 930
//   bigtable_tablet_rows_written_total{server="user-00000004",table="web",end_row=""} 271
//
// Label values escape a backslash and non-printable bytes as in C (`\\`, `\xe9`). If a value is
// longer than 128 bytes, the rest is replaced by `\#` and a hash of the whole value. So different
// keys have different labels.
//
// Pure function. Cost: about thirty lines for each histogram. A table has five, a server six, and a
// tablet one for each kind of call it has served. Where that is too much, clear
// TabletServerStatistics::tablets first.
BIGTABLE_EXPORT std::string ToPrometheusText(const DatabaseStatistics& statistics);

}  // namespace bigtable

#endif  // BIGTABLE_PROMETHEUS_H_
