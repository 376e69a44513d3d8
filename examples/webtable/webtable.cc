// Keeps a directory of HTML pages as the Webtable of the Bigtable paper (table.h), and reports.
//
//   webtable [options] DATABASE_DIRECTORY PAGES_DIRECTORY
//   webtable [options] --connect=ENDPOINT PAGES_DIRECTORY
//
// With --connect, the table is on a server of Google's Bigtable API: a database is connected to,
// rather than opened, and all else is the same.
//
// Each run is a crawl: it adds a version of each page, with one timestamp for the whole run. A run
// may be killed at any time; the next one continues with the existing table.
//
//   url       URLs, links and row keys
//   page      HTML: a page's language and its links
//   files     the pages' directory, gzip, and the size of the database's directory
//   table     the schema, and statistics of the table's contents
//   import    from files into the table
//   report    the printed report

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "bigtable/bigtable.h"
#ifdef BIGTABLE_HAS_REMOTE
#include "bigtable/remote.h"
#endif

#include "files.h"
#include "format.h"
#include "import.h"
#include "report.h"
#include "table.h"
#include "url.h"

ABSL_FLAG(std::string, base, "",
          "URL of the pages' directory. Default: https://www.postgresql.org/docs/N/ for Debian's "
          "directory of PostgreSQL N's manual, and http://localhost/ for any other");
ABSL_FLAG(std::string, connect, "",
          "host:port of a server of Google's Bigtable API that has the table, such as "
          "bigtable-server, in its instance local of the project local; instead of a database's "
          "directory");
ABSL_FLAG(int64_t, limit, 0, "import only the first so many pages; 0: all of them");
ABSL_FLAG(int64_t, random_reads, 1000, "how many reads of random pages to time");
ABSL_FLAG(std::string, durability, "buffered",
          "what a written page survives before the import ends: none (nothing), buffered (a crash "
          "of the process) or sync (a crash of the machine)");
ABSL_FLAG(bool, quiet, false, "show no progress");

