// What a tablet server does for others: the seam across which they could be on other machines.
// Requests and responses are plain values; rows stream into a sink.
//
// This is what METADATA needs: its tablet is read and written through this interface by everybody
// but the server that has it. Users' calls are in rpc/data_service.h.
#ifndef BIGTABLE_RPC_TABLET_SERVICE_H_
#define BIGTABLE_RPC_TABLET_SERVICE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "bigtable/options.h"
#include "bigtable/row_range.h"

namespace bigtable {

struct ApplyRequest {
  uint64_t table_id = 0;
  std::string_view row;
  std::string_view operations;  // tablet/mutation_format.h
  Durability durability = Durability::kSync;
};

// Mutations of several rows of one tablet, all or none.
struct RowOperations {
  std::string_view row;
  std::string_view operations;
};
struct ApplyBatchRequest {
  uint64_t table_id = 0;
  absl::Span<const RowOperations> rows;
  Durability durability = Durability::kSync;
};

struct ReadRequest {
  uint64_t table_id = 0;
  RowRange range;
};

// Good until the sink returns.
struct ReadCell {
  std::string_view row;
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp = 0;
  std::string_view value;
};

// Thread-safe.
class TabletService {
 public:
  virtual ~TabletService() = default;
  // NotFound: the tablet with this row is not here.
  virtual absl::Status ApplyMutation(const ApplyRequest& request) = 0;
  // FailedPrecondition, and nothing is applied: the rows are not all in one tablet.
  virtual absl::Status ApplyBatch(const ApplyBatchRequest& request) = 0;
  // The newest version of each column, in order; an error of the sink ends the read. The range must
  // not go beyond the tablet that has its first row.
  virtual absl::Status Read(const ReadRequest& request,
                            absl::FunctionRef<absl::Status(const ReadCell&)> sink) = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_RPC_TABLET_SERVICE_H_
