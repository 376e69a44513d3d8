// The verb import.
//
// A large file goes into SSTables first, sorted, which are then ingested, all at one moment
// (bigtable/bulk_load.h). So does not an import that is to be continued, whose rows must be there
// before its position is kept; nor one into a table with observers, which an ingestion does not
// call; nor one by messages.
//
// An import that continues may apply the rows of its last batch again. It does so with the same
// timestamps, those of the token, so that the same cells are written: nothing is lost, and nothing
// is there twice.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bigtable/bulk_load.h"
#include "bigtable/database.h"
#include "bigtable/file_system.h"
#include "bigtable/schema.h"
#include "bigtable/table.h"

#include "tools/record_reader.h"
#include "tools/status.h"
#include "tools/text.h"
#include "tools/transfer.h"

namespace bigtable::tools {
namespace {

// One run of the program.
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
      TOOLS_RETURN_IF_ERROR(BeginSorting());
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
  static constexpr uint64_t kLargeFile = 16 << 20;

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
        .timestamp = session_->Now().micros(),
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
      if (!file_.good()) return StreamError(Cat(token_.file, ": cannot be read"));
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
    TOOLS_ASSIGN_OR_RETURN(schema_, session_->GetSchema(token_.table));
    for (const std::string& family : reader_->families()) {
      TOOLS_RETURN_IF_ERROR(Session::CheckFamily(token_.table, schema_, family));
    }
    TOOLS_ASSIGN_OR_RETURN(table_, session_->OpenTable(token_.table));
    return absl::OkStatus();
  }

  // Sets sorter_, if that is worth it and possible.
  absl::Status BeginSorting() {
    const bool writes = session_->directory().empty() || arguments_->Has("resume") ||
                        arguments_->Has("batch-size") || !schema_.observers.empty() ||
                        schema_.changes.retention != absl::ZeroDuration() ||
                        token_.file == kStandardStream;
    if (writes) return absl::OkStatus();
    TOOLS_ASSIGN_OR_RETURN(const uint64_t size, FileSystem::Posix()->FileSize(token_.file));
    if (size < kLargeFile) return absl::OkStatus();
    // Beside the database, so that the files can be linked.
    sorted_ = Cat(session_->directory(), ".import");
    if (!FileSystem::Posix()->CreateDirectory(sorted_).ok()) return absl::OkStatus();
    // Without an operator of the schema, batches of rows of other families can be written.
    absl::StatusOr<std::unique_ptr<SSTableSorter>> sorter = SSTableSorter::Create(sorted_, schema_);
    if (sorter.ok()) {
      sorter_ = *std::move(sorter);
    } else {
      FileSystem::Posix()->RemoveDirectory(sorted_).IgnoreError();
    }
    return absl::OkStatus();
  }

  absl::Status ImportRows() {
    const absl::Status read = ReadRows();
    if (sorter_ == nullptr) return read;
    // The rows before a damaged one are good.
    const absl::Status ingested = Ingest();
    sorter_.reset();
    FileSystem::Posix()->RemoveDirectory(sorted_).IgnoreError();  // it may be another import's too
    return ingested.ok() ? read : ingested;
  }

  absl::Status Ingest() {
    TOOLS_ASSIGN_OR_RETURN(const std::vector<std::string> files, sorter_->Finish());
    const absl::Status ingested =
        table_->Ingest(files, {.moves_files = true, .verifies = false}).status();
    // After an error they are there still.
    for (const std::string& file : files) FileSystem::Posix()->RemoveFile(file).IgnoreError();
    return ingested;
  }

  absl::Status ReadRows() {
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
      if (sorter_ != nullptr) {
        TOOLS_RETURN_IF_ERROR(Sort(*mutation));
        continue;
      }
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

  absl::Status Sort(const RowMutation& mutation) {
    const absl::Status added = sorter_->Add(mutation);
    if (!added.ok()) {
      return absl::Status(added.code(), Cat(FileName(), ": line ", reader_->line(), ": row ",
                                            Quoted(mutation.row()), ": ", MessageOf(added)));
    }
    token_.offset = reader_->offset();
    token_.line = reader_->next_line();
    progress_.Show(++token_.rows);
    return absl::OkStatus();
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
  TableSchema schema_;
  Table* table_ = nullptr;

  std::unique_ptr<SSTableSorter> sorter_;  // null: rows are written in batches
  std::string sorted_;                     // the directory of its files

  // Rows that were read and are not applied, the line of each, and where the last one ends.
  std::vector<RowMutation> batch_;
  std::vector<uint64_t> lines_;
  uint64_t bytes_ = 0;
  uint64_t offset_ = 0;
  uint64_t next_line_ = 0;
};

}  // namespace

absl::Status RunImport(Session& session, const Arguments& arguments) {
  return Import(&session, &arguments).Run();
}

}  // namespace bigtable::tools
