#include "tools/record_reader.h"

#include <utility>

#include "tools/arguments.h"
#include "tools/csv.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"

namespace bigtable::tools {
namespace {

absl::Status LineError(uint64_t line, std::string_view what) {
  return absl::InvalidArgumentError(Cat("line ", line, ": ", what));
}

class CsvRecordReader : public RecordReader {
 public:
  CsvRecordReader(const RecordReaderOptions& options, std::istream* in)
      : options_(options), csv_(in) {}

  absl::Status ReadHeader() override {
    TOOLS_ASSIGN_OR_RETURN(columns_, ReadCsvHeader(&csv_, options_.column_family));
    return absl::OkStatus();
  }

  std::vector<std::string> families() const override {
    std::vector<std::string> names;
    for (const CsvColumn& column : columns_) names.push_back(column.family);
    return names;
  }

  void Continue(uint64_t offset, uint64_t line) override { csv_.Continue(offset, line); }

  absl::StatusOr<bool> Next(std::optional<RowMutation>* mutation) override {
    std::vector<CsvField> record;
    do {
      TOOLS_ASSIGN_OR_RETURN(const bool found, csv_.Read(&record));
      if (!found) return false;
      TOOLS_RETURN_IF_ERROR(Convert(record, mutation));
    } while ((*mutation)->operation_count() == 0);
    return true;
  }

  uint64_t offset() const override { return csv_.offset(); }
  uint64_t line() const override { return csv_.line(); }
  uint64_t next_line() const override { return csv_.next_line(); }

 private:
  absl::Status Convert(const std::vector<CsvField>& record, std::optional<RowMutation>* mutation) {
    if (record[0].bytes.empty())
      return LineError(line(), "the first field, the row's key, is empty");
    if (record.size() - 1 > columns_.size()) {
      return LineError(line(), Cat("the row has more values (", record.size() - 1,
                                   ") than the header has columns (", columns_.size(), ")"));
    }
    mutation->emplace(record[0].bytes);
    for (size_t i = 1; i < record.size(); ++i) {
      if (record[i].missing()) continue;
      std::string_view value = record[i].bytes;
      Timestamp timestamp = options_.timestamp;
      if (options_.value_encoded) timestamp = TakeTimestamp(&value).value_or(timestamp);
      const CsvColumn& column = columns_[i - 1];
      (*mutation)->Set(Cat(column.family, ":", column.qualifier), timestamp, value);
    }
    return absl::OkStatus();
  }

  const RecordReaderOptions options_;
  CsvReader csv_;
  std::vector<CsvColumn> columns_;
};

class JsonRecordReader : public RecordReader {
 public:
  JsonRecordReader(const RecordReaderOptions& options, std::istream* in)
      : options_(options), in_(in) {}

  void Continue(uint64_t offset, uint64_t line) override {
    offset_ = offset;
    line_ = line - 1;
  }

  absl::StatusOr<bool> Next(std::optional<RowMutation>* mutation) override {
    for (std::string text; std::getline(*in_, text);) {
      ++line_;
      offset_ += text.size() + (in_->eof() ? 0 : 1);
      if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
      const absl::Status status = Convert(text, mutation);
      if (!status.ok()) return LineError(line_, MessageOf(status));
      if ((*mutation)->operation_count() > 0) return true;
    }
    return false;
  }

  uint64_t offset() const override { return offset_; }
  uint64_t line() const override { return line_; }
  uint64_t next_line() const override { return line_ + 1; }

 private:
  absl::Status Convert(const std::string& text, std::optional<RowMutation>* mutation) const {
    const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!object.is_object()) return absl::InvalidArgumentError("this is not a JSON object");
    TOOLS_ASSIGN_OR_RETURN(const std::string row, GetBytes(object, "row"));
    const auto cells = object.find("cells");
    if (cells == object.end() || !cells->is_array()) {
      return absl::InvalidArgumentError("there is no array \"cells\"");
    }
    mutation->emplace(row);
    for (const Json& cell : *cells) TOOLS_RETURN_IF_ERROR(AddCell(cell, &**mutation));
    return absl::OkStatus();
  }

  absl::Status AddCell(const Json& cell, RowMutation* mutation) const {
    if (!cell.is_object()) return absl::InvalidArgumentError("a cell is not a JSON object");
    TOOLS_ASSIGN_OR_RETURN(const std::string family, GetBytes(cell, "family"));
    TOOLS_ASSIGN_OR_RETURN(const std::string qualifier, GetBytes(cell, "column"));
    TOOLS_ASSIGN_OR_RETURN(const std::string value, GetBytes(cell, "value"));
    Timestamp timestamp = options_.timestamp;
    if (const auto micros = cell.find("timestamp"); micros != cell.end()) {
      if (!micros->is_number_integer() || *micros < 0) {
        return absl::InvalidArgumentError("\"timestamp\" is not a number of microseconds");
      }
      timestamp = Timestamp(micros->get<int64_t>());
    }
    mutation->Set(Cat(family, ":", qualifier), timestamp, value);
    return absl::OkStatus();
  }

  const RecordReaderOptions options_;
  std::istream* const in_;
  uint64_t offset_ = 0;
  uint64_t line_ = 0;
};

}  // namespace

std::unique_ptr<RecordReader> RecordReader::New(const RecordReaderOptions& options,
                                                std::istream* in) {
  if (options.format == "json") return std::make_unique<JsonRecordReader>(options, in);
  return std::make_unique<CsvRecordReader>(options, in);
}

absl::StatusOr<std::vector<CsvColumn>> ReadCsvHeader(CsvReader* csv,
                                                     const std::string& column_family) {
  std::vector<CsvField> families, qualifiers;
  if (column_family.empty()) {
    TOOLS_ASSIGN_OR_RETURN(const bool found, csv->Read(&families));
    if (!found) return std::vector<CsvColumn>();  // an empty file has no rows
  }
  TOOLS_ASSIGN_OR_RETURN(const bool found, csv->Read(&qualifiers));
  if (!found && column_family.empty()) return LineError(csv->line(), "the columns are missing");
  std::vector<CsvColumn> columns;
  std::string family = column_family;
  for (size_t i = 1; i < qualifiers.size(); ++i) {
    // A family stands for the columns up to the next family.
    if (i < families.size() && !families[i].bytes.empty()) family = families[i].bytes;
    if (family.empty()) {
      return LineError(1,
                       "the first line must name the families, from the second field on; "
                       "or give column-family=");
    }
    columns.push_back({.family = family, .qualifier = qualifiers[i].bytes});
  }
  if (families.size() > qualifiers.size()) {
    return LineError(csv->line(), "the second line has fewer columns than the first one");
  }
  return columns;
}

}  // namespace bigtable::tools