namespace webtable {
namespace {

constexpr int kFailure = 1;
constexpr int kBadUsage = 2;

struct Arguments {
  std::string database;  // a directory, or an endpoint
  bool is_remote = false;
  std::string pages;
  Url base;
  uint64_t limit = 0;
  uint64_t random_reads = 0;
  bigtable::Durability durability = bigtable::Durability::kBuffered;
  bool quiet = false;
};

[[noreturn]] void ExitWithBadUsage(const std::string& message) {
  absl::FPrintF(stderr, "webtable: %s\nTry: webtable --help\n", message);
  std::exit(kBadUsage);
}

// Abseil's parser prints help and errors, and exits with 1 after both; here it is 0 and 2.
std::vector<char*> ParseFlags(int argc, char** argv) {
  static bool parsed = false;
  static bool asked_for_help = false;
  for (const std::string_view argument : std::vector<std::string_view>(argv + 1, argv + argc)) {
    asked_for_help |= argument.starts_with("--help") || argument == "--version";
  }
  std::atexit([] {
    if (parsed) return;
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(asked_for_help ? 0 : kBadUsage);
  });
  std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  parsed = true;
  return positional;
}

std::string DefaultBase(const std::string& directory) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(directory, error).string();
  std::smatch version;
  if (std::regex_search(path, version, std::regex("/postgresql-doc-([0-9]+)/html$"))) {
    return "https://www.postgresql.org/docs/" + version.str(1) + "/";
  }
  return "http://localhost/";
}

Url BaseUrl(const std::string& flag, const std::string& directory) {
  const std::string text = flag.empty() ? DefaultBase(directory) : flag;
  std::optional<Url> url = ParseUrl(text);
  if (!url || url->query) {
    ExitWithBadUsage(absl::StrFormat(
        "--base=%s: must be an http or https URL without a query, as https://example.org/pages/",
        text));
  }
  if (!url->path.ends_with('/')) url->path += '/';
  return *std::move(url);
}

bigtable::Durability ParseDurability(const std::string& name) {
  if (name == "none") return bigtable::Durability::kNone;
  if (name == "buffered") return bigtable::Durability::kBuffered;
  if (name == "sync") return bigtable::Durability::kSync;
  ExitWithBadUsage(absl::StrFormat("--durability=%s: must be none, buffered or sync", name));
}

uint64_t NotNegative(std::string_view name, int64_t value) {
  if (value < 0) ExitWithBadUsage(absl::StrFormat("--%s=%d: must not be negative", name, value));
  return static_cast<uint64_t>(value);
}

Arguments ParseArguments(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "webtable [options] DATABASE_DIRECTORY PAGES_DIRECTORY\n"
      "       webtable [options] --connect=ENDPOINT PAGES_DIRECTORY\n\n"
      "Keeps the HTML files below PAGES_DIRECTORY as the Webtable of the Bigtable paper, in a\n"
      "database that is created if need be, and reports. Run again, it adds a version of each "
      "page.");
  const std::vector<char*> positional = ParseFlags(argc, argv);
  const std::string endpoint = absl::GetFlag(FLAGS_connect);
  if (!endpoint.empty() && positional.size() != 2) {
    ExitWithBadUsage(absl::StrFormat("with --connect needs PAGES_DIRECTORY, got %d names",
                                     positional.size() - 1));
  }
  if (endpoint.empty() && positional.size() != 3) {
    ExitWithBadUsage(absl::StrFormat("needs DATABASE_DIRECTORY and PAGES_DIRECTORY, got %d names",
                                     positional.size() - 1));
  }
  Arguments arguments;
  arguments.is_remote = !endpoint.empty();
  arguments.database = arguments.is_remote ? endpoint : positional[1];
  arguments.pages = positional.back();
  arguments.base = BaseUrl(absl::GetFlag(FLAGS_base), arguments.pages);
  arguments.limit = NotNegative("limit", absl::GetFlag(FLAGS_limit));
  arguments.random_reads = NotNegative("random_reads", absl::GetFlag(FLAGS_random_reads));
  arguments.durability = ParseDurability(absl::GetFlag(FLAGS_durability));
  arguments.quiet = absl::GetFlag(FLAGS_quiet);
  return arguments;
}

void PrintHeading(std::string_view name, std::string_view text) {
  absl::PrintF("%-9s %s\n", name, text);
  std::fflush(stdout);
}

void PrintFound(const Survey& survey) {
  PrintHeading("Found", absl::StrFormat(
                            "%s, %s, %s", Plural(survey.rows, "row"), Plural(survey.pages, "page"),
                            survey.torn_pages == 0 ? "every page whole"
                                                   : Plural(survey.torn_pages, "page") + " torn"));
  if (survey.first_page.empty()) return;
  std::string versions;
  for (const bigtable::Timestamp time : survey.first_page_times) {
    versions += (versions.empty() ? "" : ", ") + HumanTime(time.ToTime());
  }
  PrintHeading("",
               absl::StrFormat("%s of %s: %s", Plural(survey.first_page_times.size(), "version"),
                               survey.first_page, versions));
}

absl::StatusOr<std::unique_ptr<bigtable::Database>> OpenOrConnect(
    const Arguments& arguments, const bigtable::DatabaseOptions& options) {
  if (!arguments.is_remote) return bigtable::Database::Open(arguments.database, options);
#ifdef BIGTABLE_HAS_REMOTE
  return bigtable::Connect(arguments.database);
#else
  return absl::UnimplementedError("--connect: this program was built without bigtable::remote");
#endif
}

// Opens or creates the table, and prints which.
absl::StatusOr<bigtable::Table*> OpenWebtable(const Arguments& arguments,
                                              bigtable::Database& database) {
  absl::StatusOr<bigtable::Table*> table = database.OpenTable(kTableName);
  if (absl::IsNotFound(table.status())) {
    const absl::Status status =
        database.CreateTable(kTableName, arguments.is_remote ? RemoteSchema() : Schema());
    if (!status.ok()) return status;
    PrintHeading("Found", "no table yet, created it");
    return database.OpenTable(kTableName);
  }
  if (!table.ok()) return table;
  const absl::StatusOr<Survey> survey = TakeSurvey(*table);
  if (!survey.ok()) return survey.status();
  PrintFound(*survey);
  return table;
}

