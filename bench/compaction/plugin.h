// Compaction policies in shared objects (--policy). example_policy.cc is one.
//
// A shared object has a function
//
//   extern "C" bool bigtable_register_policies();
//
// that registers one policy or more (bigtable/compaction_policy.h), and returns false if that
// fails. If it makes policies that have parameters in their names, as in "fluid(K=2/Z=1)", it also
// has
//
//   extern "C" bool bigtable_register_policy(const char* name);
//
// that registers the one of this name, or returns false. It need not be linked with the library:
// this program exports the library's functions. It is never unloaded.
#ifndef BIGTABLE_BENCH_COMPACTION_PLUGIN_H_
#define BIGTABLE_BENCH_COMPACTION_PLUGIN_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "policy.h"

namespace bench {

// Loads PATH of "PATH[:NAME]", and returns the policies that it registers, or only the one with
// this name. InvalidArgument names what is missing.
absl::StatusOr<std::vector<Policy>> LoadPolicies(std::string_view argument);

// Whether one of the loaded objects has registered a policy of this name, perhaps just now. One
// thread at a time.
bool RegisterByName(const std::string& name);

}  // namespace bench

#endif  // BIGTABLE_BENCH_COMPACTION_PLUGIN_H_
