// The reader of MutateRows requests: it takes the bytes, in pieces, that protocol buffers take, and
// reads the same in them.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "google/bigtable/v2/bigtable.pb.h"
#include "google/protobuf/stubs/logging.h"

#include "convert/mutate_rows.h"
#include "convert/mutation.h"
#include "convert/object_budget.h"
#include "fuzz/input.h"
#include "fuzz/target.h"
#include "schema/mutation_format.h"

namespace bigtable::server {
namespace {

using google::bigtable::v2::MutateRowsRequest;

constexpr Timestamp kTimeOfFuzz(9'876'543);

std::string TextOfMutation(const absl::Status& status, const RowMutation& mutation) {
  if (!status.ok()) return status.ToString();
  const EncodedMutation encoded = EncodedMutation::Of(mutation);
  return std::string(encoded.row) + "|" + std::string(encoded.operations);
}

// Each piece has memory of its own, so that a sanitizer sees what is read beyond its end.
class OwnedPieces {
 public:
  void Add(std::string_view piece) {
    owned_.push_back(std::make_unique<char[]>(piece.size()));
    piece.copy(owned_.back().get(), piece.size());
    views_.emplace_back(owned_.back().get(), piece.size());
  }
  const std::vector<std::string_view>& views() const { return views_; }

 private:
  std::vector<std::unique_ptr<char[]>> owned_;
  std::vector<std::string_view> views_;
};

void CompareWithProtobuf(const MutateRowsRequest& expected,
                         const convert::MutateRowsMessage& message) {
  Require(message.table_name() == expected.table_name() &&
              message.authorized_view_name() == expected.authorized_view_name() &&
              message.entry_count() == static_cast<size_t>(expected.entries_size()),
          "the same names and the same number of entries");
  size_t mutations = 0;
  for (const auto& entry : expected.entries()) {
    mutations += static_cast<size_t>(entry.mutations_size());
  }
  Require(message.mutation_count() == mutations, "the same number of mutations");
  if (!message.CheckCounts().ok()) return;
  RowMutation mutation("row");  // of all entries, one after the other
  for (int i = 0; i < expected.entries_size(); ++i) {
    const absl::Status status = message.MutationOf(static_cast<size_t>(i), kTimeOfFuzz, &mutation);
    const std::string read = TextOfMutation(status, mutation);
    const absl::StatusOr<RowMutation> wanted = convert::ToRowMutation(
        expected.entries(i).row_key(), expected.entries(i).mutations(), kTimeOfFuzz);
    Require(read == (wanted.ok() ? TextOfMutation(absl::OkStatus(), *wanted)
                                 : TextOfMutation(wanted.status(), mutation)),
            "the same mutation, or the same error");
  }
}

void FuzzServerMutateRows(std::string_view bytes) {
  static const auto old_handler = google::protobuf::SetLogHandler(nullptr);
  static_cast<void>(old_handler);
  FuzzInput input(bytes);
  const uint8_t cuts = input.Below(4);
  OwnedPieces pieces;
  std::string whole;
  for (uint8_t i = 0; i < cuts; ++i) {
    const std::string_view piece = input.Piece();
    pieces.Add(piece);
    whole.append(piece);
  }
  const std::string_view rest = input.Rest();
  pieces.Add(rest);
  whole.append(rest);

  MutateRowsRequest expected;
  const bool is_request = expected.ParseFromString(whole);
  convert::ObjectBudget any_number;
  const absl::StatusOr<convert::MutateRowsMessage> message =
      convert::MutateRowsMessage::Read(pieces.views(), &any_number);
  Require(message.ok() == is_request, "what protocol buffers read is read, and nothing else");
  if (message.ok()) {
    CompareWithProtobuf(expected, *message);
  } else {
    Require(absl::IsInternal(message.status()), "as gRPC says it");
  }
}

const FuzzTargetRegistration server_mutate_rows_target("server_mutate_rows", FuzzServerMutateRows);

}  // namespace
}  // namespace bigtable::server
