// Verbs for SSTables: sst prints files, verify reads all that a database has.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bigtable/aggregate.h"
#include "bigtable/commit_log.h"
#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/sstable.h"
#include "bigtable/table.h"
#include "bigtable/tablet_info.h"

#include "tools/entries.h"
#include "tools/output.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/verb.h"

namespace bigtable::tools {
namespace {

// --- sst ---

std::string CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "none";
    case Compression::kZstd:
      return "zstd";
    case Compression::kZstdLongWindow:
      return "zstd with a long window";
  }
  return "unknown";
}

std::string FilterName(FilterKind filter) {
  switch (filter) {
    case FilterKind::kNone:
      return "none";
    case FilterKind::kRow:
      return "rows";
    case FilterKind::kRowAndColumn:
      return "rows and columns";
    case FilterKind::kRowIndex:
      return "row index";
  }
  return "unknown";
}

Json PropertiesAsJson(const std::string& path, const SSTableFileInfo& info) {
  Json object;
  object["file"] = path;
  object["file_size"] = info.file_size;
  object["entries"] = info.entries;
  object["cell_deletions"] = info.cell_deletions;
  object["column_deletions"] = info.column_deletions;
  object["row_deletions"] = info.row_deletions;
  SetBytes(&object, "smallest_row", info.smallest_row);
  SetBytes(&object, "largest_row", info.largest_row);
  object["min_sequence"] = info.min_sequence;
  object["max_sequence"] = info.max_sequence;
  if (info.min_timestamp <= info.max_timestamp) {
    object["min_timestamp"] = info.min_timestamp.micros();
    object["max_timestamp"] = info.max_timestamp.micros();
  }
  object["compression"] = CompressionName(info.compression);
  object["filter"] = FilterName(info.filter);
  object["blocks"] = info.blocks;
  object["largest_block"] = info.largest_block;
  object["data_bytes"] = info.data_bytes;
  object["index_bytes"] = info.index_bytes;
  object["dictionary_bytes"] = info.dictionary_bytes;
  object["key_bytes"] = info.key_bytes;
  object["value_bytes"] = info.value_bytes;
  Json families = Json::object();
  for (const auto& [name, counts] : info.families) {
    families[name] = {{"entries", counts.entries}, {"bytes", counts.bytes}};
  }
  object["families"] = std::move(families);
  return object;
}

void PrintProperties(const Session& session, const std::string& path, const SSTableFileInfo& info) {
  const Json object = PropertiesAsJson(path, info);
  if (session.json()) {
    session.out() << JsonLine(object);
    return;
  }
  std::vector<std::vector<std::string>> lines;
  for (const auto& [name, value] : object.items()) {
    if (name == "families") continue;
    if (name.ends_with("row") || name.ends_with("_base64")) continue;
    lines.push_back(
        {name, value.is_number() ? WithCommas(value.get<uint64_t>()) : value.get<std::string>()});
  }
  lines.push_back({"rows", Cat(Quoted(info.smallest_row), " to ", Quoted(info.largest_row))});
  for (const auto& [name, counts] : info.families) {
    lines.push_back({Cat("family ", name), Cat(WithCommas(counts.entries), " entries, ",
                                               WithCommas(counts.bytes), " bytes")});
  }
  session.out() << Aligned(lines);
}

absl::Status PrintEntries(const Session& session, const Arguments& arguments,
                          const SSTableReader& reader) {
  SSTableReader::Cursor cursor(&reader);
  if (arguments.Has("row")) {
    TOOLS_ASSIGN_OR_RETURN(const std::string row, arguments.Bytes("row"));
    cursor.SeekToRow(row);
  } else {
    cursor.SeekToFirst();
  }
  for (; cursor.valid(); cursor.Next()) PrintEntry(session, "", cursor.entry());
  return cursor.status();
}

