// The storage that is charged to column families, their owners and their tables: see
// StorageStatistics, which says what is counted. Any thread.
//
// A tablet's version has the sizes of its files, and the bytes of each family in them
// (SSTableInfo::families), without opening a file. So the sum over the versions of all tablets
// needs no counters that writes, flushes and compactions would have to keep in step.
#ifndef BIGTABLE_TABLET_STORAGE_USAGE_H_
#define BIGTABLE_TABLET_STORAGE_USAGE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"

#include "bigtable/statistics.h"

#include "base/published.h"
#include "base/ref_counted.h"
#include "memtable/memtable.h"
#include "schema/table_layout.h"
#include "sstable/sstable.h"
#include "tablet/tablet_version.h"

namespace bigtable {

// Divides `total` in proportion to `weights`, whose sum is in 64 bits and not 0. The parts add up
// to `total`, and each differs by less than 1 from its exact share.
std::vector<uint64_t> Apportion(uint64_t total, absl::Span<const uint64_t> weights);

// Adds up the storage of a table, tablet by tablet. One thread at a time. Cost: some microseconds
// for each file.
class StorageUsage {
 public:
  struct OfFamily {
    std::string owner;  // empty: nobody
    StorageStatistics storage;
  };

  // Adds what the tablet has, except for files and memtables that were added before, which tablets
  // share since a split. All tablets are of one table.
  void Add(Pin<TabletVersion> version);

  const StorageStatistics& total() const { return total_; }
  // By name; those that the schema has.
  const std::map<std::string, OfFamily>& families() const { return families_; }

 private:
  using Field = uint64_t StorageStatistics::*;

  void AddMemtable(const TableLayout& layout, const Memtable& memtable);
  void AddFile(const TableLayout& layout, const SSTable& file);
  // Charges `bytes` to the table, and to the families with these bytes of keys and values.
  template <typename Families, typename IsOf>
  void Charge(const TableLayout& layout, Field field, uint64_t bytes, const Families& families,
              const IsOf& is_of);

  StorageStatistics total_;
  std::map<std::string, OfFamily> families_;
  std::set<uint64_t> files_;                  // their numbers
  std::set<const Memtable*> memtables_;       // immutable ones
  std::vector<Pin<TabletVersion>> versions_;  // so that no other memtable gets such an address
};

}  // namespace bigtable

#endif  // BIGTABLE_TABLET_STORAGE_USAGE_H_
