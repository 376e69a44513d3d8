// The border between the engine, which throws nothing, and code of the program that the engine
// calls: observers, filters, policies, operators, listeners, sinks, and the functions of calls.
// What that code throws becomes an error that names it, and does not unwind the engine, which would
// leave locks held and threads ended. Any thread.
#ifndef BIGTABLE_BASE_CATCH_THROWN_H_
#define BIGTABLE_BASE_CATCH_THROWN_H_

#include <cxxabi.h>
#include <exception>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"

#include "base/strings.h"

namespace bigtable {

// Calls `call`. OK if it returns; Unknown if it throws. `callback` is a text, or a function that
// makes one if it is needed.
template <typename Callback, typename Call>
absl::Status CatchThrown(const Callback& callback, const Call& call) {
  const auto error = [&](std::string_view what) {
    if constexpr (std::is_invocable_v<Callback>) {
      return absl::UnknownError(Cat(callback(), " has thrown ", what));
    } else {
      return absl::UnknownError(Cat(callback, " has thrown ", what));
    }
  };
  try {
    call();
  } catch (const std::exception& e) {
    return error(Cat("an exception: ", std::string_view(e.what())));
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread was cancelled, and must end
  } catch (...) {
    return error("what is no std::exception");
  }
  return absl::OkStatus();
}

// The same for a call that returns a status.
template <typename Callback, typename Call>
absl::Status CatchThrownStatus(const Callback& callback, const Call& call) {
  absl::Status status;
  const absl::Status thrown = CatchThrown(callback, [&] { status = call(); });
  return thrown.ok() ? status : thrown;
}

}  // namespace bigtable

#endif  // BIGTABLE_BASE_CATCH_THROWN_H_
