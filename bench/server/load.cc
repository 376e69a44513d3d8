#include "server/load.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "google/bigtable/admin/v2/bigtable_table_admin.grpc.pb.h"
#include "google/bigtable/v2/bigtable.grpc.pb.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"

#include "common/measure.h"
#include "common/strings.h"
#include "common/workload.h"

namespace bench {
namespace {

namespace data = google::bigtable::v2;
namespace admin = google::bigtable::admin::v2;

constexpr char kInstance[] = "projects/bench/instances/bench";
constexpr char kTable[] = "projects/bench/instances/bench/tables/bench";

std::shared_ptr<grpc::Channel> Connect(const std::string& address, bool grows = true) {
  grpc::ChannelArguments arguments;
  // Otherwise gRPC takes megabytes of each stream, whether or not it is read.
  if (!grows) arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

absl::Status ToStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      ToAbsl(status.error_message()));
}

// The calls of one thread.
class Caller {
 public:
  Caller(const std::string& address, uint64_t seed, const Values* values)
      : stub_(data::Bigtable::NewStub(Connect(address))), random_(seed), values_(values) {}

  absl::Status Call(Work work) {
    switch (work) {
      case Work::kMutateRow:
        return MutateRow();
      case Work::kMutateRows:
        return MutateRows(0, true);
      case Work::kPointRead:
        return Read(true);
      case Work::kScan:
        return Read(false);
    }
    return absl::InternalError("no such work");
  }

  // Rows from `first` on, or random ones.
  absl::Status MutateRows(uint64_t first, bool is_random) {
    data::MutateRowsRequest request;
    request.set_table_name(kTable);
    for (int i = 0; i < kBatchRows; ++i) {
      data::MutateRowsRequest::Entry* const entry = request.add_entries();
      const uint64_t row = is_random ? random_.Below(kRows) : first + static_cast<uint64_t>(i);
      entry->set_row_key(std::string(Key(row).view()));
      Set(row, entry->add_mutations());
    }
    grpc::ClientContext context;
    const auto reader = stub_->MutateRows(&context, request);
    data::MutateRowsResponse response;
    int entries = 0;
    while (reader->Read(&response)) {
      for (const data::MutateRowsResponse::Entry& entry : response.entries()) {
        if (entry.status().code() != 0) return absl::InternalError("an entry was refused");
        ++entries;
      }
    }
    if (const grpc::Status status = reader->Finish(); !status.ok()) return ToStatus(status);
    if (entries != kBatchRows) return absl::InternalError("an entry has no status");
    return absl::OkStatus();
  }

  uint64_t bytes() const { return bytes_; }

 private:
  void Set(uint64_t row, data::Mutation* mutation) {
    data::Mutation::SetCell* const cell = mutation->mutable_set_cell();
    cell->set_family_name(std::string(kFamily));
    cell->set_column_qualifier(std::string(kQualifier));
    cell->set_timestamp_micros(1000);
    cell->set_value(std::string(values_->Of(row)));
  }

  absl::Status MutateRow() {
    data::MutateRowRequest request;
    const uint64_t row = random_.Below(kRows);
    request.set_table_name(kTable);
    request.set_row_key(std::string(Key(row).view()));
    Set(row, request.add_mutations());
    grpc::ClientContext context;
    data::MutateRowResponse response;
    return ToStatus(stub_->MutateRow(&context, request, &response));
  }

  absl::Status Read(bool one) {
    data::ReadRowsRequest request;
    request.set_table_name(kTable);
    if (one) request.mutable_rows()->add_row_keys(std::string(Key(random_.Below(kRows)).view()));
    grpc::ClientContext context;
    const auto reader = stub_->ReadRows(&context, request);
    data::ReadRowsResponse response;
    uint64_t rows = 0;
    while (reader->Read(&response)) {
      for (const data::ReadRowsResponse::CellChunk& chunk : response.chunks()) {
        bytes_ += chunk.value().size();
        rows += chunk.commit_row() ? 1 : 0;
      }
    }
    if (const grpc::Status status = reader->Finish(); !status.ok()) return ToStatus(status);
    if (rows != (one ? 1 : kRows)) {
      return absl::InternalError(Concat("a read returned ", rows, " rows"));
    }
    return absl::OkStatus();
  }

