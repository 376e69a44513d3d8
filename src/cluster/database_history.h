// Which database this is: the file "identity" of the lock service. Sequence numbers, and so
// positions in change streams, mean something only in the history that has given them.
//
//   format version 1 | identity, u64; 0: it has none yet
//                    | ancestors: count, then each: identity, u64; last number
//
// Numbers are varints, except for identities. The lock service's files have checksums of their own.
//
// A database gets a random identity when it is opened for writing for the first time. A copy, which
// is a checkpoint or a restored backup, has none: its last ancestor is the database that it was
// made of, with the largest number that may be in the copy. As soon as the copy is opened for
// writing, it is a database of its own, and its later numbers are not those of the other one. So
// its history is that of its ancestors in turn, each up to its last number, and then its own. A
// copy of a database that is opened for reading does not know its last number, and has 0.
//
// Nothing tells files that were copied without this library from their original.
//
// Worked example: a copy of database 7 up to number 300, which was not opened yet:
// 01 | 00 00 00 00 00 00 00 00 | 01 | 07 00 00 00 00 00 00 00 ac 02.
#ifndef BIGTABLE_CLUSTER_DATABASE_HISTORY_H_
#define BIGTABLE_CLUSTER_DATABASE_HISTORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "base/sequence.h"
#include "lockservice/lock_service.h"

namespace bigtable {

// Plain value.
struct DatabaseHistory {
  static constexpr std::string_view kFile = "identity";

  struct Ancestor {
    uint64_t identity = 0;
    SequenceNumber last = 0;  // 0: not known

    friend bool operator==(const Ancestor&, const Ancestor&) = default;
  };

  uint64_t identity = 0;
  std::vector<Ancestor> ancestors;  // the oldest first

  // The database that gives the numbers, or has given the last ones.
  uint64_t latest() const { return identity != 0 ? identity : ancestors.back().identity; }
  // Up to which number a database has the same history as this one: kMaxSequence if it is this one,
  // 0 if it is neither this one nor an ancestor.
  SequenceNumber SharedWith(uint64_t database) const;
  // The history of a copy that has what was written up to this number; 0: not known.
  DatabaseHistory OfCopy(SequenceNumber last) const;

  std::string Encode() const;
  // DataLoss; FailedPrecondition for a later format version.
  static absl::StatusOr<DatabaseHistory> Decode(std::string_view bytes);
  // NotFound: the database was never opened for writing by a program that knows identities. Errors
  // of Decode and of the session.
  static absl::StatusOr<DatabaseHistory> Read(LockSession* session);
  // The same for an opening for writing, which gives the database an identity if it has none. If
  // the file is damaged, that is a new one without ancestors.
  static absl::StatusOr<DatabaseHistory> ReadOrBegin(LockSession* session);

  friend bool operator==(const DatabaseHistory&, const DatabaseHistory&) = default;
};

// An identity as messages name it: 16 hexadecimal digits.
std::string NameOfIdentity(uint64_t identity);

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_DATABASE_HISTORY_H_
