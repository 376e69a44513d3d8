#include "filesystem/file_log_sink.h"

#include "base/strings.h"

namespace bigtable {

void FileLogSink::Send(LogSeverity severity, absl::Time time, std::string_view message) {
  static constexpr const char* kLetters[] = {"I", "W", "E"};
  const std::string line =
      Cat(kLetters[static_cast<int>(severity)], " ",
          absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone()), " ", message, "\n");
  MutexLock lock(&mutex_);
  if (!std::exchange(tried_, true)) {
    if (file_system_->FileExists(path_)) {
      file_system_->RenameFile(path_, path_ + ".old").IgnoreError();
    }
    auto file = file_system_->NewWritableFile(path_);
    if (file.ok()) file_ = *std::move(file);
  }
  if (file_ != nullptr) file_->Append(line).IgnoreError();
}

}  // namespace bigtable
