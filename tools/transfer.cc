// Verbs for whole tables: import and export. Both can be killed at any time and continued from a
// token file (tools/token_file.h).
//
// An import that continues may apply the rows of its last batch again. It does so with the same
// timestamps, those of the token, so that the same cells are written: nothing is lost, and nothing
// is there twice.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/table.h"

#include "tools/csv.h"
#include "tools/filters.h"
#include "tools/output.h"
#include "tools/record_reader.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/token_file.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

constexpr char kStandardStream[] = "-";

// One line on stderr every second.
class Progress {
 public:
  Progress(const Session* session, std::string_view done) : session_(session), done_(done) {}

  void Show(uint64_t rows) {
    if (session_->quiet() || absl::Now() < next_) return;
    session_->err() << done_ << " " << WithCommas(rows) << " rows so far\n" << std::flush;
    next_ = absl::Now() + absl::Seconds(1);
  }
  void Finish(uint64_t rows, uint64_t earlier) {
    if (session_->quiet()) return;
    session_->err() << done_ << " " << WithCommas(rows) << (rows == 1 ? " row" : " rows");
    if (earlier > 0) session_->err() << ", " << WithCommas(earlier) << " of them by earlier runs";
    session_->err() << "\n";
  }

 private:
  const Session* const session_;
  const std::string_view done_;
  absl::Time next_ = absl::Now() + absl::Seconds(1);
};

// format=, or what the file's name says.
absl::StatusOr<std::string> FormatOf(const Arguments& arguments) {
  const std::string format = arguments.Text("format"), file = arguments.Text("FILE");
  if (format == "csv" || format == "json") return format;
  if (arguments.Has("format")) {
    return UsageError(Cat("format=", format, " is neither csv nor json"));
  }
  const bool is_json =
      file.ends_with(".json") || file.ends_with(".jsonl") || file.ends_with(".ndjson");
  return std::string(is_json ? "json" : "csv");
}

absl::StatusOr<bool> IsValueEncoded(const Arguments& arguments) {
  const std::string text = arguments.Text("timestamp");
  if (text == "value-encoded") return true;
  if (text == "now" || !arguments.Has("timestamp")) return false;
  return UsageError(Cat("timestamp=", text, " is neither now nor value-encoded"));
}

// The token of --resume, if there is one; or a new one.
absl::StatusOr<TransferToken> TokenOf(const Arguments& arguments, const TransferToken& wanted) {
  if (!arguments.Has("resume")) return wanted;
  if (arguments.Text("FILE") == kStandardStream) {
    return UsageError("--resume needs a file, not -");
  }
  const std::string path = arguments.Text("resume");
  TOOLS_ASSIGN_OR_RETURN(const std::optional<TransferToken> token, ReadTokenFile(path));
  if (!token.has_value()) return wanted;
  if (token->verb != wanted.verb || token->table != wanted.table || token->file != wanted.file ||
      token->format != wanted.format || token->arguments != wanted.arguments) {
    return absl::FailedPreconditionError(
        Cat(path, " is of another command: ", token->verb, " ", token->table, " ", token->file,
            " format=", token->format, "; repeat that one, or remove the file to begin anew"));
  }
  return *token;
}

// --- Import ---

class Import {
 public:
  Import(Session* session, const Arguments* arguments)
      : session_(session), arguments_(arguments), progress_(session, "imported") {}

  absl::Status Run() {
    TOOLS_RETURN_IF_ERROR(Prepare());
    const uint64_t earlier = token_.rows;
    if (!token_.done) {
      TOOLS_RETURN_IF_ERROR(OpenFile());
      TOOLS_RETURN_IF_ERROR(OpenTable());
      // The next run must know the timestamp before the first cell has it.
      if (token_.rows == 0) TOOLS_RETURN_IF_ERROR(WriteToken());
      TOOLS_RETURN_IF_ERROR(ImportRows());
      token_.done = true;
      TOOLS_RETURN_IF_ERROR(WriteToken());
    }
    progress_.Finish(token_.rows, earlier);
    return absl::OkStatus();
  }

 private:
  static constexpr uint64_t kMaxBatchBytes = 16 << 20;
  static constexpr uint64_t kLastBytes = 64;

