// Writes the file of a recording, on a thread of its own: the threads whose calls are recorded fill
// one block while it writes another one. If both are full, calls are lost.
#ifndef BIGTABLE_RECORDING_RECORDING_FILE_H_
#define BIGTABLE_RECORDING_RECORDING_FILE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/call_recording.h"
#include "bigtable/file_system.h"

#include "base/fork_callback.h"
#include "base/mutex.h"
#include "base/steady_time.h"
#include "recording/recording_format.h"

namespace bigtable {

// Thread-safe.
class RecordingFile {
 public:
  // As CallRecorder::Create.
  static absl::StatusOr<std::unique_ptr<RecordingFile>> Create(std::string_view path,
                                                               const RecordingOptions& options);
  // Not in a child process; after Finish(), unless Create has failed.
  ~RecordingFile() = default;
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  const KeyMask& mask() const { return mask_; }
  int64_t MicrosSinceBegin() const { return (NowNanos() - begin_nanos_) / 1000; }
  // Whether this process is a child of the one that created it. Then it may only be destroyed, and
  // nothing is recorded.
  bool is_forked() const { return ForkCallback::Forks() != forks_; }

  // Whether it had no database before, and has not ended: then it has one now, until Release().
  bool Claim();
  // The database was not opened.
  void Release();
  // The number of the table of this name. A new one is defined, and a known one defined again if
  // its layout is another one.
  uint64_t DefineTable(std::string_view name, const std::string& layout);
  // Records one call (AppendCall), or counts it as lost.
  void Append(std::string_view call);

  // CallRecorder's functions of these names.
  absl::Status Finish();
  RecordingCounts Counts() const;

 private:
  struct Table {
    uint64_t number = 0;
    std::string layout;
  };

  RecordingFile(std::unique_ptr<WritableFile> file, const RecordingOptions& options,
                uint64_t secret);
  absl::Status Begin(RecordedKeys keys);
  // Whether the file may have so many more bytes. Once it may not, it is full.
  bool HasRoom(size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False: it is lost.
  bool Add(std::string_view record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddLost() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The thread writes next what is filled. It has taken what was ready.
  void PassOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WriteBlocks();
  // The thread, or nobody else any more. Clears the block.
  absl::Status WriteBlock(std::string* block);
  absl::Status WriteEnd();

  const std::unique_ptr<WritableFile> file_;
  const uint64_t most_bytes_;
  const KeyMask mask_;
  const int64_t begin_nanos_ = NowNanos();
  const uint64_t forks_ = ForkCallback::Forks();

  mutable Mutex mutex_;
  CondVar changed_;
  // Blocks whose headers are not filled in yet.
  std::string filling_ ABSL_GUARDED_BY(mutex_) = std::string(kRecordingBlockHeader, '\0');
  std::string ready_ ABSL_GUARDED_BY(mutex_);          // empty: the thread has taken it
  uint64_t passed_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of the file, with what is to be written
  bool is_claimed_ ABSL_GUARDED_BY(mutex_) = false;
  bool ends_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_full_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t lost_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t reported_lost_ ABSL_GUARDED_BY(mutex_) = 0;  // those that a record names
  std::map<std::string, Table, std::less<>> tables_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // of the file

  uint64_t written_ = 0;                               // bytes of the file
  Mutex finish_mutex_;                                 // taken before the other one
  std::thread thread_ ABSL_GUARDED_BY(finish_mutex_);  // until Finish
};

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_RECORDING_FILE_H_
