#include "commit/server_turns.h"

#include <algorithm>
#include <cstddef>

namespace bigtable {
namespace {

bool RunFrom(size_t i, absl::Span<GroupWriter* const> servers, const CallLimits& limits,
             absl::Duration stall_timeout, absl::FunctionRef<void()> function,
             GroupWriter** awaited) {
  if (i == servers.size()) {
    function();
    return true;
  }
  CallLimits of_turn = limits;
  if (i > 0) of_turn.deadline = std::min(limits.deadline, Deadline::In(stall_timeout));
  *awaited = servers[i];
  bool has_run = false;
  const auto take_others = [&] {
    has_run = RunFrom(i + 1, servers, limits, stall_timeout, function, awaited);
  };
  return servers[i]->queue()->RunExclusive(take_others, of_turn).ok() && has_run;
}

}  // namespace

bool RunInTurns(absl::Span<GroupWriter* const> servers, const CallLimits& limits,
                absl::Duration stall_timeout, absl::FunctionRef<void()> function,
                GroupWriter** awaited) {
  return RunFrom(0, servers, limits, stall_timeout, function, awaited);
}

}  // namespace bigtable