  absl::Status Prepare() {
    TOOLS_ASSIGN_OR_RETURN(batch_size_, arguments_->Number("batch-size", 1, 500));
    TOOLS_ASSIGN_OR_RETURN(options_.value_encoded, IsValueEncoded(*arguments_));
    TOOLS_ASSIGN_OR_RETURN(options_.format, FormatOf(*arguments_));
    options_.column_family = arguments_->Text("column-family");
    const TransferToken wanted = {
        .verb = "import",
        .table = arguments_->Text("TABLE"),
        .file = arguments_->Text("FILE"),
        .format = options_.format,
        .timestamp = absl::ToUnixMicros(absl::Now()),
        .arguments = Cat(options_.column_family, " ", options_.value_encoded)};
    TOOLS_ASSIGN_OR_RETURN(token_, TokenOf(*arguments_, wanted));
    options_.timestamp = Timestamp(token_.timestamp);
    return absl::OkStatus();
  }

  std::string FileName() const {
    return token_.file == kStandardStream ? "standard input" : token_.file;
  }

  absl::Status OpenFile() {
    std::istream* in = &session_->in();
    if (token_.file != kStandardStream) {
      TOOLS_RETURN_IF_ERROR(FileSystem::Posix()->FileSize(token_.file).status());
      file_.open(token_.file, std::ios::binary);
      if (!file_.good()) return absl::UnavailableError(Cat(token_.file, ": cannot be read"));
      in = &file_;
    }
    reader_ = RecordReader::New(options_, in);
    if (const absl::Status status = reader_->ReadHeader(); !status.ok()) {
      return absl::Status(status.code(), Cat(FileName(), ": ", MessageOf(status)));
    }
    if (token_.rows == 0) return absl::OkStatus();
    TOOLS_ASSIGN_OR_RETURN(const std::string last, LastBytes(token_.offset));
    if (last != token_.last) {
      return absl::FailedPreconditionError(
          Cat(token_.file, " has changed since the import began: it differs before byte ",
              token_.offset, "; remove ", arguments_->Text("resume"), " to begin anew"));
    }
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(token_.offset));
    reader_->Continue(token_.offset, token_.line);
    return absl::OkStatus();
  }

  // The bytes of the file before the offset.
  absl::StatusOr<std::string> LastBytes(uint64_t offset) {
    TOOLS_ASSIGN_OR_RETURN(const uint64_t size, FileSystem::Posix()->FileSize(token_.file));
    if (size < offset) return std::string("(the file is shorter)");
    TOOLS_ASSIGN_OR_RETURN(
        const std::unique_ptr<RandomAccessFile> file,
        FileSystem::Posix()->NewRandomAccessFile(token_.file, FileSystem::ReadMode::kPositional));
    std::string bytes(std::min(offset, kLastBytes), '\0');
    TOOLS_RETURN_IF_ERROR(file->Read(offset - bytes.size(), bytes.size(), bytes.data()));
    return bytes;
  }

  absl::Status OpenTable() {
    TOOLS_RETURN_IF_ERROR(session_->OpenToWrite().status());
    TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, session_->GetSchema(token_.table));
    for (const std::string& family : reader_->families()) {
      TOOLS_RETURN_IF_ERROR(Session::CheckFamily(token_.table, schema, family));
    }
    TOOLS_ASSIGN_OR_RETURN(table_, session_->OpenTable(token_.table));
    return absl::OkStatus();
  }

  absl::Status ImportRows() {
    while (true) {
      std::optional<RowMutation> mutation;
      const absl::StatusOr<bool> found = reader_->Next(&mutation);
      if (!found.ok()) {
        // The rows before the damaged one are good.
        TOOLS_RETURN_IF_ERROR(ApplyBatch());
        return absl::InvalidArgumentError(Cat(FileName(), ": ", MessageOf(found.status()),
                                              "; imported before it: ", token_.rows,
                                              token_.rows == 1 ? " row" : " rows"));
      }
      if (!*found) return ApplyBatch();
      bytes_ += mutation->byte_size();
      batch_.push_back(*std::move(mutation));
      lines_.push_back(reader_->line());
      offset_ = reader_->offset();
      next_line_ = reader_->next_line();
      if (static_cast<int64_t>(batch_.size()) >= batch_size_ || bytes_ >= kMaxBatchBytes) {
        TOOLS_RETURN_IF_ERROR(ApplyBatch());
      }
    }
  }

  absl::Status ApplyBatch() {
    if (batch_.empty()) return absl::OkStatus();
    WriteOptions options;
    // What the token says is done must survive what the token survives.
    if (arguments_->Has("resume")) options.durability = Durability::kSync;
    const std::vector<absl::Status> statuses = table_->ApplyBatch(batch_, options);
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].ok()) continue;
      return absl::Status(statuses[i].code(),
                          Cat(FileName(), ": line ", lines_[i], ": row ", Quoted(batch_[i].row()),
                              ": ", MessageOf(statuses[i])));
    }
    token_.rows += batch_.size();
    token_.offset = offset_;
    token_.line = next_line_;
    batch_.clear();
    lines_.clear();
    bytes_ = 0;
    progress_.Show(token_.rows);
    return WriteToken();
  }

  absl::Status WriteToken() {
    if (!arguments_->Has("resume")) return absl::OkStatus();
    TOOLS_ASSIGN_OR_RETURN(token_.last, LastBytes(token_.offset));
    return WriteTokenFile(arguments_->Text("resume"), token_);
  }

  Session* const session_;
  const Arguments* const arguments_;
  Progress progress_;
  RecordReaderOptions options_;
  TransferToken token_;
  int64_t batch_size_ = 0;
  std::ifstream file_;
  std::unique_ptr<RecordReader> reader_;
  Table* table_ = nullptr;

  // Rows that were read and are not applied, the line of each, and where the last one ends.
  std::vector<RowMutation> batch_;
  std::vector<uint64_t> lines_;
  uint64_t bytes_ = 0;
  uint64_t offset_ = 0;
  uint64_t next_line_ = 0;
};

