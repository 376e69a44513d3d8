// Which tables have had mutations in a server's log since its old bytes were last erased
// (BackgroundWork::EraseOldLog). A major compaction of any other table has nothing to erase there,
// so it need not flush what else the log is needed for.
//
// A table is noted when one of its memtables is rotated, so that writes cost nothing. Call
// HasAnyOf() after its memtables have been rotated.
//
// Not thread-safe.
#ifndef BIGTABLE_COMMIT_LOGGED_TABLES_H_
#define BIGTABLE_COMMIT_LOGGED_TABLES_H_

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "base/sequence.h"

namespace bigtable {

class LoggedTables {
 public:
  // The log has mutations of the table, up to this one.
  void Record(uint64_t table_id, SequenceNumber last) {
    SequenceNumber& through = through_[table_id];
    through = std::max(through, last);
  }
  // The table was deleted, so it will not be compacted itself: the next compaction erases its bytes
  // with those of its own table.
  void RecordDeleted(uint64_t table_id, SequenceNumber last) {
    if (through_.erase(table_id) > 0) deleted_through_ = std::max(deleted_through_, last);
  }
  bool HasAnyOf(uint64_t table_id) const {
    return deleted_through_ > 0 || through_.contains(table_id);
  }
  // The log has no bytes of mutations up to this one any more.
  void MarkErased(SequenceNumber through) {
    absl::erase_if(through_, [&](const auto& table) { return table.second <= through; });
    if (deleted_through_ <= through) deleted_through_ = 0;
  }

 private:
  absl::flat_hash_map<uint64_t, SequenceNumber> through_;
  SequenceNumber deleted_through_ = 0;  // 0: of no deleted table
};

}  // namespace bigtable

#endif  // BIGTABLE_COMMIT_LOGGED_TABLES_H_