void PrintImport(const ImportResult& result, size_t pages) {
  const double seconds = std::max(absl::ToDoubleSeconds(result.elapsed), 1e-6);
  PrintHeading(
      "Imported",
      absl::StrFormat("%s and %s in %s: %d pages/s, %s, parsing included", Plural(pages, "page"),
                      Plural(result.links, "anchor"), HumanDuration(result.elapsed),
                      static_cast<int64_t>(static_cast<double>(pages) / seconds),
                      HumanRate(static_cast<double>(result.bytes) / seconds)));
}

// Leaves everything in compacted SSTables.
absl::Status Compact(bigtable::Database& database) {
  const absl::Time begin = absl::Now();
  absl::Status status = database.Flush(kTableName);
  if (status.ok()) status = database.Compact(kTableName);
  if (!status.ok()) return status;
  PrintHeading("Compacted", absl::StrFormat("in %s", HumanDuration(absl::Now() - begin)));
  return absl::OkStatus();
}

// Imports the pages, and closes the database.
absl::Status Import(const Arguments& arguments, const std::vector<PageFile>& pages) {
  // A server's timestamps are milliseconds.
  const absl::Time crawl_time = absl::FromUnixMillis(absl::ToUnixMillis(absl::Now()));
  PrintHeading("Pages", absl::StrFormat("%s as %s", arguments.pages, ToString(arguments.base)));
  PrintHeading("Database", arguments.database);
  const absl::StatusOr<std::unique_ptr<bigtable::Database>> database =
      OpenOrConnect(arguments, {.durability = arguments.durability});
  if (!database.ok()) return database.status();
  const absl::StatusOr<bigtable::Table*> table = OpenWebtable(arguments, **database);
  if (!table.ok()) return table.status();

  const absl::StatusOr<ImportResult> result =
      ImportPages(*table, pages, bigtable::Timestamp::FromTime(crawl_time), arguments.quiet);
  if (!result.ok()) return result.status();
  PrintImport(*result, pages.size());
  if (!arguments.is_remote) {
    if (const absl::Status status = Compact(**database); !status.ok()) return status;
  }
  return (*database)->Close();
}

// Opens the database read-only, so that the directory stays as it was measured.
absl::Status Report(const Arguments& arguments, const std::vector<PageFile>& pages) {
  std::optional<DiskUsage> disk;
  if (!arguments.is_remote) {
    const absl::StatusOr<DiskUsage> measured = MeasureDatabase(arguments.database);
    if (!measured.ok()) return measured.status();
    disk = *measured;
  }
  const absl::StatusOr<std::unique_ptr<bigtable::Database>> database =
      OpenOrConnect(arguments, {.read_only = true});
  if (!database.ok()) return database.status();
  const absl::StatusOr<bigtable::Table*> table = (*database)->OpenTable(kTableName);
  if (!table.ok()) return table.status();
  const absl::Status status =
      PrintReport(*table, pages, RowKey(arguments.base), disk, arguments.random_reads);
  if (!status.ok()) return status;
  return (*database)->Close();
}

absl::Status Run(const Arguments& arguments) {
  const absl::StatusOr<std::vector<PageFile>> pages =
      FindPages(arguments.pages, arguments.base, arguments.limit);
  if (!pages.ok()) return pages.status();
  const absl::Status status = Import(arguments, *pages);
  if (!status.ok()) return status;
  return Report(arguments, *pages);
}

}  // namespace
}  // namespace webtable

int main(int argc, char** argv) {
  const absl::Status status = webtable::Run(webtable::ParseArguments(argc, argv));
  if (status.ok()) return 0;
  std::fflush(stdout);
  absl::FPrintF(stderr, "webtable: %s\n", status.ToString());
  return webtable::kFailure;
}
