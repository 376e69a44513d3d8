// The crawl: pages from files into the Webtable.
#ifndef BIGTABLE_EXAMPLES_WEBTABLE_IMPORT_H_
#define BIGTABLE_EXAMPLES_WEBTABLE_IMPORT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "bigtable/bigtable.h"

#include "files.h"

namespace webtable {

struct ImportResult {
  uint64_t bytes = 0;  // of pages
  uint64_t links = 0;  // anchors written
  absl::Duration elapsed;
};

// Writes every page, and every link of it, with the timestamp of this crawl, so that a later crawl
// adds versions. A page's bytes are stored unchanged.
//
// Links to http and https pages of any host become anchors, whether or not the page is imported,
// since anchors record the words of other sites for a page. The fragment is dropped, and links of a
// page to itself are ignored. A page with several links to another has one anchor there, its
// different texts joined by " | ". Anchors that a page no longer has keep their old version.
absl::StatusOr<ImportResult> ImportPages(bigtable::Table* table, const std::vector<PageFile>& pages,
                                         bigtable::Timestamp crawl_time, bool quiet);

}  // namespace webtable

#endif  // BIGTABLE_EXAMPLES_WEBTABLE_IMPORT_H_
