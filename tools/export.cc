// The verb export.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/table.h"

#include "tools/csv.h"
#include "tools/filters.h"
#include "tools/output.h"
#include "tools/record_reader.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/transfer.h"

namespace bigtable::tools {
namespace {

// One run of the program.
class Export {
 public:
  Export(Session* session, const Arguments* arguments)
      : session_(session), arguments_(arguments), progress_(session, "exported") {}

  absl::Status Run() {
    TOOLS_RETURN_IF_ERROR(Prepare());
    const uint64_t earlier = token_.rows;
    if (!token_.done) {
      TOOLS_RETURN_IF_ERROR(OpenTable());
      TOOLS_RETURN_IF_ERROR(OpenFile());
      TOOLS_RETURN_IF_ERROR(ExportRows());
    }
    progress_.Finish(token_.rows, earlier);
    return absl::OkStatus();
  }

 private:
  bool csv() const { return token_.format == "csv"; }

  absl::Status Prepare() {
    TOOLS_ASSIGN_OR_RETURN(batch_size_, arguments_->Number("batch-size", 1, 5000));
    TOOLS_ASSIGN_OR_RETURN(value_encoded_, IsValueEncoded(*arguments_));
    TOOLS_ASSIGN_OR_RETURN(rows_, ParseRows(*arguments_));
    TransferToken wanted = {
        .verb = "export", .table = arguments_->Text("TABLE"), .file = arguments_->Text("FILE")};
    TOOLS_ASSIGN_OR_RETURN(wanted.format, FormatOf(*arguments_));
    for (const char* key : {"start", "end", "prefix", "columns", "cells-per-column", "timestamp"}) {
      if (arguments_->Has(key)) wanted.arguments += Cat(key, "=", arguments_->Text(key), "\n");
    }
    TOOLS_ASSIGN_OR_RETURN(token_, TokenOf(*arguments_, wanted));
    return absl::OkStatus();
  }

  absl::Status OpenTable() {
    TOOLS_RETURN_IF_ERROR(session_->OpenToRead().status());
    TOOLS_ASSIGN_OR_RETURN(schema_, session_->GetSchema(token_.table));
    TOOLS_ASSIGN_OR_RETURN(filter_, ParseCellFilter(*arguments_, token_.table, schema_));
    // A field of a CSV file has one value.
    if (csv()) filter_ = Filter::Chain(filter_, Filter::Latest(1));
    TOOLS_ASSIGN_OR_RETURN(table_, session_->OpenTable(token_.table));
    return absl::OkStatus();
  }

  absl::Status OpenFile() {
    if (token_.file == kStandardStream) {
      out_ = &session_->out();
      return WriteHeader();
    }
    if (token_.rows == 0) {
      file_.open(token_.file, std::ios::binary | std::ios::trunc);
      out_ = &file_;
      if (!file_.good()) return CannotWrite();
      return WriteHeader();
    }
    TOOLS_RETURN_IF_ERROR(ReadHeader());
    // What was written after the token is written again.
    TOOLS_ASSIGN_OR_RETURN(const uint64_t size, FileSystem::Posix()->FileSize(token_.file));
    std::error_code error;
    if (size >= token_.offset) std::filesystem::resize_file(token_.file, token_.offset, error);
    if (size < token_.offset || error) {
      return absl::FailedPreconditionError(Cat(token_.file, " should have ", token_.offset,
                                               " bytes at least, and has ", size, "; remove ",
                                               arguments_->Text("resume"), " to begin anew"));
    }
    file_.open(token_.file, std::ios::binary | std::ios::app);
    out_ = &file_;
    return file_.good() ? absl::OkStatus() : CannotWrite();
  }

  absl::Status CannotWrite() const { return StreamError(Cat(token_.file, " cannot be written")); }

