// RowMutation and ReadModifyWrite as messages. Pure functions.
#ifndef BIGTABLE_REMOTE_CONVERT_MUTATION_H_
#define BIGTABLE_REMOTE_CONVERT_MUTATION_H_

#include "absl/status/status.h"

#include "bigtable/read_modify_write.h"
#include "bigtable/row_mutation.h"
#include "bigtable/timestamp.h"

#include "google/bigtable/v2/data.pb.h"

namespace bigtable::remote {

using MutationList = google::protobuf::RepeatedPtrField<google::bigtable::v2::Mutation>;
using RuleList = google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>;

// Cells at the server's time get `now`: so the mutation may be sent twice. `mutation` is valid.
// InvalidArgument: a timestamp is not a multiple of a millisecond, which is all the API has.
absl::Status AppendMutations(const RowMutation& mutation, Timestamp now, MutationList* list);

// Whether the row is the same if the mutation is applied twice: it adds to no aggregate.
bool IsIdempotent(const MutationList& list);

void AppendRules(const ReadModifyWrite& rules, RuleList* list);

}  // namespace bigtable::remote

#endif  // BIGTABLE_REMOTE_CONVERT_MUTATION_H_
