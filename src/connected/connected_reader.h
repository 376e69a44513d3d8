// RowReader of a connected database: the rows of a service, with limits, a token to resume, and the
// error that ended the stream.
#ifndef BIGTABLE_CONNECTED_CONNECTED_READER_H_
#define BIGTABLE_CONNECTED_CONNECTED_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "backend/row_source.h"
#include "backend/stream_status.h"
#include "connected/table_service.h"

namespace bigtable {

// One thread at a time.
class ConnectedReader final : public RowSource {
 public:
  // `ranges`: as RowSet::Normalized() has them, or why there are none. `table_id`: for tokens.
  ConnectedReader(TableService* service, uint64_t table_id,
                  absl::StatusOr<std::vector<RowRange>> ranges, const Filter& filter,
                  const ReadOptions& options);

  bool Next(Row* row) override;
  void MarkTaken(const Row& row) override { taken_ = row.key(); }
  std::string ResumeToken(const Row& row) const override;
  const absl::Status& status() const override { return status_.Check(); }

 private:
  bool Fail(const absl::Status& status);

  const uint64_t table_id_;
  const ReadOptions options_;
  std::vector<RowRange> ranges_;
  std::unique_ptr<RowStream> rows_;  // null once it has ended
  std::string taken_;                // the key of the last row that was taken
  bool is_read_ = false;             // up to the end of the ranges
  int64_t row_count_ = 0;
  int64_t cell_count_ = 0;
  StreamStatus status_{nullptr, "RowReader"};
};

}  // namespace bigtable

#endif  // BIGTABLE_CONNECTED_CONNECTED_READER_H_
