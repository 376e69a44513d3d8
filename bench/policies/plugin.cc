// paper_policies.so: the policies for bench/compaction/run --policy (bench/compaction/plugin.h).
#include "bench/policies/paper_policies.h"

extern "C" bool bigtable_register_policies() { return policies::RegisterPaperPolicies().ok(); }

extern "C" bool bigtable_register_policy(const char* name) {
  return policies::RegisterPaperPolicy(name).ok();
}
