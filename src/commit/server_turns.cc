#include "commit/server_turns.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "base/status.h"

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

absl::Status RunInTurnsOf(std::vector<GroupWriter*> servers, const CallLimits& limits,
                          absl::FunctionRef<void()> function) {
  // As BatchWriter, which grows from here too: a server that is only slow gives a turn in the end.
  constexpr absl::Duration kStallTimeout = absl::Milliseconds(2);
  std::sort(servers.begin(), servers.end(), std::less<>());
  GroupWriter* awaited = nullptr;
  for (absl::Duration stall_timeout = kStallTimeout;
       !RunInTurns(servers, limits, stall_timeout, function, &awaited); stall_timeout *= 2) {
    BT_RETURN_IF_ERROR(limits.Check());
    awaited->WaitForWrites(limits).IgnoreError();
  }
  return absl::OkStatus();
}

}  // namespace bigtable
