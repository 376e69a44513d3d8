// The request and the response of MutateRows as bytes, without the objects of protocol buffers: one
// for each entry, mutation, cell and text costs more than the engine needs to write the row.
//
// A request is plain if, outside of its mutations, it has only the fields that this server knows,
// and no idempotency token. One that is not is read by protocol buffers, and written again as a
// plain one: so what a request means is decided in one place, whoever wrote its bytes. Mutations
// other than a single SetCell are read by protocol buffers one by one.
#ifndef BIGTABLE_CONVERT_MUTATE_ROWS_H_
#define BIGTABLE_CONVERT_MUTATE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

#include "convert/mutation.h"
#include "convert/object_budget.h"

namespace bigtable::convert {

// A request. Not thread-safe.
class MutateRowsMessage {
 public:
  // The bytes of a request, as they were received.
  using Pieces = absl::Span<const std::string_view>;

  // The bytes outlive the message. INTERNAL, as gRPC says it, if they are not a MutateRowsRequest;
  // but what follows the last of 100,000 mutations is not looked at. The budget's error: it has no
  // room for what is made of the request, which are an object for each entry and each SetCell, and
  // those of protocol buffers for other mutations, or for all of a request that is not plain.
  // Distrusts each byte. Cost: a pass over the bytes without the values, if the request is plain;
  // entries that are in several pieces are copied.
  static absl::StatusOr<MutateRowsMessage> Read(Pieces pieces, ObjectBudget* budget);

  std::string_view table_name() const { return table_name_; }
  std::string_view authorized_view_name() const { return authorized_view_name_; }
  size_t entry_count() const { return entry_count_; }
  // Of all entries.
  size_t mutation_count() const { return mutation_count_; }
  // INVALID_ARGUMENT unless there is a mutation, and at most 100,000 entries and as many mutations.
  // Of larger requests that are plain the rest is counted, and not kept.
  absl::Status CheckCounts() const;
  // Whether the bytes were read as they are.
  bool is_plain() const { return rewritten_ == nullptr; }

  // Only if CheckCounts() is OK. Makes `*mutation` one of the entry's row and mutations, or returns
  // why they are refused: what ToRowMutation (mutation.h) returns for the entry as an object of
  // protocol buffers. After an error `*mutation` may have anything, also of another entry.
  absl::Status MutationOf(size_t entry, Timestamp now, RowMutation* mutation) const;

 private:
  struct Entry {
    std::string_view row_key;
    size_t begin = 0;  // its mutations in changes_
    size_t end = 0;
  };
  struct Change {
    SetCellFields set;
    std::unique_ptr<google::bigtable::v2::Mutation> other;  // instead, if it is there
  };

  // Fields that were in several pieces.
  using Joined = std::vector<std::unique_ptr<std::string>>;

  MutateRowsMessage() = default;
  // False: the bytes are not a plain request, or the budget has an error.
  bool ReadPlain(Pieces pieces, ObjectBudget* budget);
  bool ReadEntry(std::string_view bytes, ObjectBudget* budget);
  bool ReadMutation(std::string_view bytes, ObjectBudget* budget);

  // Whether a text is UTF-8: ASCII is, and of another text protocol buffers decide, by writing it.
  bool CanTake(std::string_view text) const;

  std::string_view table_name_;
  std::string_view authorized_view_name_;
  size_t entry_count_ = 0;
  size_t mutation_count_ = 0;
  std::vector<Entry> entries_;
  std::vector<Change> changes_;
  Joined joined_;
  std::unique_ptr<std::string> rewritten_;
};

// A MutateRowsResponse with an entry for each status, in their order. After a megabyte of texts the
// others are cut to 64 bytes.
std::string MutateRowsResponseOf(absl::Span<const absl::Status> statuses);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_MUTATE_ROWS_H_