  const std::unique_ptr<data::Bigtable::Stub> stub_;
  Random random_;
  const Values* const values_;
  uint64_t bytes_ = 0;
};

}  // namespace

std::string_view NameOf(Work work) {
  switch (work) {
    case Work::kMutateRow:
      return "MutateRow";
    case Work::kMutateRows:
      return "MutateRows of 100";
    case Work::kPointRead:
      return "ReadRows of one row";
    case Work::kScan:
      return "ReadRows of 100,000 rows";
  }
  return "";
}

absl::Status Prepare(const std::string& address, size_t value_size) {
  const auto stub = admin::BigtableTableAdmin::NewStub(Connect(address));
  admin::CreateTableRequest request;
  request.set_parent(kInstance);
  request.set_table_id("bench");
  admin::ColumnFamily& family =
      (*request.mutable_table()->mutable_column_families())[std::string(kFamily)];
  family.mutable_gc_rule()->set_max_num_versions(1);
  grpc::ClientContext context;
  admin::Table table;
  if (const grpc::Status status = stub->CreateTable(&context, request, &table); !status.ok()) {
    return ToStatus(status);
  }
  const Values values(value_size);
  Caller caller(address, 1, &values);
  for (uint64_t row = 0; row < kRows; row += kBatchRows) {
    if (absl::Status s = caller.MutateRows(row, false); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadResult> Run(const std::string& address, Work work, size_t value_size,
                               uint64_t calls, int threads) {
  const Values values(value_size);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<Latencies> latencies;
  std::vector<absl::Status> statuses(static_cast<size_t>(threads));
  const uint64_t each = std::max<uint64_t>(calls / static_cast<uint64_t>(threads), 1);
  for (int i = 0; i < threads; ++i) {
    callers.push_back(std::make_unique<Caller>(address, static_cast<uint64_t>(i) + 1, &values));
    latencies.emplace_back(1, each);
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> running;
  for (size_t i = 0; i < callers.size(); ++i) {
    running.emplace_back([&, i] {
      for (uint64_t k = 0; k < each && statuses[i].ok(); ++k) {
        statuses[i] = latencies[i].Time([&] { return callers[i]->Call(work); });
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  LoadResult result;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.calls = each * callers.size();
  for (size_t i = 0; i < callers.size(); ++i) {
    if (!statuses[i].ok()) return statuses[i];
    result.bytes += callers[i]->bytes();
    if (i > 0) latencies[0].Add(latencies[i]);
  }
  result.p50_us = latencies[0].Percentile(0.5);
  result.p99_us = latencies[0].Percentile(0.99);
  return result;
}

struct IdleStreams::Stream {
  std::shared_ptr<data::Bigtable::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<data::ReadRowsResponse>> reader;
};

IdleStreams::IdleStreams() = default;

IdleStreams::~IdleStreams() {
  for (const auto& stream : streams_) stream->context.TryCancel();
  for (const auto& stream : streams_) stream->reader->Finish();
}

absl::StatusOr<std::unique_ptr<IdleStreams>> IdleStreams::Open(const std::string& address,
                                                               int count) {
  constexpr size_t kConnections = 10;
  std::unique_ptr<IdleStreams> idle(new IdleStreams());
  std::vector<std::shared_ptr<data::Bigtable::Stub>> stubs;
  for (size_t i = 0; i < kConnections; ++i) {
    stubs.push_back(data::Bigtable::NewStub(Connect(address, false)));
  }
  data::ReadRowsRequest request;
  request.set_table_name(kTable);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    Stream& stream = *idle->streams_.emplace_back(std::make_unique<Stream>());
    stream.stub = stubs[i % kConnections];
    stream.reader = stream.stub->ReadRows(&stream.context, request);
  }
  for (const auto& stream : idle->streams_) {
    data::ReadRowsResponse response;
    if (!stream->reader->Read(&response)) return absl::InternalError("a stream has no message");
  }
  return idle;
}

}  // namespace bench
