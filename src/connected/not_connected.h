// The error of a call that only an embedded database has.
#ifndef BIGTABLE_CONNECTED_NOT_CONNECTED_H_
#define BIGTABLE_CONNECTED_NOT_CONNECTED_H_

#include <string_view>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// `call`: "Table::ApproximateSizes".
[[gnu::cold]] inline absl::Status NotConnectedError(std::string_view call) {
  return absl::UnimplementedError(
      Cat(call,
          " is for an embedded database; the service that this one is connected to has no "
          "such call"));
}

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_NOT_CONNECTED_H_
