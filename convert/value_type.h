// google.bigtable.admin.v2.Type, of a column family, as the engine's ValueType, and back.
//
// A family holds bytes, or aggregates: the sum, the minimum or the maximum of 64-bit integers in
// big-endian encoding or of Float64s, or an approximate count of unique integers. The state of a
// sum of Float64s is bytes (DoubleSumValue): it is exact.
//
// The engine does not keep what kind of input a kHyperLogLog family takes. Here it is an Int64; a
// program that embeds the engine may have counted other bytes.
//
// Pure functions. INVALID_ARGUMENT names the field.
#ifndef BIGTABLE_CONVERT_VALUE_TYPE_H_
#define BIGTABLE_CONVERT_VALUE_TYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/types.pb.h"

#include "bigtable/schema.h"

namespace bigtable::convert {

// What a family of the type holds, by its aggregator, and whether its input is a Float64. Without
// aggregates, bytes: the engine does not know what they stand for. INVALID_ARGUMENT: an aggregate
// of another kind.
absl::StatusOr<ValueType> ToValueType(const google::bigtable::admin::v2::Type& type);

// What a request is held to: INVALID_ARGUMENT for types that the engine does not have, other
// inputs and encodings among them, and for a `state_type` that is given and is not what the
// aggregate has. An encoding that is not set is the one that the engine has.
absl::Status CheckValueType(const google::bigtable::admin::v2::Type& type);

// With all fields set, also those that are output only. Of kBytes, raw bytes.
google::bigtable::admin::v2::Type ToProto(ValueType type);

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_VALUE_TYPE_H_
