// Statuses of the program: which exit code they mean, and the macros that pass them on.
#ifndef BIGTABLE_TOOLS_STATUS_H_
#define BIGTABLE_TOOLS_STATUS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::tools {

// The exit codes of the program, which docs/command-line.md documents. Never renumber.
enum ExitCode {
  kDone = 0,
  kFailed = 1,    // the database refused or failed
  kUsage = 2,     // the command line is wrong; the database was not changed
  kNotFound = 3,  // what the command names does not exist: a database, table, family, tablet, row
};

// The command line is wrong: exit code kUsage, with a reference to --help.
absl::Status UsageError(std::string message);

// A file of the command line, or the standard output, could not be read or written.
absl::Status StreamError(std::string message);

ExitCode ExitCodeOf(const absl::Status& status);

// The message alone: scripts read the exit code.
std::string MessageOf(const absl::Status& status);

}  // namespace bigtable::tools

#define TOOLS_RETURN_IF_ERROR(expression)                                 \
  do {                                                                    \
    if (absl::Status tools_status_ = (expression); !tools_status_.ok()) { \
      return tools_status_;                                               \
    }                                                                     \
  } while (false)

#define TOOLS_CONCAT_2(a, b) a##b
#define TOOLS_CONCAT(a, b) TOOLS_CONCAT_2(a, b)
#define TOOLS_ASSIGN_OR_RETURN(target, expression)       \
  auto TOOLS_CONCAT(tools_or_, __LINE__) = (expression); \
  if (!TOOLS_CONCAT(tools_or_, __LINE__).ok()) {         \
    return TOOLS_CONCAT(tools_or_, __LINE__).status();   \
  }                                                      \
  target = std::move(*TOOLS_CONCAT(tools_or_, __LINE__))

#endif  // BIGTABLE_TOOLS_STATUS_H_
