// Writes the directory of a database from SSTables that are put there: METADATA, which names them,
// the files of the lock service, and last of all the root. Until the root is there, the directory
// is no database, and opening it fails; once it is, the database is complete and durable.
//
// What such a database is: one that was closed. It has no log, its tablets have their redo points
// at the sequence number of the image, and METADATA is one tablet, with a new SSTable for each of
// its locality groups.
#ifndef BIGTABLE_TRANSFER_NEW_DATABASE_H_
#define BIGTABLE_TRANSFER_NEW_DATABASE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "bigtable/clock.h"
#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"

#include "base/sequence.h"
#include "cluster/directory.h"
#include "cluster/metadata_copies.h"
#include "lockservice/small_files.h"
#include "tablet/file_numbers.h"
#include "tablet/tablet_state.h"

namespace bigtable {

// One thread at a time.
class NewDatabase {
 public:
  // All outlive this.
  struct Parts {
    FileSystem* file_system = nullptr;
    Clock* clock = nullptr;
    std::shared_ptr<MemoryBudget> budget;
    // The name of a file that is in the directory until the database is complete. A directory that
    // has it, and no root, is what another try has left: Begin removes what is in it. Empty: none.
    std::string marker = {};
  };

  NewDatabase(Parts parts, std::string_view path)
      : parts_(std::move(parts)), directory_(path), copies_(parts_.file_system, directory_) {}
  NewDatabase(const NewDatabase&) = delete;
  NewDatabase& operator=(const NewDatabase&) = delete;
  // Without Finish, removes what is in the directory, as far as that works.
  ~NewDatabase();

  // Creates the directory, whose parent exists, and locks it as an opening does. AlreadyExists if
  // there is a file in it, except for what Parts::marker says.
  absl::Status Begin();
  const DatabaseDirectory& directory() const { return directory_; }
  // Of its SSTables. Those that are put there under their own numbers come first: AdvanceTo.
  FileNumbers* file_numbers() { return &file_numbers_; }
  // A tablet whose SSTables are there. Redo points and orders are at most the number of Finish.
  void AddTablet(uint64_t table_id, const TabletState& state);
  // The same as its row in METADATA, and the operations that write it (metadata_format.h).
  void AddTablet(std::string row, std::string operations);
  static std::string RowOf(uint64_t table_id, const TabletState& state);
  static std::string OperationsOf(const TabletState& state);
  // `files` of the lock service; `last`: the largest sequence number in a tablet.
  absl::Status Finish(const std::map<std::string, std::string>& files, SequenceNumber last);

 private:
  using Rows = std::vector<std::pair<std::string, std::string>>;  // with their operations

  // A tablet of METADATA with these rows, whose mutations have the numbers after `*last`.
  absl::StatusOr<TabletState> WriteMetadata(const RowRange& range, const Rows& rows,
                                            SequenceNumber* last);
  // Empties a directory that another try has left.
  absl::Status RemoveOtherTry();
  SmallFiles small_files() const {
    return SmallFiles(parts_.file_system, directory_.lock_service(),
                      directory_.copies_of_lock_service());
  }
  std::string marker_file() const { return directory_.path() + "/" + parts_.marker; }
  absl::Status WriteFiles(const std::map<std::string, std::string>& files);

  const Parts parts_;
  const DatabaseDirectory directory_;
  MetadataCopies copies_;
  FileNumbers file_numbers_;
  Rows tablets_;
  std::unique_ptr<FileLock> lock_;
  bool has_begun_ = false;
  bool is_finished_ = false;
};

}  // namespace bigtable

#endif  // BIGTABLE_TRANSFER_NEW_DATABASE_H_
