#include <utility>

#include "absl/memory/memory.h"

#include "bigtable/call_recording.h"

#include "base/status.h"
#include "recording/recording_file.h"

namespace bigtable {

CallRecorder::CallRecorder(std::unique_ptr<RecordingFile> file) : file_(std::move(file)) {}

CallRecorder::~CallRecorder() {
  if (file_->is_forked()) {
    (void)file_.release();  // the parent's, whose thread waits for ever in this copy
  } else {
    Finish().IgnoreError();
  }
}

absl::StatusOr<std::shared_ptr<CallRecorder>> CallRecorder::Create(
    std::string_view path, const RecordingOptions& options) {
  BT_ASSIGN_OR_RETURN(std::unique_ptr<RecordingFile> file, RecordingFile::Create(path, options));
  return std::shared_ptr<CallRecorder>(new CallRecorder(std::move(file)));
}

absl::Status CallRecorder::Finish() { return file_->Finish(); }

RecordingCounts CallRecorder::Counts() const { return file_->Counts(); }

}  // namespace bigtable
