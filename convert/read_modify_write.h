// The rules of a ReadModifyWriteRow call as the engine's ReadModifyWrite, and back.
//
// From a request is refused with INVALID_ARGUMENT, with the index of the rule that is wrong: no
// rule or more than 100,000; a row key that is empty or larger than 4 KiB; a rule with nothing set,
// a bad family name, a qualifier over 16 KiB, an append_value over 100 MiB. What the cells must be
// for the rules, the engine says when they are applied: also that a value would have more than 100
// MiB.
//
// Pure functions.
#ifndef BIGTABLE_CONVERT_READ_MODIFY_WRITE_H_
#define BIGTABLE_CONVERT_READ_MODIFY_WRITE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "google/bigtable/v2/data.pb.h"

#include "bigtable/read_modify_write.h"

namespace bigtable::convert {

using RuleList = google::protobuf::RepeatedPtrField<google::bigtable::v2::ReadModifyWriteRule>;

absl::StatusOr<ReadModifyWrite> ToReadModifyWrite(std::string_view row_key, const RuleList& rules);

// `rules` are valid.
void AppendRules(const ReadModifyWrite& rules, RuleList* list);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_READ_MODIFY_WRITE_H_
