#include "server/data/mutate_rows_call.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/support/slice.h"

#include "convert/object_budget.h"
#include "server/calls/admission.h"
#include "server/calls/request_objects.h"
#include "server/data/byte_buffer.h"

namespace bigtable::server {

// The slices are references to parts of the message, which the caller releases after them. gRPC
// counts their memory, and the last release may start work of its quota: only the release of a
// whole message gives it what that work needs on a thread of ours.
absl::Status MutateRowsCall::Apply(const grpc::ByteBuffer& request, std::string* table_name,
                                   std::string* response) const {
  std::vector<grpc::Slice> slices;
  if (!request.Dump(&slices).ok()) return absl::InternalError("the request cannot be read");
  std::vector<std::string_view> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  CountedMore more(admission(), request.Length());
  convert::ObjectBudget budget(request.Length() / kCountedPerObject, [&more](size_t objects) {
    return more.CountAs(objects * kCountedPerObject);
  });
  return handlers_->MutateRows(context(), pieces, &budget, table_name, response);
}

ServedCall::Step MutateRowsCall::Begin(grpc::ByteBuffer* request) {
  std::string response;
  std::string table_name;
  const absl::Status status = Apply(*request, &table_name, &response);
  request->Clear();
  SetResource(table_name, status.ok());
  return status.ok() ? End(status, ToByteBuffer(std::move(response))) : End(status);
}

}  // namespace bigtable::server
