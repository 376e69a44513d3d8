// The log as JSON, one object a line, for programs that collect logs (--log json):
//
//   {"time":"2026-01-02T03:04:05.678901Z","severity":"INFO","message":"flushed a memtable ..."}
//   {"time":...,"severity":"INFO","message":"admin call","caller":"ada","code":"OK",
//    "method":"/google.bigtable.admin.v2.BigtableTableAdmin/DeleteTable",
//    "peer":"ipv4:127.0.0.1:50000","milliseconds":1.25}
//
// The database's messages, the start and the end of the server, errors of which clients get a part,
// and each call of the admin services that is there to change something. A field that has nothing
// to say is not there.
//
// Thread-safe: lines do not mix. A line that cannot be written is lost, and nothing waits for it
// but the thread that writes it.
#ifndef BIGTABLE_SERVER_MONITOR_JSON_LOG_H_
#define BIGTABLE_SERVER_MONITOR_JSON_LOG_H_

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "absl/time/time.h"

#include "bigtable/log_sink.h"

namespace bigtable::server {

class JsonLog final : public LogSink {
 public:
  // Text that is not UTF-8 is written with replacement characters.
  using Fields = std::map<std::string, std::string>;

  // `file` outlives this.
  explicit JsonLog(std::FILE* file) : file_(file) {}

  void Send(LogSeverity severity, absl::Time time, std::string_view message) override;
  // The same at the present time, with more fields. A `duration` that is not negative is a field
  // too.
  void Write(LogSeverity severity, std::string_view message, const Fields& fields,
             absl::Duration duration = -absl::InfiniteDuration());

 private:
  std::FILE* const file_;
};

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_JSON_LOG_H_
