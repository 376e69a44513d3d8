#include "import.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"

#include "page.h"
#include "progress.h"
#include "url.h"

namespace webtable {
namespace {

// Collects changes, one mutation for each row, and applies them together once there are enough for
// large writes to the log.
class Batch {
 public:
  explicit Batch(bigtable::Table* table) : table_(table) {}

  void Set(const std::string& row, const std::string& column, bigtable::Timestamp time,
           std::string_view value) {
    mutations_.try_emplace(row, row).first->second.Set(column, time, value);
    bytes_ += column.size() + value.size();
  }
  bool full() const { return bytes_ >= kFullBytes; }

  absl::Status Apply() {
    std::vector<bigtable::RowMutation> mutations;
    mutations.reserve(mutations_.size());
    for (auto& [row, mutation] : mutations_) mutations.push_back(std::move(mutation));
    mutations_.clear();
    bytes_ = 0;
    const std::vector<absl::Status> statuses = table_->ApplyBatch(mutations);
    for (size_t i = 0; i < statuses.size(); ++i) {
      if (statuses[i].ok()) continue;
      return absl::Status(statuses[i].code(),
                          absl::StrFormat("row %s: %s", mutations[i].row(), statuses[i].message()));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kFullBytes = 1 << 20;

  bigtable::Table* const table_;
  std::map<std::string, bigtable::RowMutation> mutations_;
  size_t bytes_ = 0;
};

// The rows that the page links to, with the different texts of the links to each.
std::map<std::string, std::vector<std::string>> Anchors(const PageFile& file, const Page& page) {
  const Url base = ResolveLink(file.url, page.base).value_or(file.url);
  std::map<std::string, std::vector<std::string>> anchors;
  for (const Link& link : page.links) {
    const std::optional<Url> target = ResolveLink(base, link.href);
    if (!target) continue;
    std::string row = RowKey(*target);
    if (row == file.row || row.size() > bigtable::RowMutation::kMaxRowSize) continue;
    std::vector<std::string>& texts = anchors[std::move(row)];
    const bool known = std::find(texts.begin(), texts.end(), link.text) != texts.end();
    if (!known && !link.text.empty()) texts.push_back(link.text);
  }
  return anchors;
}

}  // namespace

absl::StatusOr<ImportResult> ImportPages(bigtable::Table* table, const std::vector<PageFile>& pages,
                                         bigtable::Timestamp crawl_time, bool quiet) {
  uint64_t total_bytes = 0;
  for (const PageFile& file : pages) total_bytes += file.size;

  const absl::Time start = absl::Now();
  ImportResult result;
  Progress progress(pages.size(), total_bytes, quiet);
  uint64_t planned_bytes = 0;  // a file may have changed its size, the total does not
  Batch batch(table);
  for (size_t i = 0; i < pages.size(); ++i) {
    const PageFile& file = pages[i];
    const absl::StatusOr<std::string> html = ReadFile(file.path);
    if (!html.ok()) return html.status();
    const Page page = ParsePage(*html);
    batch.Set(file.row, "contents:", crawl_time, *html);
    batch.Set(file.row, "language:", crawl_time, page.language);
    for (const auto& [row, texts] : Anchors(file, page)) {
      batch.Set(row, "anchor:" + file.row, crawl_time, absl::StrJoin(texts, " | "));
      ++result.links;
    }
    if (batch.full() || i + 1 == pages.size()) {
      const absl::Status status = batch.Apply();
      if (!status.ok()) return status;
    }
    result.bytes += html->size();
    planned_bytes += file.size;
    progress.Update(i + 1, planned_bytes);
  }
  result.elapsed = absl::Now() - start;
  return result;
}

}  // namespace webtable
