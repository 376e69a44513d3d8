#include "fuzz/server/reply_checks.h"

#include <algorithm>
#include <vector>

#include "google/rpc/status.pb.h"

#include "fuzz/server/chunk_reader.h"
#include "fuzz/target.h"
#include "server/text/resource_name.h"

namespace bigtable::server {
namespace {

namespace data = google::bigtable::v2;

// The longest message of an error: a header of HTTP/2 has it.
constexpr size_t kMostTextBytes = 4096;

// The codes with which a server without callers, quotas and failures refuses a request.
bool IsRefusal(int code) {
  switch (static_cast<grpc::StatusCode>(code)) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::NOT_FOUND:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::UNIMPLEMENTED:
      return true;
    default:
      return false;
  }
}

// `bytes`: of the request, whose texts an error may quote.
void CheckText(std::string_view text, std::string_view bytes, const std::string& directory) {
  Require(!text.empty(), "an error has a message");
  Require(text.size() <= kMostTextBytes, "a message is not too long for a header");
  Require(text.find(directory) == std::string_view::npos, "no path of the server");
  for (const std::string_view internal :
       {"server-1", ".sst", "q..other1..t", "server..catalogue", "METADATA", "lockservice"}) {
    Require(text.find(internal) == std::string_view::npos ||
                bytes.find(internal) != std::string_view::npos,
            "no names of the server's own");
  }
}

void CheckMutateRows(const data::MutateRowsRequest& request, std::string_view bytes,
                     const FuzzReply& reply, const std::string& directory) {
  Require(reply.messages.size() == 1, "MutateRows has one message");
  data::MutateRowsResponse response;
  Require(response.ParseFromString(reply.messages[0]), "a message is a MutateRowsResponse");
  Require(response.entries_size() == request.entries_size(), "each entry has a status");
  for (int i = 0; i < response.entries_size(); ++i) {
    const google::rpc::Status& status = response.entries(i).status();
    Require(response.entries(i).index() == i && response.entries(i).has_status(), "in order");
    if (status.code() == 0) continue;
    Require(IsRefusal(status.code()), "an entry is refused with a code that says why");
    CheckText(status.message(), bytes, directory);
  }
}

bool IsIn(const data::RowSet& set, const std::string& key) {
  if (set.row_keys().empty() && set.row_ranges().empty()) return true;
  if (std::find(set.row_keys().begin(), set.row_keys().end(), key) != set.row_keys().end()) {
    return true;
  }
  return std::any_of(set.row_ranges().begin(), set.row_ranges().end(), [&](const auto& range) {
    const bool begins = (!range.has_start_key_closed() || key >= range.start_key_closed()) &&
                        (!range.has_start_key_open() || key > range.start_key_open());
    const bool has_end = !range.end_key_closed().empty() || !range.end_key_open().empty();
    return begins && (!has_end || (range.has_end_key_closed() ? key <= range.end_key_closed()
                                                              : key < range.end_key_open()));
  });
}

void CheckReadRows(const data::ReadRowsRequest& request, const FuzzReply& reply) {
  ChunkReader reader;
  for (const std::string& message : reply.messages) reader.Add(message);
  if (!reply.status.ok()) return;
  Require(reader.is_between_rows(), "the last row is complete");
  const std::vector<std::string>& keys = reader.keys();
  Require(request.rows_limit() == 0 || static_cast<int64_t>(keys.size()) <= request.rows_limit(),
          "not more rows than the limit");
  for (size_t i = 0; i < keys.size(); ++i) {
    Require(IsIn(request.rows(), keys[i]), "only rows that were asked for");
    Require(i == 0 || (request.reversed() ? keys[i - 1] > keys[i] : keys[i - 1] < keys[i]),
            "each row once, in order");
  }
}

void CheckSamples(const FuzzReply& reply) {
  data::SampleRowKeysResponse last;
  for (size_t i = 0; i < reply.messages.size(); ++i) {
    data::SampleRowKeysResponse sample;
    Require(sample.ParseFromString(reply.messages[i]), "a message is a SampleRowKeysResponse");
    const bool is_last = i + 1 == reply.messages.size();
    Require(sample.row_key().empty() == is_last, "the last key is the end of the table");
    Require(i == 0 || is_last || last.row_key() < sample.row_key(), "keys ascend");
    Require(sample.offset_bytes() >= last.offset_bytes(), "offsets ascend");
    last = sample;
  }
  Require(!reply.messages.empty(), "there is an end");
}

void CheckPartitions(const FuzzReply& reply) {
  std::string next;
  for (const std::string& message : reply.messages) {
    data::GenerateInitialChangeStreamPartitionsResponse response;
    Require(response.ParseFromString(message), "a message is a partition");
    const data::RowRange& rows = response.partition().row_range();
    Require(rows.start_key_closed() == next, "a partition begins where another ends");
    next = rows.end_key_open();
    Require(next.empty() == (&message == &reply.messages.back()), "the last has no end");
  }
  Require(!reply.messages.empty(), "there is a partition");
}

// Each mutation is complete, and the last message says why the stream ends.
void CheckChanges(const FuzzReply& reply) {
  bool is_within = false;  // a mutation
  for (const std::string& message : reply.messages) {
    data::ReadChangeStreamResponse response;
    Require(response.ParseFromString(message), "a message is a ReadChangeStreamResponse");
    const bool is_last = &message == &reply.messages.back();
    Require(response.has_close_stream() == is_last, "the stream is closed at its end");
    if (response.has_data_change()) {
      const auto& change = response.data_change();
      Require(is_within || !change.row_key().empty(), "a mutation begins with its row");
      Require(change.chunks_size() > 0, "it has something");
      Require(change.done() == !change.token().empty(), "a whole one says where to go on");
      is_within = !change.done();
    } else {
      Require(!is_within, "nothing else comes within a mutation");
    }
    const auto& close = response.close_stream();
    Require(close.new_partitions_size() == close.continuation_tokens_size(), "one for each");
    Require((close.status().code() == 0) == (close.new_partitions_size() == 0), "if it goes on");
  }
  Require(!reply.messages.empty(), "there is an end");
}

void CheckSuccess(const FuzzMethod& method, const google::protobuf::Message& request,
                  std::string_view bytes, const FuzzReply& reply, const std::string& directory) {
  if (method.name == "MutateRows") {
    return CheckMutateRows(static_cast<const data::MutateRowsRequest&>(request), bytes, reply,
                           directory);
  }
  if (method.name == "SampleRowKeys") return CheckSamples(reply);
  if (method.name == "ReadRows") return;
  if (method.name == "GenerateInitialChangeStreamPartitions") return CheckPartitions(reply);
  if (method.name == "ReadChangeStream") return CheckChanges(reply);
  Require(reply.messages.size() == 1, "a call that is no stream has one message");
  Require(method.NewResponse()->ParseFromString(reply.messages[0]), "which is its response");
}

}  // namespace

