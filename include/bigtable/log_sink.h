// Where the engine says what it is doing: openings, compactions, stalls, errors.
#ifndef BIGTABLE_LOG_SINK_H_
#define BIGTABLE_LOG_SINK_H_

#include <string_view>

#include "absl/time/time.h"

namespace bigtable {

enum class LogSeverity { kInfo, kWarning, kError };

// Called from any thread, also from several at once; must not call the database. The message is one
// line without its end, and lives for the call.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Send(LogSeverity severity, absl::Time time, std::string_view message) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOG_SINK_H_
