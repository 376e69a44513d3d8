// The verbs import and export, and what they share.
#include "tools/transfer.h"

#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/bulk_load.h"
#include "bigtable/table.h"

#include "tools/filters.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

absl::Status RunIngest(Session& session, const Arguments& arguments) {
  TOOLS_RETURN_IF_ERROR(session.OpenToWrite().status());
  TOOLS_ASSIGN_OR_RETURN(Table* const table, session.OpenTable(arguments.Text("TABLE")));
  std::vector<std::string> files = {arguments.Text("FILE")};
  for (const std::string& file : arguments.words()) files.push_back(file);
  const IngestOptions options = {
      .wins = arguments.Has("oldest") ? IngestOptions::Wins::kOldest : IngestOptions::Wins::kNewest,
      .moves_files = arguments.Has("move"),
      .verifies = !arguments.Has("trust")};
  TOOLS_ASSIGN_OR_RETURN(const IngestSummary summary, table->Ingest(files, options));
  if (!session.quiet()) {
    session.err() << "ingested " << WithCommas(summary.entries) << " entries in "
                  << WithCommas(summary.files) << (summary.files == 1 ? " file" : " files") << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void Progress::Show(uint64_t rows) {
  if (session_->quiet() || absl::Now() < next_) return;
  session_->err() << done_ << " " << WithCommas(rows) << " rows so far\n" << std::flush;
  next_ = absl::Now() + absl::Seconds(1);
}

void Progress::Finish(uint64_t rows, uint64_t earlier) {
  if (session_->quiet()) return;
  session_->err() << done_ << " " << WithCommas(rows) << (rows == 1 ? " row" : " rows");
  if (earlier > 0) session_->err() << ", " << WithCommas(earlier) << " of them by earlier runs";
  session_->err() << "\n";
}

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
                "import began. A file of 16 MiB and more is sorted into SSTables beside the "
                "database's directory, which are then ingested at one moment, unless batch-size, "
                "--resume or a server is given. With --resume an import that was killed is "
                "continued by the same "
                "command; no cell is lost or written twice.",
       .examples = {"bigtable import webtable pages.csv --resume pages.position",
                    "bigtable import webtable rows.jsonl"},
       .run = RunImport},
      {.name = "ingest",
       .summary = "Make SSTables that were written elsewhere part of a table",
       .words = {table, {"FILE", "an SSTable"}},
       .more = Verb::Word{"FILE", "more of them; the later one wins", /*required=*/false},
       .options = {{"oldest", "", "What the table has wins, not the files"},
                   {"move", "", "Link the files and remove their names, instead of copying them"},
                   {"trust", "", "Do not check what is in the files"}},
       .notes = "All of them at one moment, or none. The table must have their families.",
       .not_on_server = "the files are the program's; use import",
       .examples = {"bigtable ingest webtable pages.sst"},
       .run = RunIngest},
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
