// The server's metrics in Prometheus' text format (version 0.0.4): those of the database
// (bigtable/prometheus.h), and those of its calls, which begin with "bigtable_grpc_".
#ifndef BIGTABLE_SERVER_HTTP_METRICS_TEXT_H_
#define BIGTABLE_SERVER_HTTP_METRICS_TEXT_H_

#include <string>

#include "server/http/status_source.h"

namespace bigtable::server {

// Cost: that of the statistics, and some thirty lines for each method. Tablets are left out if
// there are more than a thousand.
std::string MetricsText(const StatusSource& source);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_METRICS_TEXT_H_
