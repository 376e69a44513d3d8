#include "server/data/mutate_rows_call.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "grpcpp/support/slice.h"

#include "server/data/byte_buffer.h"

namespace bigtable::server {

ServedCall::Step MutateRowsCall::Begin(grpc::ByteBuffer* request) {
  std::vector<grpc::Slice> slices;
  if (!request->Dump(&slices).ok()) return End(absl::InternalError("the request cannot be read"));
  request->Clear();
  std::vector<std::string_view> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  std::string response;
  const absl::Status status = handlers_->MutateRows(context(), pieces, &response);
  return status.ok() ? End(status, ToByteBuffer(std::move(response))) : End(status);
}

}  // namespace bigtable::server