void CheckReply(const FuzzMethod& method, const google::protobuf::Message* request,
                std::string_view bytes, const FuzzReply& reply, const std::string& directory) {
  if (request != nullptr && method.name == "ReadRows") {
    CheckReadRows(static_cast<const data::ReadRowsRequest&>(*request), reply);
  } else if (!reply.status.ok()) {
    Require(reply.messages.empty(), "a refused call has no message");
  }
  if (reply.status.ok()) {
    Require(request != nullptr, "what is no request is refused");
    return CheckSuccess(method, *request, bytes, reply, directory);
  }
  const grpc::StatusCode code = reply.status.error_code();
  Require(IsRefusal(code) || (request == nullptr && code == grpc::StatusCode::INTERNAL),
          "a call is refused with a code that says why");
  CheckText(reply.status.error_message(), bytes, directory);
  google::rpc::Status details;
  Require(details.ParseFromString(reply.status.error_details()), "details are a Status");
}

bool RefusesAll(const FuzzMethod& method, const FuzzReply& reply) {
  if (!reply.status.ok()) return true;
  if (method.name != "MutateRows") return false;
  data::MutateRowsResponse response;
  response.ParseFromString(reply.messages[0]);
  return std::all_of(response.entries().begin(), response.entries().end(),
                     [](const auto& entry) { return entry.status().code() != 0; });
}

std::map<std::string, std::string> RowsOf(const FuzzReply& reply) {
  ChunkReader reader;
  for (const std::string& message : reply.messages) reader.Add(message);
  return reader.rows();
}

}  // namespace bigtable::server
