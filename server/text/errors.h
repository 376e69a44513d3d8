// Errors of requests: their text, and the macros that pass them on.
#ifndef BIGTABLE_SERVER_TEXT_ERRORS_H_
#define BIGTABLE_SERVER_TEXT_ERRORS_H_

#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::server {

// The parts as one text.
template <typename... Parts>
std::string Cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// `bytes` in quotes, with unprintable bytes escaped and long text truncated: for messages.
std::string Quoted(std::string_view bytes);

// `text` with control characters escaped, as \x0a: for logs, whose lines a request must not begin.
std::string OneLine(std::string_view text);

// INVALID_ARGUMENT with the parts as its message.
template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(Cat(parts...));
}

// The same error, payloads included, with `what` and a colon before its message.
absl::Status Annotate(const absl::Status& status, std::string_view what);

}  // namespace bigtable::server

#define SERVER_RETURN_IF_ERROR(expression)                                  \
  do {                                                                      \
    if (absl::Status server_status_ = (expression); !server_status_.ok()) { \
      return server_status_;                                                \
    }                                                                       \
  } while (false)

#define SERVER_CONCAT_2(a, b) a##b
#define SERVER_CONCAT(a, b) SERVER_CONCAT_2(a, b)
#define SERVER_ASSIGN_OR_RETURN(target, expression)        \
  auto SERVER_CONCAT(server_or_, __LINE__) = (expression); \
  if (!SERVER_CONCAT(server_or_, __LINE__).ok()) {         \
    return SERVER_CONCAT(server_or_, __LINE__).status();   \
  }                                                        \
  target = std::move(*SERVER_CONCAT(server_or_, __LINE__))

#endif  // BIGTABLE_SERVER_TEXT_ERRORS_H_
