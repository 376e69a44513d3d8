// The rows of METADATA from entries in any order: from SSTables and from logs, each as often as it
// is found. For each column the newest entry counts, and none that is older than the deletion of
// its row. So it does not matter what is read twice, and what is missing leaves an older state.
//
// The history of events is left out. One thread at a time.
#ifndef BIGTABLE_REPAIR_METADATA_SALVAGE_H_
#define BIGTABLE_REPAIR_METADATA_SALVAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/entry_key.h"
#include "base/entry_kind.h"
#include "base/sequence.h"
#include "metadata/metadata_format.h"
#include "schema/mutation_format.h"
#include "tablet/tablet_id.h"
#include "tablet/tablet_state.h"

namespace bigtable {

class SalvagedMetadata {
 public:
  struct Tablet {
    TabletId id;
    TabletState state;
  };

  // An entry of one of METADATA's SSTables.
  void AddEntry(std::string_view key, std::string_view value);
  // A mutation from one of its logs.
  void AddMutation(const EncodedMutation& mutation, SequenceNumber sequence);

  // The tablets of all tables, in order: without halves of splits and merges that do not count.
  // What does not decode is left out, and described in `*problems`.
  std::vector<Tablet> Tablets(std::vector<std::string>* problems) const;

 private:
  struct Cell {
    EntryVersion version;
    bool is_deleted = true;
    std::string value;
  };
  struct Row {
    std::map<uint32_t, EntryVersion> deletions;                   // by locality group
    std::map<std::pair<std::string, std::string>, Cell> columns;  // by family and qualifier
  };

  void Put(Row* row, std::string_view family, std::string_view qualifier, EntryVersion version,
           EntryKind kind, std::string_view value);

  std::map<std::string, Row, std::less<>> rows_;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_METADATA_SALVAGE_H_
