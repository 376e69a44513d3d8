// The limits of a call, from its options.
#ifndef BIGTABLE_BACKEND_OPTION_LIMITS_H_
#define BIGTABLE_BACKEND_OPTION_LIMITS_H_

#include <concepts>

#include "bigtable/call_options.h"
#include "bigtable/options.h"

#include "base/call_limits.h"

namespace bigtable {

// Options with the deadline and the cancellation of CallOptions.
template <typename Options>
concept HasCallOptions =
    std::same_as<decltype(Options::deadline), decltype(CallOptions::deadline)> &&
    std::same_as<decltype(Options::cancellation), decltype(CallOptions::cancellation)>;
static_assert(HasCallOptions<CallOptions> && HasCallOptions<CreateTableOptions> &&
              HasCallOptions<OpenTableOptions> && HasCallOptions<ReadOptions> &&
              HasCallOptions<WriteOptions>);

// Call it once for each call, when the call begins (base/call_limits.h).
template <HasCallOptions Options>
CallLimits LimitsOf(const Options& options) {
  return {options.deadline, options.cancellation};
}

}  // namespace bigtable

#endif  // BIGTABLE_BACKEND_OPTION_LIMITS_H_
