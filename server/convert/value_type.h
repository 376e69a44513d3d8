// google.bigtable.admin.v2.Type, of a column family, as the engine's ValueType, and back.
//
// A family holds bytes, or aggregates: the sum, the minimum or the maximum of 64-bit integers in
// big-endian encoding, or an approximate count of unique integers. Everything else is refused with
// INVALID_ARGUMENT, which names the field, and so is a `state_type` that is given and is not what
// the aggregate has.
//
// The engine does not keep what kind of input a kHyperLogLog family takes. Here it is an Int64; a
// program that embeds the engine may have counted other bytes.
//
// Pure functions.
#ifndef BIGTABLE_SERVER_CONVERT_VALUE_TYPE_H_
#define BIGTABLE_SERVER_CONVERT_VALUE_TYPE_H_

#include "absl/status/statusor.h"
#include "google/bigtable/admin/v2/types.pb.h"

#include "bigtable/schema.h"

namespace bigtable::server {

// A type with nothing set, and raw bytes, are kBytes. An encoding that is not set is the one that
// the server has.
absl::StatusOr<ValueType> ToValueType(const google::bigtable::admin::v2::Type& type);

// With all fields set, also those that are output only. Of kBytes, raw bytes.
google::bigtable::admin::v2::Type ToProto(ValueType type);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_CONVERT_VALUE_TYPE_H_
