// The files of a database's directory:
//
//   LOCK                        held by the process that has the database open
//   LOG, LOG.old                the info log (filesystem/file_log_sink.h)
//   FENCED                      nobody may write to the database (open_directory.h)
//   FOLLOWER                    it is that of a follower, or was (replication/follower_table.h)
//   OPTIONS                     the options of the last opening (options/options_file.h)
//   lockservice/root            the state of METADATA's root tablet (metadata/root_tablet.h)
//   lockservice/schema/TABLE    the table's schema (master/schema_store.h)
//   lockservice/access/LIST     which callers may access data (admission/access_list_store.h)
//   lockservice/identity        which database it is, and of which it is a copy
//   (database_history.h) lockservice/change_readers  registered readers of changes
//   (change_readers.h) lockservice/servers/NAME    a tablet server that has a log
//   (cluster/server_directory.h) log/NAME/                   its commit log (commitlog/)
//   sorted/NAME-MASTER/         the sorted log, while its tablets are loaded (recovery/dead_log.h)
//   sst/NUMBER.sst              the SSTables of all tables (sstable/)
//   copies/NUMBER.sst           the same of METADATA once more (cluster/metadata_copies.h)
//   copies/lockservice/...      and the files of lockservice, except servers (small_files.h)
#ifndef BIGTABLE_CLUSTER_DIRECTORY_H_
#define BIGTABLE_CLUSTER_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bigtable {

// Plain value.
class DatabaseDirectory {
 public:
  explicit DatabaseDirectory(std::string_view path) : path_(path) {}

  const std::string& path() const { return path_; }
  std::string lock_file() const { return path_ + "/LOCK"; }
  std::string fence_file() const { return path_ + "/FENCED"; }
  std::string follower_file() const { return path_ + "/FOLLOWER"; }
  std::string options_file() const { return path_ + "/OPTIONS"; }
  std::string lock_service() const { return path_ + "/lockservice"; }
  std::string logs() const { return path_ + "/log"; }
  std::string log_of(std::string_view server) const;
  std::string sorted_logs() const { return path_ + "/sorted"; }
  std::string sstables() const { return path_ + "/sst"; }
  std::string sstable(uint64_t number) const;
  std::string copies() const { return path_ + "/copies"; }
  std::string copy_of_sstable(uint64_t number) const;
  std::string copies_of_lock_service() const { return copies() + "/lockservice"; }

  // The number of an SSTable's file name; nothing for other names.
  static std::optional<uint64_t> SSTableNumber(std::string_view name);

 private:
  std::string path_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLUSTER_DIRECTORY_H_
