// The limits of Cloud Bigtable that the server holds requests to, and the client its batches.
// Beyond one of them a request is INVALID_ARGUMENT.
#ifndef BIGTABLE_CONVERT_LIMITS_H_
#define BIGTABLE_CONVERT_LIMITS_H_

#include <cstddef>
#include <cstdint>

namespace bigtable::convert {

// Bytes of names, and of what a mutation writes.
inline constexpr size_t kMaxTableIdSize = 50;
inline constexpr size_t kMaxFamilyNameSize = 64;
inline constexpr size_t kMaxRowKeySize = 4 << 10;
inline constexpr size_t kMaxQualifierSize = 16 << 10;
inline constexpr size_t kMaxValueSize = 100 << 20;

// Mutations of a MutateRow or CheckAndMutateRow call, or of all entries of a MutateRows call
// together; rules of a ReadModifyWriteRow call.
inline constexpr int kMaxMutations = 100'000;
inline constexpr int kMaxRules = 100'000;

// Bytes of a serialized filter, and how deep filters may be nested.
inline constexpr size_t kMaxFilterSize = 20 << 10;
inline constexpr int kMaxFilterDepth = 20;

// Bytes of the serialized row set of a ReadRows call.
inline constexpr size_t kMaxRowSetSize = 1 << 20;
// Modifications of a ModifyColumnFamilies call.
inline constexpr int kMaxModifications = 1000;

// Column families of a table, and bytes of a serialized garbage collection rule.
inline constexpr int kMaxFamilies = 100;
inline constexpr size_t kMaxGcRuleSize = 500;

// Timestamps of cells are multiples of this: the granularity of tables, a millisecond.
inline constexpr int64_t kTimestampGranularityMicros = 1000;

// Bytes of a value that one chunk of a ReadRowsResponse carries; a larger value is split.
inline constexpr size_t kMaxChunkValueSize = 1 << 20;

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_LIMITS_H_
