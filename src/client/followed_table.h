// A table of a database that follows another one: each call goes to the table of its name in the
// present state, or in that of the snapshot.
#ifndef BIGTABLE_CLIENT_FOLLOWED_TABLE_H_
#define BIGTABLE_CLIENT_FOLLOWED_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/table_backend.h"
#include "base/mutex.h"
#include "base/published.h"
#include "client/followed_state.h"

namespace bigtable {

// Thread-safe.
class FollowedTable final : public TableBackend {
 public:
  FollowedTable(std::string name, std::optional<std::string> caller,
                std::shared_ptr<FollowedStates> states)
      : TableBackend(Kind::kConnected, std::move(name)),
        caller_(std::move(caller)),
        states_(std::move(states)),
        opened_(new Opened) {}

  // Keeps no state until the next read.
  void Forget() { Publish(new Opened); }

  absl::Status Apply(const RowMutation& mutation, const WriteOptions& options) override;
  std::vector<absl::Status> ApplyBatch(absl::Span<const RowMutation> mutations,
                                       const WriteOptions& options) override;
  absl::StatusOr<bool> CheckAndMutateRow(std::string_view row, const Filter& predicate,
                                         const RowMutation& if_matched, const RowMutation& if_not,
                                         const WriteOptions& options) override;
  absl::StatusOr<Row> ReadModifyWriteRow(const ReadModifyWrite& rules,
                                         const WriteOptions& options) override;
  absl::Status MutateRowAtomically(
      std::string_view row, const Filter& filter,
      absl::FunctionRef<absl::StatusOr<RowMutation>(const Row&)> function,
      const WriteOptions& options) override;
  absl::StatusOr<Row> ReadRow(std::string_view row, const Filter& filter,
                              const ReadOptions& options) override;
  std::vector<absl::StatusOr<Row>> GetRows(absl::Span<const std::string_view> rows,
                                           const Filter& filter,
                                           const ReadOptions& options) override;
  std::unique_ptr<RowSource> ReadRows(const RowSet& rows, const Filter& filter,
                                      const ReadOptions& options) override;
  std::unique_ptr<RowSource> ResumeRows(std::string_view token, const Filter& filter,
                                        const ReadOptions& options) override;
  std::unique_ptr<ScannerBackend> NewScanner(ReadOptions options) override;
  absl::Status DropRowRange(const RowRange& rows, const CallOptions& options) override;
  absl::StatusOr<ChangeRound> ReadChanges(const ChangeRequest& request) override;
  absl::Status SetChangeReader(std::string_view reader, std::optional<std::string_view> position,
                               const CallOptions& options) override;
  absl::StatusOr<IngestSummary> Ingest(absl::Span<const std::string> files,
                                       const IngestOptions& options) override;
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const CallOptions& options) override;
  absl::StatusOr<std::vector<uint64_t>> ApproximateSizes(absl::Span<const RowRange> ranges,
                                                         const CallOptions& options) override;

 private:
  // The table in a state.
  struct Opened final : Publishable {
    uint64_t version = 0;  // FollowedStates::version; 0: there is none
    std::shared_ptr<const FollowedState> state;
    std::shared_ptr<TableBackend> table;
  };

  // The table in the present state. Takes no lock, unless the state is new.
  absl::StatusOr<Pin<Opened>> Present();
  void Publish(Opened* opened) {
    MutexLock lock(&mutex_);
    opened_.Publish(opened);
  }
  // The table in the present state or that of the snapshot, and the options as the state takes
  // them.
  absl::StatusOr<Pin<Opened>> Begin(const ReadOptions& options, ReadOptions* of_state);

  const std::optional<std::string> caller_;
  const std::shared_ptr<FollowedStates> states_;
  Mutex mutex_;  // of those who publish
  Published<Opened> opened_;
};

}  // namespace bigtable

#endif  // BIGTABLE_CLIENT_FOLLOWED_TABLE_H_