  // CSV needs all columns before the first row, so the table is read once for them.
  absl::Status WriteHeader() {
    if (!csv()) return absl::OkStatus();
    std::set<CsvColumn> columns;
    RowReader reader = table_->ReadRows(
        rows_, Filter::Chain(filter_, Filter::StripValueTransformer()), {.fill_cache = false});
    for (const Row& row : reader) {
      for (const Cell& cell : row.cells()) {
        columns.insert({std::string(cell.family), std::string(cell.qualifier)});
      }
    }
    TOOLS_RETURN_IF_ERROR(reader.status());
    columns_.assign(columns.begin(), columns.end());
    if (columns_.empty()) return absl::OkStatus();
    std::string families, qualifiers, last;
    for (const CsvColumn& column : columns_) {
      families += ",";
      if (column.family != last) families += CsvText(column.family);
      last = column.family;
      qualifiers += "," + CsvText(column.qualifier);
    }
    return Write(Cat(families, "\n", qualifiers, "\n"));
  }

  absl::Status ReadHeader() {
    if (!csv()) return absl::OkStatus();
    std::ifstream file(token_.file, std::ios::binary);
    CsvReader reader(&file);
    TOOLS_ASSIGN_OR_RETURN(columns_, ReadCsvHeader(&reader, ""));
    return absl::OkStatus();
  }

  absl::Status Write(const std::string& text) {
    *out_ << text;
    offset_ += text.size();
    return out_->good() ? absl::OkStatus() : CannotWrite();
  }

  absl::StatusOr<std::string> CsvRecord(const Row& row) const {
    std::string text = CsvText(row.key());
    size_t next = 0;  // cells are in the order of the columns
    for (const CsvColumn& column : columns_) {
      text += ',';
      if (next == row.cells().size()) continue;
      const Cell& cell = row.cells()[next];
      if (cell.family != column.family || cell.qualifier != column.qualifier) continue;
      text += value_encoded_ ? CsvText(Cat(cell.value, "@", cell.timestamp.micros()))
                             : CsvText(cell.value);
      ++next;
    }
    if (next < row.cells().size()) {
      const Cell& cell = row.cells()[next];
      return absl::FailedPreconditionError(
          Cat("row ", Quoted(row.key()), " has the column ", cell.family, ":",
              Escaped(cell.qualifier), ", which the header of ", token_.file,
              " does not have: the table has changed; begin anew"));
    }
    return text + "\n";
  }

  absl::Status ExportRows() {
    offset_ = token_.offset + offset_;
    const ReadOptions options = {.fill_cache = false};
    RowReader reader = token_.rows == 0 ? table_->ReadRows(rows_, filter_, options)
                                        : table_->ResumeRows(token_.position, filter_, options);
    for (const Row& row : reader) {
      if (csv()) {
        TOOLS_ASSIGN_OR_RETURN(const std::string record, CsvRecord(row));
        TOOLS_RETURN_IF_ERROR(Write(record));
      } else {
        TOOLS_RETURN_IF_ERROR(Write(JsonLine(RowPrinter::RowAsJson(row, schema_))));
      }
      ++token_.rows;
      if (token_.rows % batch_size_ == 0) TOOLS_RETURN_IF_ERROR(WriteToken(reader));
      progress_.Show(token_.rows);
    }
    TOOLS_RETURN_IF_ERROR(reader.status());
    token_.done = true;
    return WriteToken(reader);
  }

  absl::Status WriteToken(const RowReader& reader) {
    out_->flush();
    if (!out_->good()) return CannotWrite();
    if (!arguments_->Has("resume")) return absl::OkStatus();
    // What the token says is written must be in the file, also after a power loss.
    TOOLS_RETURN_IF_ERROR(FileSystem::Posix()->SyncFile(token_.file));
    token_.offset = offset_;
    token_.position = reader.ResumeToken();
    return WriteTokenFile(arguments_->Text("resume"), token_);
  }

  Session* const session_;
  const Arguments* const arguments_;
  Progress progress_;
  TransferToken token_;
  int64_t batch_size_ = 0;
  bool value_encoded_ = false;
  RowRange rows_;
  Filter filter_;
  TableSchema schema_;
  Table* table_ = nullptr;
  std::ofstream file_;
  std::ostream* out_ = nullptr;
  uint64_t offset_ = 0;  // bytes of the file
  std::vector<CsvColumn> columns_;
};

}  // namespace

absl::Status RunExport(Session& session, const Arguments& arguments) {
  return Export(&session, &arguments).Run();
}

}  // namespace bigtable::tools