// --- Export ---

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

  absl::Status CannotWrite() const {
    return absl::UnavailableError(Cat(token_.file, " cannot be written"));
  }

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

absl::Status RunImport(Session& session, const Arguments& arguments) {
  return Import(&session, &arguments).Run();
}

absl::Status RunExport(Session& session, const Arguments& arguments) {
  return Export(&session, &arguments).Run();
}

}  // namespace

std::vector<Verb> TransferVerbs() {
  const Verb::Word table = {"TABLE", "a table"};
  const Verb::Word format = {"format", "csv or json; else as FILE ends: .json, .jsonl, .ndjson"};
  std::vector<Verb::Word> export_keys = RowKeys();
  for (const Verb::Word& key : CellKeys()) export_keys.push_back(key);
  export_keys.push_back({"timestamp", "value-encoded: CSV values end with @micros"});
  export_keys.push_back({"batch-size", "rows between two positions of --resume (5000)"});
  export_keys.push_back(format);
  return {
      {.name = "import",
       .summary = "Write the rows of a file into a table: CSV or JSON lines",
       .words = {table, {"FILE", "the file; - is the standard input"}},
       .keys = {{"column-family", "of all columns of a CSV file, which then has one header line"},
                {"timestamp", "now, or value-encoded: CSV values may end with @micros"},
                {"batch-size", "rows that are written together (500)"},
                format},
       .options = {{"resume", "FILE", "Keep the position in this file, and continue from it"}},
       .notes = "The families must exist. Cells without a timestamp get the time at which the "
                "import began. With --resume an import that was killed is continued by the same "
                "command; no cell is lost or written twice.",
       .examples = {"bigtable import webtable pages.csv --resume pages.position",
                    "bigtable import webtable rows.jsonl"},
       .run = RunImport},
      {.name = "export",
       .summary = "Write the rows of a table into a file: CSV or JSON lines",
       .words = {table, {"FILE", "the file, which is replaced; - is the standard output"}},
       .keys = std::move(export_keys),
       .options = {{"resume", "FILE", "Keep the position in this file, and continue from it"}},
       .notes = "CSV has the newest version of each column, without its timestamp unless "
                "timestamp=value-encoded; JSON has all versions.",
       .examples = {"bigtable export webtable pages.csv prefix=com. columns=contents:",
                    "bigtable export webtable all.jsonl --resume all.position"},
       .run = RunExport},
  };
}

}  // namespace bigtable::tools
