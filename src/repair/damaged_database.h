// What can be read of a damaged database: its small files, METADATA, and its logs. Nothing is
// written. What is wrong goes to the report.
//
// METADATA is read from the root down, as an opening does: the root names the SSTables of the root
// tablet, whose rows name those of METADATA's other tablets, whose rows name those of users'
// tables; and at each step the logs of the servers of that role add what was not flushed. If a part
// of it cannot be read, is_metadata_lost() is true: then rows that were read may be older than they
// should be, and every SSTable that looks like one of METADATA is read, not only those that are
// named.
//
// One thread at a time.
#ifndef BIGTABLE_REPAIR_DAMAGED_DATABASE_H_
#define BIGTABLE_REPAIR_DAMAGED_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/repair.h"

#include "base/sequence.h"
#include "cluster/directory.h"
#include "lockservice/small_files.h"
#include "metadata/metadata_format.h"
#include "recovery/server_record.h"
#include "repair/log_salvage.h"
#include "repair/metadata_salvage.h"
#include "repair/sstable_salvage.h"
#include "schema/mutation_format.h"
#include "schema/table_layout.h"
#include "sstable/properties.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class DamagedDatabase {
 public:
  // What an SSTable says of itself.
  struct FileFacts {
    SSTableInfo info;
    std::optional<SSTableOwner> owner;
  };

  // `report` outlives this.
  DamagedDatabase(SSTableSalvageParts parts, std::string_view path, RepairReport* report)
      : parts_(std::move(parts)),
        directory_(path),
        small_files_(parts_.file_system, directory_.lock_service(),
                     directory_.copies_of_lock_service()),
        report_(report) {}

  // Reads all but users' SSTables and logs. NotFound: there is nothing of a database.
  absl::Status Read();

  const DatabaseDirectory& directory() const { return directory_; }
  bool is_metadata_lost() const { return report_->is_metadata_lost; }
  // Of the lock service, by their names: schemas, access lists and quotas.
  const std::map<std::string, std::string>& service_files() const { return service_files_; }
  // Schemas that could be read, by table id; and the names of tables whose schemas could not.
  const std::map<uint64_t, TableLayout>& layouts() const { return layouts_; }
  const std::set<std::string>& lost_schemas() const { return lost_schemas_; }
  // The tablets of users' tables that METADATA has, in order.
  const std::vector<SalvagedMetadata::Tablet>& tablets() const { return tablets_; }
  // The numbers of the SSTables that are in the directory.
  const std::set<uint64_t>& sstables() const { return sstables_; }
  // METADATA's own, of these.
  const std::set<uint64_t>& metadata_sstables() const { return metadata_sstables_; }
  // Reads the properties of a file; null if they cannot be read.
  absl::StatusOr<const FileFacts*> FactsOf(uint64_t number);

  // Delivers the mutations of users' logs that an opening would recover, as far as they can be
  // read. `lose` is called for each part of a log that cannot: mutations with sequence numbers
  // above `after` and below `before` are missing. It returns what that means.
  absl::Status ReadLogs(
      absl::FunctionRef<absl::Status(const MutationRecord&, SequenceNumber)> deliver,
      absl::FunctionRef<std::vector<LostRows>(const LogGap&)> lose);
  // No mutation that was found has a larger number.
  SequenceNumber last_sequence() const { return last_sequence_; }

 private:
  // Redo points of the tablets of one role.
  struct Reach {
    SequenceNumber synced = 0;
    SequenceNumber flushed = 0;
  };
  using ReachOfServers = std::map<std::string, Reach>;
  // What is known of a server's log before its mutations are delivered.
  struct ServerLog {
    std::string server;
    ServerRecord record;
    bool has_file = false;  // so it must have a log
    SalvagedLog log;
  };

  absl::Status ReadDirectory();
  absl::Status ReadSmallFiles();
  // Nullopt, and a finding, if it is damaged.
  absl::StatusOr<std::optional<std::string>> ReadSmallFile(const std::string& name,
                                                           std::string_view consequence);
  absl::Status ReadMetadata();
  absl::Status ReadMetadataFiles(const TabletState& state);
  absl::Status ReadAllMetadataFiles();
  absl::StatusOr<bool> IsOfMetadata(uint64_t number);
  absl::Status ReadMetadataFile(uint64_t number, const SSTableInfo* expected);
  // Of the servers whose names begin with `role`; `states` are their tablets.
  absl::Status ReadMetadataLogs(std::string_view role, const std::vector<TabletState>& states);
  void CheckTablets();

  static void AddReach(const TabletState& state, ReachOfServers* reach);
  absl::StatusOr<ServerLog> ReadRecord(const std::string& server);
  absl::Status SalvageOne(const ServerLog& log, SequenceNumber must_reach, ReplayCallback callback,
                          SalvagedLog* salvaged) const;
  // Calls `deliver` for each mutation of the record that counts.
  absl::Status Deliver(
      const ServerLog& log, RecordType type, SequenceNumber sequence, std::string_view payload,
      absl::FunctionRef<bool(const OtherBatchPart&)> is_missing,
      absl::FunctionRef<absl::Status(const MutationRecord&, SequenceNumber)> deliver);
  void LoseMetadata(const std::string& path, std::string_view problem);
  void Find(const std::string& path, std::string_view problem, std::vector<LostRows> lost = {}) {
    report_->findings.push_back({path, std::string(problem), std::move(lost)});
  }

  const SSTableSalvageParts parts_;
  const DatabaseDirectory directory_;
  const SmallFiles small_files_;
  RepairReport* const report_;

  std::set<uint64_t> sstables_;
  std::vector<std::string> servers_;  // that have logs, or must have one
  std::map<std::string, std::string> service_files_;
  std::map<uint64_t, TableLayout> layouts_;
  std::set<std::string> lost_schemas_;
  std::map<uint64_t, std::optional<FileFacts>> facts_;
  std::set<uint64_t> metadata_sstables_;
  SalvagedMetadata rows_;
  std::vector<SalvagedMetadata::Tablet> tablets_;
  SequenceNumber last_sequence_ = 0;
};

}  // namespace bigtable

#endif  // BIGTABLE_REPAIR_DAMAGED_DATABASE_H_
