// Compaction policies in shared objects (--policy). example_policy.cc is one.
//
// A shared object has a function
//
//   extern "C" bool bigtable_register_policies();
//
// that registers one policy or more (bigtable/compaction_policy.h), and returns false if that
// fails. It need not be linked with the library: this program exports the library's functions. It
// is never unloaded.
#ifndef BIGTABLE_BENCH_COMPACTION_PLUGIN_H_
#define BIGTABLE_BENCH_COMPACTION_PLUGIN_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "policy.h"

namespace bench {

// Loads PATH of "PATH[:NAME]", and returns the policies that it registers, or only the one with
// this name. InvalidArgument names what is missing.
absl::StatusOr<std::vector<Policy>> LoadPolicies(std::string_view argument);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_PLUGIN_H_
