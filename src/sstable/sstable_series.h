// Writes entries in ascending order into SSTables of about the same size: a file ends at the end of
// a row once it has that size. One thread at a time.
#ifndef BIGTABLE_SSTABLE_SSTABLE_SERIES_H_
#define BIGTABLE_SSTABLE_SSTABLE_SERIES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/file_system.h"
#include "bigtable/memory_budget.h"
#include "bigtable/schema.h"

#include "sstable/properties.h"
#include "sstable/sstable_builder.h"
#include "sstable/sstable_info.h"

namespace bigtable {

class SSTableSeries {
 public:
  // A new file.
  struct File {
    uint64_t number = 0;
    std::string path;
  };
  struct Options {
    LocalityGroup group;
    std::optional<SSTableOwner> owner = std::nullopt;
    uint64_t file_size = 0;
    MemoryBudget* budget = nullptr;  // charged for the file that is being written; may be null
    // Names and creates the next file. After an error there is no further one.
    std::function<File()> name_next;
    std::function<absl::StatusOr<std::unique_ptr<WritableFile>>(const std::string& path)> create;
  };

  explicit SSTableSeries(Options options) : options_(std::move(options)) {}
  SSTableSeries(const SSTableSeries&) = delete;
  SSTableSeries& operator=(const SSTableSeries&) = delete;

  // Errors of SSTableBuilder::Add, and of creating a file.
  absl::Status Add(std::string_view key, std::string_view value);
  // Ends the last file. Their directory is not synced.
  absl::Status Finish();

  // The files that were begun, also those that are not finished. `infos` has the others.
  const std::vector<File>& files() const { return files_; }
  const std::vector<SSTableInfo>& infos() const { return infos_; }

 private:
  absl::Status Begin();

  const Options options_;
  std::vector<File> files_;
  std::vector<SSTableInfo> infos_;
  std::unique_ptr<SSTableBuilder> builder_;  // of the last file
};

}  // namespace bigtable

#endif  // BIGTABLE_SSTABLE_SSTABLE_SERIES_H_
