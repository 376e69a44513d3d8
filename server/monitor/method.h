// The methods that calls are counted by.
#ifndef BIGTABLE_SERVER_MONITOR_METHOD_H_
#define BIGTABLE_SERVER_MONITOR_METHOD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bigtable::server {

enum class Method : uint8_t {
  kReadRows,
  kSampleRowKeys,
  kMutateRow,
  kMutateRows,
  kCheckAndMutateRow,
  kReadModifyWriteRow,
  kPingAndWarm,
  kGetClientConfiguration,
  kGenerateInitialChangeStreamPartitions,
  kReadChangeStream,
  kAdmin,  // all methods of the admin services, of operations and of the engine
};

inline constexpr std::array<std::string_view, 11> kMethodNames = {
    "ReadRows",
    "SampleRowKeys",
    "MutateRow",
    "MutateRows",
    "CheckAndMutateRow",
    "ReadModifyWriteRow",
    "PingAndWarm",
    "GetClientConfiguration",
    "GenerateInitialChangeStreamPartitions",
    "ReadChangeStream",
    "Admin"};
inline constexpr size_t kMethods = kMethodNames.size();

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_MONITOR_METHOD_H_
