// The operations of a tablet server for clients: the interface across which the server could be on
// another machine. Requests and responses are plain values. Their encoding is a component beside
// the library (messages/).
//
// A response may be lost, and then only the server knows whether the request was carried out. So a
// client may send a request again, and a request that must not be carried out twice has an id by
// which the server recognises it (MutateRequest). A cached location may be outdated. So every
// request names its server, and a server that does not have the rows, or has lost its lock, reports
// that and does nothing.
//
// METADATA is a table like any other here: masters, servers and clients read and write its tablets
// through this interface, too (metadata/metadata_client.h).
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

#include "bigtable/call_options.h"
#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/sequence.h"
#include "schema/mutation_format.h"

namespace bigtable {

// Identifies a request. A client has as many slots as it has concurrent calls. A slot has one
// request at a time, and the next one has a larger number. So a request tells the server that its
// client no longer waits for earlier requests of the slot, and a server keeps one outcome for each
// slot, however many requests there were.
struct RequestId {
  uint64_t client = 0;  // random
  uint32_t slot = 0;
  uint64_t number = 0;  // from 1

  friend bool operator==(const RequestId&, const RequestId&) = default;
};

// The user on whose behalf the request is made; none: the program itself. The component that
// receives requests from other machines must authenticate the user, and must not pass on a request
// without one.
using Caller = std::optional<std::string_view>;

// Mutations of one tablet. A copy of a request may arrive at any later time. Before the next
// request of its slot the server returns the same response as the first time; afterwards it
// refuses.
struct MutateRequest {
  std::string_view server;  // the name of the server that the request is for
  uint64_t table_id = 0;
  RequestId id;
  Durability durability = Durability::kBuffered;
  // Either all mutations are applied, and recovered after a crash, or none.
  bool is_batch = false;
  // With one mutation, not a batch: it is applied only if its row has not been written since this
  // read sequence, which the server returned in a ScanResponse.
  std::optional<SequenceNumber> unchanged_since;
  // Mutations that are not in the log after this time are not applied. It is the rest of the
  // caller's time when the request is sent, and the server counts from when it arrives. So clocks
  // may differ, and the transfer time of the message is added.
  absl::Duration timeout = absl::InfiniteDuration();
  Caller caller;
  std::vector<EncodedMutation> mutations;  // views of memory of the caller
};

struct MutateResponse {
  enum class Verdict : uint8_t {
    // Each mutation has its status.
    kDone = 0,
    // The server did not apply the request and never will: the rows are not in one tablet of this
    // server, or it has lost its lock. The client must look them up again.
    kMoved = 1,
    // This is not the server that the request names. It has applied nothing, and does not know what
    // the other server did with an earlier copy.
    kOtherServer = 2,
    // The row may have been written since `unchanged_since`. The server did not apply the request
    // and never will. The client reads the row again, and sends another request.
    kConflict = 3,
  };
  Verdict verdict = Verdict::kDone;
  std::vector<absl::Status> statuses;  // as many as there were mutations; only with kDone

  friend bool operator==(const MutateResponse&, const MutateResponse&) = default;
};

// Rows from one end of a range, up to the end of one tablet, and of one response.
struct ScanRequest {
  static constexpr uint64_t kMostBytes = 16 << 20;

  std::string_view server;
  uint64_t table_id = 0;
  // From its first row forwards, or from its last row backwards if `reverse`. It may extend beyond
  // the tablet.
  RowRange range;
  std::string_view filter;  // rpc/filter_format.h; empty passes everything
  // The read sequence, and the present for MaxAge, in microseconds. None: the server's newest, and
  // its clock's time. A client that sets a read sequence must hold a snapshot of it.
  std::optional<SequenceNumber> sequence;
  std::optional<int64_t> now;
  bool reverse = false;
  bool verify_checksums = false;
  bool fill_cache = true;
  uint64_t row_limit = 0;  // rows with cells; 0: all
  // The response ends with the row that reaches this many bytes; at most kMostBytes. A row is never
  // divided, however large it is.
  uint64_t max_bytes = kMostBytes;
  absl::Duration timeout = absl::InfiniteDuration();  // as of a MutateRequest
  // Of the caller, and not a part of the message: a server in the same process hears it.
  const Cancellation* cancellation = nullptr;
  Caller caller;
};

struct ScanResponse {
  // Nothing was read: the range's first row is not in a tablet of this server, or it has lost its
  // lock, or the request names another server. The client must look it up again.
  bool superseded = false;
  // An error ends the read; the rows before it are in the response.
  absl::Status status;
  SequenceNumber sequence = 0;  // the read sequence
  std::string cells;            // rpc/cell_block.h
  // The rest of the range; none: it was read to its end.
  std::optional<RowRange> rest;

  friend bool operator==(const ScanResponse&, const ScanResponse&) = default;
};

// Thread-safe. Errors of a call, besides the statuses in its response:
//   Unavailable, DeadlineExceeded: the request or its response was lost, and it is unknown whether
//     it was carried out. Send the same request again.
//   InvalidArgument: the request is not valid. FailedPrecondition: the client no longer waits for
//     it, or the server takes no writes. Sending it again does not help.
class DataService {
 public:
  virtual ~DataService() = default;
  virtual absl::StatusOr<MutateResponse> Mutate(const MutateRequest& request) = 0;
  virtual absl::StatusOr<ScanResponse> Scan(const ScanRequest& request) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_DATA_SERVICE_H_
