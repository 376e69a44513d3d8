#include "report.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

#include "format.h"
#include "table.h"

namespace webtable {
namespace {

using bigtable::Filter;

constexpr int kNameWidth = 14;

// A line of a section: name, figure, explanation.
void PrintLine(std::string_view name, std::string_view figure, std::string_view explanation) {
  absl::PrintF("  %-*s %12s   %s\n", kNameWidth, name, figure, explanation);
}

void PrintRatio(std::string_view name, uint64_t original, uint64_t compressed,
                std::string_view explanation) {
  const double ratio =
      static_cast<double>(original) / static_cast<double>(std::max<uint64_t>(compressed, 1));
  PrintLine(name, absl::StrFormat("%.2f : 1", ratio), explanation);
}

// --- What is in the table ---

std::string LanguageList(const std::map<std::string, uint64_t>& languages) {
  constexpr size_t kMost = 5;
  std::vector<std::pair<uint64_t, std::string>> sorted;
  for (const auto& [language, pages] : languages) sorted.emplace_back(pages, language);
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted.size() > kMost) sorted.resize(kMost);
  return absl::StrJoin(sorted, ", ", [](std::string* out, const auto& entry) {
    out->append(absl::StrFormat("%s %s", entry.second, HumanCount(entry.first)));
  });
}

void PrintContents(const Survey& survey, absl::Duration elapsed) {
  const double seconds = std::max(absl::ToDoubleSeconds(elapsed), 1e-6);
  absl::PrintF("\nTable\n");
  PrintLine("rows", HumanCount(survey.rows),
            absl::StrFormat("%s of them pages, the others known only by links to them",
                            HumanCount(survey.pages)));
  PrintLine("versions", HumanCount(survey.page_versions),
            "of pages: one a crawl, of which the table keeps three");
  PrintLine("anchors", HumanCount(survey.anchors),
            "columns anchor: in all rows, one for each page that links to the row");
  PrintLine("languages", HumanCount(survey.languages.size()), LanguageList(survey.languages));
  PrintLine("full scan", HumanDuration(elapsed),
            absl::StrFormat("%s of pages, %s, as everything above was counted",
                            HumanBytes(survey.page_bytes),
                            HumanRate(static_cast<double>(survey.page_bytes) / seconds)));
}

// --- Its size ---

struct FileSizes {
  uint64_t original = 0;
  uint64_t gzip = 0;
};

absl::StatusOr<FileSizes> GzipPages(const std::vector<PageFile>& pages) {
  FileSizes sizes;
  for (const PageFile& file : pages) {
    const absl::StatusOr<std::string> html = ReadFile(file.path);
    if (!html.ok()) return html.status();
    sizes.original += html->size();
    sizes.gzip += GzipSize(*html);
  }
  return sizes;
}

absl::Status PrintSizes(const Survey& survey, const std::optional<DiskUsage>& disk,
                        const std::vector<PageFile>& pages) {
  const absl::StatusOr<FileSizes> files = GzipPages(pages);
  if (!files.ok()) return files.status();
  absl::PrintF("\nSize\n");
  PrintLine(
      "in", HumanBytes(files->original),
      absl::StrFormat("%s bytes in %s", HumanCount(files->original), Plural(pages.size(), "file")));
  PrintLine("stored", HumanBytes(survey.page_bytes),
            absl::StrFormat("%s bytes in %s of %s", HumanCount(survey.page_bytes),
                            Plural(survey.page_versions, "version"), Plural(survey.pages, "page")));
  if (disk.has_value()) {
    PrintLine("on disk", HumanBytes(disk->tables),
              absl::StrFormat("%s bytes in SSTables and METADATA, anchors and indexes included",
                              HumanCount(disk->tables)));
    PrintLine("du", HumanBytes(disk->whole), "blocks of the whole directory, log and all");
    PrintRatio("ratio", survey.page_bytes, disk->tables, "stored : on disk");
  }
  PrintRatio("gzip -6", files->original, files->gzip,
             absl::StrFormat("each file by itself: %s", HumanBytes(files->gzip)));
  return absl::OkStatus();
}

// --- What scans give ---

absl::Status PrintAnchors(bigtable::Table* table, const std::string& page) {
  if (page.empty()) return absl::OkStatus();
  absl::PrintF("\nAnchors of %s, as Figure 3 of the paper prints them\n", page);
  bigtable::Scanner scanner(table);
  bigtable::ScanStream* stream = scanner.FetchColumnFamily("anchor");
  stream->SetReturnAllVersions();
  scanner.Lookup(page);
  for (; !stream->Done(); stream->Next()) {
    absl::PrintF("  %s %s %d %s\n", scanner.RowName(), stream->ColumnName(),
                 stream->MicroTimestamp(), stream->Value());
  }
  return scanner.status();
}

absl::Status PrintPrefix(bigtable::Table* table, const std::string& prefix) {
  constexpr int kRows = 10;
  absl::PrintF("\nFirst rows of the prefix %s\n", prefix);
  absl::PrintF("  %-44s %10s %8s %8s  %s\n", "row", "page", "versions", "anchors", "language");
  bigtable::RowReader reader =
      table->ReadRows(bigtable::RowRange::Prefix(prefix), {.row_limit = kRows});
  for (const bigtable::Row& row : reader) {
    const RowSummary summary = Summarize(row);
    const std::string size =
        summary.contents.empty() ? "-" : HumanBytes(summary.newest_contents.size());
    absl::PrintF("  %-44s %10s %8d %8d  %s\n", row.key().substr(prefix.size()), size,
                 summary.contents.size(), summary.anchors,
                 summary.language_tag.empty() ? "-" : summary.language_tag);
  }
  return reader.status();
}

// --- The speed of reads ---

absl::StatusOr<std::vector<absl::Duration>> TimeRandomReads(bigtable::Table* table,
                                                            const std::vector<PageFile>& pages,
                                                            uint64_t reads) {
  const Filter newest_page = Filter::Chain(Filter::Family("contents"), Filter::Latest(1));
  std::mt19937_64 random(1);  // the same pages each time, so that runs can be compared
  std::vector<absl::Duration> times;
  times.reserve(reads);
  for (uint64_t i = 0; i < reads; ++i) {
    const PageFile& page = pages[random() % pages.size()];
    const absl::Time start = absl::Now();
    const absl::StatusOr<bigtable::Row> row = table->ReadRow(page.row, newest_page);
    times.push_back(absl::Now() - start);
    if (!row.ok()) return row.status();
    if (row->empty()) return absl::DataLossError(absl::StrFormat("%s: not in the table", page.row));
  }
  return times;
}

void PrintTimes(std::vector<absl::Duration> times) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  absl::Duration total;
  for (const absl::Duration time : times) total += time;
  absl::PrintF("\nRandom reads\n");
  PrintLine("mean", HumanDuration(total / static_cast<int64_t>(times.size())),
            absl::StrFormat("of %s of a page's newest version, from a cold cache on",
                            Plural(times.size(), "read")));
  PrintLine("p50", HumanDuration(times[times.size() / 2]), "half of them were no slower");
  PrintLine("p99", HumanDuration(times[times.size() * 99 / 100]), "99 in a hundred were no slower");
}

