// A call while it is being recorded: made when it begins, filled in from its arguments and results,
// and appended to the file when it has ended.
#ifndef BIGTABLE_RECORDING_CALL_BUILDER_H_
#define BIGTABLE_RECORDING_CALL_BUILDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/call_recording.h"
#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_mutation.h"
#include "bigtable/table.h"
#include "bigtable/write_batch.h"

#include "recording/recording_file.h"

namespace bigtable {

// One thread at a time; the one that makes it is the call's. In a child process it does nothing.
class CallBuilder {
 public:
  // `table`: its number (RecordingFile::DefineTable).
  CallBuilder(std::shared_ptr<CallRecorder> recorder, RecordedCall::Kind kind, uint64_t table);
  // Nothing if the recorder, which may be null, does not record the table.
  static std::optional<CallBuilder> ForTable(const std::shared_ptr<CallRecorder>& recorder,
                                             RecordedCall::Kind kind, const Table& table);
  // A call that writes the batch; the first table is the call's. Nothing if the recorder, which may
  // be null, does not record all of its tables, or it is empty.
  static std::optional<CallBuilder> ForBatch(const std::shared_ptr<CallRecorder>& recorder,
                                             RecordedCall::Kind kind, const WriteBatch& batch);

  void AddRow(std::string_view row);
  void AddRange(const RowRange& range);
  void SetFilter(const Filter& filter);
  void SetOptions(const ReadOptions& options);
  void SetOptions(const WriteOptions& options) { record_.synced = IsSynced(options); }
  void AddMutation(const RowMutation& mutation);
  void AddRules(const ReadModifyWrite& rules);
  // What was added before is not what was written in the end.
  void DropMutations();

  // What the call returns.
  void CountRow(const Row& row);
  void CountRow() { ++record_.rows; }
  void CountCell(uint64_t bytes) {
    ++record_.cells;
    record_.bytes += bytes;
  }

  void End(absl::StatusCode code);

  // All of a read but its results, and a read of one row at its end.
  void AddRead(const RowSet& rows, const Filter& filter, const ReadOptions& options);
  void EndReadRow(std::string_view row, const Filter& filter, const ReadOptions& options,
                  const absl::StatusOr<Row>& read);

 private:
  static bool IsSynced(const WriteOptions& options) {
    return options.durability == Durability::kSync;
  }

  void AddMutation(uint64_t table, const EncodedMutation& mutation);

  std::shared_ptr<CallRecorder> recorder_;
  RecordingFile* file_;
  CallRecord record_;
  std::string ranges_;
  std::string filter_;
  std::string mutations_;
};

}  // namespace bigtable

#endif  // BIGTABLE_RECORDING_CALL_BUILDER_H_
