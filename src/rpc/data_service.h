// What a tablet server does for those who read and write: the seam across which it could be on
// another machine. Requests and responses are plain values. What has them as bytes is a component
// beside the library (messages/).
//
// An answer may be lost, and then nobody but the server knows what became of the request. So
// whoever asks may ask again, and what must not be done twice has a number by which the server
// knows it (MutateRequest). A location that a client has remembered may be true no more; so every
// request names the server that it is meant for, and a server that does not have the rows, or has
// lost its lock, says so and does nothing.
//
// METADATA is a table like any other here: its tablets are read and written through this seam, too,
// by masters, servers and clients (metadata/metadata_client.h).
#ifndef BIGTABLE_RPC_DATA_SERVICE_H_
#define BIGTABLE_RPC_DATA_SERVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "tablet/mutation_format.h"

namespace bigtable {

// By what a server knows a request again. A client has as many slots as it has calls at a time; a
// slot has one request at a time, and the next one has a larger number. So a request says of all
// earlier ones of its slot that nobody waits for them any more, and a server keeps one outcome for
// each slot, however many requests there were.
struct RequestId {
  uint64_t client = 0;  // drawn at random
  uint32_t slot = 0;
  uint64_t number = 0;  // from 1

  friend bool operator==(const RequestId&, const RequestId&) = default;
};

// In whose name something is asked for; none: the program's own. Who carries a request from another
// machine has made sure of it, and lets none of the program's own pass.
using Caller = std::optional<std::string_view>;

// Mutations of one tablet. A copy of a request may come at any time later: before its slot's next
// request the server answers as it did the first time, after that it refuses.
struct MutateRequest {
  std::string_view server;  // the name of the one that is asked
  uint64_t table_id = 0;
  RequestId id;
  Durability durability = Durability::kBuffered;
  // All mutations are applied, and found again after a crash, or none.
  bool is_batch = false;
  // What is not in the log by then is not applied: what is left of the caller's time when this is
  // sent, counted by the server from when it comes. So clocks may differ, and what the message
  // takes is added.
  absl::Duration timeout = absl::InfiniteDuration();
  Caller caller;
  std::vector<EncodedMutation> mutations;  // views of what the caller holds
};

struct MutateResponse {
  enum class Verdict : uint8_t {
    // Each mutation has its status.
    kDone = 0,
    // Nothing was or will be applied of this request: the rows are not in one tablet of this
    // server, or it has lost its lock. Look them up again.
    kMoved = 1,
    // This is not the server that was asked for. It has applied nothing; what the other one did
    // with an earlier copy it does not know.
    kOtherServer = 2,
  };
  Verdict verdict = Verdict::kDone;
  std::vector<absl::Status> statuses;  // as many as there were mutations; only with kDone

  friend bool operator==(const MutateResponse&, const MutateResponse&) = default;
};

// Rows from one end of a range on, as far as one tablet, and one response, go.
struct ScanRequest {
  static constexpr uint64_t kMostBytes = 16 << 20;

  std::string_view server;
  uint64_t table_id = 0;
  // From its first row on, or from its last back if `reverse`. It may go beyond the tablet.
  RowRange range;
  std::string_view filter;  // rpc/filter_format.h; empty passes everything
  // The moment, and the present for MaxAge, in microseconds. None: the server's newest, and its
  // clock's. Who asks for a moment holds a snapshot of it.
  std::optional<SequenceNumber> sequence;
  std::optional<int64_t> now;
  bool reverse = false;
  bool verify_checksums = false;
  bool fill_cache = true;
  uint64_t row_limit = 0;  // rows with cells; 0: all
  // The response ends with the row that reaches this many bytes; at most kMostBytes. A row is never
  // cut, however large it is.
  uint64_t max_bytes = kMostBytes;
  absl::Duration timeout = absl::InfiniteDuration();  // as of a MutateRequest
  Caller caller;
};

struct ScanResponse {
  // Nothing was read: the range's first row is not in a tablet of this server, or it has lost its
  // lock, or is another one than the request names. Look it up again.
  bool superseded = false;
  // An error ends the read; the rows before it are here.
  absl::Status status;
  SequenceNumber sequence = 0;  // what was read at
  std::string cells;            // rpc/cell_block.h
  // What is left of the range; none: nothing is.
  std::optional<RowRange> rest;

  friend bool operator==(const ScanResponse&, const ScanResponse&) = default;
};

// Thread-safe. What a call returns beside its response's own statuses:
//   Unavailable, DeadlineExceeded: the request or its answer was lost, and what became of it is not
//     known: ask the same again.
//   InvalidArgument: a request that nobody may send. FailedPrecondition: nobody waits for it any
//     more, or the server takes no writes. Asking again does not help.
class DataService {
 public:
  virtual ~DataService() = default;
  virtual absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) = 0;
  virtual absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_DATA_SERVICE_H_
