#include "tools/arguments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"

#include "bigtable/string_view.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {

void Arguments::SetPositional(std::string_view name, std::string value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

void Arguments::SetOption(std::string_view name, std::string value) {
  values_.insert_or_assign(std::string(name), std::move(value));
}

absl::Status Arguments::ReadKeys(const std::vector<std::string>& keys) {
  for (const std::string& word : words_) {
    const size_t end = word.find('=');
    const std::string key = word.substr(0, end);
    if (end == std::string::npos || std::find(keys.begin(), keys.end(), key) == keys.end()) {
      std::vector<std::string> with_signs;
      for (const std::string& known : keys) with_signs.push_back(known + "=");
      const std::string rule = keys.empty() ? "no more words are allowed here"
                                            : "these are allowed: " + Join(with_signs, " ");
      return UsageError(Cat("unknown argument ", Quoted(word), DidYouMean(key + "=", with_signs),
                            " (", rule, ")"));
    }
    if (Has(key)) return UsageError(Cat(key, "= is given twice"));
    values_[key] = word.substr(end + 1);
  }
  return absl::OkStatus();
}

std::string Arguments::Text(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? "" : found->second;
}

absl::StatusOr<std::string> Arguments::Read(std::string_view text) const {
  if (!escapes_) return std::string(text);
  absl::StatusOr<std::string> bytes = Unescaped(text);
  if (!bytes.ok()) return UsageError(MessageOf(bytes.status()));
  return bytes;
}

absl::StatusOr<std::string> Arguments::Bytes(std::string_view name) const {
  return Read(Text(name));
}

absl::StatusOr<int64_t> Arguments::Number(std::string_view name, int64_t least,
                                          int64_t otherwise) const {
  if (!Has(name)) return otherwise;
  int64_t number = 0;
  if (!absl::SimpleAtoi(Text(name), &number) || number < least) {
    return UsageError(Cat(name, "=", Text(name), " is not a whole number of at least ", least));
  }
  return number;
}

absl::StatusOr<bool> Arguments::Boolean(std::string_view name) const {
  const std::string text = Text(name);
  if (!Has(name) || text == "false") return false;
  if (text == "true") return true;
  return UsageError(Cat(name, "=", text, " is neither true nor false"));
}

absl::StatusOr<CellArgument> Arguments::Cell(std::string_view word) const {
  const size_t colon = word.find(':');
  const size_t equals = word.find('=', colon == std::string_view::npos ? 0 : colon);
  if (colon == std::string_view::npos || equals == std::string_view::npos) {
    return UsageError(Cat(
        Quoted(word), " is not of the form family:column=value, or family:column=value@micros"));
  }
  CellArgument cell;
  cell.family = std::string(word.substr(0, colon));
  TOOLS_ASSIGN_OR_RETURN(cell.column, Read(word.substr(0, equals)));
  std::string_view value = word.substr(equals + 1);
  cell.timestamp = TakeTimestamp(&value);
  TOOLS_ASSIGN_OR_RETURN(cell.value, Read(value));
  return cell;
}

std::optional<Timestamp> TakeTimestamp(std::string_view* text) {
  const size_t at = text->rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text->substr(at + 1);
  int64_t micros = 0;
  if (digits.find_first_not_of("0123456789") != std::string_view::npos ||
      !absl::SimpleAtoi(ToAbsl(digits), &micros)) {
    return std::nullopt;
  }
  *text = text->substr(0, at);
  return Timestamp(micros);
}

}  // namespace bigtable::tools
