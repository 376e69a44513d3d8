#include "tools/csv.h"

#include "absl/status/status.h"

#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

constexpr int kEnd = std::istream::traits_type::eof();

}  // namespace

int CsvReader::Get() {
  const int c = in_->rdbuf()->sbumpc();
  if (c == kEnd) return c;
  ++offset_;
  if (c == '\n') ++line_;
  return c;
}

// After the first quotation mark, to the last one.
absl::Status CsvReader::ReadQuoted(CsvField* field) {
  field->quoted = true;
  while (true) {
    const int c = Get();
    if (c == kEnd) {
      return absl::InvalidArgumentError(
          Cat("line ", record_line_, ": a quotation mark is not closed"));
    }
    if (c == '"') {
      if (in_->rdbuf()->sgetc() != '"') return absl::OkStatus();
      Get();
    }
    field->bytes += static_cast<char>(c);
  }
}

absl::Status CsvReader::ReadField(CsvField* field, int* end) {
  *field = {};
  bool closed = false;
  while (true) {
    const int c = Get();
    const bool at_line_end = c == '\r' && in_->rdbuf()->sgetc() == '\n';
    if (c == ',' || c == '\n' || c == kEnd) {
      *end = c;
      return absl::OkStatus();
    }
    if (at_line_end) continue;
    if (c == '"' && field->bytes.empty() && !closed) {
      TOOLS_RETURN_IF_ERROR(ReadQuoted(field));
      closed = true;
    } else if (closed || c == '"') {
      return absl::InvalidArgumentError(
          Cat("line ", record_line_, ": text beside quotation marks; write \"\" for one"));
    } else {
      field->bytes += static_cast<char>(c);
    }
  }
}

absl::StatusOr<bool> CsvReader::Read(std::vector<CsvField>* record) {
  while (true) {
    record->clear();
    record_line_ = line_;
    int end = 0;
    do {
      TOOLS_RETURN_IF_ERROR(ReadField(&record->emplace_back(), &end));
    } while (end == ',');
    const bool is_empty = record->size() == 1 && record->front().missing();
    if (!is_empty) return true;
    if (end == kEnd) return false;
  }
}

std::string CsvText(std::string_view bytes) {
  if (!bytes.empty() && bytes.find_first_of(",\"\n\r") == std::string_view::npos) {
    return std::string(bytes);
  }
  std::string text = "\"";
  for (const char c : bytes) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

}  // namespace bigtable::tools