absl::Status PrintFiles(Session& session, const Arguments& arguments) {
  for (const std::string& path : arguments.words()) {
    TOOLS_ASSIGN_OR_RETURN(const std::unique_ptr<SSTableReader> reader, SSTableReader::Open(path));
    if (arguments.Has("verify")) TOOLS_RETURN_IF_ERROR(reader->Verify());
    if (arguments.Has("entries") || arguments.Has("row")) {
      TOOLS_RETURN_IF_ERROR(PrintEntries(session, arguments, *reader));
    } else {
      PrintProperties(session, path, reader->info());
    }
  }
  return absl::OkStatus();
}

// --- verify ---

// Reads everything, and goes on past damage.
class Verification {
 public:
  explicit Verification(Session* session) : session_(session) {}

  absl::Status Run() {
    const absl::StatusOr<Database*> database = session_->OpenToRead();
    // METADATA, a log or the root is damaged; the files can be read nevertheless. Other errors are
    // no damage.
    const bool is_damaged = absl::IsDataLoss(database.status()) ||
                            (absl::IsNotFound(database.status()) &&
                             FileSystem::Posix()->FileExists(session_->directory() + "/sst"));
    if (!database.ok() && !is_damaged) return database.status();
    if (!database.ok()) Report("database", session_->directory(), database.status());
    VerifyFiles(session_->directory() + "/sst");
    VerifyFiles(session_->directory() + "/copies");
    if (database.ok()) {
      TOOLS_RETURN_IF_ERROR(ReadTables(*database));
    } else {
      VerifyLogs();
      NotChecked("tables",
                 "their rows, and whether files are missing, since the database cannot be "
                 "opened");
    }
    Summarize();
    if (damaged_ == 0) return absl::OkStatus();
    return absl::DataLossError(
        Cat("found ", damaged_, " damaged ", damaged_ == 1 ? "part" : "parts"));
  }

 private:
  // Checksums, order and number of all entries, whether a table has the file or not.
  void VerifyFiles(const std::string& directory) {
    const absl::StatusOr<std::vector<std::string>> names =
        FileSystem::Posix()->ListDirectory(directory);
    if (!names.ok()) return;  // no SSTable yet
    for (const std::string& name : *names) {
      if (!name.ends_with(".sst")) continue;
      const std::string path = directory + "/" + name;
      absl::StatusOr<std::unique_ptr<SSTableReader>> reader = SSTableReader::Open(path);
      absl::Status status = reader.status();
      if (status.ok()) status = (*reader)->Verify();
      if (status.ok()) bytes_ += (*reader)->info().file_size;
      if (!status.ok()) Report("file", path, status);
      ++files_;
    }
  }

  // The records of all logs. An opening reads them, too.
  void VerifyLogs() {
    const std::string& directory = session_->directory();
    const absl::StatusOr<std::vector<CommitLogInfo>> logs = ListCommitLogs(directory);
    if (!logs.ok()) return Report("log", directory + "/log", logs.status());
    for (const CommitLogInfo& log : *logs) {
      const absl::Status status = ReadCommitLog(
          directory, log.server, [](const CommitLogEntry&) { return absl::OkStatus(); });
      if (!status.ok()) Report("log", Cat(directory, "/log/", log.server), status);
      ++logs_;
    }
  }

