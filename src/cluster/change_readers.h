// The registered readers of changes of a database, for which changes are kept beyond the retention
// (Table::SetChangeReader): the file "change_readers" of the lock service. As bytes:
//
//   format version 1 | count, then each: table id, name, sequence number
//
// Numbers are varints, and a text has its length before it; the entries are sorted. A reader has
// everything up to its number. The id decides which table it is of. The lock service's files have
// checksums of their own.
//
// Worked example: "index" has read table 5 up to 9: 01 01 05 05 69 6e 64 65 78 09.
#ifndef BIGTABLE_CLUSTER_CHANGE_READERS_H_
#define BIGTABLE_CLUSTER_CHANGE_READERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/mutex.h"
#include "base/sequence.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Plain value.
struct ChangeReaderSet {
  // By table id and name.
  std::map<std::pair<uint64_t, std::string>, SequenceNumber> readers;

  std::string Encode() const;
  // DataLoss; FailedPrecondition for a later format version.
  static absl::StatusOr<ChangeReaderSet> Decode(std::string_view bytes);

  friend bool operator==(const ChangeReaderSet&, const ChangeReaderSet&) = default;
};

// Those that are registered now. Thread-safe.
class ChangeReaders {
 public:
  static constexpr std::string_view kFile = "change_readers";

  // Reads the file; no readers if there is none. After an error all changes are kept that there is
  // room for.
  absl::Status Read(LockSession* session);
  // Writes the file, and then uses it. InvalidArgument: they do not fit into a file. One thread at
  // a time.
  absl::Status Write(LockSession* session, ChangeReaderSet readers);

  // FailedPrecondition, DataLoss: the file could not be read.
  absl::StatusOr<ChangeReaderSet> Get() const;
  // Changes of the table after this number are asked for; kMaxSequence: none is.
  SequenceNumber SlowestOf(uint64_t table_id) const;

 private:
  mutable Mutex mutex_;
  absl::StatusOr<ChangeReaderSet> readers_ ABSL_GUARDED_BY(mutex_) = ChangeReaderSet();
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_CHANGE_READERS_H_
