// The info log as a file: LOG in the database's directory. The previous log is kept as LOG.old. The
// file is opened with the first line, so that an opening that is refused touches nothing. Lines
// that cannot be written are lost. Thread-safe.
#ifndef BIGTABLE_FILESYSTEM_FILE_LOG_SINK_H_
#define BIGTABLE_FILESYSTEM_FILE_LOG_SINK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"

#include "bigtable/file_system.h"
#include "bigtable/log_sink.h"

#include "base/mutex.h"

namespace bigtable {

class FileLogSink final : public LogSink {
 public:
  FileLogSink(FileSystem* file_system, std::string path)
      : file_system_(file_system), path_(std::move(path)) {}

  void Send(LogSeverity severity, absl::Time time, std::string_view message) override;

 private:
  FileSystem* const file_system_;
  const std::string path_;
  Mutex mutex_;
  bool tried_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<WritableFile> file_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace bigtable

#endif  // BIGTABLE_FILESYSTEM_FILE_LOG_SINK_H_
