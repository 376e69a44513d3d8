// A LogSink that keeps its messages. Thread-safe.
#ifndef BIGTABLE_TESTS_SUPPORT_CAPTURING_SINK_H_
#define BIGTABLE_TESTS_SUPPORT_CAPTURING_SINK_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"

#include "bigtable/log_sink.h"

#include "base/mutex.h"

namespace bigtable {

class CapturingSink final : public LogSink {
 public:
  struct Message {
    LogSeverity severity;
    std::string text;
  };

  void Send(LogSeverity severity, absl::Time /*time*/, std::string_view message) override {
    MutexLock lock(&mutex_);
    messages_.push_back({severity, std::string(message)});
  }
  std::vector<Message> messages() const {
    MutexLock lock(&mutex_);
    return messages_;
  }

 private:
  mutable Mutex mutex_;
  std::vector<Message> messages_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_TESTS_SUPPORT_CAPTURING_SINK_H_
