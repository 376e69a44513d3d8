// What imports and exports share: progress, formats, and the position of --resume. Both can be
// killed at any time and continued from a token file (tools/token_file.h).
#ifndef BIGTABLE_TOOLS_TRANSFER_H_
#define BIGTABLE_TOOLS_TRANSFER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "tools/arguments.h"
#include "tools/session.h"
#include "tools/token_file.h"

namespace bigtable::tools {

// As FILE: the standard input or output.
inline constexpr char kStandardStream[] = "-";

// One line on stderr every second. One thread.
class Progress {
 public:
  // `done` is "imported" or "exported".
  Progress(const Session* session, std::string_view done) : session_(session), done_(done) {}

  void Show(uint64_t rows);
  // `earlier` of the rows were done by earlier runs.
  void Finish(uint64_t rows, uint64_t earlier);

 private:
  const Session* const session_;
  const std::string_view done_;
  absl::Time next_ = absl::Now() + absl::Seconds(1);
};

// format=, or what the file's name says.
absl::StatusOr<std::string> FormatOf(const Arguments& arguments);
// Whether timestamp= is value-encoded.
absl::StatusOr<bool> IsValueEncoded(const Arguments& arguments);

// The token of --resume, if there is one; or `wanted`, the token of a transfer that begins.
// FailedPrecondition: the token is of another command.
absl::StatusOr<TransferToken> TokenOf(const Arguments& arguments, const TransferToken& wanted);

absl::Status RunImport(Session& session, const Arguments& arguments);  // import.cc
absl::Status RunExport(Session& session, const Arguments& arguments);  // export.cc

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_TRANSFER_H_
