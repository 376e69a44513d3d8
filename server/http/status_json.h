// What the status page shows, as JSON. docs/server.md describes it.
#ifndef BIGTABLE_SERVER_HTTP_STATUS_JSON_H_
#define BIGTABLE_SERVER_HTTP_STATUS_JSON_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

#include "server/http/status_source.h"

namespace bigtable::server {

// What the page has already, so that it need not be sent again.
struct StatusQuery {
  std::string table;   // whose heat to send; empty: the first that has any
  uint64_t epoch = 0;  // TableHeat::epoch
  int64_t from = 0;    // the first column of the heat, if the epoch is still that
  int64_t since = 0;   // the first second of the history
};

// Parameters that are not known are skipped. InvalidArgument, with the name and the value.
absl::StatusOr<StatusQuery> ParseStatusQuery(const std::map<std::string, std::string>& parameters);

// Cost: that of the statistics, and a line for each table, locality group and tablet; of tablets
// there are kMostTabletsShown at most.
inline constexpr size_t kMostTabletsShown = 500;
std::string StatusJson(const StatusSource& source, const StatusQuery& query);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_STATUS_JSON_H_
