// The code of the Bigtable paper's section 3, all but verbatim, on the data of its Figure 1.
//
//   paper_figures [DIRECTORY]
//
// DIRECTORY is the database's and is created if necessary; without it, a new one in the directory
// for temporary files.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "bigtable/bigtable.h"

using namespace bigtable;  // as the paper writes

namespace {

// The timestamps t3 to t9 of the figure. Their meaning is up to the program.
constexpr Timestamp t3(3), t4(4), t5(5), t6(6), t7(7), t8(8), t9(9);

absl::Status WriteFigure1(Table* T) {
  RowMutation r(T, "com.cnn.www");
  r.Set("contents:", t3, "<html>...");
  r.Set("contents:", t5, "<html>... (changed)");
  r.Set("contents:", t6, "<html>... (changed again)");
  r.Set("anchor:cnnsi.com", t9, "CNN");
  r.Set("anchor:my.look.ca", t8, "CNN.com");
  r.Set("language:", t6, "EN");
  // Beyond the figure: the anchor that Figure 2 deletes, and one for the regular expression.
  r.Set("anchor:www.abc.com", t7, "ABC's rival");
  r.Set("anchor:money.cnn.com", t4, "CNN home");
  Operation op;
  Apply(&op, &r);
  return op.status();
}

absl::Status CreateWebtable(const std::string& directory) {
  const absl::StatusOr<std::unique_ptr<Database>> database = Database::Open(directory);
  if (!database.ok()) return database.status();
  TableSchema schema;
  schema.families["contents"] = {.gc = GcRule::MaxVersions(3)};
  schema.families["anchor"] = {};
  schema.families["language"] = {};
  const absl::Status created = (*database)->CreateTable("webtable", schema);
  if (!created.ok() && !absl::IsAlreadyExists(created)) return created;
  const absl::StatusOr<Table*> table = (*database)->OpenTable("webtable");
  if (!table.ok()) return table.status();
  const absl::Status written = WriteFigure1(*table);
  if (!written.ok()) return written;
  return (*database)->Close();
}

// Prints a family of com.cnn.www, all versions, as the table has it.
absl::Status PrintFamily(Table* T, const char* family) {
  Scanner scanner(T);
  ScanStream* stream = scanner.FetchColumnFamily(family);
  stream->SetReturnAllVersions();
  scanner.Lookup("com.cnn.www");
  for (; !stream->Done(); stream->Next()) {
    absl::PrintF("%s t%d %s\n", stream->ColumnName(), stream->MicroTimestamp(), stream->Value());
  }
  return scanner.status();
}

absl::Status Figure1(Table* T) {
  absl::PrintF("Figure 1: the row com.cnn.www\n");
  for (const char* family : {"contents", "anchor", "language"}) {
    const absl::Status status = PrintFamily(T, family);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Figure2(Table* T) {
  // Write a new anchor and delete an old anchor
  RowMutation r1(T, "com.cnn.www");
  r1.Set("anchor:www.c-span.org", "CNN");
  r1.Delete("anchor:www.abc.com");
  Operation op;
  Apply(&op, &r1);

  absl::PrintF("\nFigure 2: an anchor written, an anchor deleted: %s\n", op.ok() ? "ok" : "failed");
  return op.status();
}

absl::Status Figure3(Table* T) {
  absl::PrintF("\nFigure 3: all anchors\n");

  Scanner scanner(T);
  ScanStream* stream;
  stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  scanner.Lookup("com.cnn.www");
  for (; !stream->Done(); stream->Next()) {
    absl::PrintF("%s %s %d %s\n", scanner.RowName(), stream->ColumnName(), stream->MicroTimestamp(),
                 stream->Value());
  }
  return scanner.status();
}

// "For example, we could restrict the scan above to only produce anchors whose columns match the
// regular expression anchor:*.cnn.com ..." (a glob in the paper, an RE2 expression here)
absl::Status OnlyColumnsOfCnn(Table* T) {
  absl::PrintF("\nOnly anchors whose columns match .*\\.cnn\\.com\n");
  Scanner scanner(T);
  ScanStream* stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  stream->SetColumnRegex(R"(.*\.cnn\.com)");
  scanner.Lookup("com.cnn.www");
  for (; !stream->Done(); stream->Next()) {
    absl::PrintF("%s %s %d %s\n", scanner.RowName(), stream->ColumnName(), stream->MicroTimestamp(),
                 stream->Value());
  }
  return scanner.status();
}

// "... or to only produce anchors whose timestamps fall within ten days of the current time."
absl::Status OnlyTheLastTenDays(Table* T) {
  absl::PrintF("\nOnly anchors with a timestamp within ten days of now\n");
  const absl::Time now = absl::Now();
  const absl::Duration ten_days = absl::Hours(10 * 24);
  Scanner scanner(T);
  ScanStream* stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  stream->SetTimestampRange(Timestamp::FromTime(now - ten_days),
                            Timestamp::FromTime(now + ten_days));
  scanner.Lookup("com.cnn.www");
  for (; !stream->Done(); stream->Next()) {
    absl::PrintF("%s %s %d %s\n", scanner.RowName(), stream->ColumnName(), stream->MicroTimestamp(),
                 stream->Value());
  }
  return scanner.status();
}

absl::Status Run(const std::string& directory) {
  const absl::Status created = CreateWebtable(directory);
  if (!created.ok()) return created;

  // Open the table
  Table* T = OpenOrDie(directory + "/webtable");
  for (const auto step : {Figure1, Figure2, Figure3, OnlyColumnsOfCnn, OnlyTheLastTenDays}) {
    const absl::Status status = step(T);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// A new directory for the database. It stays, so that its contents can be inspected.
absl::StatusOr<std::string> NewDirectory() {
  std::error_code error;
  std::string path =
      (std::filesystem::temp_directory_path(error) / "paper_figures.XXXXXX").string();
  if (error || mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrFormat("%s: cannot create the directory", path));
  }
  absl::PrintF("The database is in %s\n\n", path);
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    absl::FPrintF(stderr, "usage: paper_figures [DIRECTORY]\n");
    return 2;
  }
  const absl::StatusOr<std::string> directory =
      argc == 2 ? absl::StatusOr<std::string>(argv[1]) : NewDirectory();
  const absl::Status status = directory.ok() ? Run(*directory) : directory.status();
  if (status.ok()) return 0;
  std::fflush(stdout);
  absl::FPrintF(stderr, "paper_figures: %s\n", status.ToString());
  return 1;
}
