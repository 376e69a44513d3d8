// Puts users' tables together from what is left of a damaged database, and writes them as a new
// one.
//
// With METADATA, a tablet has the SSTables that METADATA names, each as a link, or written again
// without its damaged blocks; and one more run with what logs have beyond its redo points. Orders
// and shifts of sequence numbers stay as they are.
//
// Without METADATA (DamagedDatabase::is_metadata_lost), each locality group of a table is merged
// into one run: of all SSTables that belong to it, and all that logs have. So it does not matter in
// which order they were. An SSTable belongs to the group that a row of METADATA names, however old;
// or that its properties name; or, if it is from a program that did not write these, to the only
// table that has all of its families. One that belongs to none is left out, and found again in the
// report: so are ingested files that no row names, since their sequence numbers are not known.
//
// One thread at a time.
#ifndef BIGTABLE_REPAIR_REPAIRED_TABLES_H_
#define BIGTABLE_REPAIR_REPAIRED_TABLES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/repair.h"

#include "base/sequence.h"
#include "repair/damaged_database.h"
#include "repair/sstable_salvage.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "sstable/sstable_info.h"
#include "sstable/sstable_series.h"
#include "tablet/tablet_state.h"
#include "transfer/new_database.h"

namespace bigtable {

class RepairedTables {
 public:
  // All outlive this. `target` has begun.
  RepairedTables(const SSTableSalvageParts& parts, DamagedDatabase* damaged, NewDatabase* target,
                 RepairReport* report)
      : parts_(parts), damaged_(damaged), target_(target), report_(report) {}

  // Reads and writes everything, and completes the target.
  absl::Status Run();

 private:
  // A locality group of a table, of all its tablets.
  struct Group {
    std::string name;                           // as files say
    std::map<uint64_t, TabletFile> files;       // by number, those that belong to it
    std::map<std::string, std::string> logged;  // entries of logs: values by keys
  };
  struct Table {
    std::string name;                  // as files say
    std::vector<TabletState> tablets;  // with their rows; with METADATA, as they are in it
    std::map<uint32_t, Group> groups;
    std::map<std::string, uint32_t> families;  // that entries have, each with its group
    std::set<std::string> aggregates;          // families with contributions
    TableLayout layout;
    bool has_entries = false;
  };
  // What was read of an SSTable.
  struct File {
    SalvagedSSTable salvaged;
    bool is_missing = false;
    // In the target: a link or copy, or new files. Empty until it is placed.
    std::vector<SSTableInfo> placed;
    bool is_placed = false;
  };

  // --- What there is ---
  void FindTablets();
  absl::Status FindFiles();
  absl::Status FindFile(uint64_t number);
  absl::Status ReadFiles();
  absl::Status ReadFile(uint64_t id, Table* table, uint32_t group_id, const TabletFile& file);
  absl::Status ReadLogs();
  void AddLogged(const MutationRecord& mutation, SequenceNumber sequence);
  void AddOperation(Table* table, const MutationRecord& mutation, EntryVersion version,
                    const MutationOperation& operation);
  std::vector<LostRows> LostInLog(const LogGap& gap);
  // Whether METADATA says that this mutation is in SSTables.
  bool IsRedone(const Table& table, std::string_view row, uint32_t group_id,
                SequenceNumber sequence) const;

  // --- Schemas ---
  void MakeLayouts();
  void MakeLayout(uint64_t id, Table* table, std::set<std::string>* names);
  void NameLosses();

  // --- Writing ---
  absl::Status WriteTable(uint64_t id, Table* table);
  absl::Status WriteWithMetadata(Table* table);
  absl::Status WriteMerged(Table* table);
  absl::Status Place(const Table& table, uint32_t group_id, const TabletFile& file);
  absl::Status LinkOrCopy(uint64_t number);
  absl::Status Rewrite(const Table& table, uint32_t group_id, const TabletFile& file);
  absl::StatusOr<std::vector<SSTableInfo>> WriteLogged(
      const Table& table, uint32_t group_id,
      std::map<std::string, std::string>::const_iterator begin,
      std::map<std::string, std::string>::const_iterator end);
  SSTableSeries::Options NewFiles(const Table& table, uint32_t group_id);
  absl::Status RemoveUnused();

  const SSTableSalvageParts& parts_;
  DamagedDatabase* const damaged_;
  NewDatabase* const target_;
  RepairReport* const report_;

  std::map<uint64_t, Table> tables_;
  std::map<uint64_t, File> files_;                     // by number
  std::vector<std::pair<size_t, uint64_t>> of_table_;  // findings whose losses are of a table
  std::set<uint64_t> used_;                            // SSTables of the target
  std::set<uint64_t> written_;                         // all that were ever there
  SequenceNumber last_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_REPAIRED_TABLES_H_
