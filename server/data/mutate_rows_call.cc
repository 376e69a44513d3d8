#include "server/data/mutate_rows_call.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "grpcpp/support/slice.h"

#include "server/data/byte_buffer.h"

namespace bigtable::server {

ServedCall::Step MutateRowsCall::Begin(grpc::ByteBuffer* request) {
  grpc::Slice bytes;
  if (!request->TrySingleSlice(&bytes).ok() && !request->DumpToSingleSlice(&bytes).ok()) {
    return End(absl::InternalError("the request cannot be read"));
  }
  request->Clear();
  std::string response;
  const absl::Status status = handlers_->MutateRows(
      context(), std::string_view(reinterpret_cast<const char*>(bytes.begin()), bytes.size()),
      &response);
  return status.ok() ? End(status, ToByteBuffer(std::move(response))) : End(status);
}

}  // namespace bigtable::server
