#include "fuzz/server/call_sequence.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/bigtable/v2/bigtable.pb.h"

#include "fuzz/input.h"
#include "fuzz/server/called_server.h"
#include "fuzz/server/message_builder.h"
#include "fuzz/server/reply_checks.h"
#include "fuzz/target.h"
#include "server/text/errors.h"

namespace bigtable::server {
namespace {

constexpr int kMostCalls = 16;

// To look at an input.
void Show(const FuzzMethod& method, const google::protobuf::Message& request,
          const FuzzReply& reply) {
  static const bool is_wanted = std::getenv("BIGTABLE_FUZZ_SHOW") != nullptr;
  if (!is_wanted) return;
  std::fprintf(stderr, "%s { %s }: %d %s, %zu messages\n", method.path().c_str(),
               request.ShortDebugString().c_str(), reply.status.error_code(),
               OneLine(reply.status.error_message()).c_str(), reply.messages.size());
}

std::vector<std::string_view> Cut(std::string_view bytes, size_t pieces) {
  std::vector<std::string_view> cut;
  for (; pieces > 1; --pieces) {
    cut.push_back(bytes.substr(0, bytes.size() / pieces));
    bytes.remove_prefix(cut.back().size());
  }
  cut.push_back(bytes);
  return cut;
}

// A stream of changes without an end would wait for more of them.
void EndStream(google::protobuf::Message* request, std::string* bytes) {
  auto* const changes = dynamic_cast<google::bigtable::v2::ReadChangeStreamRequest*>(request);
  if (changes == nullptr) return;
  changes->mutable_end_time()->set_seconds(absl::ToUnixSeconds(absl::Now()) - 1);
  *bytes = request->SerializePartialAsString();
}

// One input.
class CallSequence {
 public:
  CallSequence(absl::Span<const FuzzMethod> methods, std::string_view bytes)
      : methods_(methods), input_(bytes), server_(*CalledServer::Get()), state_(server_.Read()) {}

  void Run() {
    for (int calls = 0; calls < kMostCalls && !input_.at_end(); ++calls) CallNext();
    CompareRows();
    server_.Reset();
  }

 private:
  void CallNext() {
    const FuzzMethod& method = methods_[input_.Byte() % methods_.size()];
    const uint8_t form = input_.Byte();
    const std::unique_ptr<google::protobuf::Message> request = method.NewRequest();
    std::string bytes;
    if ((form & 1) != 0) {
      bytes = input_.Piece();
    } else {
      BuildMessage(&input_, method.resource, request.get());
      bytes = request->SerializePartialAsString();
    }
    const bool is_request = request->ParseFromString(bytes);
    if (is_request) EndStream(request.get(), &bytes);
    const FuzzReply reply = server_.Call(method, Cut(bytes, 1 + ((form >> 1) & 7)));
    Show(method, *request, reply);
    CheckReply(method, is_request ? request.get() : nullptr, bytes, reply, server_.directory());
    KeptState state = server_.Read();
    if (method.only_reads || RefusesAll(method, reply)) {
      Require(state == state_, "a call that is refused, or only reads, changes nothing");
    }
    state_ = std::move(state);
  }

  // What clients read is what there is.
  void CompareRows() {
    const auto rows = state_.rows.find("t");
    if (rows == state_.rows.end()) return;
    const FuzzMethod& read = *FindMethod(DataMethods(), "ReadRows");
    google::bigtable::v2::ReadRowsRequest request;
    request.set_table_name(std::string(read.resource));
    const std::string bytes = request.SerializeAsString();
    const std::string_view piece = bytes;
    const FuzzReply reply = server_.Call(read, {&piece, 1});
    CheckReply(read, &request, bytes, reply, server_.directory());
    Require(reply.status.ok() && RowsOf(reply) == rows->second, "a client reads the rows");
  }

  const absl::Span<const FuzzMethod> methods_;
  FuzzInput input_;
  CalledServer& server_;
  KeptState state_;  // before the next call
};

}  // namespace

void RunCalls(absl::Span<const FuzzMethod> methods, std::string_view bytes) {
  CallSequence(methods, bytes).Run();
}

}  // namespace bigtable::server
