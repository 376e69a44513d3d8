// The samples that SampleRowKeys returns. The engine divides a table into some hundred parts,
// however small it is. Clients make a task of each section, as Cloud Bigtable's are: of about equal
// size, few, and none is small but for tablets, each of which begins with a section.
//
// Pure function.
#ifndef BIGTABLE_SERVER_DATA_KEY_SECTIONS_H_
#define BIGTABLE_SERVER_DATA_KEY_SECTIONS_H_

#include <cstdint>
#include <vector>

#include "bigtable/row_key_sample.h"
#include "bigtable/tablet_info.h"

namespace bigtable::server {

// Bytes of a section, unless a tablet ends, and the most sections, unless there are more tablets.
inline constexpr uint64_t kLeastSectionSize = 4 << 20;
inline constexpr uint64_t kMostSections = 100;

// Those of `samples`, which are as Table::SampleRowKeys returns them, that begin a section, and the
// last one, which has no row. `tablets` are as Database::ListTablets returns them.
std::vector<RowKeySample> SectionsOf(std::vector<RowKeySample> samples,
                                     const std::vector<TabletInfo>& tablets);

}  // namespace bigtable::server

#endif  // BIGTABLE_SERVER_DATA_KEY_SECTIONS_H_
