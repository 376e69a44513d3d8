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
// Label values that are not printable ASCII are escaped as in C. Pure function. Cost: about thirty
// lines for each histogram, of which a table has five and a server six.
std::string ToPrometheusText(const DatabaseStatistics& statistics);

}  // namespace bigtable

#endif  // BIGTABLE_PROMETHEUS_H_
