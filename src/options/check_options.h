// The bounds of DatabaseOptions, and the defaults of options that are not set.
#ifndef BIGTABLE_OPTIONS_CHECK_OPTIONS_H_
#define BIGTABLE_OPTIONS_CHECK_OPTIONS_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "bigtable/options.h"

namespace bigtable {

// Returns the options with every pointer set. InvalidArgument names the option that is out of
// range.
absl::StatusOr<DatabaseOptions> CheckedOptions(std::string_view path,
                                               const DatabaseOptions& options);

}  // namespace bigtable

#endif  // BIGTABLE_OPTIONS_CHECK_OPTIONS_H_
