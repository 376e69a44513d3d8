// The words of a command after its verb: positional ones, cbt's key=value, and options.
#ifndef BIGTABLE_TOOLS_ARGUMENTS_H_
#define BIGTABLE_TOOLS_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/timestamp.h"

namespace bigtable::tools {

// A column, a value, and perhaps a timestamp, as `set` takes them. Plain value.
struct CellArgument {
  std::string family;
  std::string column;  // "family:qualifier"
  std::string value;
  std::optional<Timestamp> timestamp;
};

// One thread at a time.
class Arguments {
 public:
  // With `escapes`, Bytes and the functions that return bytes read the escapes of tools/text.h.
  explicit Arguments(bool escapes = false) : escapes_(escapes) {}

  // --- Filled in by main.cc ---

  void SetPositional(std::string_view name, std::string value);
  void SetOption(std::string_view name, std::string value);
  void SetWords(std::vector<std::string> words) { words_ = std::move(words); }
  // Reads each word as key=value of one of the keys. UsageError: another key, or one twice.
  absl::Status ReadKeys(const std::vector<std::string>& keys);

  // --- For verbs ---

  bool Has(std::string_view name) const { return values_.contains(name); }
  // The text of a positional word, a key or an option; "" if it is not given.
  std::string Text(std::string_view name) const;
  // The same for what may be any bytes: rows, columns, values.
  absl::StatusOr<std::string> Bytes(std::string_view name) const;
  // A whole number of at least `least`.
  absl::StatusOr<int64_t> Number(std::string_view name, int64_t least, int64_t otherwise) const;
  absl::StatusOr<bool> Boolean(std::string_view name) const;  // false if it is not given

  const std::vector<std::string>& words() const { return words_; }
  // "family:qualifier=value[@timestamp]". What follows the last @ is a timestamp if it is a number.
  absl::StatusOr<CellArgument> Cell(std::string_view word) const;
  absl::StatusOr<std::string> Read(std::string_view text) const;

 private:
  bool escapes_;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> words_;
};

// Splits "value@timestamp": if what follows the last @ is a decimal number that is not negative,
// removes it from the text and returns it.
std::optional<Timestamp> TakeTimestamp(std::string_view* text);

}  // namespace bigtable::tools

#endif  // BIGTABLE_TOOLS_ARGUMENTS_H_
