// The info log: openings, compactions, stalls, errors.
#ifndef BIGTABLE_LOG_SINK_H_
#define BIGTABLE_LOG_SINK_H_

#include <string_view>

#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

enum class LogSeverity { kInfo = 0, kWarning = 1, kError = 2 };  // as in c.h

// Called from any thread, also from several at once. Must not call the database. The message is one
// line without a line end, and valid during the call. What it throws is dropped.
class BIGTABLE_EXPORT LogSink {
 public:
  virtual ~LogSink() = default;
  // Takes one message, which was made at `time` of the machine's clock.
  virtual void Send(LogSeverity severity, absl::Time time, std::string_view message) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_LOG_SINK_H_
