// The file behind a CallRecorder, for those who record.
#ifndef BIGTABLE_RECORDING_RECORDER_ACCESS_H_
#define BIGTABLE_RECORDING_RECORDER_ACCESS_H_

#include "bigtable/call_recording.h"

#include "recording/recording_file.h"

namespace bigtable {

class RecorderAccess {
 public:
  static RecordingFile* FileOf(const CallRecorder& recorder) { return recorder.file_.get(); }
};

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_RECORDER_ACCESS_H_
