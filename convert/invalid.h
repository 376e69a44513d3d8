// The error of a message that is refused.
#ifndef BIGTABLE_CONVERT_INVALID_H_
#define BIGTABLE_CONVERT_INVALID_H_

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable::convert {

// INVALID_ARGUMENT with the parts as its message.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(Cat(parts...));
}

}  // namespace bigtable::convert

#endif  // BIGTABLE_CONVERT_INVALID_H_
