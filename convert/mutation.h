// The mutations of one row of a request as the engine's RowMutation, and back.
//
// From a request is refused with INVALID_ARGUMENT, with the index of the mutation that is wrong:
//   * no mutation, or more than 100,000; a row key that is empty or larger than 4 KiB;
//   * a mutation with nothing set, a bad family name, a qualifier over 16 KiB, a value over
//     100 MiB;
//   * timestamps that are not multiples of a millisecond, or negative, except that a SetCell's may
//     be -1 for the server's time; a time range that is empty;
//   * Values of AddToCell and MergeToCell with a `type`, a qualifier that is no raw_value, a
//     timestamp that is no raw_timestamp_micros, an input that is neither an integer nor bytes nor
//     a string, or missing in AddToCell.
// Whether the table has the families, and whether a family takes an input, the engine says when the
// mutation is applied.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_MUTATION_H_
#define BIGTABLE_CONVERT_MUTATION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

namespace bigtable::convert {

using MutationList = google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>;

// INVALID_ARGUMENT unless it is from 1 to 100,000. The mutations of all entries of a MutateRows
// call are counted together.
absl::Status CheckMutationCount(int64_t count);

// `now`: the server's time, which is rounded down to a millisecond for cells at -1. The mutation
// has no operation, and so nothing to apply, if all that it was made from is MergeToCell of NULL.
absl::StatusOr<RowMutation> ToRowMutation(std::string_view row_key, const MutationList& mutations,
                                          Timestamp now);

// What a SetCell has.
struct SetCellFields {
  std::string_view family;
  std::string_view qualifier;
  int64_t timestamp_micros = 0;
  std::string_view value;
};

// Adds one mutation. `server_time` has whole milliseconds. After an error the RowMutation is not to
// be applied.
absl::Status AddSetCell(const SetCellFields& set, Timestamp server_time, RowMutation* mutation);
absl::Status AddMutation(const google::bigtable::v2::Mutation& source, Timestamp server_time,
                         RowMutation* mutation);

// Makes `*mutation` one of the row, of `count` mutations, of which `add` adds each, as above. What
// ToRowMutation says of it holds here too. After an error `*mutation` may have anything.
absl::Status BuildRowMutation(
    std::string_view row_key, size_t count, Timestamp now,
    absl::FunctionRef<absl::Status(size_t i, Timestamp server_time, RowMutation*)> add,
    RowMutation* mutation);

// The other way. Cells at the engine's time get `now`: so the mutation may be sent twice.
// `mutation` is valid. INVALID_ARGUMENT: a timestamp is not a multiple of a millisecond.
absl::Status AppendMutations(const RowMutation& mutation, Timestamp now, MutationList* list);

// What is added to a cell of an aggregate: 8 bytes are an integer.
google::bigtable::v2::Value ToAggregateInput(std::string_view bytes);

// Whether the row is the same if the mutations are applied twice: they add to no aggregate.
bool IsIdempotent(const MutationList& list);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_MUTATION_H_
