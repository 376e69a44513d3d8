// What the status page and the metrics are made of.
#ifndef BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_
#define BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_

#include <string>
#include <utility>
#include <vector>

#include "bigtable/database.h"

#include "server/admin/resumption.h"
#include "server/calls/admission.h"
#include "server/connections/acceptor.h"
#include "server/data/change_streams.h"
#include "server/data/streams.h"
#include "server/health.h"
#include "server/monitor/monitor.h"

namespace bigtable::server {

// All outlive what has it.
struct StatusSource {
  Database* database = nullptr;
  const Monitor* monitor = nullptr;
  const Health* health = nullptr;
  const Streams* streams = nullptr;
  const ChangeStreams* change_streams = nullptr;
  Resumption* resumption = nullptr;
  const Admission* admission = nullptr;
  Acceptor* acceptor = nullptr;
  std::string address;  // of gRPC
  std::string directory;
  std::string version;
  std::vector<std::pair<std::string, std::string>> options;  // of the server, by name
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_
