// The file that says how far an import or an export has come (--resume FILE): a JSON object of one
// line. It is replaced as a whole, durably, after the work that it describes is durable.
#ifndef BIGTABLE_TOOLS_TOKEN_FILE_H_
#define BIGTABLE_TOOLS_TOKEN_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace bigtable::tools {

// Plain value.
struct TransferToken {
  std::string verb;  // "import" or "export"
  std::string table;
  std::string file;  // as it was named
  std::string format;
  uint64_t offset = 0;    // bytes of the file that are done
  uint64_t line = 0;      // of an import: the line behind the offset
  uint64_t rows = 0;      // that are done
  int64_t timestamp = 0;  // of an import: of cells without one
  std::string last;       // of an import: the bytes before the offset, to know the file again
  std::string position;   // of an export: RowReader::ResumeToken
  std::string arguments;  // of an export: which cells, to refuse others
  bool done = false;      // nothing is left
};

// Nothing if there is no such file. InvalidArgument: it is not a token.
absl::StatusOr<std::optional<TransferToken>> ReadTokenFile(const std::string& path);
absl::Status WriteTokenFile(const std::string& path, const TransferToken& token);
// Writes a small file, or replaces it as a whole, durably.
absl::Status ReplaceFile(const std::string& path, const std::string& bytes);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_TOKEN_FILE_H_
