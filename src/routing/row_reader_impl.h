// The rows of an embedded table, each assembled from the cells of one cursor. At its end, which may
// be an error or a limit, the stream gives up everything that it holds of the database.
#ifndef BIGTABLE_ROUTING_ROW_READER_IMPL_H_
#define BIGTABLE_ROUTING_ROW_READER_IMPL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "bigtable/filter.h"
#include "bigtable/options.h"
#include "bigtable/row.h"
#include "bigtable/row_range.h"

#include "backend/row_source.h"
#include "backend/stream_status.h"
#include "base/shortcuts.h"
#include "monitoring/call_timer.h"
#include "routing/own_writes.h"
#include "routing/table_cursor.h"
#include "routing/table_impl.h"

namespace bigtable {

// One thread at a time.
class RowReaderImpl final : public RowSource {
 public:
  // `ranges`: as RowSet::Normalized() has them, or why there are none.
  // `own`: writes of a transaction that are read too; mostly null.
  RowReaderImpl(std::shared_ptr<TableImpl> table, absl::StatusOr<std::vector<RowRange>> ranges,
                Filter filter, const ReadOptions& options,
                std::shared_ptr<const OwnWrites> own = nullptr);

  bool Next(Row* row) override;
  void MarkTaken(const Row& row) override { taken_ = row.key(); }
  std::string ResumeToken(const Row& row) const override;
  const absl::Status& status() const override { return status_.Check(); }
  bool is_forked() const override { return table_->database->is_forked(); }

 private:
  // Inside the gate.
  absl::Status Begin(absl::Span<const RowRange> ranges);
  // Reads the next row, as far as the limit of cells goes.
  [[gnu::noinline]] bool ReadCells(Row* row);
  // The row that was read is the last that the options allow. It keeps its own memory.
  [[gnu::cold]] void EndAtLimit();
  [[gnu::cold]] bool EndOfRows(Row* row);
  // There is no next row. The one before is given up; its key is noted for a token.
  bool Finish(Row* row);
  bool Fail(const absl::Status& status, Row* row);
  // In a child process everything belongs to the parent.
  void Release();
  // Ends the stream with this error.
  void Record(const absl::Status& status);

  const std::shared_ptr<TableImpl> table_;
  const Filter filter_;
  ReadOptions options_;  // without a snapshot at the end
  const bool reuses_rows_ = Shortcuts().Has(Shortcut::kRowStorage);
  ReadSnapshot snapshot_;
  std::optional<TableCursor> cursor_;  // none: it could not begin
  std::vector<RowRange> unread_;       // without a cursor
  std::string taken_;                  // the key of the last row that was taken
  bool done_ = false;
  bool is_read_ = false;  // up to the end
  int64_t rows_ = 0;
  int64_t cells_ = 0;  // counted if there is a limit
  StreamStatus status_{table_.get(), "RowReader"};
  StreamCalls calls_;  // destroyed first: it adds its counts to the table's
};

}  // namespace bigtable

#endif  // BIGTABLE_ROUTING_ROW_READER_IMPL_H_
