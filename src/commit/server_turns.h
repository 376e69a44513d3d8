// A turn at several servers at a time, among the writes of each: what then happens is between two
// writes of every one of them.
#ifndef BIGTABLE_COMMIT_SERVER_TURNS_H_
#define BIGTABLE_COMMIT_SERVER_TURNS_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/call_limits.h"
#include "commit/group_writer.h"

namespace bigtable {

// Runs `function` in a turn at each of `servers`, which are in ascending order of their addresses,
// each once: all threads that have several turns take them in this order. False, and it did not
// run: the limits have ended, or a turn did not come within `stall_timeout` while this had turns at
// other servers, whose writes wait for it. Then `*awaited` is the server whose turn did not come.
[[nodiscard]] bool RunInTurns(absl::Span<GroupWriter* const> servers, const CallLimits& limits,
                              absl::Duration stall_timeout, absl::FunctionRef<void()> function,
                              GroupWriter** awaited);

// The same for servers in any order, until it has run: a server whose turn does not come is waited
// for without the other turns, and then each turn may take longer. Errors of the limits.
absl::Status RunInTurnsOf(std::vector<GroupWriter*> servers, const CallLimits& limits,
                          absl::FunctionRef<void()> function);

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_SERVER_TURNS_H_
