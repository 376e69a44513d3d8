#include "server/data/data_service.h"

#include <vector>

#include "server/convert/status.h"

namespace bigtable::server {
namespace {

// The service's Request<Method>, with one queue for new calls and for their events.
#define ACCEPT(Method)                                                        \
  [service](grpc::ServerContext* context, auto* request, auto* responder,     \
            grpc::ServerCompletionQueue* queue, void* tag) {                  \
    service->Request##Method(context, request, responder, queue, queue, tag); \
  }

#define HANDLE(Method)                                                        \
  [this](grpc::ServerContext* context, const auto& request, auto* response) { \
    return ToGrpcStatus(handlers_.Method(*context, request, response));       \
  }

}  // namespace

DataService::DataService(AsyncDataService* service, CallThreads* threads, ServedTables* tables,
                         const Authentication* authentication)
    : handlers_(tables, authentication),
      read_rows_(threads, service, tables, authentication),
      mutate_row_(threads, ACCEPT(MutateRow), HANDLE(MutateRow)),
      mutate_rows_(threads, ACCEPT(MutateRows),
                   [this](grpc::ServerContext* context, const data::MutateRowsRequest& request,
                          std::vector<data::MutateRowsResponse>* responses) {
                     return ToGrpcStatus(
                         handlers_.MutateRows(*context, request, &responses->emplace_back()));
                   }),
      check_and_mutate_row_(threads, ACCEPT(CheckAndMutateRow), HANDLE(CheckAndMutateRow)),
      read_modify_write_row_(threads, ACCEPT(ReadModifyWriteRow), HANDLE(ReadModifyWriteRow)),
      sample_row_keys_(threads, ACCEPT(SampleRowKeys), HANDLE(SampleRowKeys)),
      ping_and_warm_(threads, ACCEPT(PingAndWarm), HANDLE(PingAndWarm)) {}

void DataService::Start() {
  read_rows_.Start();
  mutate_row_.Start();
  mutate_rows_.Start();
  check_and_mutate_row_.Start();
  read_modify_write_row_.Start();
  sample_row_keys_.Start();
  ping_and_warm_.Start();
}

}  // namespace bigtable::server
