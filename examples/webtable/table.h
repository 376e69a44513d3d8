// The Webtable of the paper (section 2): its schema, and statistics of its contents.
//
//   row       the page's URL, its host reversed (url.h)
//   contents: the page's bytes, at the time of the crawl; the three newest versions are kept
//   language: the language it is written in, a BCP 47 tag
//   anchor:   a column for each page that links here, anchor:<row of the linking page>; the value
//             is the link's text
//
// contents: is in the locality group "pages", the other families in "meta", so reads of anchors do
// not read pages.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_TABLE_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_TABLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "bigtable/bigtable.h"

namespace webtable {

inline constexpr std::string_view kTableName = "webtable";

bigtable::TableSchema Schema();
// The same without locality groups, which Google's API does not have.
bigtable::TableSchema RemoteSchema();

// A summary of a row. Views live as long as the row.
struct RowSummary {
  std::vector<bigtable::Timestamp> contents;  // the versions, from new to old
  std::string_view newest_contents;
  uint64_t contents_bytes = 0;                  // in all versions
  std::optional<bigtable::Timestamp> language;  // the newest one's
  std::string_view language_tag;
  uint64_t anchors = 0;  // columns
};

RowSummary Summarize(const bigtable::Row& row);

// The result of a scan of the whole table.
struct Survey {
  uint64_t rows = 0;
  uint64_t pages = 0;          // rows with contents; the others are known only by links to them
  uint64_t page_versions = 0;  // cells of contents:
  uint64_t page_bytes = 0;     // in all versions
  uint64_t anchors = 0;        // columns of anchor:
  uint64_t torn_pages = 0;     // newest contents: without a language: of the same time, or that
                               // without contents: a row mutation of which only a part is there
  std::map<std::string, uint64_t> languages;  // pages by language

  std::string first_page;  // and the times of its versions, from new to old
  std::vector<bigtable::Timestamp> first_page_times;
  std::string anchored_page;  // the page with most anchors, but few enough to print
};

absl::StatusOr<Survey> TakeSurvey(bigtable::Table* table);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_TABLE_H_
