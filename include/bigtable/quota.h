// Quotas (section 8.3 of the paper: "we added a simple quota mechanism to Bigtable to limit the
// storage consumption by any particular client in shared tables").
//
// A quota limits a table, whoever uses it, or a caller, in all tables: the calls on tables that
// were opened in the caller's name (OpenTableOptions::caller), and the storage of the families that
// the caller owns (Family::owner), whoever writes them. Set them with Database::SetTableQuota and
// SetCallerQuota. A call that a quota refuses is ResourceExhausted and changes nothing. The message
// names the quota, whose it is, its limit, and when to come back; RetryAfter() has that as a
// duration.
//
// The database's own work, such as METADATA, flushes, compactions and recovery, is not subject to
// quotas; neither are changes of schemas and tablets, DropRowRange, and estimates of sizes.
//
// Without any quota a call costs a load and a branch more. With quotas of rates, each call looks up
// the quotas of its table and its caller and changes up to four numbers that other calls change
// too: some hundred nanoseconds.
#ifndef BIGTABLE_QUOTA_H_
#define BIGTABLE_QUOTA_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "bigtable/export.h"

namespace bigtable {

// Each limit: 0 means none. Plain value.
struct Quota {
  // Bytes on disk and in memtables: StorageStatistics::stored_bytes(). While there are more, a
  // mutation that adds data is refused, to the table or to a family of the owner: Set, AddToCell
  // and MergeToCell, also beside deletions. Deletions, DropRowRange, flushes and compactions go on;
  // they make room, once a compaction has removed what was deleted.
  //
  // The bytes are added up when a mutation finds the last sum older than 100 ms (or twenty times as
  // long as adding up took, some microseconds for each file), or that an SSTable, a memtable or a
  // schema has changed since. Between, the qualifiers and values of mutations are added to it, also
  // of those that failed after this check. So a quota may be exceeded by the memory that cells take
  // beside these, for as long, and by one mutation of each thread.
  uint64_t storage_bytes = 0;

  // Calls: a read of a row, the beginning of a stream of rows or of cells, an atomic operation on a
  // row, and each mutation of Apply, ApplyBatch, a WriteBatch or a transaction's commit. (HBase
  // counts so too, but also each chunk of a scan; chunks are not visible here.)
  uint64_t requests_per_second = 0;

  // Bytes that are written (RowMutation::byte_size) and returned (of each row the key, and of each
  // cell the qualifier and the value; of an atomic operation, what each of its tries has read).
  //
  // Both rates are token buckets, by a clock that cannot be set: a bucket holds what one second
  // gives, and is full at first. A write that fits is admitted, and one of more than a second's
  // rate once the bucket is full; it leaves a debt, which later calls wait for. The size of a read
  // is known only afterwards, so a read, and an atomic operation, is admitted while there is no
  // debt, and takes its bytes then. A stream that has made a debt ends between two rows with the
  // error in its status(); RowReader::ResumeToken continues it later. A batch, also of ApplyBatch,
  // is admitted as a whole or refused as a whole; but ApplyBatch to a table with observers applies
  // its mutations one by one. A write to such a table pays for what its observers add to it, an
  // atomic operation on a row does not.
  uint64_t bytes_per_second = 0;

  friend bool operator==(const Quota&, const Quota&) = default;
};

// After how long a call that a quota of a rate has refused may succeed, if no other call comes
// first. Nothing for every other status; for one of a quota of storage too, since data must be
// deleted and compacted first. Thread-safe.
BIGTABLE_EXPORT std::optional<absl::Duration> RetryAfter(const absl::Status& status);

}  // namespace bigtable

#endif  // BIGTABLE_QUOTA_H_
