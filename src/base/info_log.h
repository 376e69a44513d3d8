// Text messages about the engine's work, with a severity and a time, for the user's LogSink.
#ifndef BIGTABLE_BASE_INFO_LOG_H_
#define BIGTABLE_BASE_INFO_LOG_H_

#include <memory>
#include <utility>

#include "absl/time/clock.h"

#include "bigtable/log_sink.h"

#include "base/catch_thrown.h"
#include "base/strings.h"

namespace bigtable {

// Thread-safe. Without a sink it does nothing.
class InfoLog {
 public:
  explicit InfoLog(std::shared_ptr<LogSink> sink) : sink_(std::move(sink)) {}

  template <typename... Args>
  void Info(const Args&... args) {
    Send(LogSeverity::kInfo, args...);
  }
  template <typename... Args>
  void Warning(const Args&... args) {
    Send(LogSeverity::kWarning, args...);
  }
  template <typename... Args>
  void Error(const Args&... args) {
    Send(LogSeverity::kError, args...);
  }

 private:
  template <typename... Args>
  void Send(LogSeverity severity, const Args&... args) {
    if (sink_ == nullptr) return;
    // There is nowhere to report what a sink throws: the message is lost.
    CatchThrown("LogSink::Send", [&] {
      sink_->Send(severity, absl::Now(), Cat(args...));
    }).IgnoreError();
  }

  const std::shared_ptr<LogSink> sink_;
};

}  // namespace bigtable

#endif  // BIGTABLE_BASE_INFO_LOG_H_
