// What the status page and the metrics are made of.
#ifndef BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_
#define BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_

#include <cstddef>
#include <string>

#include "bigtable/database.h"

#include "server/admin/resumption.h"
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
  Resumption* resumption = nullptr;
  std::string address;  // of gRPC
  std::string directory;
};

// Of this process.
struct ProcessUse {
  size_t resident_bytes = 0;
  double cpu_seconds = 0;
  size_t threads = 0;
};
ProcessUse ReadProcessUse();

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_HTTP_STATUS_SOURCE_H_