  // As a reader sees them: what is missing, and what the log holds, shows here.
  absl::Status ReadTables(Database* database) {
    TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> names, database->ListTables());
    for (const std::string& name : names) {
      ++tables_;
      TOOLS_ASSIGN_OR_RETURN(Table* const table, session_->OpenTable(name));
      TOOLS_ASSIGN_OR_RETURN(const std::vector<TabletInfo> tablets, database->ListTablets(name));
      TOOLS_ASSIGN_OR_RETURN(const TableSchema schema, database->GetSchema(name));
      for (const TabletInfo& tablet : tablets) ReadTablet(table, tablet.rows, schema);
      for (const auto& [family, options] : schema.families) {
        if (!NeedsNoValues(options)) continue;
        NotChecked(Cat("family ", family, " of table ", name),
                   Cat("whether its values are those of operator ", options.value_operator,
                       ", which this program does not have; see --plugin"));
      }
    }
    return absl::OkStatus();
  }

  // Families of aggregates whose operator only the user's program has are read without values.
  static bool NeedsNoValues(const Family& family) {
    const std::vector<std::string> known = AggregateOperatorNames();
    return !family.value_operator.empty() &&
           std::find(known.begin(), known.end(), family.value_operator) == known.end();
  }

  void ReadTablet(Table* table, const RowRange& rows, const TableSchema& schema) {
    std::vector<Filter> filters = {Filter::PassAll()};
    if (std::any_of(schema.families.begin(), schema.families.end(),
                    [](const auto& family) { return NeedsNoValues(family.second); })) {
      filters = {Filter::StripValueTransformer()};
      for (const auto& [name, family] : schema.families) {
        if (!NeedsNoValues(family)) filters.push_back(Filter::Family(name));
      }
    }
    for (size_t i = 0; i < filters.size(); ++i) {
      RowReader reader =
          table->ReadRows(rows, filters[i], {.verify_checksums = true, .fill_cache = false});
      while (reader.Next()) rows_ += i == 0 ? 1 : 0;
      if (reader.status().ok()) continue;
      return Report("tablet", Cat(table->name(), " from ", Quoted(rows.begin())), reader.status());
    }
  }

  void Report(const std::string& kind, const std::string& what, const absl::Status& status) {
    ++damaged_;
    if (session_->json()) {
      Json object;
      object["damaged"] = kind;
      object["name"] = what;
      object["message"] = MessageOf(status);
      session_->out() << JsonLine(object);
    } else {
      session_->out() << "damaged " << kind << " " << what << ": " << MessageOf(status) << "\n";
    }
  }

  void NotChecked(const std::string& what, const std::string& why) {
    if (session_->json()) {
      Json object;
      object["not_checked"] = what;
      object["message"] = why;
      session_->out() << JsonLine(object);
    } else {
      session_->out() << "not checked: " << what << ": " << why << "\n";
    }
  }

  void Summarize() {
    if (session_->json()) {
      Json object;
      object["files"] = files_;
      object["bytes"] = bytes_;
      object["logs"] = logs_;
      object["tables"] = tables_;
      object["rows"] = rows_;
      object["damaged_parts"] = damaged_;
      session_->out() << JsonLine(object);
    } else {
      session_->out() << "read " << WithCommas(files_) << " files (" << WithCommas(bytes_)
                      << " bytes without damage) and " << WithCommas(rows_) << " rows of "
                      << WithCommas(tables_) << " tables\n";
    }
  }

  Session* const session_;
  uint64_t files_ = 0;
  uint64_t bytes_ = 0;
  uint64_t logs_ = 0;  // read one by one
  uint64_t tables_ = 0;
  uint64_t rows_ = 0;
  uint64_t damaged_ = 0;
};

absl::Status Verify(Session& session, const Arguments&) { return Verification(&session).Run(); }

}  // namespace

std::vector<Verb> SSTableVerbs() {
  return {
      {.name = "sst",
       .summary = "Print the properties or the entries of SSTables",
       .more = Verb::Word{"FILE", "SSTables, as in the directory sst of a database"},
       .options = {{"entries", "", "Print the entries instead"},
                   {"row", "ROW", "Print the entries of this row alone"},
                   {"verify", "", "Verify all checksums first"}},
       .notes = "The database may be open, and need not exist.",
       .needs_database = false,
       .not_on_server = "it reads the files of its arguments",
       .examples = {"bigtable sst $BIGTABLE_DIRECTORY/sst/*.sst",
                    "bigtable sst --row com.cnn.www $BIGTABLE_DIRECTORY/sst/*.sst --json"},
       .run = PrintFiles},
      {.name = "verify",
       .summary = "Read everything, verify all checksums, and list what is damaged",
       .notes =
           "Changes nothing. Goes on without METADATA, and says what was not checked. Exit code "
           "1 if something is damaged; then see `bigtable help repair`.",
       .not_on_server = "the Bigtable API does not show files and their checksums",
       .examples = {"bigtable verify"},
       .run = Verify},
  };
}

}  // namespace bigtable::tools
