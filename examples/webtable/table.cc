#include "table.h"

namespace webtable {
namespace {

constexpr uint64_t kPrintableAnchors = 8;

}  // namespace

bigtable::TableSchema Schema() {
  bigtable::TableSchema schema;
  schema.locality_groups["pages"] = {.compression = bigtable::Compression::kZstdLongWindow,
                                     .block_size = 64 << 10};
  schema.locality_groups["meta"] = {
      .compression = bigtable::Compression::kZstd, .compression_level = 9, .block_size = 64 << 10};
  schema.families["contents"] = {.locality_group = "pages", .gc = bigtable::GcRule::MaxVersions(3)};
  schema.families["language"] = {.locality_group = "meta", .gc = bigtable::GcRule::MaxVersions(1)};
  schema.families["anchor"] = {.locality_group = "meta", .gc = bigtable::GcRule::MaxVersions(3)};
  return schema;
}

bigtable::TableSchema RemoteSchema() {
  bigtable::TableSchema schema = Schema();
  schema.locality_groups.clear();
  for (auto& [name, family] : schema.families) family.locality_group.clear();
  return schema;
}

RowSummary Summarize(const bigtable::Row& row) {
  RowSummary summary;
  const bigtable::Cell* previous = nullptr;
  for (const bigtable::Cell& cell : row.cells()) {
    if (cell.family == "contents") {
      if (summary.contents.empty()) summary.newest_contents = cell.value;
      summary.contents.push_back(cell.timestamp);
      summary.contents_bytes += cell.value.size();
    } else if (cell.family == "language" && !summary.language) {
      summary.language = cell.timestamp;
      summary.language_tag = cell.value;
    } else if (cell.family == "anchor") {
      const bool older_version = previous != nullptr && previous->family == "anchor" &&
                                 previous->qualifier == cell.qualifier;
      if (!older_version) ++summary.anchors;
    }
    previous = &cell;
  }
  return summary;
}

absl::StatusOr<Survey> TakeSurvey(bigtable::Table* table) {
  Survey survey;
  uint64_t most_anchors = 0;
  bigtable::RowReader reader = table->ReadRows(bigtable::RowRange::All(), {.fill_cache = false});
  for (const bigtable::Row& row : reader) {
    const RowSummary summary = Summarize(row);
    ++survey.rows;
    survey.anchors += summary.anchors;
    survey.page_versions += summary.contents.size();
    survey.page_bytes += summary.contents_bytes;
    const bool is_page = !summary.contents.empty();
    if (is_page != summary.language.has_value() ||
        (is_page && summary.contents.front() != *summary.language)) {
      ++survey.torn_pages;
    }
    if (!is_page) continue;

    if (++survey.pages == 1) {
      survey.first_page = row.key();
      survey.first_page_times = summary.contents;
    }
    ++survey.languages[std::string(summary.language_tag)];
    if (summary.anchors > most_anchors && summary.anchors <= kPrintableAnchors) {
      most_anchors = summary.anchors;
      survey.anchored_page = row.key();
    }
  }
  if (!reader.status().ok()) return reader.status();
  return survey;
}

}  // namespace webtable
