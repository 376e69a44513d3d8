// The interface for reads and writes of METADATA's rows. One implementation sends requests to the
// servers of METADATA's tablets (metadata_client.h); the others are for tests.
#ifndef BIGTABLE_METADATA_METADATA_SERVICE_H_
#define BIGTABLE_METADATA_METADATA_SERVICE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

#include "base/call_limits.h"
#include "rpc/cell_block.h"
#include "rpc/data_service.h"

namespace bigtable {

struct MetadataRead {
  RowRange range;
  uint64_t row_limit = 0;  // rows with cells; 0: all
  // Whether to wait for a server that is being replaced; otherwise Unavailable.
  bool waits = true;
  CallLimits limits = {};  // of the read
};

// Thread-safe.
class MetadataService {
 public:
  virtual ~MetadataService() = default;
  // Applies all of the mutations or none. FailedPrecondition, and none is applied: the rows are not
  // all in one tablet; a mutation of a single row always is. After another error it is unknown
  // whether they were applied, or will be found after a crash.
  virtual absl::Status Mutate(absl::Span<const EncodedMutation> mutations,
                              Durability durability) = 0;
  // False: a mutation that failed with this status was not applied, and will not be found.
  virtual bool IsInDoubt(const absl::Status& /*failed*/) const { return true; }
  // Whether the rows are in one tablet, as far as is known.
  virtual bool AreTogether(absl::Span<const EncodedMutation> mutations) = 0;
  // The newest version of each column, in order, at one read sequence. An error of the sink ends
  // the read, and so do errors of the limits.
  virtual absl::Status Read(const MetadataRead& read,
                            absl::FunctionRef<absl::Status(const ReadCell&)> sink) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_METADATA_METADATA_SERVICE_H_