// --- Verification ---

absl::Status VerifyPages(bigtable::Table* table, const std::vector<PageFile>& pages) {
  constexpr uint64_t kShown = 10;
  const Filter newest_page = Filter::Chain(Filter::Family("contents"), Filter::Latest(1));
  uint64_t different = 0;
  for (const PageFile& file : pages) {
    const absl::StatusOr<std::string> html = ReadFile(file.path);
    if (!html.ok()) return html.status();
    const absl::StatusOr<bigtable::Row> row = table->ReadRow(file.row, newest_page);
    if (!row.ok()) return row.status();
    if (row->cells().size() == 1 && row->cells()[0].value == *html) continue;
    if (++different <= kShown) {
      absl::PrintF("\n%s differs from %s", row->empty() ? "Nothing in the table" : "The page",
                   file.path);
    }
  }
  if (different > 0) {
    absl::PrintF("\n");
    return absl::DataLossError(absl::StrFormat(
        "%d of %d pages differ from their files (were the files changed meanwhile?)", different,
        pages.size()));
  }
  absl::PrintF("\n%s read back, all bytes equal\n", Plural(pages.size(), "page"));
  return absl::OkStatus();
}

}  // namespace

absl::Status PrintReport(bigtable::Table* table, const std::vector<PageFile>& pages,
                         const std::string& prefix, const std::optional<DiskUsage>& disk,
                         uint64_t random_reads) {
  // Before a scan has brought everything into the cache.
  absl::StatusOr<std::vector<absl::Duration>> times = TimeRandomReads(table, pages, random_reads);
  if (!times.ok()) return times.status();

  const absl::Time start = absl::Now();
  const absl::StatusOr<Survey> survey = TakeSurvey(table);
  if (!survey.ok()) return survey.status();
  PrintContents(*survey, absl::Now() - start);

  absl::Status status = PrintSizes(*survey, disk, pages);
  if (status.ok()) status = PrintAnchors(table, survey->anchored_page);
  if (status.ok()) status = PrintPrefix(table, prefix);
  if (!status.ok()) return status;
  PrintTimes(*std::move(times));
  return VerifyPages(table, pages);
}

}  // namespace webtable
